"""`OwnOrigins`: where the servers in front of a host can be reached, so that no tool is led back to them."""

from collections.abc import Collection


class OwnOrigins:
    """The origins of everything that this process serves; each server declares its own when it knows its port."""

    def __init__(self) -> None:
        self._declared: dict[str, frozenset[str]] = {}

    def declare(self, server: str, origins: Collection[str]) -> None:
        """Say where a server can be reached; replaces what it said before.

        Args:
            server: What declares, such as `page`.
            origins: Such as `http://127.0.0.1:8765`.
        """
        self._declared[server] = frozenset(origins)

    def __call__(self) -> frozenset[str]:
        """All of them, as they are now."""
        return frozenset().union(*self._declared.values())
