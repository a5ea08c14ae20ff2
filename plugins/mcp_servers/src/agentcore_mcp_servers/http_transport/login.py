"""`ServerLogin`: the state of the login at a server, and the operations that log in and out."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from urllib.parse import urlsplit

import httpx2
import structlog
from mcp.client.auth.utils import extract_field_from_www_auth

from agentcore.api import Background, LoginStatus, Runtime, ToolError
from agentcore_mcp_servers.block import LoginSettings
from agentcore_mcp_servers.http_transport.callback_server import CallbackServer
from agentcore_mcp_servers.http_transport.login_flow import Asking
from agentcore_mcp_servers.http_transport.login_http import LoginHttp
from agentcore_mcp_servers.http_transport.login_storage import Keyring
from agentcore_mcp_servers.http_transport.providers import Challenge, QuietProvider

log = structlog.get_logger(__name__)

_UNAUTHORIZED = 401
_refusals: ContextVar[list[Challenge] | None] = ContextVar("mcp_servers_refusals", default=None)
"""Refusals of the requests in the current context; the SDK sends each request in the context of its caller."""


@contextmanager
def watch_refusals() -> Iterator[list[Challenge]]:
    """Collect the challenges of requests within the block that the server refuses because they need a login."""
    found: list[Challenge] = []
    token = _refusals.set(found)
    try:
        yield found
    finally:
        _refusals.reset(token)


class ServerLogin:
    """The login at one server, from `load` to `close`; implements `agentcore.api.Login`.

    Args:
        runtime: The module's runtime.
        url: The server's address.
        settings: The user's settings for the login.
        on_change: Called with True when the user has logged in, and with False when they have logged out.

    Attributes:
        auth: Authorises each request to the server.
        challenge: The server's last refusal; None if it accepts requests.
    """

    def __init__(
        self, runtime: Runtime, url: str, settings: LoginSettings, on_change: Callable[[bool], Awaitable[None]]
    ) -> None:
        self._runtime = runtime
        self._settings = settings
        self._on_change = on_change
        self._keyring = Keyring(runtime.secrets, url)
        self._http = LoginHttp(runtime, url, settings.hosts)
        self._background = Background(f"{runtime.name}:login")
        self.challenge: Challenge | None = None
        self._asking: Asking | None = None
        self._may_try = asyncio.Event()
        self._may_try.set()
        self._said = ""
        self.auth = QuietProvider(self._keyring, settings, self._http, self._on_response)

    async def load(self) -> None:
        """Load the tokens of an earlier login."""
        await self._keyring.load()

    async def close(self) -> None:
        """Cancel a login in progress; safe to call twice."""
        await self._background.stop()

    @property
    def is_needed(self) -> bool:
        """True if the server refuses all requests until the user has logged in."""
        return self.challenge is not None and self.challenge.status == _UNAUTHORIZED

    async def wait_until_possible(self) -> None:
        """Wait until connecting again may succeed: at once, unless a login is needed."""
        await self._may_try.wait()

    def create_refusal_error(self, challenge: Challenge) -> ToolError:
        """Create the error of a call that the server refused."""
        name = self._runtime.name
        message = (
            f"the server {name} {_describe_challenge(challenge)}. Nothing was done. Only the user can do that: ask "
            f"them to log in, on the page of the module {name} or with `agentcore mcp login {name}`, and "
            "call again then"
        )
        return ToolError("login_needed", message, server=name)

    # -- operations of the user --------------------------------------------------------------------------------

    def status(self) -> LoginStatus:
        """Return the present state of the login."""
        asking = self._asking
        if asking is not None:
            return LoginStatus("waiting", "", asking.address)
        if self.challenge is not None:
            more = "" if self.is_needed else f"The server {_describe_challenge(self.challenge)}."
            return LoginStatus("needed", self._said or more)
        if self._keyring.kept.tokens is not None:
            issuer = urlsplit(self._keyring.kept.issuer or self._keyring.kept.url).netloc
            return LoginStatus("logged_in", issuer)
        return LoginStatus("unneeded", self._said)

    async def begin(self) -> str:
        """Start a login, or continue the one in progress, and return the URL that the user has to open.

        Raises:
            ToolError: `login_failed`.
        """
        if self._asking is None:
            landing = CallbackServer(self._runtime.name, self._runtime.locale)
            challenge = self.challenge or Challenge(_UNAUTHORIZED)
            self._said = ""
            self._asking = Asking(self._keyring, self._settings, self._http, landing, challenge)
            self._background.start(self._run_login(self._asking))
        return await self._asking.wait_for_address()

    async def finish(self, address: str) -> None:
        """Complete the login in progress with the URL at which the user's browser ended.

        Raises:
            ToolError: `login_failed` if no login is in progress or the URL does not belong to it.
        """
        if self._asking is None:
            raise ToolError("login_failed", "no log-in waits here: begin one")
        self._asking.finish(address)

    async def log_out(self) -> None:
        """Delete the stored login and revoke the tokens if the authorization server supports it."""
        await self._background.stop()
        self._asking = None
        await self._revoke_tokens()
        await self._keyring.delete()
        self.auth.reload_tokens()
        self._said = ""
        self._record_refusal(Challenge(_UNAUTHORIZED))
        await self._on_change(False)

    async def _run_login(self, asking: Asking) -> None:
        try:
            if await asking.run():
                self.auth.reload_tokens()
                self.challenge = None
                self._may_try.set()
                await self._on_change(True)
        finally:
            # Only now, so that a client that sees the login as completed also finds the server's tools.
            self._asking = None
            self._said = asking.failure
            log.info("mcp_login_ended", module=self._runtime.name, failure=asking.failure)

    async def _revoke_tokens(self) -> None:
        request = self.auth.revoking_request()
        if request is None:
            return
        try:
            await self._http.send(request)
        except (httpx2.HTTPError, ToolError) as exc:
            log.warning("mcp_login_not_revoked", module=self._runtime.name, reason=str(exc)[:500])

    # -- responses of the server -------------------------------------------------------------------------------

    def _on_response(self, challenge: Challenge | None) -> None:
        if challenge is not None:
            self._record_refusal(challenge)
        elif self.is_needed:
            self.challenge = None
            self._may_try.set()

    def _record_refusal(self, challenge: Challenge) -> None:
        found = _refusals.get()
        if found is not None:
            found.append(challenge)
        self.challenge = challenge
        if self.is_needed:
            self._may_try.clear()


def _describe_challenge(challenge: Challenge) -> str:
    if challenge.status == _UNAUTHORIZED:
        return "wants the user to log in"
    response = challenge.response_to(httpx2.Request("POST", "http://server"))
    scope = extract_field_from_www_auth(response, "scope")
    return f"wants more rights than the user's log-in gave: {scope!r}" if scope else "wants more rights"
