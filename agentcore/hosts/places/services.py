"""What places need of their server."""

import contextlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentcore.config.loading import AppConfig
from agentcore.config.workspace import configured_roots
from agentcore.core.events import EventBus
from agentcore.core.resources.registry import ResourceRegistry
from agentcore.store.state import StateDir, locate_state_dir
from agentcore.supervision.control import ControlReport
from agentcore.supervision.holder import Holder


@dataclass(frozen=True)
class ProcessHostServices:
    """What places need of their server.

    Args:
        roots: The workspace roots.
        protected: Patterns of what always needs a person.
        own_origins: Where the server can be reached now.
        on_blocked: Told which module held the event loop of its host, and for how many seconds.
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
        """How long the event loop of a host may be held."""
        return self.config.limits.loop_blocked_max

    def build_hello_reply(self) -> dict[str, Any]:
        """What a host on this machine is told (`hello.ok`)."""
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
        """The part of it that stays the same for a host as long as it runs."""
        greeting = self.build_hello_reply()
        return {name: greeting[name] for name in ("roots", "protected", "state", "locale")}

    def folder_of(self, host: str) -> Path:
        """The folder of a host that outlives its server."""
        return self.state.path / "hosts" / host

    def files_of(self, host: str, module: str) -> Path:
        """An empty folder for what the page needs of a module that runs in a host."""
        folder = self.state.path / "hosts" / host / "files" / module
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, mode=0o700)
        return folder

    def forget_files(self, host: str) -> None:
        """Remove what the page needed of all modules of a host, and its folder, if nothing else is there."""
        folder = self.state.path / "hosts" / host
        shutil.rmtree(folder / "files", ignore_errors=True)
        for each in (folder, folder.parent):
            with contextlib.suppress(OSError):  # a host that goes on has something there
                each.rmdir()
