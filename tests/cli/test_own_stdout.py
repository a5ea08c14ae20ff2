"""Commands that print JSON print nothing else, whatever modules and the programs that they start print."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.spec("M6")

NOISY = '''
import os, subprocess, sys, threading
print("print at import")
os.write(1, b"descriptor at import\\n")
sys.stdout.buffer.write(b"buffer at import\\n")
from agentcore.api import Module, tool

class Noisy(Module):
    """Prints."""

    class Settings(Module.Settings):
        print("print in a class")

    def init(self, runtime):
        subprocess.run(["echo", "child in init"])
        threading.Thread(target=print, args=("thread in init",)).start()

    def shutdown(self):
        sys.__stdout__.write("original at the end\\n")
        sys.__stdout__.flush()
        print("print at the end", flush=True)

    @tool(read_only=True)
    def noise(self) -> str:
        """Make noise."""
        print("print in a call")
        subprocess.run("echo child in a call; echo its error >&2", shell=True)
        return "quiet"
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app" / "modules").mkdir(parents=True)
    (tmp_path / "app" / "modules" / "noisy.py").write_text(NOISY)
    (tmp_path / "app" / "app.json").write_text('{"modules": ["noisy"]}')
    return tmp_path


def run(folder, *words):
    environ = os.environ | {"AGENTCORE_STATE_DIR": str(folder / "state")}
    command = [sys.executable, "-m", "agentcore", *words]
    return subprocess.run(
        command, cwd=folder / "app", env=environ, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    "words",
    [
        ("call", "noise", "--json"),
        ("tools", "--json"),
        ("tools", "noise", "--json"),
        ("tools", "--format", "anthropic"),
        ("modules", "list", "--json"),
        ("config", "show", "--json"),
        ("config", "schema"),
        ("approvals", "explain", "noise", "--json"),
        ("doctor", "--json"),
    ],
)
def test_output_is_json_and_nothing_else(folder, words):
    done = run(folder, *words)
    assert isinstance(json.loads(done.stdout), dict), done.stderr


@pytest.mark.more
def test_what_modules_print_is_in_the_log(folder):
    assert json.loads(run(folder, "call", "noise", "--json").stdout)["ok"]
    lines = [json.loads(line) for line in run(folder, "logs", "--json").stdout.splitlines()]
    printed = {line["text"]: line.get("module") for line in lines if line["event"] == "module_output"}
    assert printed["print in a call"] == "noisy"
    assert set(printed) == {
        *("print at import", "descriptor at import", "buffer at import", "print in a class"),
        *("child in init", "thread in init", "print in a call", "child in a call"),
        *("original at the end", "print at the end"),
    }


@pytest.mark.more
def test_without_json_modules_print_as_before(folder):
    assert "print in a call" in run(folder, "call", "noise").stdout


@pytest.mark.more
def test_failed_command_prints_nothing_to_standard_output(folder):
    done = run(folder, "tools", "nothing", "--json")
    assert (done.returncode, done.stdout) == (1, "")
