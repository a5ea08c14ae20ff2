"""The page about the command line: its commands work as they stand, its exit codes are those there are."""

import re
import subprocess
import sys
from pathlib import Path

from agentcore.cli.terminal.exits import ExitCode

PAGE = Path(__file__).parent.parent.parent / "docs" / "command-line.md"
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_its_commands_work_as_they_stand(empty_place):
    empty_place.write_app(modules=["fs_tools"])
    path = f"{Path(sys.executable).parent}:{empty_place.environ['PATH']}"
    lines = "".join(_CONSOLE.findall(PAGE.read_text())).splitlines()
    lines.remove("$ agentcore logs -f")  # goes on until it is interrupted: see `test_logs.py`
    assert len(lines) > 5
    for line in lines:
        done = subprocess.run(
            ["bash", "-c", line.removeprefix("$ ")],
            cwd=empty_place.folder,
            env={**empty_place.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"


def test_its_exit_codes_are_those_there_are():
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE.read_text(), re.MULTILINE)}
    assert documented == {int(code) for code in ExitCode}
