"""Resources that clients watch: notifies clients of changes in what modules serve."""

import asyncio
from collections.abc import Awaitable, Callable

from agentcore.core.events import Event, EventBus
from agentcore.errors import ToolError
from agentcore.limits import WATCHED_PER_SESSION
from agentcore.mcp_endpoint.caller import Caller
from agentcore.mcp_endpoint.prompts_and_resources import Served

_GATHERED_SECONDS = 0.1
_GATHERED = 1_000
"""Maximum changes within that time of which clients are notified; any more are dropped."""

Find = Callable[[Caller, str], Awaitable[None]]


class Watching:
    """Subscriptions of clients to resources, and changes of these.

    Args:
        events: Reports changes.
        served: Knows what modules serve.
        find: Looks up a resource of any kind for a client; raises ToolError if there is none.
        tell: Called with the address of a changed resource.
    """

    def __init__(self, events: EventBus, served: Served, find: Find, tell: Callable[[str], None]) -> None:
        self._served = served
        self._find = find
        self._tell = tell
        self._changed: dict[str, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._unsubscribe = events.subscribe("tools.servedChanged", self._record_change)

    def close(self) -> None:
        """Stop notifying of changes."""
        self._unsubscribe()
        if self._timer is not None:
            self._timer.cancel()

    async def add_subscription(self, caller: Caller, uri: str) -> None:
        """Subscribe a session to a resource.

        Raises:
            ToolError: `too_many_watched`; or this client has no such resource.
        """
        watched = caller.wishes.resources
        if uri not in watched and len(watched) >= WATCHED_PER_SESSION:
            message = (
                f"this session watches {WATCHED_PER_SESSION} resources already, which is the bound; end some first"
            )
            raise ToolError("too_many_watched", message, limit=WATCHED_PER_SESSION)
        await self._find(caller, uri)
        watched[uri] = None

    async def filter_readable(self, caller: Caller, uris: list[str] | None) -> list[str] | None:
        """Return those of the addresses that this client may watch."""
        if uris is None:
            return None
        found = []
        for uri in uris[:WATCHED_PER_SESSION]:
            try:
                await self._find(caller, uri)
            except ToolError:
                continue
            found.append(uri)
        return found

    def is_subscribed(self, caller: Caller, uri: str) -> bool:
        """True if a session watches an address, and may still read it."""
        return uri in caller.wishes.resources and self._served.find_resource(caller, uri) is not None

    # -- changes -----------------------------------------------------------------------------------------------

    def _record_change(self, event: Event) -> None:
        uri = event.data["address"]
        if self._served.module_of(uri) != event.data["module"] or len(self._changed) >= _GATHERED:
            return
        self._changed[uri] = None
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_GATHERED_SECONDS, self._notify_all)

    def _notify_all(self) -> None:
        changed = self._changed
        self._changed = {}
        self._timer = None
        for uri in changed:
            self._tell(uri)
