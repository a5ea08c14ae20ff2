"""The root: help, version, errors, and what is not imported for them."""

import subprocess
import sys

import pytest

from agentcore import __version__
from agentcore.cli.main import _COMMANDS

HEAVY = ("aiohttp", "aiosqlite", "asyncio", "pydantic", "rich", "structlog")


def run_and_list_imports(*arguments: str) -> tuple[str, list[str]]:
    """Run the command line in a fresh interpreter; its output, and which heavy packages were imported."""
    code = (
        "import sys\n"
        "from agentcore.cli import main\n"
        "try:\n"
        f"    main({list(arguments)!r})\n"
        "except SystemExit as end:\n"
        "    print('code', end.code or 0)\n"
        f"print('imported', *[name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    head, _, imported = done.stdout.rpartition("imported")
    return head, imported.split()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["modules", "--help"], ["call", "--help"]])
def test_help_and_version_import_nothing_heavy(arguments):
    output, imported = run_and_list_imports(*arguments)
    assert output.endswith("code 0\n")
    assert imported == []


def test_version_is_that_of_the_package(empty_place):
    assert empty_place.run("--version").out == f"agentcore {__version__}\n"


def test_help_lists_every_command(empty_place):
    done = empty_place.run("--help")
    assert done.code == 0
    assert all(f"\n  {name} " in done.out for name in _COMMANDS)


@pytest.mark.parametrize("name", _COMMANDS)
def test_each_command_explains_itself(empty_place, name):
    done = empty_place.run(name, "--help")
    assert done.code == 0
    assert "Usage: agentcore" in done.out


def test_former_name_of_a_command_runs_it_with_a_notice_and_is_not_listed(empty_place):
    former = empty_place.run("agent", "--help")
    current = empty_place.run("host", "--help")
    assert (former.code, former.out) == (0, current.out)
    assert former.err == "`agentcore agent` is now `agentcore host`\n"
    assert (current.code, current.err) == (0, "")
    listed = empty_place.run("--help").out
    assert "\n  host " in listed
    assert "\n  agent " not in listed


def test_unknown_command_names_a_near_one(empty_place):
    done = empty_place.run("tolos")
    assert done.code == 2
    assert "Did you mean 'tools'?" in done.err


@pytest.mark.spec("M3")
def test_invalid_app_json_is_named_with_its_place_and_left_as_it_is(place):
    path = place.folder / "app.json"
    path.write_text('{"modules": [,]}')
    done = place.run("tools")
    assert done.code == 2
    assert "app.json:1:14" in done.err
    assert path.read_text() == '{"modules": [,]}'


@pytest.mark.spec("K5")
def test_unknown_key_of_app_json_is_a_configuration_error(place):
    place.write_app(modulse=["clock"])
    done = place.run("tools")
    assert done.code == 2
    assert "modulse" in done.err


def test_colours_are_for_terminals_only(place):
    assert "\x1b[" not in place.run("tools").out
