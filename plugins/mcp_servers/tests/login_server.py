"""A server of the Python SDK that one logs in at, with the SDK's authorization server: `python login_server.py PORT`.

`POST /test` with `{"forget": false}` ends all access tokens, with `true` all that anybody was given; `GET /test` gives
what it has seen.
"""

import asyncio
import secrets
import sys
import time
from urllib.parse import urlencode

from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

_HOUR = 3600


class Accounts:
    """Everybody who has registered, said yes, and was given tokens; lost when the server ends."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.waiting: dict[str, tuple[OAuthClientInformationFull, AuthorizationParams]] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.seen: list[str] = []

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.seen.append("registered")
        self.clients[client_info.client_id or ""] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        ticket = secrets.token_urlsafe()
        self.waiting[ticket] = (client, params)
        return f"{self.base}/consent?{urlencode({'ticket': ticket})}"

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        self.seen.append("logged in")
        return self._give(authorization_code.client_id, authorization_code.scopes)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self.refresh[refresh_token.token]
        self.seen.append("renewed")
        return self._give(refresh_token.client_id, scopes)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.seen.append("revoked")
        self.access.clear()
        self.refresh.clear()

    def forget(self, *, all_of_them: bool) -> None:
        """End all access tokens, or all that anybody was given."""
        self.access.clear()
        if all_of_them:
            self.refresh.clear()

    def _give(self, client_id: str, scopes: list[str]) -> OAuthToken:
        access, refresh = (f"{kind}-{secrets.token_hex(16)}" for kind in ("access", "refresh"))
        ends = int(time.time()) + _HOUR
        self.access[access] = AccessToken(token=access, client_id=client_id, scopes=scopes, expires_at=ends)
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client_id, scopes=scopes)
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=_HOUR, scope=" ".join(scopes))


def make_server(accounts: Accounts) -> MCPServer:
    """A server that has one tool, for those who are logged in."""
    server = MCPServer(
        "notes",
        auth_server_provider=accounts,
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(accounts.base),
            resource_server_url=AnyHttpUrl(f"{accounts.base}/mcp"),
            client_registration_options=ClientRegistrationOptions(
                enabled=True, valid_scopes=["notes"], default_scopes=["notes"]
            ),
            revocation_options=RevocationOptions(enabled=True),
            required_scopes=["notes"],
            validate_token_resource=False,
        ),
    )

    @server.tool(structured_output=False)
    def note(text: str) -> str:
        """Keep a note."""
        accounts.seen.append(f"note {text}")
        return f"kept: {text}"

    @server.custom_route("/consent", methods=["GET", "POST"])
    async def consent(request: Request) -> Response:
        """Ask whoever is in front of the browser."""
        client, params = accounts.waiting[request.query_params["ticket"]]
        if request.method == "GET":
            return HTMLResponse(
                "<!doctype html><title>Notes</title><h1>Notes</h1>"
                f"<p>{client.client_name} wants to read your notes.</p>"
                "<form method=post><button name=answer value=yes>Allow</button> "
                "<button name=answer value=no>Deny</button>"
            )
        back = str(params.redirect_uri)
        if (await request.form())["answer"] != "yes":
            return RedirectResponse(construct_redirect_uri(back, error="access_denied", state=params.state), 302)
        code = AuthorizationCode(
            code=secrets.token_urlsafe(),
            scopes=params.scopes or ["notes"],
            expires_at=time.time() + 60,
            client_id=client.client_id or "",
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
        )
        accounts.codes[code.code] = code
        return RedirectResponse(construct_redirect_uri(back, code=code.code, state=params.state), 302)

    return server


def add_test_route(server: MCPServer, accounts: Accounts) -> None:
    """Let a test in another process ask what has been seen, and end tokens."""

    @server.custom_route("/test", methods=["GET", "POST"])
    async def test(request: Request) -> Response:
        if request.method == "POST":
            accounts.forget(all_of_them=bool((await request.json()).get("forget")))
        return JSONResponse(accounts.seen)


async def main(port: int) -> None:
    """Serve at a port until the process ends."""
    accounts = Accounts(f"http://127.0.0.1:{port}")
    server = make_server(accounts)
    add_test_route(server, accounts)
    await server.run_streamable_http_async(host="127.0.0.1", port=port)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
