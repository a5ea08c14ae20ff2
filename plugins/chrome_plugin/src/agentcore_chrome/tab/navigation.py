"""Navigation: going to addresses, through the history, and back to lost pages."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from agentcore.api import ToolError, UrlPolicy
from agentcore_chrome.call_limit import work_ms
from agentcore_chrome.failures import extract_headline, is_driver_error, is_driver_timeout, net_error
from agentcore_chrome.logins import LoginChallenge
from agentcore_chrome.tab.dialogs import only_looks
from agentcore_chrome.tab.pdf import PDF
from agentcore_chrome.tab.snapshot import describe_pdf
from agentcore_chrome.tab.tab import Tab
from agentcore_chrome.tab.title_at_load import TitleAtLoad

if TYPE_CHECKING:
    from playwright.async_api import Response

WaitUntil = Literal["load", "domcontentloaded", "networkidle", "commit"]

_LOOK = "[document.title, document.readyState]"
_LOAD_MS = 5000
"""How long a navigation waits for a page that is there and has not been loaded completely."""
_PENDING_SHOWN = 3
_URL_CHARS = 200
_ERROR_PAGE = "chrome-error://**"
_ERROR_PAGE_MS = 1500
_COME_BACK_MS = 30_000
_NO_LOGIN = "net::ERR_INVALID_AUTH_CREDENTIALS"
_UNAUTHORIZED = 401
_DOWNLOAD = "Download is starting"
_INTERRUPTED = "is interrupted by another navigation"
_INTERRUPTIONS = 5
"""Maximum of retries: each can be interrupted by the one before if that was too advanced to be cancelled."""
_INTERRUPTION_S = 0.2
"""Pause after the second interruption, doubled after the third: a busy browser is slow to cancel one."""
_STATES = {"loading": "loading", "interactive": "domcontentloaded", "complete": "load"}


@dataclass(frozen=True, slots=True)
class NavigationResult:
    """Where a navigation led."""

    url: str
    status: int | None
    title: str
    load_state: str
    is_download: bool = False
    pending: tuple[str, ...] = ()
    kind: str = ""
    login_wanted: LoginChallenge | None = None

    def to_json(self) -> dict[str, Any]:
        """Return address, HTTP status, title and load state as JSON."""
        return {"url": self.url, "status": self.status, "title": self.title, "loadState": self.load_state}

    def __str__(self) -> str:
        if self.is_download:
            return f"{self.url} is a download; the page stayed where it was"
        status = f" (HTTP {self.status})" if self.status is not None else ""
        title = f" – {self.title}" if self.title else ""
        kind = f"\n{self.kind}" if self.kind else ""
        return f"{self.url}{status}{title}{kind}{self._describe_pending()}"

    def _describe_pending(self) -> str:
        if not self.pending:
            return "" if self.load_state in ("load", "networkidle") else "\nIt is still loading, and can be used."
        shown = ", ".join(self.pending[:_PENDING_SHOWN])
        more = len(self.pending) - _PENDING_SHOWN
        return f"\nIt is still loading {shown}{f' and {more} more' if more > 0 else ''}, and can be used."


async def go_to(tab: Tab, policy: UrlPolicy, url: str, wait_until: WaitUntil, timeout_ms: int) -> NavigationResult:
    """Navigate a tab to an address.

    A page that has arrived and goes on loading, perhaps for ever, is not waited for longer than five seconds: the
    result says what is missing, and the page goes on. Waiting for `networkidle` has the whole limit.

    Raises:
        ToolError: `url_blocked`, `navigation_failed`, `navigation_timeout`, `browser_crashed`.
    """
    checked = policy.check(with_scheme(url))
    tab.restore = None
    if tab.logins.are_any:
        await tab.logins.start_answering(await tab.get_session())

    async def go() -> "Response | None":
        for tried in range(_INTERRUPTIONS):
            try:
                return await arrive()
            except Exception as exc:
                # It was interrupted by the navigation of an earlier call that had timed out.
                if _INTERRUPTED not in str(exc):
                    raise
                # The browser continues this attempt, which would in turn interrupt the next one.
                await _stop_loading(tab)
                await asyncio.sleep(_INTERRUPTION_S * tried)
        return await arrive()

    async def arrive() -> "Response | None":
        if wait_until in ("commit", "networkidle"):
            return await tab.page.goto(checked, wait_until=wait_until, timeout=timeout_ms)
        response = await tab.page.goto(checked, wait_until="commit", timeout=timeout_ms)
        await _wait_for_load(tab, wait_until, timeout_ms)
        return response

    return await _navigate(tab, checked, timeout_ms, go)


async def _wait_for_load(tab: Tab, state: WaitUntil, timeout_ms: int) -> None:
    """Wait until a page has loaded, for a short time: some never do."""
    try:
        whole: Literal["load", "domcontentloaded"] = "domcontentloaded" if state == "domcontentloaded" else "load"
        await tab.page.wait_for_load_state(whole, timeout=min(_LOAD_MS, timeout_ms))
    except Exception as exc:
        if not is_driver_timeout(exc):
            raise


async def open_blank_page(tab: Tab) -> None:
    """Leave a page that was refused without a log-in, because the browser would reload it by itself later."""
    await tab.run_or_default(lambda: tab.page.goto("about:blank"), None)


async def restore_page(tab: Tab, policy: UrlPolicy, url: str, lost_by: str) -> None:
    """Load the last address of a lost page. Calls that only read continue afterwards, others fail.

    Args:
        lost_by: Why the page was lost, such as `the page had crashed`.
    Raises:
        ToolError: `browser_crashed`: the page's content is lost, or it could not be loaded again; `url_blocked`.
    """
    try:
        await tab.page.goto(policy.check(url), wait_until="load", timeout=work_ms(_COME_BACK_MS))
    except Exception as exc:
        if not is_driver_error(exc):
            raise
        reason = "not in time" if is_driver_timeout(exc) else net_error(exc) or extract_headline(exc)
        raise ToolError(
            "browser_crashed",
            f"{lost_by}, and {url!r} could not be loaded again: {reason}; try again, or go elsewhere",
            retryable=True,
            url=url,
        ) from exc
    tab.restore = None
    if only_looks.get():
        tab.restored = url, lost_by
        return
    _, logins = tab.pop_loss()
    raise ToolError(
        "browser_crashed",
        f"{lost_by}, and the page is open again at {tab.page.url!r}; nothing was done, and what was typed there is "
        f"lost{logins}: look at the page, and go on from there",
        retryable=True,
        url=tab.page.url,
    )


async def go_back(tab: Tab, timeout_ms: int) -> NavigationResult:
    """Go one step back in the tab's history.

    Raises:
        ToolError: `navigation_failed`: there is nothing to go back to; and those of `go_to`.
    """
    return await _step_history(tab, -1, timeout_ms, tab.page.go_back)


async def go_forward(tab: Tab, timeout_ms: int) -> NavigationResult:
    """Go one step forward; see `go_back`."""
    return await _step_history(tab, 1, timeout_ms, tab.page.go_forward)


async def reload_page(tab: Tab, timeout_ms: int) -> NavigationResult:
    """Load the page again; see `go_to`."""
    return await _navigate(tab, tab.page.url, timeout_ms, partial(_move, tab, tab.page.reload, timeout_ms))


async def read_state(tab: Tab) -> tuple[str, str]:
    """Return title and load state as far as the page can report them, which it cannot behind a dialog."""
    if tab.dialogs.open is not None:
        return tab.title, "loading"
    title, state = await tab.run_or_default(lambda: _look(tab), (tab.title, "loading"))
    return title, _STATES.get(state, state)


async def _list_pending(tab: Tab) -> tuple[str, ...]:
    nothing: list[str] = []
    pending = await tab.run_or_default(lambda: tab.refs.list_pending(tab.page), nothing)
    return tuple(url[:_URL_CHARS] for url in pending)


async def _look(tab: Tab) -> tuple[str, str]:
    """Return title and ready state; over the protocol, because pages replace what the driver needs for values."""
    session = await tab.get_session()
    reply = await session.send("Runtime.evaluate", {"expression": _LOOK, "returnByValue": True})
    if "exceptionDetails" in reply:  # the page has replaced even that
        title, state = await tab.refs.ask_page(tab.page, "state")
        return str(title), str(state)
    title, state = reply["result"].get("value") or ("", "loading")
    return str(title), str(state)


def with_scheme(url: str) -> str:
    """Add a missing scheme: `https:` (`example.org/a`), or `http:` for IP addresses and `localhost:8000`."""
    url = url.strip()
    if not url or url.startswith(("/", ".")) or "://" in url:
        return url
    head, _, rest = url.partition(":")
    is_port = rest.split("/")[0].split("?")[0].isdigit()
    if rest and not is_port:
        return url
    name = head.split("/")[0]
    if name == "localhost" or name.replace(".", "").isdigit():
        return f"http://{url}"
    return f"https://{url}" if "." in name else url


async def _move(tab: Tab, move: Callable[..., Awaitable["Response | None"]], timeout_ms: int) -> "Response | None":
    response = await move(wait_until="commit", timeout=timeout_ms)
    await _wait_for_load(tab, "load", timeout_ms)
    return response


async def _step_history(
    tab: Tab, step: int, timeout_ms: int, move: Callable[..., Awaitable["Response | None"]]
) -> NavigationResult:
    async def there() -> bool:
        reply = await (await tab.get_session()).send("Page.getNavigationHistory")
        return bool(0 <= reply["currentIndex"] + step < len(reply["entries"]))

    if not await tab.run_or_default(there, default=True):
        way = "back" if step < 0 else "forward"
        raise ToolError("navigation_failed", f"there is no page to go {way} to", url=tab.page.url, tabId=tab.tab_id)
    return await _navigate(tab, tab.page.url, timeout_ms, partial(_move, tab, move, timeout_ms))


async def _navigate(
    tab: Tab, url: str, timeout_ms: int, move: Callable[[], Awaitable["Response | None"]]
) -> NavigationResult:
    async def run() -> NavigationResult:
        async with TitleAtLoad(tab) as asked:
            response = await move()
            title, state = await asked.wait_for_answer() or await _look(tab)
        tab.process.update_tab_info(tab, title, tab.page.url)
        status, requested = response.status if response else None, await tab.logins.find_challenge(response)
        state = _STATES.get(state, state)
        pending: tuple[str, ...] = ()
        if state != "load":
            pending = await tab.run_or_default(lambda: _list_pending(tab), pending)
        is_pdf = response is not None and response.headers.get("content-type", "").startswith(PDF)
        kind = describe_pdf(tab) if is_pdf else ""
        return NavigationResult(tab.page.url, status, title, state, pending=pending, kind=kind, login_wanted=requested)

    try:
        return await tab.run_action(run, timeout_ms)
    except Exception as exc:
        if _DOWNLOAD in str(exc):
            await tab.run_or_default(tab.download_began.wait, default=True)
            return NavigationResult(url, None, tab.title, "load", is_download=True)
        if is_driver_timeout(exc):
            raise await _timed_out(tab, url, timeout_ms) from exc
        if not is_driver_error(exc):
            raise
        if net_error(exc) is not None:
            await tab.run_or_default(lambda: _error_page(tab), None)
        if net_error(exc) == _NO_LOGIN:  # the server sent no page with it
            return NavigationResult(url, _UNAUTHORIZED, "", "load", login_wanted=tab.logins.describe_challenge(url))
        raise _navigation_error(tab, url, exc) from exc


async def _error_page(tab: Tab) -> None:
    """Wait for the browser's error page, which would otherwise interrupt the next navigation."""
    await tab.page.wait_for_url(_ERROR_PAGE, wait_until="commit", timeout=_ERROR_PAGE_MS)


async def _stop_loading(tab: Tab) -> None:
    async def stop() -> None:
        await (await tab.get_session()).send("Page.stopLoading")

    await tab.run_or_default(stop, None)


async def _timed_out(tab: Tab, url: str, timeout_ms: int) -> ToolError:
    await _stop_loading(tab)
    return ToolError(
        "navigation_timeout",
        f"{url!r} was not loaded within {timeout_ms} ms; it was stopped where it was. Allow more with timeoutMs, "
        "or wait for less with waitUntil",
        retryable=True,
        url=url,
        tabId=tab.tab_id,
        timeoutMs=timeout_ms,
    )


_CERTIFICATE = "net::ERR_CERT_"
_FAULTS = {
    "AUTHORITY_INVALID": "this machine does not trust who has issued it",
    "COMMON_NAME_INVALID": "it is another host's",
    "DATE_INVALID": "it has expired, is not valid yet, or the clock of this machine is wrong",
    "REVOKED": "it was revoked",
}


def _describe_certificate(code: str) -> str:
    """Return what is wrong with a server's certificate and who can do what about it; empty: nothing is."""
    if not code.startswith(_CERTIFICATE):
        return ""
    problem = _FAULTS.get(code.removeprefix(_CERTIFICATE), "it is not valid")
    return (
        f". The server's certificate cannot be relied on: {problem}; no tool can accept it. If it is the right server, "
        "a person can have it use a valid certificate, have this machine trust its authority, or name its key in "
        "config.chrome.args: --ignore-certificate-errors-spki-list=HASH (how: the documentation of browsers)"
    )


def _navigation_error(tab: Tab, url: str, error: Exception) -> ToolError:
    if tab.refusal is not None:
        return tab.refusal
    refusal = tab.process.find_refusal(url)
    if refusal is not None:
        return refusal
    code = tab.process.find_failure(url) or net_error(error) or extract_headline(error)
    advice = _describe_certificate(code)
    return ToolError(
        "navigation_failed",
        f"{url!r} could not be loaded: {code}{advice}",
        retryable=not advice,
        url=url,
        netError=code,
        tabId=tab.tab_id,
    )
