"""`Sandbox`: what bubblewrap lets a command see and change."""

import asyncio
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from agentcore.errors import ToolError
from agentcore.supervision.sandbox.caches import Caches
from agentcore.supervision.sandbox.mounts import list_hidden_mounts, list_kernel_mounts, list_system_mounts
from agentcore.supervision.sandbox.probe import can_disable_namespaces, find_failure, find_leaks

SandboxMode = Literal["off", "prefer", "require"]
"""Whether commands are confined: never, where it works, or always."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """What the sandbox is to be like.

    Args:
        mode: What the settings say.
        network: Whether commands may reach the network.
        private: Folders that no command sees.
        writable: Further files and folders that commands may write, absolute.
        caches: Where package managers keep what they have fetched.
        setting: What a person changes where there is no sandbox, such as "the setting `sandbox` of shell_tools".
    """

    mode: SandboxMode
    network: bool
    private: tuple[Path, ...]
    writable: tuple[Path, ...]
    caches: Caches
    setting: str


class HeldPaths(Protocol):
    """What of the workspace a command cannot change."""

    def mounts(self) -> Iterable[tuple[str, bool]]:
        """Each path that is mounted on itself, and whether it can be written; outer ones first."""
        ...

    def is_fixed(self, path: str) -> bool:
        """Whether a path cannot be changed."""
        ...


class Sandbox:
    """How commands are confined.

    Attributes:
        program: bubblewrap; None: commands run as they are.
        reason: Why it is not used although it is wanted; empty: it is used, or not wanted.
    """

    def __init__(self, wanted: Confinement, program: str | None = None, reason: str = "") -> None:
        self.wanted = wanted
        self.program = program
        self.reason = reason
        self._is_confined = False
        self._kernel: tuple[str, ...] = ()
        self._trying: asyncio.Task[str] | None = None

    @classmethod
    async def find(cls, wanted: Confinement) -> "Sandbox":
        """Make one, and search for bubblewrap; see `search`.

        Raises:
            ToolError: `sandbox_unavailable`: it is required, and does not work.
        """
        sandbox = cls(wanted)
        await sandbox.search()
        return sandbox

    async def search(self) -> None:
        """Search for bubblewrap, and check that it works here; whether it confines is checked in the background.

        Can be repeated while it is not on, such as after bubblewrap was installed: later commands run in it.

        Raises:
            ToolError: `sandbox_unavailable`: it is required, and does not work.
        """
        if not self.is_wanted:
            return
        program = shutil.which("bwrap")
        if program is None:
            self._disable("bubblewrap (`bwrap`) is not installed")
        else:
            await asyncio.to_thread(self.wanted.caches.prepare)
            self._is_confined = await can_disable_namespaces(program)
            self._kernel = await asyncio.to_thread(list_kernel_mounts)
            options = [*self._base_options(), *list_system_mounts(self._kernel)]
            if reason := await find_failure(program, options):
                self._disable(reason)
            else:
                self.program = program
                self.reason = ""
                trying = find_leaks(program, options, is_confined=self._is_confined)
                # no TaskGroup: commands wait for it in `settle`, and `close` ends it
                self._trying = asyncio.create_task(trying, name="supervision:try_sandbox")
        if self.wanted.mode == "require":
            await self.settle()
            if self.reason:
                raise self.unavailable()

    @property
    def is_on(self) -> bool:
        """Whether commands are confined."""
        return self.program is not None

    @property
    def is_wanted(self) -> bool:
        """Whether the settings ask for it."""
        return self.wanted.mode != "off"

    def unavailable(self) -> ToolError:
        """The error where a sandbox is required and there is none."""
        message = (
            f"Commands must run in a sandbox here, and it does not work: {self.reason}. Install bubblewrap, or change "
            f"{self.wanted.setting}."
        )
        return ToolError("sandbox_unavailable", message, reason=self.reason)

    async def settle(self) -> None:
        """Wait until it is known whether the sandbox holds."""
        if self._trying is not None:
            reason = await asyncio.shield(self._trying)
            self._trying = None
            if reason:
                self._disable(reason)

    async def close(self) -> None:
        """Stop trying; safe to call twice."""
        if self._trying is not None:
            self._trying.cancel()
            with suppress(asyncio.CancelledError):
                await self._trying
            self._trying = None

    def is_own(self, command: str) -> bool:
        """Whether a command line is that of bubblewrap, which stands between a command and all that came of it."""
        return self.program is not None and command.startswith(f"{self.program} ")

    def environment(self) -> dict[str, str]:
        """Variables for a command in it."""
        return {**self.wanted.caches.environment(), "TMPDIR": "/tmp"} if self.is_on else {}  # noqa: S108

    def wrap(self, argv: Sequence[str], roots: Sequence[Path], folder: str, hold: HeldPaths | None = None) -> list[str]:
        """The command line that runs another one confined.

        Args:
            argv: The command.
            roots: Folders that can be written.
            folder: The working folder's real path.
            hold: What of them cannot; None: nothing.
        """
        if self.program is None:
            return list(argv)
        options = (*self._base_options(), *list_system_mounts(self._kernel), *self._workspace_options(roots, hold))
        return [self.program, *options, "--chdir", folder, "--", *argv]

    def _disable(self, reason: str) -> None:
        self.program = None
        self.reason = reason

    def _base_options(self) -> Iterator[str]:
        # a session of its own (--new-session) would take the terminal from commands that have one: it is theirs, and
        # no other is in reach, for the supervisor starts each command in a session of its own
        yield from ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
        if not self.wanted.network:
            yield "--unshare-net"
        if self._is_confined:
            yield "--disable-userns"  # a namespace of its own would give back what is dropped here
        # without --die-with-parent: it would kill what a command leaves behind at once, its last words unsaid; the
        # supervisor ends that, and all of it with itself
        yield from ("--cap-drop", "ALL")

    def _workspace_options(self, roots: Sequence[Path], hold: HeldPaths | None) -> Iterator[str]:
        yield from list_hidden_mounts(self.wanted.private, roots, holds_root=True)
        for root in roots:
            yield from ("--bind", str(root), str(root))
        for path, can_be_written in () if hold is None else hold.mounts():
            yield from ("--bind-try" if can_be_written else "--ro-bind-try", path, path)
        for also in self.wanted.writable:
            # what lies in a root can be written there; a mount of its own would keep it from being replaced
            is_fixed = hold is not None and hold.is_fixed(str(also))
            if is_fixed or not any(also.is_relative_to(root) for root in roots):
                yield from ("--bind-try", str(also), str(also))
        # last, whatever a link in the workspace has led to
        yield from list_hidden_mounts(self.wanted.private, roots, holds_root=False)
        yield from self.wanted.caches.mounts()
