"""What a host's modules have around them: folders, language, the server's own addresses."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agentcore.files.workspace import Workspace
from agentcore.host.declarations.module_storage import StoredBytes
from agentcore.net.url_policy import OwnOrigins


@dataclass
class HostSurroundings:
    """What stays the same for all modules of a host, from its greeting on.

    Args:
        state: The folder in which modules have their data and secrets.
        private_folders: Folders with keys and records, which nothing that a tool runs has to see.
        store: Gives where a module stores what another host has to find; None: in its data folder.
    """

    workspace: Workspace
    state: Path
    private_folders: tuple[Path, ...]
    locale: Literal["en", "zh"] = "en"
    own_origins: OwnOrigins = field(default_factory=OwnOrigins)
    store: Callable[[str], StoredBytes] | None = None

    @classmethod
    def of(cls, greeting: dict[str, Any]) -> "HostSurroundings":
        """As the server of a host on the same machine says (`hello.ok`)."""
        found = cls(
            Workspace([Path(root) for root in greeting["roots"]], protected=greeting["protected"]),
            Path(greeting["state"]),
            tuple(Path(folder) for folder in greeting["privateFolders"]),
            greeting["locale"],
        )
        found.own_origins.declare("server", greeting["ownOrigins"])
        return found
