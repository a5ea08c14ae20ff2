"""`Keyring`: stores the login for one address among the module's secrets."""

import json

from mcp.shared.auth import OAuthClientInformationFull, OAuthMetadata, OAuthToken, ProtectedResourceMetadata
from pydantic import ConfigDict, ValidationError

from agentcore.api import BaseModel, Secrets

_SECRETS = (("tokens", "access_token"), ("tokens", "refresh_token"), ("client", "client_secret"))
"""Values that are stored under separate names, so that they are masked wherever they appear."""
_REST = "login"


class StoredLogin(BaseModel, defer_build=True):
    """What a log-in gave.

    Args:
        url: Of the server that it is for, and no other.
        expires_at: When the access token ends, in seconds since 1970; None: unknown.
        client: What we are at the authorization server, where we have registered there.
        issuer: The authorization server.
        metadata: What that says of itself.
        resource: What the server says of itself as a protected resource.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str
    tokens: OAuthToken | None = None
    expires_at: float | None = None
    client: OAuthClientInformationFull | None = None
    issuer: str | None = None
    metadata: OAuthMetadata | None = None
    resource: ProtectedResourceMetadata | None = None


class Keyring:
    """Stores the login of one server.

    Args:
        secrets: The module's secrets.
        url: The server's address.

    Attributes:
        kept: The current login; empty before `load`.
    """

    def __init__(self, secrets: Secrets, url: str) -> None:
        self._secrets = secrets
        self._url = url
        self.kept = StoredLogin(url=url)

    async def load(self) -> None:
        """Load the stored login; one that is damaged or for another address is ignored."""
        values = await self._secrets.read()
        try:
            document = json.loads(values.get(_REST, "{}"))
            for part, name in _SECRETS:
                if name in values and isinstance(document.get(part), dict):
                    document[part][name] = values[name]
            kept = StoredLogin.model_validate(document)
        except (ValueError, ValidationError, AttributeError):
            return
        if kept.url == self._url:
            self.kept = kept

    async def save(self, kept: StoredLogin) -> None:
        """Store a login.

        Raises:
            OSError: If it cannot be written.
        """
        self.kept = kept
        document = kept.model_dump(mode="json", exclude_none=True)
        values = {}
        for part, name in _SECRETS:
            if secret := document.get(part, {}).pop(name, None):
                values[name] = secret
        if "tokens" in document and "access_token" not in values:
            del document["tokens"]
        await self._secrets.write({**values, _REST: json.dumps(document)})

    async def delete(self) -> None:
        """Delete the stored login.

        Raises:
            OSError: If it cannot be written.
        """
        self.kept = StoredLogin(url=self._url)
        await self._secrets.write({})
