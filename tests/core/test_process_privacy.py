"""What other processes can see of the keys of this one."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.spec("S5")

SCRIPT = """
import ctypes, os, pathlib, subprocess
from agentcore.core.process_privacy import hide_secrets
hide_secrets()
libc = ctypes.CDLL(None)
is_dumpable = libc.prctl(3, 0, 0, 0, 0)
libc.prctl(4, 1, 0, 0, 0)  # or an ordinary user could not read what was wiped
print(pathlib.Path("/proc/self/environ").read_bytes())
print(subprocess.run(["env"], capture_output=True).stdout)
print(os.environ["OPENAI_API_KEY"], is_dumpable)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is no /proc")
def test_keys_are_wiped_from_what_the_system_shows_and_stay_for_the_process_itself():
    environ = os.environ | {
        "OPENAI_API_KEY": "sk-hidden",
        "AGENTCORE_TOKEN": "hidden-token",
        "DATABASE_URL": "postgres://user:hidden@example.org/db",
        "PLAIN_WORD": "shown",
    }
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environ, capture_output=True, text=True, check=True)
    shown, inherited, kept = done.stdout.splitlines()
    assert "hidden" not in shown
    assert "PLAIN_WORD=shown" in shown
    assert "PLAIN_WORD=shown" in inherited
    assert kept == "sk-hidden 0"
