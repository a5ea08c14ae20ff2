"""The activity that an action causes in a page, and when it has settled."""

import asyncio
import json
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from agentcore_chrome.call_limit import cleaning_s
from agentcore_chrome.tab.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import ConsoleMessage, Error, Request

_LONGEST_S = 1.0
_LOADING_S = 10.0
_ANSWER_S = 2.0
_QUIET_S = 0.1
_POLL_S = 0.05
_ERRORS = 5
_ERROR_CHARS = 300
_SHOWS_NOTHING = frozenset(("image", "font", "media", "websocket", "eventsource", "ping", "manifest", "texttrack"))


class Activity:
    """The requests, page changes and console errors that an action causes, from `async with` on.

    Attributes:
        errors: Errors in the console and uncaught errors, at most five.
    """

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._pending: set[Request] = set()
        self._state: Any = None
        self.errors: list[str] = []
        self._handlers: dict[str, Any] = {
            "request": self._on_request,
            "requestfinished": self._on_answer,
            "requestfailed": self._on_answer,
            "console": self._on_console,
            "pageerror": self._on_error,
        }

    async def __aenter__(self) -> Self:
        """Start watching."""
        for event, handler in self._handlers.items():
            self._tab.page.on(event, handler)  # type: ignore[call-overload]
        self._state = await self._read_state()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop watching."""
        for event, handler in self._handlers.items():
            self._tab.page.remove_listener(event, handler)

    async def wait_until_settled(self) -> None:
        """Wait until the page has been idle for 0.1 s: at most 1 s, or 10 s while another page loads."""
        loop = asyncio.get_running_loop()
        began = moved_at = loop.time()
        while True:
            await asyncio.sleep(min(_POLL_S, cleaning_s(_POLL_S)))
            state = await self._read_state()
            now = loop.time()
            if state is None or cleaning_s(_QUIET_S) < _QUIET_S:
                return  # it does not answer, or the call has no time left
            if state != self._state or self._pending:
                self._state = state
                moved_at = now
            is_loading = state[-1] == "loading" or any(map(self._is_page_navigation, self._pending))
            if now - moved_at >= _QUIET_S and not is_loading:
                return
            if now - began >= (_LOADING_S if is_loading else _LONGEST_S):
                return

    async def _read_state(self) -> Any:
        """Return the document, its number of changes and its load state; None: no answer."""
        if self._tab.dialogs.open is not None:
            return None
        asked = self._tab.refs.locate_in_frame(self._tab.page, (), "!moved")
        text = await self._tab.run_or_default(lambda: asked.text_content(timeout=_ANSWER_S * 1000), None, _ANSWER_S)
        return json.loads(text) if text else None

    def _is_page_navigation(self, request: "Request") -> bool:
        return request.is_navigation_request() and request.frame == self._tab.page.main_frame

    def _on_request(self, request: "Request") -> None:
        if request.resource_type not in _SHOWS_NOTHING:
            self._pending.add(request)

    def _on_answer(self, request: "Request") -> None:
        self._pending.discard(request)

    def _on_console(self, message: "ConsoleMessage") -> None:
        if message.type == "error" and not message.location.get("url", "").endswith("/favicon.ico"):
            self._add_error(message.text)

    def _on_error(self, error: "Error") -> None:
        self._add_error(str(error))

    def _add_error(self, text: str) -> None:
        if len(self.errors) < _ERRORS:
            self.errors.append(text[:_ERROR_CHARS])
