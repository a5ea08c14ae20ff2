"""`Sandbox`: what bubblewrap lets a command see and change."""

import asyncio
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from agentcore.api import ToolError, Workspace

SandboxMode = Literal["off", "prefer", "require"]

_PROBE_SECONDS = 20.0
# where programs keep what opens other doors; a sandbox that shows them would keep nothing from whoever has the network
_CREDENTIALS = (
    ".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".config/gh", ".config/op", ".kube", ".docker", ".netrc",
    ".npmrc", ".pypirc", ".git-credentials", ".config/git/credentials", ".cargo/credentials.toml", ".password-store",
    ".local/share/keyrings", ".mozilla", ".config/chromium", ".config/google-chrome", ".bash_history", ".zsh_history",
)  # fmt: skip
# sockets of other programs lie here, through which a command could have things done outside
_SOCKETS = ("/run", "/var/run")
_RESOLVER = "/run/systemd/resolve"


class Sandbox:
    """How commands are confined.

    Attributes:
        program: bubblewrap; None: commands run as they are.
        reason: Why it is not used although it is preferred.
    """

    def __init__(self, program: str | None, *, network: bool, private: Sequence[Path] = (), reason: str = "") -> None:
        self.program, self.reason = program, reason
        self._network, self._private = network, private

    @classmethod
    async def find(cls, mode: SandboxMode, *, network: bool, private: Sequence[Path]) -> "Sandbox":
        """Look for bubblewrap, and see that it works here.

        Args:
            mode: What the settings say.
            network: Whether commands may reach the network.
            private: Folders that no command sees.
        Raises:
            ToolError: `sandbox_unavailable`: it is required, and does not work.
        """
        if mode == "off":
            return cls(None, network=network)
        program = shutil.which("bwrap")
        reason = "bubblewrap (`bwrap`) is not installed" if program is None else await _probe(program)
        if not reason:
            return cls(program, network=network, private=private)
        if mode == "require":
            raise sandbox_unavailable(reason)
        return cls(None, network=network, reason=reason)

    @property
    def is_on(self) -> bool:
        """Whether commands are confined."""
        return self.program is not None

    def wrap(self, argv: Sequence[str], workspace: Workspace, folder: str) -> list[str]:
        """The command line that runs another one confined.

        Args:
            argv: The command.
            workspace: Its roots can be written, but for what decides what runs.
            folder: The working folder's real path.
        """
        if self.program is None:
            return list(argv)
        return [self.program, *self._options(workspace), "--chdir", folder, "--", *argv]

    def _options(self, workspace: Workspace) -> Iterator[str]:
        yield from ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
        if not self._network:
            yield "--unshare-net"
        yield from ("--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
        yield from ("--tmpfs", "/tmp", "--tmpfs", "/var/tmp", "--tmpfs", "/dev/shm")  # noqa: S108
        for sockets in _SOCKETS:
            if Path(sockets).is_dir() and not Path(sockets).is_symlink():
                yield from ("--tmpfs", sockets)
        yield from ("--ro-bind-try", _RESOLVER, _RESOLVER)
        for hidden in self._hidden():
            yield from ("--tmpfs", str(hidden)) if hidden.is_dir() else ("--ro-bind", os.devnull, str(hidden))
        for root in workspace.roots:
            yield from ("--bind", str(root), str(root))
        for kept in _kept(workspace):
            yield from ("--ro-bind", kept, kept)
        yield from ("--setenv", "TMPDIR", "/tmp")  # noqa: S108

    def _hidden(self) -> Iterator[Path]:
        for path in (*self._private, *(Path.home() / name for name in _CREDENTIALS)):
            if path.exists():
                yield path.resolve()


def sandbox_unavailable(reason: str) -> ToolError:
    """The error where a sandbox is required and there is none."""
    message = (
        f"Commands must run in a sandbox here, and it does not work: {reason}. "
        "Install bubblewrap, or change the setting `sandbox` of shell_tools."
    )
    return ToolError("sandbox_unavailable", message, reason=reason)


def _kept(workspace: Workspace) -> Iterator[str]:
    """What is there of the files that decide what runs outside; git itself goes on working."""
    for root in workspace.roots:
        for path in sorted(root.iterdir()):
            if path.name == ".git" and path.is_dir():
                yield from (str(path / part) for part in ("hooks", "config") if (path / part).exists())
            elif not path.is_symlink() and workspace.is_protected(workspace.locate(str(path))):
                yield str(path)


async def _probe(program: str) -> str:
    """Why bubblewrap does not work here; empty: it does."""
    options = ("--unshare-user", "--unshare-pid", "--unshare-net", "--cap-drop", "ALL")
    mounts = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp")  # noqa: S108
    process = await asyncio.create_subprocess_exec(
        program,
        *options,
        *mounts,
        shutil.which("true") or "/bin/true",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.defpath},
    )
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            _, said = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return f"{program} did not answer within {_PROBE_SECONDS:g} s"
    if process.returncode == 0:
        return ""
    return said.decode(errors="replace").strip() or f"{program} ended with {process.returncode}"
