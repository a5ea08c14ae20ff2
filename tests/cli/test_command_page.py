"""The page about the command line: its commands work as they stand, its exit codes are those there are."""

import re
import shlex
from pathlib import Path

import pytest

from agentcore.cli.terminal.exit_codes import ExitCode

PAGE = Path(__file__).parent.parent.parent / "docs" / "command-line.md"
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.more
def test_its_commands_work_as_they_stand(empty_place):
    empty_place.write_app(modules=["fs_tools"])
    lines = "".join(_CONSOLE.findall(PAGE.read_text())).splitlines()
    lines.remove("$ agentcore logs -f")  # goes on until it is interrupted: see `test_logs.py`
    assert len(lines) > 5
    for line in lines:
        said, pipe, command = line.removeprefix("$ ").rpartition(" | ")
        typed = shlex.split(said)[1] if pipe else ""
        program, *words = shlex.split(command.partition(" > ")[0])
        assert program == "agentcore", line
        done = empty_place.run(*words, stdin=typed)
        assert done.code == 0, f"{line}\n{done.out}\n{done.err}"


def test_its_exit_codes_are_those_there_are():
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE.read_text(), re.MULTILINE)}
    assert documented == {int(code) for code in ExitCode}
