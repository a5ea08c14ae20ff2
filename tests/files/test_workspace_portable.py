"""The workspace on a system without O_PATH, as macOS is: the same tests, in an interpreter that lacks it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.more

TESTS = ("test_workspace.py", "test_workspace_writing.py", "test_protection.py")


@pytest.mark.skipif(not hasattr(os, "O_PATH"), reason="this system has none anyway")
@pytest.mark.parametrize("name", TESTS)
def test_workspace_keeps_its_promises_without_o_path(name: str) -> None:
    code = "import os, sys; del os.O_PATH; import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    options = ["-q", "-p", "no:cacheprovider", str(Path(__file__).with_name(name))]
    done = subprocess.run([sys.executable, "-c", code, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
