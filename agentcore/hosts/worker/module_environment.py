"""The environment of a host's modules: folders, language, the server's own addresses."""

import asyncio
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from agentcore.files.workspace import Workspace
from agentcore.late_dataclasses import dataclass
from agentcore.net.url_policy import OwnOrigins
from agentcore.supervision.control_files.control_files import ControlFiles, ControlReport


@dataclass
class HostSurroundings:
    """The part of it that is the same for all modules of a host, from its greeting on.

    Args:
        state: The folder in which modules have their data and secrets.
        private_folders: Folders with keys and records, which programs of tools must not read.
        name: The host's name.
        stores_at_server: True if the server stores the data of modules, for other hosts; else they are in
            the module's data folder.
    """

    workspace: Workspace
    state: Path
    private_folders: tuple[Path, ...]
    locale: Literal["en", "zh"] = "en"
    name: str = "host"
    own_origins: OwnOrigins = field(default_factory=OwnOrigins)
    stores_at_server: bool = False

    def __post_init__(self) -> None:
        """Protect the control files; reports go to `on_control_files`, which a worker sets."""
        self.on_control_files: Callable[[ControlReport], None] = lambda report: None
        self.control_files = ControlFiles(
            self.workspace,
            self.state / "control_files" / f"{self.name}.json",
            self._report_control_files,
        )
        self._restoring: asyncio.Task[Any] | None = None

    def _report_control_files(self, report: ControlReport) -> None:
        self.on_control_files(report)

    async def restore_control_files(self) -> None:
        """Check before the first module starts what programs did that ran when this host ended unexpectedly."""
        if self._restoring is None:
            # no TaskGroup: all modules that start at one time wait for the same check
            self._restoring = asyncio.create_task(self.control_files.restore(), name="control_files:restore")
        await asyncio.shield(self._restoring)

    @classmethod
    def from_hello_reply(cls, greeting: dict[str, Any], name: str) -> "HostSurroundings":
        """Create it from the reply of the server on the same machine (`hello.ok`)."""
        found = cls(
            Workspace(
                [Path(root) for root in greeting["roots"]],
                protected=greeting["protected"],
                spelled=[Path(root) for root in greeting["spelledRoots"]],
            ),
            Path(greeting["state"]),
            tuple(Path(folder) for folder in greeting["privateFolders"]),
            greeting["locale"],
            name,
        )
        found.own_origins.declare("server", greeting["ownOrigins"])
        return found
