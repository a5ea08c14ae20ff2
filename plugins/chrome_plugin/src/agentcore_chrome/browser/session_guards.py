"""The proxies of the sessions of one engine: each is a guard that also lets its session reach its own services."""

import asyncio
from dataclasses import dataclass

from agentcore.api import UrlPolicy
from agentcore_chrome.browser.guard import Guard


class SessionPolicy:
    """The policy of a session's connections.

    Only a URL that names loopback itself leads to a service: a name of the web that resolves to loopback stays refused.
    """

    def __init__(self, policy: UrlPolicy, session_id: str) -> None:
        self._policy = policy
        self._with_services = policy.with_services(session_id)

    async def resolve(self, url: str) -> list[str]:
        """Return the addresses of a URL's host, all of which are allowed."""
        is_service = self._with_services.find_service(url) is not None
        return await (self._with_services if is_service else self._policy).resolve(url)


@dataclass(slots=True)
class _Used:
    guard: Guard
    contexts: int = 0


class SessionGuards:
    """Starts a guard for the first context of a session, and stops it after the last.

    Args:
        policy: Which addresses may be opened.
        shared: The engine's guard, which also stores what the others have refused.
    """

    def __init__(self, policy: UrlPolicy, shared: Guard) -> None:
        self._policy = policy
        self._shared = shared
        self._guards: dict[str, _Used] = {}

    async def acquire(self, session_id: str) -> str:
        """Return the address of the proxy for one more context of a session; each needs a `release`."""
        used = self._guards.get(session_id)
        if used is None:
            guard = Guard(SessionPolicy(self._policy, session_id))
            guard.refused = self._shared.refused
            guard.failed = self._shared.failed
            used = self._guards[session_id] = _Used(guard)
        used.contexts += 1
        return await used.guard.start()

    async def release(self, session_id: str) -> None:
        """Stop the proxy of a session if its last context is closed."""
        used = self._guards.get(session_id)
        if used is None:
            return
        used.contexts -= 1
        if used.contexts <= 0:
            del self._guards[session_id]
            await used.guard.stop()

    async def stop(self) -> None:
        """Stop all proxies; may be called twice."""
        guards = [used.guard for used in self._guards.values()]
        self._guards.clear()
        await asyncio.gather(*(guard.stop() for guard in guards))
