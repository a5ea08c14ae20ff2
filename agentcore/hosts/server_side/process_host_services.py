"""The services of their server that hosts use."""

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentcore.config.loading import AppConfig
from agentcore.config.workspace_roots import configured_roots
from agentcore.core.events import EventBus
from agentcore.core.resources.registry import ResourceRegistry
from agentcore.late_dataclasses import dataclass
from agentcore.store.state.state_dir import StateDir, locate_state_dir
from agentcore.supervision.blocking_module import Holder
from agentcore.supervision.control_files.control_files import ControlReport


@dataclass(frozen=True)
class ProcessHostServices:
    """The services of their server that process hosts use.

    Args:
        roots: The workspace roots.
        protected: Patterns of paths that always need approval.
        own_origins: The current addresses of the server.
        on_blocked: Called with the module that blocked the event loop of its host, and the duration in seconds.
        on_control_files: Called with what the user has to know of the control files, and the host's name.
    """

    config: AppConfig
    state: StateDir
    resources: ResourceRegistry
    events: EventBus
    roots: tuple[Path, ...]
    protected: tuple[str, ...]
    own_origins: Callable[[], frozenset[str]]
    on_blocked: Callable[[Holder, float], None]
    on_control_files: Callable[[ControlReport, str], None]

    @property
    def blocked_s(self) -> float:
        """How long the event loop of a host may be blocked."""
        return self.config.limits.loop_blocked_max

    def build_hello_reply(self) -> dict[str, Any]:
        """Build the reply to the greeting of a host on this machine (`hello.ok`)."""
        kept = locate_state_dir(self.config.file, self.config.sources.environ)
        return {
            "roots": [str(root) for root in self.roots],
            "spelledRoots": [str(root) for root in configured_roots(self.config)],
            "protected": list(self.protected),
            "state": str(self.state.path),
            "privateFolders": [str(folder) for folder in dict.fromkeys((self.state.path, kept))],
            "ownOrigins": sorted(self.own_origins()),
            "locale": self.config.locale,
        }

    def build_stable_hello_reply(self) -> dict[str, Any]:
        """Build the part of it that does not change while a host runs."""
        greeting = self.build_hello_reply()
        return {name: greeting[name] for name in ("roots", "protected", "state", "locale")}

    def folder_of(self, host: str) -> Path:
        """Return the folder of a host that survives its server."""
        return self.state.path / "hosts" / host

    def files_of(self, host: str, module: str) -> Path:
        """Return an empty folder for files of a module in a host that the page needs."""
        folder = self.state.path / "hosts" / host / "files" / module
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, mode=0o700)
        return folder

    def forget_files(self, host: str) -> None:
        """Remove the page's files of all modules of a host, and its folder, if it is empty then."""
        folder = self.state.path / "hosts" / host
        shutil.rmtree(folder / "files", ignore_errors=True)
        for each in (folder, folder.parent):
            with contextlib.suppress(OSError):  # a surviving host has files there
                each.rmdir()
