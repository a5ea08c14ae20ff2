"""`Root` and `Place`: a workspace root, and a path beneath one. This module does not access the disk."""

from collections.abc import Sequence

from agentcore.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """A folder that tools may access.

    Args:
        fd: Descriptor of the folder, open as long as the workspace.
        path: Its real path.
        spellings: The components of each absolute path of it: the real path and the configured ones.
    """

    fd: int
    path: bytes
    spellings: tuple[tuple[bytes, ...], ...]


def split_path(path: bytes) -> tuple[bytes, ...]:
    """Split a path into components, without empty ones and `.`; `..` is kept."""
    return tuple(part for part in path.split(b"/") if part not in (b"", b"."))


def split_absolute(roots: Sequence[Root], parts: tuple[bytes, ...]) -> tuple[Root, tuple[bytes, ...]] | None:
    """Return the innermost root that contains an absolute path, and the components beneath it; None if none does."""
    best: tuple[int, Root] | None = None
    for root in roots:
        for spelling in root.spellings:
            length = len(spelling)
            if parts[:length] == spelling and (best is None or length > best[0]):
                best = (length, root)
    return None if best is None else (best[1], parts[best[0] :])


@dataclass(frozen=True, slots=True)
class Place:
    """A requested path inside a root, not yet resolved: links in it are not followed.

    Args:
        root: The root that it starts from.
        parts: Its components beneath the root; empty: the root itself. `..` may occur and is checked when opening.
    """

    root: Root
    parts: tuple[bytes, ...]

    @property
    def name(self) -> bytes:
        """Return the last component; empty for a root."""
        return self.parts[-1] if self.parts else b""

    @property
    def parent(self) -> "Place":
        """Return the place without its last component."""
        return Place(self.root, self.parts[:-1])

    def child(self, *names: bytes) -> "Place":
        """Return the place with further components."""
        return Place(self.root, self.parts + names)
