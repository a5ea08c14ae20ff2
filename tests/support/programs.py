"""One fixture for each program that tests need: its path, or the test is skipped.

`browser` needs `chromium` by itself. Request `nats`, `xvfb` and so on where a test or its fixtures start the program,
by name or by `pytestmark = pytest.mark.usefixtures("nats")`; never look for the program where the test is collected.
"""

from collections.abc import Callable

import pytest

from tests import programs


def _program(name: str, package: str) -> Callable[[], str]:
    @pytest.fixture(scope="session", name=name)
    def require_program() -> str:
        program = programs.find(package)
        if program is None:
            pytest.skip(f"{name} is missing")
        return program

    return require_program


chromium = _program("chromium", "chromium")
xvfb = _program("xvfb", "xvfb")
dbus = _program("dbus", "dbus")
bubblewrap = _program("bubblewrap", "bubblewrap")
ripgrep = _program("ripgrep", "ripgrep")
git = _program("git", "git")
node = _program("node", "nodejs")
nginx = _program("nginx", "nginx")
nats = _program("nats", "nats-server")
