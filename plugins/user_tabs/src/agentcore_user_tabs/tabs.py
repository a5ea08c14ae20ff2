"""`SharedTabs`: the shared tabs, their browsers, and pending calls to the browsers."""

import asyncio
import base64
import binascii
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal

import structlog

from agentcore.api import Image, Resource, Resources, ToolError
from agentcore_user_tabs.protocol import SHARES, CallResult, Hello, TabOffer, Update
from agentcore_user_tabs.tab import Asked, Browser, Send, SharedTab

log = structlog.get_logger(__name__)

RESOURCE_TYPE = "user_tab"
AWAY_SECONDS = 30.0
"""How long tabs stay shared after their browser has disconnected: enough for the extension's worker to restart, or for
a short sleep of the machine."""

BROWSERS = 64
"""Maximum number of browsers at one time."""

CALLS = 32
"""Maximum number of pending calls per browser."""

SHOWS_EVERY_S = 0.25
"""Minimum interval between updates of a tab's resource, because a page may change its title at any rate."""

ResourceStatus = Literal["ready", "starting"]


class SharedTabs:
    """Tracks shared tabs and forwards calls to the browser of a tab.

    The state is in memory only: the browsers store which tabs are shared, and offer them again after a restart.

    Args:
        resources: The module's resources; each shared tab is one.
        start: Runs a coroutine in the background.
        changed: Called after each change of the shared tabs.
        away_s: How long tabs stay shared after their browser has disconnected.
    Attributes:
        counts: Numbers of dropped and refused messages, by reason.
    """

    def __init__(
        self,
        resources: Resources,
        start: Callable[[Any], Any],
        changed: Callable[[], None],
        away_s: float = AWAY_SECONDS,
    ) -> None:
        self._resources = resources
        self._start = start
        self._changed = changed
        self._away_s = away_s
        self._browsers: dict[tuple[str, str], Browser] = {}
        self._tabs: dict[str, SharedTab] = {}
        self.counts: Counter[str] = Counter()

    @property
    def tabs(self) -> list[SharedTab]:
        """All shared tabs, oldest first."""
        return list(self._tabs.values())

    def list_for_session(self, session_id: str) -> list[SharedTab]:
        """Return the tabs that are shared with a session, oldest first."""
        return [tab for tab in self._tabs.values() if tab.session_id == session_id]

    # -- for tools ---------------------------------------------------------------------------------------------------

    def require_tab(self, resource: Resource | None) -> SharedTab:
        """Return the tab of a call's resource if it can be used.

        Raises:
            ToolError: `user_tab_not_shared`, `user_tab_paused`.
        """
        tab = None if resource is None else self._tabs.get(resource.resource_id)
        if tab is None:
            message = (
                "no tab of the person's browser is shared with this chat: ask the person to open the page and to share "
                "its tab, in the side panel of the agentcore extension; you cannot do it for them"
            )
            raise ToolError("user_tab_not_shared", message)
        if tab.is_paused:
            message = (
                f"the tab has left the site that the person shared and is at {tab.url!r} now; the person is asked in "
                "the extension's side panel whether you may go on there"
            )
            raise ToolError("user_tab_paused", message, retryable=True, untrusted=True, resourceId=tab.resource_id)
        return tab

    async def call_tab(
        self, tab: SharedTab, tool: str, arguments: Mapping[str, Any], *, call_id: str, timeout_ms: int, locale: str
    ) -> dict[str, Any]:
        """Run a tool in a tab exactly once, and return its response.

        While the browser is disconnected, the call waits for it; a call that had started when the connection broke is
        not started again.

        Args:
            tab: The tab.
            tool: The name of the tool in the extension.
            arguments: Its arguments.
            call_id: A unique id.
            timeout_ms: Time limit of the call in milliseconds.
            locale: The language of messages.
        Raises:
            ToolError: `user_tab_timeout`, `user_tab_away`, `user_tab_busy`, or the extension's error.
        """
        browser = tab.browser
        if len(browser.asked) >= CALLS:
            self.counts["busy"] += 1
            raise ToolError(
                "user_tab_busy", f"{CALLS} calls wait for this browser already", retryable=True, limit=CALLS
            )
        message = {
            "type": "call",
            "callId": call_id,
            "shareId": tab.share_id,
            "tool": tool,
            "arguments": arguments,
            "timeoutMs": timeout_ms,
            "locale": locale,
        }
        asked = Asked(tab, message, asyncio.get_running_loop().create_future())
        browser.asked[call_id] = asked
        if browser.send is not None:
            browser.send(message)
        outcome = "cancelled"
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                answer = await asked.answer
        except TimeoutError:
            late = self._timeout_error(tab, timeout_ms)
            outcome = late.type
            raise late from None
        except ToolError as exc:
            outcome = exc.type
            raise
        else:
            outcome = "user_tab_failed" if answer.get("success") is False else "ok"
            return answer
        finally:
            if tool != "screenshot":
                tab.done.appendleft(
                    {"callId": call_id, "tool": tool, "outcome": outcome, "time": int(time.time() * 1000)}
                )
            browser.asked.pop(call_id, None)
            if not asked.answer.done() or asked.answer.cancelled():
                self._send_message(browser, {"type": "cancel", "callId": call_id})

    async def request_screenshot(self, tab: SharedTab, *, timeout_ms: int, locale: str) -> dict[str, Any]:
        """Take a screenshot of a tab, and return the extension's response.

        Raises:
            ToolError: See `call_tab`.
        """
        call_id = f"picture_{secrets.token_hex(8)}"
        return await self.call_tab(tab, "screenshot", {}, call_id=call_id, timeout_ms=timeout_ms, locale=locale)

    def get_tab(self, resource_id: str) -> SharedTab:
        """Return a tab by the id of its resource.

        Raises:
            ToolError: `resource_not_found`.
        """
        tab = self._tabs.get(resource_id)
        if tab is None:
            raise ToolError(
                "resource_not_found", f"no tab is shared as {resource_id!r} any more", resource_id=resource_id
            )
        return tab

    # -- for browsers ------------------------------------------------------------------------------------------------

    def connect_browser(self, client: str, hello: Hello, send: Send) -> Browser:
        """Connect or reconnect a browser, with the tabs that it shares and the results of earlier calls.

        Pending calls are sent again under the same ids, by which the browser recognises those that it has started.

        Raises:
            ToolError: `too_many_browsers`.
        """
        key = (client, hello.instance)
        browser = self._browsers.get(key)
        if browser is None:
            if len(self._browsers) >= BROWSERS:
                message = f"{BROWSERS} browsers share tabs already; end some first"
                raise ToolError("too_many_browsers", message, limit=BROWSERS)
            browser = self._browsers[key] = Browser(client, hello)
        if browser.leaving is not None:
            browser.leaving.cancel()
            browser.leaving = None
        browser.hello = hello
        browser.send = send
        send({"type": "welcome", "version": hello.version})
        for result in hello.results:
            self.resolve_call(browser, result)
        offered = {offer.share_id for offer in hello.shares}
        for tab in [tab for tab in browser.tabs.values() if tab.share_id not in offered]:
            self.end_sharing(tab, "the person has ended it")
        for offer in hello.shares:
            try:
                self.share_tab(browser, offer)
            except ToolError as exc:
                send(
                    {"type": "refused", "shareId": offer.share_id, "error": {"type": exc.type, "message": exc.message}}
                )
        for asked in list(browser.asked.values()):
            if not asked.answer.done():
                send(asked.message)
        self._changed()
        return browser

    def disconnect_browser(self, browser: Browser, send: Send) -> None:
        """Mark a browser as disconnected; its tabs stay shared for `away_s`."""
        if browser.send != send:
            return  # a newer connection has replaced this one
        browser.send = None
        for tab in browser.tabs.values():
            self._update_resource(tab, status="starting")
        browser.leaving = asyncio.get_running_loop().call_later(self._away_s, self._remove_browser, browser)
        self._changed()

    def share_tab(self, browser: Browser, offer: TabOffer) -> None:
        """Create a resource for a tab, or update that of a tab that is already shared.

        Raises:
            ToolError: `too_many_shares`, `share_exists`.
        """
        tab = browser.tabs.get(offer.share_id)
        if tab is None or tab.session_id != offer.session_id:
            if tab is None and len(browser.tabs) >= SHARES:
                raise self._create_refusal("too_many_shares", f"a browser shares {SHARES} tabs at most; end one first")
            if tab is not None:
                raise self._create_refusal("share_exists", "this tab is shared with another chat; end that first")
            resource = self._resources.create(
                RESOURCE_TYPE,
                offer.session_id,
                adapter_type="extension",
                on_release=self._on_release,
                former_id=offer.resource_id,
            )
            tab = SharedTab(offer.share_id, browser, resource.resource_id, offer.session_id, offer.url, offer.title)
            browser.tabs[offer.share_id] = self._tabs[resource.resource_id] = tab
        tab.url = offer.url
        tab.title = offer.title
        tab.is_paused = offer.state == "paused"
        tab.icon = offer.icon
        self._publish_tab(tab)
        self._send_message(browser, {"type": "shared", "shareId": tab.share_id, "resourceId": tab.resource_id})

    def update_tab(self, browser: Browser, change: Update) -> None:
        """Update a shared tab.

        Raises:
            ToolError: `share_not_found`.
        """
        tab = self._get_shared_tab(browser, change.share_id)
        tab.url = tab.url if change.url is None else change.url
        tab.title = tab.title if change.title is None else change.title
        tab.is_paused = tab.is_paused if change.state is None else change.state == "paused"
        tab.icon = tab.icon if change.icon is None else change.icon
        if tab.shows_again is None:
            self._publish_tab(tab)
            tab.shows_again = asyncio.get_running_loop().call_later(SHOWS_EVERY_S, self._republish_tab, tab)
        else:
            tab.is_stale = True

    def unshare_tab(self, browser: Browser, share_id: str) -> None:
        """Stop sharing a tab at the user's request; ignored if it is not shared."""
        tab = browser.tabs.get(share_id)
        if tab is not None:
            self.end_sharing(tab, "the person has ended it, or closed the tab")

    def resolve_call(self, browser: Browser, result: CallResult) -> None:
        """Set the result of a pending call; late, duplicate and unknown results are dropped."""
        asked = browser.asked.get(result.call_id)
        if asked is None or asked.answer.done():
            self.counts["late_or_unknown_results"] += 1
            return
        if result.error is None:
            asked.answer.set_result(result.result or {})
        else:
            asked.answer.set_exception(self._convert_failure(asked.tab, result.error.type, result.error.message))

    # -- end of sharing ----------------------------------------------------------------------------------------------

    def end_sharing(self, tab: SharedTab, why: str) -> None:
        """Stop sharing a tab, and release its resource.

        Args:
            tab: The tab.
            why: The reason, as the end of a sentence, for errors of calls that still use it.
        """
        if self._remove_tab(tab, f"the tab is not shared any more: {why}") is not None:
            reason = f"this tab is not shared any more: {why}; ask the person to share one"
            self._start(self._resources.release(tab.resource_id, reason))
            self._changed()

    def end_session(self, session_id: str) -> None:
        """Stop sharing all tabs with a session that was deleted."""
        self._end_all([tab for tab in self.tabs if tab.session_id == session_id], "its chat was deleted")

    def end_client(self, client: str) -> None:
        """Stop sharing all tabs of a client whose key was revoked."""
        self._end_all([tab for tab in self.tabs if tab.browser.client == client], "its browser is not paired any more")

    def close(self) -> None:
        """Fail pending calls and drop all state; the browsers offer their tabs again after a restart."""
        for browser in self._browsers.values():
            if browser.leaving is not None:
                browser.leaving.cancel()
            for asked in browser.asked.values():
                if not asked.answer.done():
                    asked.answer.set_exception(ToolError("user_tab_away", "the module is stopping", retryable=True))
        for tab in self._tabs.values():
            _cancel_republish(tab)
        self._browsers.clear()
        self._tabs.clear()

    # -- internals ---------------------------------------------------------------------------------------------------

    async def _on_release(self, resource: Resource) -> None:
        """Notify the browser that the core released a resource, such as when the user closed it in the page."""
        tab = self._tabs.get(resource.resource_id)
        if tab is not None and self._remove_tab(tab, "the tab is not shared any more") is not None:
            self._send_message(tab.browser, {"type": "ended", "shareId": tab.share_id, "reason": "released"})
            self._changed()

    def _end_all(self, tabs: list[SharedTab], why: str) -> None:
        for tab in tabs:
            self._send_message(tab.browser, {"type": "ended", "shareId": tab.share_id, "reason": why})
            self.end_sharing(tab, why)

    def _remove_browser(self, browser: Browser) -> None:
        """Remove a browser that was disconnected for too long."""
        self._browsers.pop((browser.client, browser.hello.instance), None)
        for tab in list(browser.tabs.values()):
            self.end_sharing(tab, "the person's browser is closed, or was away for too long")

    def _remove_tab(self, tab: SharedTab, why: str) -> SharedTab | None:
        """Remove a tab and fail its pending calls; None if it was already removed."""
        if self._tabs.pop(tab.resource_id, None) is None:
            return None
        tab.browser.tabs.pop(tab.share_id, None)
        _cancel_republish(tab)
        for asked in tab.browser.asked.values():
            if asked.tab is tab and not asked.answer.done():
                asked.answer.set_exception(
                    ToolError("user_tab_not_shared", f"{why}; what had begun there may have had an effect")
                )
        return tab

    def _publish_tab(self, tab: SharedTab) -> None:
        tab.is_stale = False
        status: ResourceStatus = "ready" if not tab.is_paused and tab.browser.send is not None else "starting"
        self._update_resource(tab, status=status, last_url=tab.url, title=tab.title or tab.url)
        icon = tab.icon
        tab.icon = None
        if icon is not None:
            try:
                self._update_resource(tab, icon=_decode_icon(icon))
            except ValueError:
                self.counts["icons_refused"] += 1  # the icon is optional
        self._changed()

    def _republish_tab(self, tab: SharedTab) -> None:
        tab.shows_again = None
        if tab.is_stale:
            self._publish_tab(tab)
            tab.shows_again = asyncio.get_running_loop().call_later(SHOWS_EVERY_S, self._republish_tab, tab)

    def _update_resource(self, tab: SharedTab, **fields: Any) -> None:
        # A resource that the core is releasing does not exist any more; `_on_release` is called next.
        with suppress(ToolError):
            self._resources.update(tab.resource_id, **fields)

    def _get_shared_tab(self, browser: Browser, share_id: str) -> SharedTab:
        tab = browser.tabs.get(share_id)
        if tab is None:
            raise self._create_refusal("share_not_found", f"this browser shares nothing as {share_id!r}")
        return tab

    def _create_refusal(self, error_type: str, message: str) -> ToolError:
        self.counts[error_type] += 1
        return ToolError(error_type, message)

    def _timeout_error(self, tab: SharedTab, timeout_ms: int) -> ToolError:
        if tab.browser.send is None:
            message = (
                "the person's browser is away; it comes back by itself when it runs, so try again, or ask the person"
            )
            return ToolError("user_tab_away", message, retryable=True, resourceId=tab.resource_id)
        message = (
            f"the tab did not answer within {timeout_ms} ms; what had begun there may have had an effect: look first"
        )
        return ToolError("user_tab_timeout", message, retryable=True, timeoutMs=timeout_ms, resourceId=tab.resource_id)

    def _convert_failure(self, tab: SharedTab, error_type: str, message: str) -> ToolError:
        if error_type == "interrupted":
            text = "the browser was cut off while it acted, and nobody knows how far it came: look at the page first"
            return ToolError("interrupted", text, resourceId=tab.resource_id)
        if error_type == "tab_paused":  # the extension noticed it before its update arrived
            return ToolError("user_tab_paused", message, retryable=True, untrusted=True, resourceId=tab.resource_id)
        known = _FAILURES.get(error_type, "user_tab_failed")
        return ToolError(known, message, untrusted=True, resourceId=tab.resource_id)

    @staticmethod
    def _send_message(browser: Browser, message: Mapping[str, Any]) -> None:
        if browser.send is not None:
            browser.send(message)


_FAILURES = {
    "page_forbidden": "user_tab_forbidden",
    "permission_needed": "user_tab_forbidden",
    "page_gone": "user_tab_moved",
}
"""Error types of the extension, and the corresponding ones of the tools."""


def _cancel_republish(tab: SharedTab) -> None:
    if tab.shows_again is not None:
        tab.shows_again.cancel()
        tab.shows_again = None


def _decode_icon(data_url: str) -> Image:
    """Decode the image in a data URL.

    Raises:
        ValueError: If its base64 is invalid.
    """
    head, _, encoded = data_url.partition(",")
    try:
        return Image(base64.b64decode(encoded, validate=True), head.removeprefix("data:").removesuffix(";base64"))
    except binascii.Error as exc:
        raise ValueError("the icon is no base64") from exc
