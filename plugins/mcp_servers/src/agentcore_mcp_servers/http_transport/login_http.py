"""`LoginHttp`: sends the requests of a login, each to a checked address."""

from collections.abc import Sequence
from urllib.parse import urlsplit

import httpx2

from agentcore.api import Runtime, ToolError, UrlPolicy
from agentcore_mcp_servers.http_transport.checked_connections import checked_transport
from agentcore_mcp_servers.http_transport.size_limit import Bounded

_SECONDS = 20.0
_ANSWER_BYTES = 1024 * 1024


class LoginHttp:
    """Sends the requests of a login.

    The server names the hosts at which the user logs in. These are therefore checked like any untrusted address and
    must use TLS; only the configured host and those in the settings may be in a private network.

    Args:
        runtime: Creates the URL policies.
        url: The server's address.
        hosts: Further hosts from the user's settings.
    """

    def __init__(self, runtime: Runtime, url: str, hosts: Sequence[str]) -> None:
        host = urlsplit(url).hostname or ""
        written = (f"[{host}]" if ":" in host else host, *hosts)
        self._policies = (
            runtime.url_policy(allow_private=True, allowed_hosts=written),
            runtime.url_policy(schemes=frozenset(("https",))),
        )

    async def check_url(self, url: str) -> None:
        """Check that an address may be opened.

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
        """Send a request and read its response.

        Raises:
            ToolError: `url_blocked`, `host_not_found`.
            httpx2.HTTPError: If there is no response.
        """
        url = str(request.url)
        policy = self._policy_for(url)
        await policy.resolve(url)

        async def resolve(_origin: str) -> Sequence[str]:
            return await policy.resolve(url)

        transport = Bounded(checked_transport(resolve), _ANSWER_BYTES)
        async with httpx2.AsyncClient(transport=transport) as client:
            # The SDK creates these requests without a client, which would have set a timeout.
            request.extensions["timeout"] = httpx2.Timeout(_SECONDS).as_dict()
            return await client.send(request)
