"""OAuth providers of the SDK, backed by a keyring: one uses and refreshes tokens, the other lets the user log in."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass

import httpx2
import structlog
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.utils import extract_field_from_www_auth
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from agentcore.api import ToolError
from agentcore_mcp_servers.block import LoginSettings
from agentcore_mcp_servers.http_transport.login_http import LoginHttp
from agentcore_mcp_servers.http_transport.login_storage import Keyring, StoredLogin

log = structlog.get_logger(__name__)

_UNAUTHORIZED = 401
_FORBIDDEN = 403
_BAD_REQUEST = 400
_CLIENT_NAME = "agentcore"
_NOWHERE = "http://127.0.0.1/callback"


@dataclass(frozen=True, slots=True)
class Challenge:
    """A server's refusal of a request that needs a login or more scopes.

    Args:
        status: 401 or 403.
        www_authenticate: The `WWW-Authenticate` header, or empty.
        protocol: The MCP version of the request, or empty.
    """

    status: int
    www_authenticate: str = ""
    protocol: str = ""

    @classmethod
    def from_response(cls, response: httpx2.Response) -> "Challenge | None":
        """Create the challenge from a response; None if the response is something else."""
        needs_more = extract_field_from_www_auth(response, "error") == "insufficient_scope"
        if response.status_code != _UNAUTHORIZED and not (response.status_code == _FORBIDDEN and needs_more):
            return None
        protocol = response.request.headers.get("mcp-protocol-version", "")
        return cls(response.status_code, response.headers.get("www-authenticate", ""), protocol)

    def response_to(self, request: httpx2.Request) -> httpx2.Response:
        """Return an equivalent response to a request."""
        headers = {"www-authenticate": self.www_authenticate} if self.www_authenticate else {}
        return httpx2.Response(self.status, headers=headers, request=request)


class _Provider(OAuthClientProvider):
    """A provider that is its own token storage: stores all of the SDK's state, so that it survives a restart."""

    def __init__(
        self,
        keyring: Keyring,
        settings: LoginSettings,
        redirect: str = _NOWHERE,
        show: Callable[[str], Awaitable[None]] | None = None,
        landed: Callable[[], Awaitable[AuthorizationCodeResult]] | None = None,
    ) -> None:
        self._keyring = keyring
        self._settings = settings
        metadata = OAuthClientMetadata(client_name=_CLIENT_NAME, redirect_uris=[AnyUrl(redirect)])
        super().__init__(
            keyring.kept.url, metadata, self, show, landed, client_metadata_url=settings.client_metadata_url
        )

    def reload_tokens(self) -> None:
        """Read the keyring again before the next request."""
        self._initialized = False

    async def _initialize(self) -> None:
        kept = self._keyring.kept
        context = self.context
        context.current_tokens = kept.tokens
        context.token_expiry_time = kept.expires_at
        context.oauth_metadata = kept.metadata
        context.protected_resource_metadata = kept.resource
        context.auth_server_url = kept.issuer
        context.client_info = self._own_client() or kept.client
        self._initialized = True

    def _own_client(self) -> OAuthClientInformationFull | None:
        """Return the client that the user registered at the authorization server; None to register dynamically."""
        client_id = self._settings.client_id
        secret = self._settings.client_secret
        if client_id is None or self._settings.client_metadata_url is not None:
            return None
        return OAuthClientInformationFull(
            client_id=client_id,
            client_secret=None if secret is None else secret.get_secret_value(),
            token_endpoint_auth_method="none" if secret is None else self._token_auth_method(),
            redirect_uris=self.context.client_metadata.redirect_uris,
        )

    def _token_auth_method(self) -> str:
        """Return how the client secret is sent to the token endpoint."""
        metadata = self.context.oauth_metadata
        offered = None if metadata is None else metadata.token_endpoint_auth_methods_supported
        is_post = offered is not None and "client_secret_basic" not in offered and "client_secret_post" in offered
        return "client_secret_post" if is_post else "client_secret_basic"

    async def get_tokens(self) -> OAuthToken | None:
        """Return the stored tokens. Implements the SDK's `TokenStorage`, like the methods below."""
        return self._keyring.kept.tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the stored client registration."""
        return self._keyring.kept.client

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Store tokens with the rest of the login's state."""
        await self._save_login(tokens)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Store a new client registration and drop the stored tokens."""
        await self._save_login(None)

    async def _save_login(self, tokens: OAuthToken | None) -> None:
        context = self.context
        kept = StoredLogin(
            url=context.server_url,
            tokens=tokens,
            expires_at=None if tokens is None else context.token_expiry_time,
            client=None if self._own_client() is not None else context.client_info,
            issuer=context.auth_server_url,
            metadata=context.oauth_metadata,
            resource=context.protected_resource_metadata,
        )
        await self._keyring.save(kept)


class QuietProvider(_Provider):
    """Adds the token to each request to a server and refreshes it, without user interaction.

    Args:
        keyring: The stored login.
        settings: The user's settings for the login.
        http: Sends the requests that refresh the token.
        on_answer: Called with None for each accepted request, and with the challenge for each that needs a login.
    """

    def __init__(
        self,
        keyring: Keyring,
        settings: LoginSettings,
        http: LoginHttp,
        on_answer: Callable[[Challenge | None], None],
    ) -> None:
        super().__init__(keyring, settings)
        self._http = http
        self._on_answer = on_answer

    def revoking_request(self) -> httpx2.Request | None:
        """Create the request that revokes the tokens; None if there are none or revocation is not supported."""
        kept = self._keyring.kept
        endpoint = None if kept.metadata is None else kept.metadata.revocation_endpoint
        if kept.tokens is None or endpoint is None:
            return None
        # Revoking the refresh token also revokes the access tokens issued with it.
        data = {"token": kept.tokens.refresh_token or kept.tokens.access_token}
        if self.context.client_info is not None:
            data["client_id"] = self.context.client_info.client_id
        data, headers = self.context.prepare_token_auth(data, {})
        return httpx2.Request("POST", str(endpoint), data=data, headers=headers)

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        used = await self._current_token()
        _add_authorization(request, used)
        response = yield request
        if response.status_code == _UNAUTHORIZED and (renewed := await self._current_token(instead_of=used)) != used:
            _add_authorization(request, renewed)
            response = yield request
        # Only POST counts: the GET stream for server messages may be refused by itself, and is not needed.
        challenge = Challenge.from_response(response)
        if request.method == "POST" and (challenge is not None or response.is_success):
            self._on_answer(challenge)

    async def _current_token(self, instead_of: str | None = None) -> str | None:
        """Return the current token, refreshed if it has expired or is the one that was refused."""
        context = self.context
        # Locked while the token is refreshed, but not during a request, so that calls run concurrently.
        async with context.lock:
            if not self._initialized:
                await self._initialize()
            tokens = context.current_tokens
            is_refused = instead_of is not None and tokens is not None and tokens.access_token == instead_of
            if (is_refused or not context.is_token_valid()) and context.can_refresh_token():
                await self._renew_token()
            tokens = context.current_tokens
            return None if tokens is None else tokens.access_token

    async def _renew_token(self) -> None:
        try:
            response = await self._http.send(await self._refresh_token())
        except (httpx2.HTTPError, ToolError) as exc:
            log.warning("mcp_login_not_renewed", server=self.context.server_url, reason=str(exc)[:500])
            return
        is_said_no = response.status_code in (_BAD_REQUEST, _UNAUTHORIZED)
        if not response.is_success and not is_said_no:
            log.warning("mcp_login_not_renewed", server=self.context.server_url, status=response.status_code)
            return
        if not await self._handle_refresh_response(response):
            await self._save_login(None)


class AskingProvider(_Provider):
    """Lets the user log in; never used for requests of calls.

    Args:
        keyring: Stores the result.
        settings: The user's settings for the login.
        redirect: The redirect URI for the user's browser.
        show: Called with the URL that the user has to open.
        landed: Waits for the browser's return.
    """

    def __init__(
        self,
        keyring: Keyring,
        settings: LoginSettings,
        redirect: str,
        show: Callable[[str], Awaitable[None]],
        landed: Callable[[], Awaitable[AuthorizationCodeResult]],
    ) -> None:
        super().__init__(keyring, settings, redirect, show, landed)
        self._redirect = redirect

    async def _initialize(self) -> None:
        await super()._initialize()
        context = self.context
        if context.current_tokens is not None:
            # Existing scopes still count, but a mere refresh would not be the requested login.
            context.current_tokens = context.current_tokens.model_copy(update={"refresh_token": None})
        client = context.client_info
        if client is not None and [str(uri) for uri in client.redirect_uris or ()] != [self._redirect]:
            context.client_info = self._own_client()

    async def _perform_authorization(self) -> httpx2.Request:
        # Only after discovery is it known how the authorization server expects the client secret.
        self.context.client_info = self._own_client() or self.context.client_info
        return await super()._perform_authorization()


def _add_authorization(request: httpx2.Request, token: str | None) -> None:
    if token is not None:
        request.headers["Authorization"] = f"Bearer {token}"
