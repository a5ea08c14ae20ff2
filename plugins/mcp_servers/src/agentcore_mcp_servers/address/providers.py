"""The SDK's OAuth over a keyring: one that uses and renews tokens, and one that has a person log in."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass

import httpx2
import structlog
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.utils import extract_field_from_www_auth
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from agentcore.api import ToolError
from agentcore_mcp_servers.address.keyring import Keyring, StoredLogin
from agentcore_mcp_servers.address.login_http import LoginHttp
from agentcore_mcp_servers.block import LoginSettings

log = structlog.get_logger(__name__)

_UNAUTHORIZED = 401
_FORBIDDEN = 403
_BAD_REQUEST = 400
_CLIENT_NAME = "agentcore"
_NOWHERE = "http://127.0.0.1/callback"


@dataclass(frozen=True, slots=True)
class Challenge:
    """What a server said when it refused a request for want of a log-in, or of more rights.

    Args:
        status: 401 or 403.
        www_authenticate: The header that says more; or empty.
        protocol: The revision of MCP that the request was in; or empty.
    """

    status: int
    www_authenticate: str = ""
    protocol: str = ""

    @classmethod
    def from_response(cls, response: httpx2.Response) -> "Challenge | None":
        """What a response says of it; None: it is about something else."""
        needs_more = extract_field_from_www_auth(response, "error") == "insufficient_scope"
        if response.status_code != _UNAUTHORIZED and not (response.status_code == _FORBIDDEN and needs_more):
            return None
        protocol = response.request.headers.get("mcp-protocol-version", "")
        return cls(response.status_code, response.headers.get("www-authenticate", ""), protocol)

    def response_to(self, request: httpx2.Request) -> httpx2.Response:
        """The same, as the answer to a request."""
        headers = {"www-authenticate": self.www_authenticate} if self.www_authenticate else {}
        return httpx2.Response(self.status, headers=headers, request=request)


class _Provider(OAuthClientProvider):
    """Is its own storage: what the SDK has of it in memory is kept whole, and is there again after a restart."""

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
        """What the person has made there for us; None: we register ourselves."""
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
        """How the token endpoint is told our secret."""
        metadata = self.context.oauth_metadata
        offered = None if metadata is None else metadata.token_endpoint_auth_methods_supported
        is_post = offered is not None and "client_secret_basic" not in offered and "client_secret_post" in offered
        return "client_secret_post" if is_post else "client_secret_basic"

    async def get_tokens(self) -> OAuthToken | None:
        """See the SDK's `TokenStorage`."""
        return self._keyring.kept.tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """See the SDK's `TokenStorage`."""
        return self._keyring.kept.client

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """See the SDK's `TokenStorage`."""
        await self._save_login(tokens)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """See the SDK's `TokenStorage`."""
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
    """Puts the token into each request and renews it, and asks nobody anything: for all requests to a server.

    Args:
        keyring: What there is.
        settings: What the person has said of the log-in.
        http: Sends what renews.
        on_answer: Is told of each request that was let in, or was refused for want of a log-in, and how then.
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
        """Ends the tokens at the authorization server; None: there are none, or it has no way for that."""
        kept = self._keyring.kept
        endpoint = None if kept.metadata is None else kept.metadata.revocation_endpoint
        if kept.tokens is None or endpoint is None:
            return None
        # what renews ends with all that came of it
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
        # what a server pushes beside its answers may be refused by itself, and nobody misses it
        challenge = Challenge.from_response(response)
        if request.method == "POST" and (challenge is not None or response.is_success):
            self._on_answer(challenge)

    async def _current_token(self, instead_of: str | None = None) -> str | None:
        """The token as it is now, renewed where it has ended, or is the one that was refused."""
        context = self.context
        # held while the token is renewed, and not while a request is on its way: calls run side by side
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
    """Has a person log in; never used for a request of a call.

    Args:
        keyring: Gets what that gives.
        settings: What the person has said of the log-in.
        redirect: Where their browser comes back to.
        show: Is given what they open.
        landed: Waits for their browser.
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
            # what was granted goes on to count; renewing it is not what was asked for
            context.current_tokens = context.current_tokens.model_copy(update={"refresh_token": None})
        client = context.client_info
        if client is not None and [str(uri) for uri in client.redirect_uris or ()] != [self._redirect]:
            context.client_info = self._own_client()

    async def _perform_authorization(self) -> httpx2.Request:
        # only now is it known how the authorization server wants to be told of a client's secret
        self.context.client_info = self._own_client() or self.context.client_info
        return await super()._perform_authorization()


def _add_authorization(request: httpx2.Request, token: str | None) -> None:
    if token is not None:
        request.headers["Authorization"] = f"Bearer {token}"
