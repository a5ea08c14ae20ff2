"""Records of the hosts of a pool."""

import time
from dataclasses import replace

from agentcore.store.credentials.host_keys import KnownHost


class PoolRecords:
    """Records of hosts of a pool, in memory only, because each announces itself again. See `KnownHosts`."""

    def __init__(self) -> None:
        self._known: dict[str, KnownHost] = {}

    def add_host(self, name: str) -> KnownHost:
        """Add a host."""
        return self._known.setdefault(name, KnownHost(name, b"", int(time.time() * 1000)))

    def find_host(self, name: str) -> KnownHost | None:
        return self._known.get(name)

    async def update_host(self, name: str, **changed: object) -> None:
        if name in self._known:
            self._known[name] = replace(self._known[name], **changed)  # type: ignore[arg-type]  # its own fields

    async def mark_seen(self, name: str, **changed: object) -> None:
        await self.update_host(name, last_seen_ms=int(time.time() * 1000), **changed)

    def set_drained(self, name: str, *, is_drained: bool) -> None:
        """Set whether a host accepts new work, as it announces."""
        if (known := self._known.get(name)) is not None and known.is_drained != is_drained:
            self._known[name] = replace(known, is_drained=is_drained)

    def delete_host(self, name: str) -> None:
        """Know it no more."""
        self._known.pop(name, None)
