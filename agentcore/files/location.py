"""`Root` and `Place`: where a path starts, and the way beneath it. Nothing here looks at the disk."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """A folder that tools may touch.

    Args:
        fd: Descriptor of the folder, open for as long as the workspace is.
        path: Its real path.
        spellings: The components of each absolute path that names it: the real one, and the one that was configured.
    """

    fd: int
    path: bytes
    spellings: tuple[tuple[bytes, ...], ...]


def split_path(path: bytes) -> tuple[bytes, ...]:
    """The parts of a path that mean something: neither empty nor `.`; `..` stays."""
    return tuple(part for part in path.split(b"/") if part not in (b"", b"."))


def split_absolute(roots: Sequence[Root], parts: tuple[bytes, ...]) -> tuple[Root, tuple[bytes, ...]] | None:
    """The root that an absolute path lies in, the innermost one, and the parts beneath it; None: it lies in none."""
    best: tuple[int, Root] | None = None
    for root in roots:
        for spelling in root.spellings:
            length = len(spelling)
            if parts[:length] == spelling and (best is None or length > best[0]):
                best = (length, root)
    return None if best is None else (best[1], parts[best[0] :])


@dataclass(frozen=True, slots=True)
class Place:
    """A path inside a root, as it was asked for: nothing is looked up yet, and links in it are not followed.

    Args:
        root: The root that it starts from.
        parts: Its components beneath the root; none: the root itself. `..` may occur; the opening minds it.
    """

    root: Root
    parts: tuple[bytes, ...]

    @property
    def name(self) -> bytes:
        """The last component; empty for a root."""
        return self.parts[-1] if self.parts else b""

    @property
    def parent(self) -> "Place":
        """The place without its last component."""
        return Place(self.root, self.parts[:-1])

    def child(self, *names: bytes) -> "Place":
        """A place further below."""
        return Place(self.root, self.parts + names)
