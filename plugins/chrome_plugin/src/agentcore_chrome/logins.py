"""HTTP authentication (Basic, Digest) with known user names and passwords, each sent only to its own server."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agentcore.api import Background, SecretStr, ToolError
from agentcore_chrome.failures import is_driver_error

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Response

_UNAUTHORIZED = 401


def parse_origin(url: str) -> str:
    """Return scheme, host and port of an address, as browsers write them."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()


class KnownLogins:
    """Log-ins by host: those of the settings, and those that a user gave a session, stored until the engine closes.

    Args:
        of_settings: `user:password` by `host`, `host:port`, or an origin such as `https://host`.
    """

    def __init__(self, of_settings: Mapping[str, SecretStr]) -> None:
        self._of_settings = {key.lower().rstrip("/"): login for key, login in of_settings.items()}
        self._given: dict[tuple[str, str], SecretStr] = {}

    def find_login(self, session_id: str, origin: str) -> SecretStr | None:
        """Return `user:password` for an origin; the session's own overrides the settings."""
        names = (origin, origin.partition("://")[2])
        of_settings = next((self._of_settings[name] for name in names if name in self._of_settings), None)
        return self._given.get((session_id, origin), of_settings)

    def set_login(self, session_id: str, origin: str, login: SecretStr | None) -> None:
        """Store the log-in that a user gave; None removes it."""
        if login is None:
            self._given.pop((session_id, origin), None)
        else:
            self._given[session_id, origin] = login

    def list_url_patterns(self, session_id: str) -> list[str]:
        """Return the addresses with a known log-in, as URL patterns of CDP."""
        names = [*self._of_settings, *(origin for session, origin in self._given if session == session_id)]
        return [f"{name}/*" if "://" in name else f"*://{name}/*" for name in names]


@dataclass(frozen=True, slots=True)
class LoginChallenge:
    """A server's log-in request: its origin, the realm, and whether a known log-in was sent."""

    origin: str
    realm: str
    was_given: bool


class TabLogins:
    """Answers the log-in requests that servers send to a tab's page.

    Args:
        known: The log-ins.
        session_id: The chat session that the tab belongs to.
        background: The tab's background tasks, in which answers are sent.
    """

    def __init__(self, known: KnownLogins, session_id: str, background: Background) -> None:
        self.known = known
        self._session_id = session_id
        self._background = background
        self._answered: set[str] = set()
        self._hears = False

    @property
    def are_any(self) -> bool:
        """True if any log-in is known for the session."""
        return bool(self.known.list_url_patterns(self._session_id))

    async def start_answering(self, session: "CDPSession") -> None:
        """Answer from now on; call it again to include log-ins that were added since."""
        if not self.are_any:
            return
        if not self._hears:
            session.on(
                "Fetch.authRequired", lambda event: self._send_in_background(session, self._answer_challenge(event))
            )
            session.on("Fetch.requestPaused", lambda event: self._send_in_background(session, _continue_request(event)))
            self._hears = True
        patterns = [{"urlPattern": pattern} for pattern in self.known.list_url_patterns(self._session_id)]
        await session.send("Fetch.enable", {"handleAuthRequests": True, "patterns": patterns})

    def set_login(self, origin: str, login: SecretStr | None) -> None:
        """Store the log-in that a user gave the tab's session; None removes it."""
        self.known.set_login(self._session_id, origin, login)

    async def find_challenge(self, response: "Response | None") -> LoginChallenge | None:
        """Return the log-in that the server requires before it sends the page; None: no log-in is required."""
        if response is None or response.status != _UNAUTHORIZED:
            return None
        challenge = await response.header_value("www-authenticate") or ""
        if not challenge.lower().startswith(("basic", "digest")):
            return None
        _, _, realm = challenge.partition('realm="')
        return self.describe_challenge(response.url, realm.partition('"')[0])

    def describe_challenge(self, url: str, realm: str = "") -> LoginChallenge:
        """Return the log-in request of an address's server."""
        origin = parse_origin(url)
        return LoginChallenge(origin, realm[:100], self.known.find_login(self._session_id, origin) is not None)

    def _answer_challenge(self, event: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        request_id = event["requestId"]
        challenge = event["authChallenge"]
        login = None
        if (
            challenge.get("source") != "Proxy" and request_id not in self._answered
        ):  # only once: the server asks again if it was wrong
            login = self.known.find_login(self._session_id, challenge["origin"].lower())
        self._answered.add(request_id)
        answer = {"response": "CancelAuth"}
        if login is not None:
            user, _, password = login.get_secret_value().partition(":")
            answer = {"response": "ProvideCredentials", "username": user, "password": password}
        return "Fetch.continueWithAuth", {"requestId": request_id, "authChallengeResponse": answer}

    def _send_in_background(self, session: "CDPSession", message: tuple[str, dict[str, Any]]) -> None:
        self._background.start(_send_command(session, *message))


def _continue_request(event: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "Fetch.continueRequest", {"requestId": event["requestId"]}


async def _send_command(session: "CDPSession", method: str, parameters: dict[str, Any]) -> None:
    try:
        await session.send(method, parameters)
    except Exception as exc:
        if not is_driver_error(exc):
            raise  # else the request was cancelled, or the page is gone


def login_required(wanted: LoginChallenge, why: str) -> ToolError:
    """Return the error for a server that requires a log-in and has accepted none."""
    host = wanted.origin.partition("://")[2]
    realm = f" for {wanted.realm!r}" if wanted.realm else ""
    return ToolError(
        "login_required",
        f"{wanted.origin} asks for a user name and a password{realm}: {why}. A person can set them: "
        f'config.chrome.basic_auth, {{"{host}": "user:password"}}',
        origin=wanted.origin,
        realm=wanted.realm,
    )
