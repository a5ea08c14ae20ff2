"""An HTTP transport that connects only to checked addresses, which protects from DNS rebinding."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import httpcore2
import httpx2

from agentcore.api import ToolError, UrlPolicy

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""Looks up an origin, such as `http://example.com:80/`, and checks each address; raises ToolError for one refused."""

_NEXT_SECONDS = 5.0
"""Time limit for connecting to one address while there are others to try."""


def resolved_by(policy: UrlPolicy) -> Resolve:
    """Return a resolver that refuses addresses that the policy does not allow."""

    async def resolve(origin: str) -> Sequence[str]:
        return await policy.resolve(origin)

    return resolve


def checked_transport(resolve: Resolve) -> httpx2.AsyncHTTPTransport:
    """Create a transport that connects only to the addresses that `resolve` returns when the connection is made.

    A name that was checked before may resolve to another address later, so the connection uses the checked address.
    """
    transport = httpx2.AsyncHTTPTransport(trust_env=False)
    # The transport has no public way to set its network backend; its pool, which it creates itself, does.
    transport._pool._network_backend = _CheckedNetwork(resolve)  # noqa: SLF001
    return transport


class _CheckedNetwork(httpcore2.AsyncNetworkBackend):
    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first of the checked addresses that answers.

        Raises:
            httpcore2.ConnectError: If the policy refuses an address, or none responds.
        """
        origin = f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
        try:
            addresses = await self._resolve(origin)
        except ToolError as exc:
            raise httpcore2.ConnectError(exc.message) from exc
        for address in addresses[:-1]:
            limit_s = _NEXT_SECONDS if timeout is None else min(timeout, _NEXT_SECONDS)
            try:
                return await self._network.connect_tcp(address, port, limit_s, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        if not addresses:
            raise httpcore2.ConnectError(f"no address is known for {host!r}")
        return await self._network.connect_tcp(addresses[-1], port, timeout, local_address, socket_options)

    async def sleep(self, seconds: float) -> None:
        """Wait between attempts."""
        await self._network.sleep(seconds)
