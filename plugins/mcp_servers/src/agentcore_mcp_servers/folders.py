"""The folders that a command's block names: what it may write and see in the sandbox, and its roots."""

from collections.abc import Sequence
from pathlib import Path

from agentcore.api import CREDENTIALS, ToolError
from agentcore_mcp_servers.block import ServerBlock


class BlockFolders:
    """The folders of one block; relative paths are in the first workspace root.

    Args:
        block: The server's block.
        roots: The workspace roots.
    """

    def __init__(self, block: ServerBlock, roots: Sequence[Path]) -> None:
        self._block = block
        self._roots = tuple(roots)

    @property
    def own(self) -> Path | None:
        """`cwd` of the block; it may be outside the workspace, because the user configured it."""
        cwd = self._block.cwd
        return None if cwd is None else self._resolve(cwd)

    @property
    def writable(self) -> tuple[Path, ...]:
        """The folders that the server may write in addition to the workspace, which is writable and guarded.

        `cwd` is left out if it contains the workspace or the user's home, because it holds control files that are not
        guarded.

        Raises:
            ToolError: `folder_refused`: `writable` of the block names such a folder.
        """
        named = [self._resolve(path) for path in self._block.agentcore.writable]
        for folder in named:
            if self._holds_others(folder):
                message = (
                    f"`agentcore.writable` of the block names {str(folder)!r}, which contains the workspace or your "
                    "home folder, and so files that decide what runs: name the folders in it that the server writes"
                )
                raise ToolError("folder_refused", message, path=str(folder))
        own = self.own
        if own is not None and not self._is_in_workspace(own) and not self._holds_others(own):
            named.append(own)
        return tuple(named)

    @property
    def readable(self) -> tuple[Path, ...]:
        """The files and folders that the server sees although the sandbox hides what is around them."""
        return tuple(self._resolve(path) for path in self._block.agentcore.readable)

    @property
    def told(self) -> tuple[Path, ...]:
        """The roots that the server receives: those of the block, else the folders that it names and the workspace."""
        if self._block.agentcore.roots is not None:
            return tuple(self._resolve(path) for path in self._block.agentcore.roots)
        named = [Path(word) for word in self._block.args if Path(word).is_absolute() and Path(word).is_dir()]
        own = [] if self.own is None else [self.own]
        return tuple(dict.fromkeys((*own, *named, *self._roots)))

    @property
    def shown_home(self) -> tuple[str, ...]:
        """Paths below the user's home folder that the server sees in its own."""
        return tuple(CREDENTIALS.get(entry, entry.removeprefix("~/")) for entry in self._block.agentcore.home)

    def _resolve(self, path: str) -> Path:
        return self._roots[0] / Path(path).expanduser()

    def _is_in_workspace(self, folder: Path) -> bool:
        return any(folder.resolve().is_relative_to(root.resolve()) for root in self._roots)

    def _holds_others(self, folder: Path) -> bool:
        real = folder.resolve()
        return any(other.resolve().is_relative_to(real) for other in (*self._roots, Path.home()))
