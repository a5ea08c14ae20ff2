"""The command that the log-in names works in a terminal where nothing is activated."""

import shutil
import sys
from pathlib import Path

import pytest

from agentcore.server.page.open_command import open_command


@pytest.mark.parametrize(
    ("program", "config", "environ", "command"),
    [
        ("/clone/.venv/bin/agentcore", "/clone/app.json", {}, ".venv/bin/agentcore open"),
        (".venv/bin/agentcore", "/clone/app.json", {}, ".venv/bin/agentcore open"),
        ("/opt/env/bin/agentcore", "/clone/app.json", {}, "/opt/env/bin/agentcore open"),
        ("/opt/env/bin/agentcore", "/clone/etc/mine.json", {}, "/opt/env/bin/agentcore open --config etc/mine.json"),
        ("/usr/bin/pytest", "/clone/app.json", {}, "agentcore open"),
        ("/lib/pytest/__main__.py", "/clone/app.json", {}, "agentcore open"),
    ],
)
def test_command_is_one_that_a_new_terminal_knows(program, config, environ, command):
    assert open_command(Path(config), Path("/clone"), [program, "serve"], environ) == command


def test_program_on_the_path_is_named_alone_unless_its_environment_had_to_be_activated(tmp_path):
    program = tmp_path / "bin" / "agentcore"
    program.parent.mkdir()
    shutil.copy(shutil.which("true"), program)
    environ = {"PATH": str(program.parent)}
    folder = Path("/clone")
    installed = open_command(folder / "app.json", folder, [str(program)], environ)
    activated = open_command(folder / "app.json", folder, [str(program)], {**environ, "VIRTUAL_ENV": str(tmp_path)})
    as_module = open_command(folder / "app.json", folder, ["/lib/agentcore/__main__.py"], environ)
    assert (installed, activated) == ("agentcore open", f"{program} open")
    assert as_module.endswith("-m agentcore open")
    assert Path(sys.executable).name in as_module
