"""`Sandbox`: confines commands with bubblewrap."""

import asyncio
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Literal, Protocol

from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass
from agentcore.supervision.sandbox.caches import Caches
from agentcore.supervision.sandbox.mounts import (
    find_hidden_paths,
    list_hidden_mounts,
    list_kernel_mounts,
    list_system_mounts,
)
from agentcore.supervision.sandbox.own_home import OwnHome
from agentcore.supervision.sandbox.probe import can_disable_namespaces, find_failure, find_leaks

SandboxMode = Literal["off", "prefer", "require"]
"""When commands are confined: `off` never, `prefer` where it works, `require` always."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """The requested properties of the sandbox.

    Args:
        mode: The mode from the settings.
        network: True if commands may reach the network.
        private: Folders that are hidden from all commands.
        writable: Absolute paths of further files and folders that commands may write.
        caches: The caches of package managers.
        setting: The setting to change if there is no sandbox, such as "the setting `sandbox` of shell_tools".
        readable: Absolute paths that commands see although they are in a folder that is hidden from them, such as
            `/tmp`; credentials stay hidden.
        home: The commands' own home folder; None: the user's, without credentials.
    """

    mode: SandboxMode
    network: bool
    private: tuple[Path, ...]
    writable: tuple[Path, ...]
    caches: Caches
    setting: str
    readable: tuple[Path, ...] = ()
    home: OwnHome | None = None


class HeldPaths(Protocol):
    """The paths in the workspace that a command cannot change."""

    def mounts(self) -> Iterable[tuple[str, bool]]:
        """Yield each path that is mounted on itself, and True if it is writable; outer paths first."""
        ...

    def is_fixed(self, path: str) -> bool:
        """Return True if a path cannot be changed."""
        ...


class Sandbox:
    """Confines commands with bubblewrap where it works.

    Attributes:
        program: The path of bubblewrap; None if commands run unconfined.
        reason: Why bubblewrap is not used although it is requested; empty if it is used, or not requested.
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
        """Create a sandbox and search for bubblewrap; see `search`.

        Raises:
            ToolError: `sandbox_unavailable` if it is required and does not work.
        """
        sandbox = cls(wanted)
        await sandbox.search()
        return sandbox

    async def search(self) -> None:
        """Search for bubblewrap and check that it works on this machine; a background task checks if it confines.

        Can be called again while the sandbox is off, such as after bubblewrap was installed: later commands run in it.

        Raises:
            ToolError: `sandbox_unavailable` if it is required and does not work.
        """
        if not self.is_wanted:
            return
        program = shutil.which("bwrap")
        if program is None:
            self._disable("bubblewrap (`bwrap`) is not installed")
        else:
            await asyncio.to_thread(self.wanted.caches.prepare)
            if self.wanted.home is not None:
                await asyncio.to_thread(self.wanted.home.prepare)
            self._is_confined = await can_disable_namespaces(program)
            self._kernel = await asyncio.to_thread(list_kernel_mounts)
            options = [*self._base_options(), *list_system_mounts(self._kernel)]
            if reason := await find_failure(program, options):
                self._disable(reason)
            else:
                self.program = program
                self.reason = ""
                trying = find_leaks(program, options, is_confined=self._is_confined)
                # No TaskGroup: commands wait for it in `settle`, and `close` cancels it.
                self._trying = asyncio.create_task(trying, name="supervision:try_sandbox")
        if self.wanted.mode == "require":
            await self.settle()
            if self.reason:
                raise self.unavailable()

    @property
    def is_on(self) -> bool:
        """True if commands are confined."""
        return self.program is not None

    @property
    def is_wanted(self) -> bool:
        """True if the settings request a sandbox."""
        return self.wanted.mode != "off"

    def unavailable(self) -> ToolError:
        """Create the error for a sandbox that is required but not available."""
        message = (
            f"Commands must run in a sandbox here, and it does not work: {self.reason}. Install bubblewrap, or change "
            f"{self.wanted.setting}."
        )
        return ToolError("sandbox_unavailable", message, reason=self.reason)

    async def settle(self) -> None:
        """Wait for the check that the sandbox confines, and disable the sandbox if it does not."""
        if self._trying is not None:
            reason = await asyncio.shield(self._trying)
            self._trying = None
            if reason:
                self._disable(reason)

    async def close(self) -> None:
        """Cancel the background check; safe to call twice."""
        if self._trying is not None:
            self._trying.cancel()
            with suppress(asyncio.CancelledError):
                await self._trying
            self._trying = None

    def is_own(self, command: str) -> bool:
        """True if a command line is that of bubblewrap, which is the parent of confined commands."""
        return self.program is not None and command.startswith(f"{self.program} ")

    def environment(self, given: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
        """Return the additional environment variables of a confined command.

        Args:
            given: Its other variables.
        """
        if not self.is_on:
            return {}
        home = {} if self.wanted.home is None else self.wanted.home.environment(given)
        return {**self.wanted.caches.environment(), **home, "TMPDIR": "/tmp"}  # noqa: S108

    def wrap(self, argv: Sequence[str], roots: Sequence[Path], folder: str, hold: HeldPaths | None = None) -> list[str]:
        """Return the command line that runs a command confined.

        Args:
            argv: The command.
            roots: Writable folders.
            folder: The working folder's real path.
            hold: Paths in the roots that are not writable; None for none.
        """
        if self.program is None:
            return list(argv)
        options = (*self._base_options(), *list_system_mounts(self._kernel), *self._workspace_options(roots, hold))
        return [self.program, *options, "--chdir", folder, "--", *argv]

    def _disable(self, reason: str) -> None:
        self.program = None
        self.reason = reason

    def _base_options(self) -> Iterator[str]:
        # No --new-session: it would take the terminal from commands that have one. The supervisor already starts each
        # command in its own session, so no other terminal is in reach.
        yield from ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
        if not self.wanted.network:
            yield "--unshare-net"
        if self._is_confined:
            yield "--disable-userns"  # a new user namespace would restore the capabilities dropped here
        # No --die-with-parent: it would kill processes that a command leaves behind before they have written their last
        # output. The supervisor terminates them, also when it ends itself.
        yield from ("--cap-drop", "ALL")

    def _workspace_options(self, roots: Sequence[Path], hold: HeldPaths | None) -> Iterator[str]:
        hidden = find_hidden_paths(self.wanted.private)
        yield from list_hidden_mounts(hidden, roots, holds_root=True)
        for seen in self.wanted.readable:
            yield from ("--ro-bind-try", str(seen), str(seen))
        for root in roots:
            yield from ("--bind", str(root), str(root))
        for path, can_be_written in () if hold is None else hold.mounts():
            yield from ("--bind-try" if can_be_written else "--ro-bind-try", path, path)
        for also in self.wanted.writable:
            # Paths in a root are writable anyway; a separate mount would prevent them from being replaced.
            is_fixed = hold is not None and hold.is_fixed(str(also))
            if is_fixed or not any(also.is_relative_to(root) for root in roots):
                yield from ("--bind-try", str(also), str(also))
        # Last, so that nothing that a link in the workspace leads to is mounted over these.
        yield from list_hidden_mounts(hidden, roots, holds_root=False)
        yield from self.wanted.caches.mounts()
        if self.wanted.home is not None:
            yield from self.wanted.home.mounts()
