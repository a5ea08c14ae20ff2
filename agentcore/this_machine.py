"""The machine that this process runs on: its kind, and packages of its distribution."""

import asyncio
import os
import re
import shlex
import shutil
import signal
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from agentcore.errors import ToolError

_CONTAINER_FILES = ("/.dockerenv", "/run/.containerenv")
_CONTAINER_GROUP = re.compile(r"docker|kubepods|containerd|libpod|lxc|garden|buildkit")
_STATUS = re.compile(r"(dlstatus|pmstatus):[^:]*:(\d+(?:\.\d+)?):(.*)")
_STATUS_FD = ("-o", "APT::Status-Fd=1")
_DOWNLOAD_PART = 0.5
_KEPT_LINES = 20
_SHOWN_LINES = 3
_TERMINATE_SECONDS = 30.0
_LINE_LIMIT_BYTES = 1 << 20

OnStep = Callable[[Mapping[str, str], float | None], None]
"""Called with the current step in each language, and the completed part from 0 to 1, None if unknown."""


def is_root() -> bool:
    """True if this process may change the system."""
    return os.geteuid() == 0


def is_in_container(root: Path = Path("/")) -> bool:
    """True if this machine is a container or a chroot, so that no one else uses its system.

    Args:
        root: The root of the file system to inspect.
    """
    if any((root / name.lstrip("/")).exists() for name in _CONTAINER_FILES):
        return True
    with suppress(OSError):
        if _CONTAINER_GROUP.search((root / "proc/1/cgroup").read_text()):
            return True
    with suppress(OSError):
        if b"container=" in (root / "proc/1/environ").read_bytes():
            return True
    return _is_chroot(root)


def _is_chroot(root: Path) -> bool:
    """True if nothing is mounted at the root, or the root of the first process is another folder."""
    with suppress(OSError):
        lines = (root / "proc/self/mountinfo").read_text().splitlines()
        if lines and all(line.split(" ")[4] != "/" for line in lines):
            return True
    try:
        first = (root / "proc/1/root").stat()
        own = root.stat()
    except OSError:  # no permission, or no /proc: unknown
        return False
    return (first.st_dev, first.st_ino) != (own.st_dev, own.st_ino)


def has_apt() -> bool:
    """True if the distribution installs packages with `apt-get`: Debian, Ubuntu and their derivatives."""
    return shutil.which("apt-get") is not None


def can_install_packages() -> bool:
    """True if `install_packages` can work on this machine: as root, with `apt-get`."""
    return is_root() and has_apt()


def package_command(packages: Sequence[str]) -> str:
    """Return the terminal command that installs packages of the distribution.

    Args:
        packages: Their Debian names; most other distributions use the same names.
    """
    names = shlex.join(packages)
    sudo = "" if is_root() else "sudo "
    for program, arguments in (("apt-get", "install -y"), ("dnf", "install"), ("pacman", "-S"), ("zypper", "install")):
        if shutil.which(program) is not None:
            return f"{sudo}{program} {arguments} {names}"
    return f"brew install {names}" if shutil.which("brew") else f"apt-get install -y {names}"


async def install_packages(packages: Sequence[str], on_step: OnStep) -> None:
    """Install packages of the distribution with `apt-get`, after updating its lists.

    If cancelled, apt is terminated properly. If this process dies, apt completes what it has started, so that the
    package database stays consistent.

    Raises:
        ToolError: `install_failed`: not root, no `apt-get`, no network, no such package; the message contains apt's
            output.
    """
    if not can_install_packages():
        raise ToolError("install_failed", f"only root can do that here; run: {package_command(packages)}")
    on_step({"en": "Updating the package lists", "zh": "正在更新软件包列表"}, None)
    await _run_apt(["update"], on_step)
    await _run_apt(["install", "-y", "--no-install-recommends", *_STATUS_FD, *packages], on_step)


async def _run_apt(arguments: Sequence[str], on_step: OnStep) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    last: deque[str] = deque(maxlen=_KEPT_LINES)
    lines = run_command(["apt-get", *arguments], environment)
    async for line in lines:
        status = _STATUS.match(line)
        if status is None:
            last.append(line)
            continue
        kind, percent, text = status.groups()
        part = float(percent) / 100
        if kind == "dlstatus":
            on_step({"en": f"Downloading packages: {text}", "zh": f"正在下载软件包：{text}"}, part * _DOWNLOAD_PART)
        else:
            fraction = _DOWNLOAD_PART + part * (1 - _DOWNLOAD_PART)
            on_step({"en": f"Installing packages: {text}", "zh": f"正在安装软件包：{text}"}, fraction)
    if lines.code != 0:
        errors = [line for line in last if line.startswith(("E:", "Err:", "W:"))] or list(last)
        said = " ".join(errors[-_SHOWN_LINES:]) or f"exit code {lines.code}"
        raise ToolError("install_failed", f"apt-get {arguments[0]} failed: {said}", exit_code=lines.code)


class run_command:  # noqa: N801 - used like a function
    """Run a command and iterate over the lines that it writes, including errors; cancelling terminates it.

    Attributes:
        code: The exit code, once there are no more lines; 127 if the program does not exist.
    """

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        self._argv = list(argv)
        self._environment = dict(environment)
        self.code = 0

    async def __aiter__(self) -> AsyncIterator[str]:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._argv,
                env=self._environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
                limit=_LINE_LIMIT_BYTES,
            )
        except OSError as exc:
            self.code = 127
            yield f"{self._argv[0]}: {exc.strerror}"
            return
        assert process.stdout is not None  # noqa: S101 - a pipe was asked for
        try:
            async for line in process.stdout:
                yield line.decode("utf-8", "replace").rstrip()
            self.code = await process.wait()
        finally:
            await _terminate(process)


async def _terminate(process: asyncio.subprocess.Process) -> None:
    """Terminate a process group, gracefully if it ends in time."""
    if process.returncode is not None:
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        waiting = asyncio.ensure_future(process.wait())
        await asyncio.wait({waiting}, timeout=_TERMINATE_SECONDS)
        if waiting.done():
            return
        waiting.cancel()
