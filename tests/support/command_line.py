"""The command line in the process of the test: what a command prints, and how it ends.

A command costs what it does, not an interpreter. What is about processes (signals, terminals, the server itself) starts
a command of its own: `tests.forking`.
"""

import ctypes
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import structlog
from click.testing import CliRunner

from tests import forking

_OWN_PROCESS = {"serve", "host", "agent", "-v"}
"""Commands that set up the log of their process, or run until a signal ends them."""
_PR_SET_DUMPABLE = 4


def run_command(
    *words: str, cwd: Path, env: Mapping[str, str], typed: str, limit_s: float, python: str = sys.executable
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, in this process where it can be.

    Args:
        words: Without `agentcore`.
        typed: What it reads from its standard input, which is no terminal.
        limit_s: How long it may take, in a process of its own.
        python: Its interpreter; another one than ours runs in a process of its own.
    """
    needs_process = not words or words[0] in _OWN_PROCESS or words[:2] == ("mcp", "--client")
    if needs_process or not forking.can_copy(python, env):
        return forking.run(*words, typed=typed, limit_s=limit_s, cwd=cwd, env=env, python=python)
    from agentcore.cli.main import _run_command

    with _as_process(cwd, env), CliRunner().isolation(input=typed.encode()) as streams:
        try:
            code = _run_command(words)
        except SystemExit as exc:
            code = int(exc.code or 0)
        sys.stdout.flush()
        sys.stderr.flush()
        out, err = (stream.getvalue().decode() for stream in streams[:2])
    return subprocess.CompletedProcess(["agentcore", *words], code, out, err)


@contextmanager
def _as_process(cwd: Path, env: Mapping[str, str]) -> Iterator[None]:
    """Give this process a folder and an environment, and take back what a command changes of it."""
    with ExitStack() as stack:
        stack.callback(os.chdir, Path.cwd())
        stack.callback(_replace_environment, dict(os.environ))
        stack.callback(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))
        stack.callback(structlog.configure, **structlog.get_config())
        stack.callback(logging.disable, logging.root.manager.disable)
        if sys.platform == "linux":
            stack.callback(ctypes.CDLL(None).prctl, _PR_SET_DUMPABLE, 1, 0, 0, 0)
        os.chdir(cwd)
        _replace_environment(env)
        yield


def _replace_environment(env: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(env)
