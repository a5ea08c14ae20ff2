"""What our own commands do to start quickly, they do to no other process."""

import subprocess
import sys

import pytest

pytest.importorskip("rich")

_EMBEDDED = """
import ssl, sys
genuine, finders = ssl.SSLContext.set_default_verify_paths, list(sys.meta_path)
import agentcore.core, agentcore.server.serve
import rich, structlog.dev
print(ssl.SSLContext.set_default_verify_paths is genuine, sys.meta_path == finders, structlog.dev.rich is rich)
"""

_OWN = """
import atexit, ssl, sys
genuine = ssl.SSLContext.set_default_verify_paths

@atexit.register
def report():
    has_rich = "rich" in sys.modules
    import rich, structlog.dev
    print(has_rich, structlog.dev.rich, rich.__name__, ssl.SSLContext.set_default_verify_paths is genuine)

from agentcore.cli import main
main(["serve", "--config", "/nowhere/app.json"])
"""


def _printed(code: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[-1].split()


def test_process_that_embeds_a_host_or_a_server_has_its_libraries_as_they_are():
    assert _printed(_EMBEDDED) == ["True", "True", "True"]


@pytest.mark.more
def test_own_commands_do_without_rich_and_leave_it_to_modules():
    assert _printed(_OWN) == ["False", "None", "rich", "True"]
