"""One shared tab, and the browser that it is in."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentcore_user_tabs.protocol import Hello

NAMES = 2_000
"""Elements of a tab whose names are kept, to say to a person what is acted on."""

Send = Callable[[Mapping[str, Any]], None]
"""Gives a message to a browser; never waits and never fails."""


@dataclass(eq=False)
class SharedTab:
    """One tab that a person shares with one session.

    Attributes:
        url: With `title`, `icon` and `names` a page's words.
        icon: A `data:` address that is not shown yet.
        names: What elements of the page are called, by their ids.
        done: The last calls, the newest first: `{callId, tool, outcome, time}`.
        shows_again: Runs while people are not shown anew what the tab shows; `is_stale`: there is something new.
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
        """Keep what elements are called, by their ids; the oldest are forgotten."""
        for element_id, name in names.items():
            self.names.pop(element_id, None)
            self.names[element_id] = name
        while len(self.names) > NAMES:
            del self.names[next(iter(self.names))]

    def to_json(self) -> dict[str, Any]:
        """`{resourceId, sessionId, url, title, isPaused, isThere, browser, client, done}`."""
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
    """A call that a browser has been given, and the answer that is waited for."""

    tab: SharedTab
    message: Mapping[str, Any]
    answer: "asyncio.Future[dict[str, Any]]"


@dataclass(eq=False)
class Browser:
    """One profile of one browser, by the key that it was paired with and the id that it gave itself."""

    client: str
    hello: Hello
    send: Send | None = None
    tabs: dict[str, SharedTab] = field(default_factory=dict)
    asked: dict[str, Asked] = field(default_factory=dict)
    leaving: asyncio.TimerHandle | None = None
