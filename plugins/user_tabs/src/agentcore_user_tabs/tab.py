"""`SharedTab`, `Browser` and `Asked`: a shared tab, its browser and a pending call."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentcore_user_tabs.protocol import Hello

NAMES = 2_000
"""Maximum number of elements per tab whose names are stored for summaries of calls."""

Send = Callable[[Mapping[str, Any]], None]
"""Queues a message for a browser; never blocks and never fails."""


@dataclass(eq=False)
class SharedTab:
    """One tab that the user shares with one session.

    Attributes:
        url: The page's URL; like `title`, `icon` and `names` untrusted text from the page.
        icon: A data URL that has not been published yet.
        names: Names of the page's elements by id.
        done: The last calls, newest first: `{callId, tool, outcome, time}`.
        shows_again: The timer that delays the next update of the resource.
        is_stale: True if an update is waiting for the timer.
    """

    share_id: str
    browser: "Browser"
    resource_id: str
    session_id: str
    url: str
    title: str
    is_paused: bool = False
    icon: str | None = None
    names: dict[str, str] = field(default_factory=dict)
    done: "deque[dict[str, Any]]" = field(default_factory=lambda: deque(maxlen=8))
    shows_again: asyncio.TimerHandle | None = None
    is_stale: bool = False

    def store_names(self, names: Mapping[str, str]) -> None:
        """Store names of elements by id; the oldest are dropped beyond `NAMES`."""
        for element_id, name in names.items():
            self.names.pop(element_id, None)
            self.names[element_id] = name
        while len(self.names) > NAMES:
            del self.names[next(iter(self.names))]

    def to_json(self) -> dict[str, Any]:
        """Return `{resourceId, sessionId, url, title, isPaused, isThere, browser, client, done}`."""
        return {
            "resourceId": self.resource_id,
            "sessionId": self.session_id,
            "url": self.url,
            "title": self.title,
            "isPaused": self.is_paused,
            "isThere": self.browser.send is not None,
            "browser": self.browser.hello.browser,
            "client": self.browser.client,
            "done": list(self.done),
        }


@dataclass(frozen=True, eq=False)
class Asked:
    """A call that was sent to a browser, and the future of its response."""

    tab: SharedTab
    message: Mapping[str, Any]
    answer: "asyncio.Future[dict[str, Any]]"


@dataclass(eq=False)
class Browser:
    """One browser profile, identified by the client key that it was paired with and the id that it chose."""

    client: str
    hello: Hello
    send: Send | None = None
    tabs: dict[str, SharedTab] = field(default_factory=dict)
    asked: dict[str, Asked] = field(default_factory=dict)
    leaving: asyncio.TimerHandle | None = None
