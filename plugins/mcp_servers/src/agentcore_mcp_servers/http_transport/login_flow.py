"""`Asking`: one login in progress, from discovery until the browser was redirected back and the tokens are stored."""

import asyncio
from contextlib import aclosing

import httpx2
from mcp.client.auth import OAuthFlowError
from pydantic import ValidationError

from agentcore.api import ToolError
from agentcore_mcp_servers.block import LoginSettings
from agentcore_mcp_servers.http_transport.callback_server import CallbackServer
from agentcore_mcp_servers.http_transport.login_http import LoginHttp
from agentcore_mcp_servers.http_transport.login_storage import Keyring
from agentcore_mcp_servers.http_transport.providers import AskingProvider, Challenge

_SECONDS = 600.0
_SAID_CHARS = 1_000
_LATEST = "2025-11-25"


class Asking:
    """Runs one login of the user.

    Args:
        keyring: Stores the result.
        settings: The user's settings for the login.
        http: Sends the requests of the login.
        landing: Receives the browser's redirect.
        challenge: The server's refusal.

    Attributes:
        address: The URL that the user has to open; empty until it is known.
        failure: Why the login failed; empty if it succeeded or is in progress.
    """

    def __init__(
        self, keyring: Keyring, settings: LoginSettings, http: LoginHttp, landing: CallbackServer, challenge: Challenge
    ) -> None:
        self._keyring = keyring
        self._settings = settings
        self._http = http
        self._landing = landing
        self._challenge = challenge
        self._is_known = asyncio.Event()
        self.address = ""
        self.failure = ""

    async def wait_for_address(self) -> str:
        """Wait for the URL that the user has to open.

        Raises:
            ToolError: `login_failed`.
        """
        await self._is_known.wait()
        if not self.address:
            raise ToolError("login_failed", self.failure, untrusted=True)
        return self.address

    def finish(self, address: str) -> None:
        """Complete the login with the URL at which the user's browser ended.

        Raises:
            ToolError: `login_failed` if the URL does not belong to this login.
        """
        if not self._landing.accept_address(address.strip()):
            message = (
                "that is not the address at which this log-in ends: give the whole of what stands in the browser's "
                "address bar then, which begins with http://127.0.0.1 and has a code and a state"
            )
            raise ToolError("login_failed", message)

    async def run(self) -> bool:
        """Run the login within 10 minutes; True if the user is logged in."""
        try:
            async with asyncio.timeout(_SECONDS):
                await self._log_in()
        except TimeoutError:
            self.failure = f"nobody logged in within {_SECONDS / 60:g} minutes"
        except ToolError as exc:
            self.failure = exc.message
        except (OAuthFlowError, ValidationError, httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as exc:
            self.failure = f"logging in did not work: {str(exc) or type(exc).__name__}"[:_SAID_CHARS]
        finally:
            self._landing.set_outcome(self.failure)
            self._is_known.set()
            await self._landing.close()
        return not self.failure

    async def _log_in(self) -> None:
        redirect = await self._landing.open(self._list_ports())
        provider = AskingProvider(
            self._keyring, self._settings, redirect, self._publish_address, self._landing.wait_for_code
        )
        # A placeholder for the refused request, which is not sent again.
        refused = httpx2.Request(
            "POST", self._keyring.kept.url, headers={"mcp-protocol-version": self._challenge.protocol or _LATEST}
        )
        async with aclosing(provider.async_auth_flow(refused)) as flow:
            request = await anext(flow)
            while request is not refused:
                request = await flow.asend(await self._http.send(request))
            request = await flow.asend(self._challenge.response_to(refused))
            while request is not refused:
                request = await flow.asend(await self._http.send(request))

    def _list_ports(self) -> tuple[int, ...]:
        """Return the ports for the redirect, those of the client registration first."""
        if self._settings.port is not None:
            return (self._settings.port,)
        client = self._keyring.kept.client
        known = [uri.port for uri in (client.redirect_uris or ())] if client is not None else []
        return (*(port for port in known if port is not None), 0)

    async def _publish_address(self, address: str) -> None:
        await self._http.check_url(address)
        self._landing.expect_answer(address)
        self.address = address
        self._is_known.set()
