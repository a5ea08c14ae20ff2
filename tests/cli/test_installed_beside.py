"""Packages that pip installs, upgrades and removes beside a running server, in a Python environment of its own."""

import subprocess
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.conftest import LIMIT_S, Done, Place

pytestmark = pytest.mark.more

SOURCE = '''
from agentcore.api import Module, tool


class Dice(Module):
    """Dice."""

    @tool(read_only=True)
    async def dice_version(self) -> str:
        """Give the version."""
        return "{version}"
'''
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "{name}"
version = "{version}"
"""
BACKEND = '''
"""Builds wheels as the usual backends do, without anything that would have to be installed first (PEP 517, PEP 660)."""

import pathlib, tomllib, zipfile

PROJECT = tomllib.loads(pathlib.Path("pyproject.toml").read_text())["project"]
PACKAGE = PROJECT["name"].replace("-", "_")
SOURCE = pathlib.Path("src").absolute()

def get_requires_for_build_wheel(config_settings=None): return []
get_requires_for_build_editable = get_requires_for_build_wheel

def build_wheel(folder, config_settings=None, metadata_directory=None):
    source = SOURCE / PACKAGE / "__init__.py"
    return _write(folder, {{PACKAGE + "/__init__.py": source.read_text()}})

def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "__editable__" + PACKAGE
    if {uses_finder}:  # as setuptools does it where a folder cannot be named
        finder = (
            "import importlib.util, sys\\n"
            "class Finder:\\n"
            "    @classmethod\\n"
            "    def find_spec(cls, name, path=None, target=None):\\n"
            f"        if name == {{PACKAGE!r}}:\\n"
            f"            file = {{str(SOURCE / PACKAGE / '__init__.py')!r}}\\n"
            "            return importlib.util.spec_from_file_location(name, file)\\n"
            "def install():\\n"
            "    sys.meta_path.append(Finder)\\n"
        )
        line = f"import {{name}}_finder; {{name}}_finder.install()"
        return _write(folder, {{name + "_finder.py": finder, name + ".pth": line}})
    return _write(folder, {{name + ".pth": str(SOURCE)}})

def _write(folder, files):
    info = PACKAGE + "-" + PROJECT["version"] + ".dist-info/"
    files[info + "METADATA"] = (
        f"Metadata-Version: 2.1\\nName: {{PROJECT['name']}}\\nVersion: {{PROJECT['version']}}\\n"
        "Requires-Dist: agentcore-runtime\\n"
    )
    files[info + "WHEEL"] = "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    files[info + "entry_points.txt"] = f"[agentcore.modules]\\ndice = {{PACKAGE}}:Dice\\n"
    files[info + "RECORD"] = "".join(name + ",,\\n" for name in [*files, info + "RECORD"])
    name = PACKAGE + "-" + PROJECT["version"] + "-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return name
'''


@dataclass
class Environment(Place):
    """A place whose commands run in a Python environment of their own."""

    def write_project(
        self, name: str = "acme-dice", version: str = "1.0", *, uses_finder: bool = False, source: str = SOURCE
    ) -> Path:
        """Write a project that brings the module `dice`; gives its folder."""
        folder, package = self.folder.parent / name, name.replace("-", "_")
        (folder / "src" / package).mkdir(parents=True, exist_ok=True)
        (folder / "src" / package / "__init__.py").write_text(source.format(version=version))
        (folder / "pyproject.toml").write_text(PROJECT.format(name=name, version=version))
        (folder / "backend.py").write_text(BACKEND.format(uses_finder=uses_finder))
        return folder

    def ask(self, *arguments: str) -> Done:
        """Run a command that asks the server, which alone has to run in the environment."""
        return Place(self.folder, self.environ).run(*arguments)

    def pip(self, *arguments: str) -> None:
        """Run pip in the environment."""
        subprocess.run(
            [self.python, "-m", "pip", "--disable-pip-version-check", *arguments],
            check=True,
            capture_output=True,
            timeout=LIMIT_S,
        )

    def install(self, project: Path, *options: str) -> None:
        """Install a project without looking at any index."""
        self.pip("install", "--no-deps", "--no-build-isolation", "--no-index", *options, str(project))


@pytest.fixture
def place(empty_place: Place, tmp_path: Path) -> Environment:
    """A folder with an empty list of modules, and an environment that has what this one has."""
    pytest.importorskip("pip")
    folder = tmp_path / "environment"
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    # the whole of this environment, with what its own .pth files name
    (site / "outer.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    environment = Environment(empty_place.folder, empty_place.environ, str(folder / "bin" / "python"))
    environment.write_app(modules=[])
    return environment


@pytest.mark.spec("M1")
@pytest.mark.parametrize("uses_finder", [False, True])
def test_editable_install_beside_a_running_server_is_found_and_runs(place, running_server, uses_finder):
    place.install(place.write_project(uses_finder=uses_finder), "-e")
    assert place.ask("modules", "enable", "dice").out == "dice is ready.\n"
    assert place.ask("call", "dice_version").out == "1.0\n"
    shown = place.ask("modules", "info", "dice", "--json").json
    assert (shown["distribution"], shown["version"]) == ("acme-dice", "1.0")
    assert shown["file"].endswith("acme-dice/src/acme_dice/__init__.py")


@pytest.mark.spec("M1")
def test_code_in_a_pth_file_runs_in_the_server_only_for_a_module_that_is_listed(place, running_server):
    """Each command is an interpreter that starts, and runs it too: the file says which processes did."""
    place.install(place.write_project(uses_finder=True), "-e")
    (site,) = Path(place.python).parent.parent.glob("lib/python*/site-packages")
    ran = place.folder / "ran"
    with (site / "__editable__acme_dice.pth").open("a") as file:
        file.write(f"\nimport os; open({str(ran)!r}, 'a').write(str(os.getpid()) + '\\n')\n")
    shown = place.run("modules", "info", "dice", "--json").json
    assert (shown["state"], shown["listed"]) == ("stopped", False)
    assert str(running_server.process.pid) not in ran.read_text().splitlines()
    assert place.run("modules", "enable", "dice").code == 0
    assert str(running_server.process.pid) in ran.read_text().splitlines()


@pytest.mark.spec("M4")
def test_version_on_the_disk_is_told_until_it_runs(place, running_server):
    place.install(place.write_project())
    assert place.ask("modules", "enable", "dice").out == "dice is ready.\n"
    place.install(place.write_project(version="1.1"), "--upgrade")
    assert place.ask("call", "dice_version").out == "1.0\n"
    assert "1.1 on disk, 1.0 runs" in place.ask("modules", "list").out
    assert "1.1 on disk, 1.0 runs" in place.ask("modules", "info", "dice").out
    doctor = place.run("doctor").out
    assert "module dice: 1.1 on disk, 1.0 runs" in doctor
    assert "agentcore modules reload dice" in doctor
    assert place.ask("modules", "reload", "dice").out == "dice is ready.\n"
    assert place.ask("call", "dice_version").out == "1.1\n"
    shown = place.ask("modules", "info", "dice").out
    assert "acme-dice 1.1; before 2" in shown
    assert "it was 1.0" in shown
    place.pip("uninstall", "--yes", "acme-dice")
    assert "it is not installed any more; 1.1 runs until the next reload" in place.ask("modules", "info", "dice").out


@pytest.mark.spec("M4")
def test_upgrade_that_does_not_load_leaves_the_old_version_running_and_says_why(place, running_server):
    place.install(place.write_project())
    place.ask("modules", "enable", "dice")
    broken = SOURCE + "\n\ndef load():\n    raise OSError('no such thing')\n\n\nload()\n"
    place.install(place.write_project(version="2.0", source=broken), "--upgrade")
    done = place.ask("modules", "reload", "dice")
    assert done.code == 1
    assert "dice is ready.\n1 problem; agentcore modules info dice shows more:\n" in done.out
    assert "OSError: no such thing; the code from before goes on" in done.out
    assert place.ask("call", "dice_version").out == "1.0\n"
    for command in (("modules", "info", "dice"), ("doctor",)):
        shown = place.ask(*command).out
        assert "in load" in shown
        assert "raise OSError('no such thing')" in shown
        assert "2.0 on disk, 1.0 runs" in shown


@pytest.mark.spec("S4")
def test_other_distribution_waits_for_a_person_and_the_api_token_is_none(place, running_server):
    place.install(place.write_project())
    place.ask("modules", "enable", "dice")
    place.pip("uninstall", "--yes", "acme-dice")
    ran = place.folder / "ran"
    source = SOURCE + f"\nopen({str(ran)!r}, 'w').close()\n"
    place.install(place.write_project("evil-dice", "9.0", source=source))
    done = place.ask("modules", "reload", "dice")
    assert done.code == 1
    assert "was acme-dice, and is evil-dice 9.0" in done.out
    chosen = place.ask("modules", "choose", "dice", "evil-dice")
    assert chosen.code == 1
    assert "confirmation_required" in chosen.err
    assert place.ask("call", "dice_version").out == "1.0\n"
    assert "evil-dice 9.0" in place.ask("modules", "choose", "dice").out
    assert place.ask("modules", "choose", "dice", "nobody").err.startswith("error: source_not_found")
    running_server.stop()
    listed = place.run("modules", "list")
    assert "waits" in listed.out
    assert "dice: waits: module 'dice' was acme-dice" in place.run("doctor").out
    assert "was acme-dice, and is evil-dice 9.0" in place.run("config", "show").err
    assert "was acme-dice, and is evil-dice 9.0" in place.run("config", "schema").err
    assert not ran.exists()
    refused = place.run("modules", "choose", "dice", "evil-dice")
    assert (refused.code, "no terminal to ask one at" in refused.err) == (2, True)


@pytest.mark.spec("S4")
def test_person_at_a_terminal_chooses_one_of_two(place, on_terminal):
    place.install(place.write_project())
    place.install(place.write_project("other-dice", "0.3"))
    place.write_app(modules=["dice"])
    shown = place.run("modules", "info", "dice").out
    assert "acme-dice 1.0" in shown
    assert "agentcore modules choose dice other-dice" in shown
    terminal = on_terminal("modules", "choose", "dice", "other-dice")
    assert "+ other-dice 0.3" in terminal.expect("or anything else for no:")
    terminal.type("n\n")
    assert terminal.end()[0] == 2
    terminal = on_terminal("modules", "choose", "dice", "other-dice")
    asked = terminal.expect("or anything else for no:")
    # with the number that blind input cannot know, where other processes may push input
    terminal.type(asked.partition("Type ")[2].partition(",")[0] + "\n")
    code, shown = terminal.end()
    assert (code, "dice is ready" in shown) == (0, True)
    assert place.run("call", "dice_version").out == "0.3\n"
