"""`LoginHttp`: requests of a log-in, each to an address that was judged first."""

from collections.abc import Sequence
from urllib.parse import urlsplit

import httpx2

from agentcore.api import Runtime, ToolError, UrlPolicy
from agentcore_mcp_servers.address.bounded import Bounded
from agentcore_mcp_servers.address.dialling import checked_transport

_SECONDS = 20.0
_ANSWER_BYTES = 1024 * 1024


class LoginHttp:
    """Sends them.

    A server says itself where a person logs in to it. So what it names is judged like any address that comes from
    outside, and speaks TLS; only the host that the person has written, and those that they have listed, may be in a
    network of their own.

    Args:
        runtime: Gives the policies.
        url: The server's address.
        hosts: What the person has listed besides.
    """

    def __init__(self, runtime: Runtime, url: str, hosts: Sequence[str]) -> None:
        host = urlsplit(url).hostname or ""
        written = (f"[{host}]" if ":" in host else host, *hosts)
        self._policies = (
            runtime.url_policy(allow_private=True, allowed_hosts=written),
            runtime.url_policy(schemes=frozenset(("https",))),
        )

    async def check_url(self, url: str) -> None:
        """Let an address be opened, or not.

        Raises:
            ToolError: `url_blocked`, `host_not_found`.
        """
        await self._policy_for(url).resolve(url)

    def _policy_for(self, url: str) -> UrlPolicy:
        written, other = self._policies
        try:
            written.check(url)
        except ToolError:
            return other
        return written

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, and read its answer.

        Raises:
            ToolError: `url_blocked`, `host_not_found`.
            httpx2.HTTPError: There is no answer.
        """
        url = str(request.url)
        policy = self._policy_for(url)
        await policy.resolve(url)

        async def resolve(_origin: str) -> Sequence[str]:
            return await policy.resolve(url)

        transport = Bounded(checked_transport(resolve), _ANSWER_BYTES)
        async with httpx2.AsyncClient(transport=transport) as client:
            # the SDK makes these requests without a client, which would have given them a time limit
            request.extensions["timeout"] = httpx2.Timeout(_SECONDS).as_dict()
            return await client.send(request)
