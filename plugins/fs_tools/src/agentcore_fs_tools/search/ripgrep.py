"""Start ripgrep and read its output, which only names candidates."""

import fcntl
import os
import re
import resource
import select
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from agentcore.api import ToolError, Workspace

_BLOCK_BYTES = 1 << 18
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ: int | None = getattr(fcntl, "F_SETPIPE_SZ", None)
_COMPLAINT_BYTES = 1 << 16
_OPENING_PIPE = frozenset(("wait_for_partner", "fifo_open"))  # in fs/pipe.c of Linux
_POLL_MS = 100  # maximum delay until a cancelled search stops
_PROBLEM = re.compile(r"regex parse error:\n    \(\?:.*\n(?P<blanks> +)\^", re.DOTALL)
_WRAPPED = len("    (?:")  # before the pattern in ripgrep's error message

# no configuration file, no ignore rules from outside the workspace, no links; include hidden files
COMMON_ARGUMENTS = (
    "--no-config",
    "--no-messages",
    "--hidden",
    "--no-follow",
    "--no-require-git",
    "--no-ignore-parent",
    "--no-ignore-dot",
    "--no-ignore-exclude",
    "--no-ignore-global",
)


def find_ripgrep() -> str | None:
    """Return the path of `rg`: the one installed with this module, else the one on PATH; None if there is none."""
    for folder in (sysconfig.get_path("scripts"), Path(sys.executable).parent):
        beside = Path(folder) / "rg"
        if os.access(beside, os.X_OK):
            return str(beside)
    return shutil.which("rg")


def arguments_against_git(workspace: Workspace, place: Workspace.Place) -> list[str]:
    """Return arguments that exclude `.git`, only if it exists: a glob makes ripgrep slower by a fifth."""
    try:
        exists = workspace.find_status(place.child(b".git"), follow=False) is not None
    except ToolError:
        return []
    return ["--glob=!.git"] if exists else []


@contextmanager
def run_ripgrep(
    program: str | None,
    arguments: Iterable[str | bytes],
    folder: Workspace.Folder,
    *,
    limit_bytes: int,
    memory_bytes: int,
    rules: Iterable[str] = (),
    is_cancelled: Callable[[], bool],
) -> Iterator[Iterator[bytes]]:
    """Run ripgrep in a folder during a `with` block and yield an iterator over the blocks of its output.

    Args:
        program: Path of `rg`; None: not installed.
        arguments: Arguments in addition to `COMMON_ARGUMENTS`.
        folder: Working folder; paths in the output are relative to it.
        limit_bytes: More output than this is not read.
        memory_bytes: Memory limit, on Linux: ripgrep would read an endless `.gitignore` (a link to a device) forever.
        rules: Lines of an ignore file for this folder.
        is_cancelled: Checked while waiting for output.
    Raises:
        RipgrepError: While its output is read: it refused to search or failed.
        OutputCutError: While its output is read: there is more than `limit_bytes`.
        ToolError: `cancelled`; `search_failed`: ripgrep is not installed, or blocked by a `.gitignore` that is a pipe.
    """
    if program is None:
        raise ToolError("search_failed", "Searching needs ripgrep, which is not installed: `pip install ripgrep`.")
    command: list[str | bytes] = [program, *COMMON_ARGUMENTS]
    text = "\n".join(rules)
    with ExitStack() as stack:
        inherited: list[int] = []
        if text:
            ignore = stack.enter_context(tempfile.TemporaryFile())
            ignore.write(text.encode("utf-8", "replace"))
            ignore.seek(0)
            inherited.append(ignore.fileno())
            command.append(f"--ignore-file=/dev/fd/{ignore.fileno()}")
        process = subprocess.Popen(
            [*command, *arguments],
            cwd=folder.path_for_child(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=inherited,
            env={"PATH": os.defpath, "LC_ALL": "C"},
        )
        _limit_memory(process.pid, memory_bytes)
        stack.enter_context(process)  # on exit it closes the pipes and waits …
        stack.callback(process.kill)  # … for the process, which is killed first
        yield _read_output(process, limit_bytes, is_cancelled)


def search_error(complaint: str) -> ToolError:
    """Return the error for a failed search, which happens occasionally when folders vanish while ripgrep runs."""
    reason = complaint.removeprefix("rg: ").split("\n", 1)[0][:200]
    return ToolError("search_failed", f"ripgrep could not search: {reason}. Try again.", retryable=True)


def pattern_error(pattern: str, complaint: str) -> ToolError:
    """Return the error for a failed search: about the pattern if ripgrep rejected it, else about the search."""
    if "regex" not in complaint.split("\n", 1)[0]:
        return search_error(complaint)
    reason = complaint.rsplit("error: ", 1)[-1].removeprefix("rg: ").split("\n", 1)[0].strip()
    shown = _PROBLEM.search(complaint)
    position = len(shown["blanks"]) - _WRAPPED if shown else None
    if position is None or not 0 <= position < len(pattern) or reason in ("unclosed group", "unopened group"):
        position = _find_unbalanced(pattern) if "group" in reason else None
    where = "" if position is None else f" at character {position + 1}"
    message = f"The regular expression {pattern!r} cannot be read: {reason}{where}."
    return ToolError("invalid_regex", message, position=position)


class OutputCutError(Exception):
    """Raised when there is more output than is read."""


class RipgrepError(Exception):
    """Raised when ripgrep refused to search or failed; the text is its error output."""


def _read_output(
    process: subprocess.Popen[bytes], limit_bytes: int, is_cancelled: Callable[[], bool]
) -> Iterator[bytes]:
    assert process.stdout is not None and process.stderr is not None  # noqa: S101, PT018  (they were asked for)
    output = process.stdout.fileno()
    complaints = process.stderr.fileno()
    if _F_SETPIPE_SZ is not None:
        with suppress(OSError):  # the system limit for pipes may be lower
            fcntl.fcntl(output, _F_SETPIPE_SZ, _PIPE_BYTES)
    total = 0
    complaint = b""
    for fd, block in _read_pipes(process.pid, (output, complaints), is_cancelled):
        if fd == complaints:
            complaint = (complaint + block)[:_COMPLAINT_BYTES]
            continue
        total += len(block)
        yield block
        if total >= limit_bytes:
            raise OutputCutError
    status = process.wait()
    if status > 1 and complaint:  # without one, it only skipped files that it may not read
        raise RipgrepError(complaint.decode("utf-8", "replace"))
    if status < 0:
        raise RipgrepError(complaint.decode("utf-8", "replace") or f"it was ended by signal {-status}")


def _read_pipes(pid: int, pipes: Sequence[int], is_cancelled: Callable[[], bool]) -> Iterator[tuple[int, bytes]]:
    """Yield what a process writes to pipes, with the descriptor, until all are closed."""
    poll = select.poll()
    opened = set(pipes)
    for fd in opened:
        poll.register(fd, select.POLLIN)
    while opened:
        if is_cancelled():
            raise ToolError("cancelled", "The search was cancelled.")
        ready = poll.poll(_POLL_MS)
        if not ready and _waits_for_pipe(pid):
            message = "ripgrep waits for a pipe that nobody writes to: some `.gitignore` is no regular file. Remove it."
            raise ToolError("search_failed", message)
        for fd, _ in ready:
            block = os.read(fd, _BLOCK_BYTES)
            if block:
                yield fd, block
            else:
                poll.unregister(fd)
                opened.remove(fd)


def _waits_for_pipe(pid: int) -> bool:
    """Return True if a thread is blocked opening a FIFO: ripgrep opens each `.gitignore` without checking its type.

    Where the system does not report this (Linux does, for own processes), the call's time limit ends the search.
    """
    try:
        return any((thread / "wchan").read_text() in _OPENING_PIPE for thread in Path(f"/proc/{pid}/task").iterdir())
    except OSError:  # it has ended, or there is no /proc
        return False


def _limit_memory(pid: int, limit_bytes: int) -> None:
    if sys.platform == "linux":
        with suppress(OSError, ValueError):  # it has ended already, or its limit is lower
            resource.prlimit(pid, resource.RLIMIT_DATA, (limit_bytes, limit_bytes))


def _find_unbalanced(pattern: str) -> int | None:
    """Return the position of an unmatched parenthesis in a pattern; None if all match."""
    opened: list[int] = []
    in_set = is_escaped = False
    for position, character in enumerate(pattern):
        if is_escaped:
            is_escaped = False
        elif character == "\\":
            is_escaped = True
        elif in_set:
            in_set = character != "]"
        elif character == "[":
            in_set = True
        elif character == "(":
            opened.append(position)
        elif character == ")":
            if not opened:
                return position
            opened.pop()
    return opened[-1] if opened else None
