"""Page sessions: a logged-in browser, identified by a cookie and a header value together."""

import hashlib
import hmac
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Literal, Self

import structlog

from agentcore.late_dataclasses import dataclass
from agentcore.store.credentials.one_time_codes import OneTimeCodes
from agentcore.store.database.database import Database

log = structlog.get_logger(__name__)

Audience = Literal["page", "approval"]
"""The origin that a session is for; a session is not valid for the other origin."""

SESSIONS = 256
"""Maximum number of sessions of one audience; a new one ends the least recently used one."""

IDLE_DAYS = 30
"""Days without use after which a session ends."""

_IDLE_MS = IDLE_DAYS * 24 * 3_600_000
# hourly is exact enough for a limit of days: more often would cost a commit on every request
_TOUCH_INTERVAL_MS = 3_600_000
_SECRET_BYTES = 32
_NO_HASH = bytes(hashlib.sha256().digest_size)
"""Hash of no value: compared when a cookie matches no session, so that the time does not differ."""


@dataclass(frozen=True, slots=True)
class PageSession:
    """A new session, with the secrets that from now on only the browser has."""

    session_id: str
    cookie: str
    header: str

    def __repr__(self) -> str:
        return f"PageSession(session_id={self.session_id!r})"


@dataclass(frozen=True, slots=True)
class KnownSession:
    """A session as stored: by the hashes of its secrets.

    Args:
        session_id: An id, which is not secret.
        cookie_hash: sha256 of the cookie's value.
        header_hash: sha256 of the header's value.
        created_at_ms: Milliseconds since 1970.
        last_used_at_ms: Milliseconds since 1970, exact to the hour.
    """

    session_id: str
    cookie_hash: bytes
    header_hash: bytes
    created_at_ms: int
    last_used_at_ms: int


class PageSessions:
    """Logs browsers in by one-time codes and authenticates them. Its methods belong to the event loop's thread."""

    def __init__(
        self,
        database: Database,
        audience: Audience,
        known: Iterable[KnownSession],
        now: Callable[[], float],
        clock: Callable[[], float],
    ) -> None:
        self._database = database
        self._audience = audience
        self._now = now
        self._codes = OneTimeCodes(clock)
        self._known = {session.cookie_hash: session for session in known}

    @classmethod
    async def open(
        cls,
        database: Database,
        audience: Audience,
        *,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> Self:
        """Load the sessions of one audience."""
        oldest_ms = int(now() * 1000) - _IDLE_MS
        return cls(database, audience, await database.write(partial(_load, audience, oldest_ms)), now, clock)

    def create_code(self) -> str:
        """Create a code that logs in one browser, once, within ten minutes."""
        return self._codes.create()

    async def exchange_code(self, code: str) -> PageSession | None:
        """Start a session for a code and return it once it is on disk; None if the code is not valid."""
        if not self._codes.redeem(code):
            return None
        session_id = f"{self._audience}_{secrets.token_hex(8)}"
        session = PageSession(session_id, secrets.token_urlsafe(_SECRET_BYTES), secrets.token_urlsafe(_SECRET_BYTES))
        now_ms = self._now_ms()
        known = KnownSession(session_id, _hash_secret(session.cookie), _hash_secret(session.header), now_ms, now_ms)
        ended = self._surplus_session_ids()
        await self._database.write(partial(_insert, self._audience, known, ended), is_durable=True)
        self._drop_sessions(ended)
        self._known[known.cookie_hash] = known
        return session

    async def authenticate(self, cookies: Iterable[str], header: str) -> str | None:
        """Return the id of the session that one of the cookies and the header value belong to, or None.

        Takes microseconds: it writes to the database once an hour per session, to update its last use.

        Args:
            cookies: All candidate cookies sent by a browser. Each one is compared, so that the time does not depend on
                which matches.
        """
        shown = _hash_secret(header)
        known = None
        for cookie in cookies:
            candidate = self._known.get(_hash_secret(cookie))
            is_match = hmac.compare_digest(_NO_HASH if candidate is None else candidate.header_hash, shown)
            known = candidate if is_match else known
        if known is None:
            return None
        now_ms = self._now_ms()
        if now_ms - known.last_used_at_ms > _IDLE_MS:
            await self.revoke(known.session_id)
            return None
        if now_ms - known.last_used_at_ms > _TOUCH_INTERVAL_MS:
            await self._touch(known, now_ms)
        return known.session_id

    async def revoke(self, session_id: str) -> bool:
        """End a session at once and for good; return True if it existed."""
        is_known = any(known.session_id == session_id for known in self._known.values())
        self._drop_sessions([session_id])
        await self._database.write(partial(_delete, [session_id]), is_durable=True)
        return is_known

    async def revoke_all(self) -> None:
        """End all sessions of this audience."""
        ended = [known.session_id for known in self._known.values()]
        self._drop_sessions(ended)
        await self._database.write(partial(_delete, ended), is_durable=True)

    def list_sessions(self) -> list[KnownSession]:
        """Return the sessions, most recently used first."""
        return sorted(self._known.values(), key=lambda known: -known.last_used_at_ms)

    def _now_ms(self) -> int:
        return int(self._now() * 1000)

    def _surplus_session_ids(self) -> list[str]:
        return [known.session_id for known in self.list_sessions()[SESSIONS - 1 :]]

    def _drop_sessions(self, session_ids: Iterable[str]) -> None:
        gone = set(session_ids)
        self._known = {key: known for key, known in self._known.items() if known.session_id not in gone}

    async def _touch(self, known: KnownSession, now_ms: int) -> None:
        # in memory first, so that concurrent requests do not write too
        self._known[known.cookie_hash] = replace(known, last_used_at_ms=now_ms)
        try:
            await self._database.write(partial(_set_last_used, known.session_id, now_ms))
        except sqlite3.Error as exc:
            # the session stays valid: a full disk must not lock the user out
            log.warning("page_session_not_touched", session_id=known.session_id, error=str(exc))


def _hash_secret(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def _load(audience: Audience, oldest_ms: int, connection: sqlite3.Connection) -> list[KnownSession]:
    connection.execute("DELETE FROM page_sessions WHERE audience = ? AND last_used_at_ms < ?", (audience, oldest_ms))
    found = connection.execute(
        "SELECT session_id, cookie_hash, header_hash, created_at_ms, last_used_at_ms FROM page_sessions"
        " WHERE audience = ?",
        (audience,),
    )
    return [KnownSession(*row) for row in found]


def _insert(audience: Audience, known: KnownSession, ended: Iterable[str], connection: sqlite3.Connection) -> None:
    _delete(ended, connection)
    connection.execute(
        "INSERT INTO page_sessions VALUES (?, ?, ?, ?, ?, ?)",
        (
            known.session_id,
            audience,
            known.cookie_hash,
            known.header_hash,
            known.created_at_ms,
            known.last_used_at_ms,
        ),
    )


def _delete(session_ids: Iterable[str], connection: sqlite3.Connection) -> None:
    connection.executemany("DELETE FROM page_sessions WHERE session_id = ?", [(each,) for each in session_ids])


def _set_last_used(session_id: str, now_ms: int, connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE page_sessions SET last_used_at_ms = ? WHERE session_id = ?", (now_ms, session_id))
