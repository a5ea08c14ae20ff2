"""One tab: a page of a browser, and the only way to run actions on it."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import structlog

from agentcore.api import Background, ToolContext, ToolError
from agentcore_chrome.call_limit import cleaning_s, work_s
from agentcore_chrome.failures import browser_crashed, is_closed
from agentcore_chrome.logins import KnownLogins, TabLogins
from agentcore_chrome.lost_failures import ignore_failure
from agentcore_chrome.settings import Viewport
from agentcore_chrome.tab.advice import advice_for
from agentcore_chrome.tab.control import Control
from agentcore_chrome.tab.dialogs import DialogAnswer, DialogOpened, Dialogs, only_looks
from agentcore_chrome.tab.page_tree import PageTree, read_page
from agentcore_chrome.tab.refs import Refs
from agentcore_chrome.tab.request_log import RequestLog
from agentcore_chrome.tab.screenshot_area import Picture
from agentcore_chrome.tab.script_stop import ScriptStop

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Dialog, Download, FileChooser, Page, Request

log = structlog.get_logger(__name__)

T = TypeVar("T")

_LOOK_SECONDS = 2.0
_OWN_SECONDS = 10.0
_DOWNLOADS = 20
_BEHIND_SECONDS = 2.0
_DRIVER_SECONDS = 0.8
_CRASH_REPORT_SECONDS = 0.3
_URL_CHARS = 2000


@dataclass(frozen=True, slots=True)
class TabOptions:
    """Options of a new tab.

    Args:
        owner: The module that opens it.
        session_id: The chat session that it is for.
        hold_s: How many seconds its dialogs stay open for an answer.
        resource_id: Its resource, if there is one already.
        viewport: The size of its page, if it differs from that of the browser's other pages.
    """

    owner: str
    session_id: str
    hold_s: float = 0
    resource_id: str | None = None
    viewport: Viewport | None = None


class TabBrowser(Protocol):
    """The part of a browser that a tab uses."""

    browser_id: str
    crashed: ToolError | None
    logins: KnownLogins

    @property
    def is_attached(self) -> bool: ...
    @property
    def is_remote(self) -> bool: ...
    @property
    def is_guarded(self) -> bool: ...
    @property
    def adapter_type(self) -> str: ...

    def notify_tab_changed(self, tab: "Tab") -> None: ...
    def remove_tab(self, tab: "Tab") -> None: ...
    def run_in_background(self, work: Coroutine[Any, Any, Any]) -> None: ...
    def check_frames(self, page: "Page") -> None: ...
    def find_refusal(self, url: str) -> ToolError | None: ...
    def find_failure(self, url: str) -> str | None: ...
    def update_tab_info(self, tab: "Tab", title: str, url: str) -> None: ...
    def schedule_title_refresh(self, tab: "Tab", after_s: float = ...) -> None: ...
    async def show_tab(self, tab: "Tab") -> None: ...
    async def end_session(self, session_id: str) -> None: ...


class Tab:
    """A page with its dialogs, its downloads and the user who may drive it.

    Attributes:
        tab_id: Unique over all browsers, never reused.
        page: The driver's page.
        process: The browser that contains it.
        owner: The module that opened it, or its opener.
        advice: What errors and notes advise, by the tools of that module.
        session_id: The chat session that it belongs to.
        resource_id: The id of its resource.
        opener: The tab that opened it, if a page did.
        is_ours: True if the page is closed with the tab; else it existed before, and is left as it is.
        gone: Done, with the reason, once the page no longer exists.
        title: Its title, as last reported.
        refs: The references of its snapshots.
        requests: The requests that it made.
        file_chooser: The chooser that the page has opened, which expects files.
        restore: Restores a lost page before the next action; None: there is nothing to restore.
        restored: The address at which it was restored since the last result, and why it had been lost.
        lost_by: Why the page that this one replaces was lost, until that is reported; empty: it replaces none.
        has_kept_logins: Whether it was created with stored log-ins, until that is reported.
        refusal: The URL policy's error for the page's last navigation.
        given_folders: Copies of folders that the page was given, which it reads while it exists.
        shown_picture: The last screenshot that a model was shown: the points that it names are pixels of that.
    """

    def __init__(self, tab_id: str, page: "Page", process: TabBrowser, options: TabOptions, refs: Refs) -> None:
        self.tab_id = tab_id
        self.page = page
        self.process = process
        self.refs = refs
        self.owner = options.owner
        self.advice = advice_for(options.owner)
        self.session_id = options.session_id
        self.resource_id = options.resource_id
        self.opener: Tab | None = None
        self.is_ours = True
        self.title = ""
        self.heard_url = ""
        self.target_id: str | None = None
        self.created_at_ms = time.time_ns() // 1_000_000
        self.gone: asyncio.Future[ToolError] = asyncio.get_running_loop().create_future()
        self.dialogs = Dialogs(options.hold_s)
        self.downloads: deque[Download] = deque(maxlen=_DOWNLOADS)
        self.download_began = asyncio.Event()
        self._fetching: dict[Download, asyncio.Task[bytes]] = {}
        self.chooser_opened = asyncio.Event()
        self.requests = RequestLog()
        self.file_chooser: FileChooser | None = None
        self.file_chooser_reported = False
        self.restore: Callable[[], Awaitable[None]] | None = None
        self.restored: tuple[str, str] | None = None
        self.lost_by = ""
        self.has_kept_logins = False
        self.refusal: ToolError | None = None
        self.shown_picture: Picture | None = None
        self.given_folders: list[TemporaryDirectory[str]] = []
        self._popups: list[Tab] = []
        self.control = Control(self.describe_page, self._notify_changed)
        self.dialogs.listener = self._notify_changed
        self.closing = False
        self._session: asyncio.Task[CDPSession] | None = None
        self._handlers: dict[str, Callable[[Any], None]] = {
            "crash": lambda _: self._on_crash(),
            "close": lambda _: self._on_close(),
            "dialog": self._on_dialog,
            "download": self._on_download,
            "filechooser": self._on_file_chooser,
            "requestfailed": self._on_request_failed,
        }
        self._background = Background(f"tab:{tab_id}")
        self.logins = TabLogins(process.logins, self.session_id, self._background)
        self._behind: set[asyncio.Task[Any]] = set()
        self._script_stop = ScriptStop(tab_id, self.get_session, self._background)

    # -- lifecycle ---------------------------------------------------------------------------------------------

    def subscribe_to_events(self) -> None:
        """Subscribe to the page's events, and open its CDP session."""
        for event, handler in self._handlers.items():
            self.page.on(event, handler)  # type: ignore[call-overload]
        self.requests.subscribe(self.page)
        self._session = self._background.start(self._open_session())
        self._session.add_done_callback(ignore_failure)

    def mark_gone(self, error: ToolError) -> None:
        """Mark the page as gone: waiting calls end with the error, and the browser removes the tab."""
        if self.gone.done():
            return
        self.gone.set_result(error)
        self.dialogs.close()
        self._background.cancel()
        for folder in self.given_folders:
            asyncio.get_running_loop().run_in_executor(None, folder.cleanup)
        self.process.remove_tab(self)

    async def close(self) -> None:
        """Close the page, even if its script never ends; a page that is not ours is only detached."""
        if self.gone.done():
            return
        self.closing = True
        if not self.is_ours:
            await self._detach()
            return
        self.dialogs.answer_open(DialogAnswer(False))
        async with asyncio.TaskGroup() as group:
            stopping = group.create_task(self._script_stop.stop_script())
            try:
                async with asyncio.timeout(_OWN_SECONDS):
                    await self.page.close()
            except Exception as exc:  # noqa: BLE001 - whatever the driver says, the tab is dropped here
                log.info("tab_close_failed", tab_id=self.tab_id, reason=str(exc))
            finally:
                stopping.cancel()
                self.mark_gone(self._closed_error())

    # -- actions -----------------------------------------------------------------------------------------------

    async def run_action(
        self, work: Callable[[], Awaitable[T]], timeout_ms: int, *, grace_s: float = _DRIVER_SECONDS
    ) -> T:
        """Run one action on the page, in turn and within the limit.

        Args:
            work: The action, started when it is its turn.
            timeout_ms: Its limit; shorter if the call has less time left.
            grace_s: How much longer the driver may take to report the timeout itself, with the reason.
        Raises:
            ToolError: `browser_crashed`, `tab_not_found`, `url_blocked`, or what `work` raises.
            TimeoutError: It was not done in time.
            DialogOpened: A dialog blocks it.
        """
        async with self.control.lock_for_call():
            self.raise_if_gone()
            self.check_reach()
            await self._finish_previous_call()
            if self.restore is not None:
                await self.restore()
            await self.process.show_tab(self)
            self.dialogs.reset_dialog_count()
            self.refusal = None
            self.download_began.clear()
            result = await self._run_with_limit(work, work_s(timeout_ms / 1000, grace_s))
            self.process.schedule_title_refresh(self)
            if self.refusal is not None:
                raise self.refusal
            return result

    async def fetch_download(
        self, download: "Download", fetch: "Callable[[Download], Coroutine[Any, Any, bytes]]"
    ) -> bytes:
        """Return a download from another machine; the transfer continues if the caller stops waiting."""
        task = self._fetching.get(download)
        if task is None:
            task = self._fetching[download] = self._background.start(fetch(download))
            task.add_done_callback(ignore_failure)
        try:
            return await asyncio.shield(task)
        finally:
            if task.done():  # a caller that stopped waiting may come back; a transfer that failed is tried again
                self._fetching.pop(download, None)

    async def run_or_default(self, work: Callable[[], Awaitable[T]], default: T, limit_s: float = _LOOK_SECONDS) -> T:
        """Return the result of `work`, or the default if the page cannot answer (an endless script, a crash)."""
        try:
            async with asyncio.timeout(cleaning_s(limit_s)):
                return await work()
        except Exception:  # noqa: BLE001 - no answer is an answer here
            return default

    async def get_session(self) -> "CDPSession":
        """Return the page's CDP session, for what the driver's API does not offer."""
        assert self._session is not None  # noqa: S101 - listen() was called
        return await asyncio.shield(self._session)

    def stop_soon(self) -> None:
        """Stop the page's script in the background after a timeout; the next call waits for that."""
        self._script_stop.start()

    async def describe_page(self) -> str:
        """Return the page as lines, so that two states can be compared."""
        tree = await self.run_or_default(self.read_page_tree, None)
        if tree is None:
            return f"url: {self.page.url}\ntitle: {self.title}"
        return "\n".join([f"url: {tree.url}", f"title: {tree.title}", *(str(line).strip(" -") for line in tree.lines)])

    async def read_page_tree(self, timeout_ms: float = _LOOK_SECONDS * 1000) -> PageTree:
        """Return the page's tree, without waiting for a turn."""
        return await read_page(self.page, self.refs, await self.get_session(), timeout_ms)

    def raise_if_gone(self) -> None:
        """Raise the reason if the page is gone.

        Raises:
            ToolError: Why it is gone.
        """
        if self.gone.done():
            raise self.gone.result()

    def check_reach(self) -> None:
        """Check the addresses of the page and its frames, unless the browser's connections pass through the guard.

        The guard checks each connection. In an attached browser, the user may have gone anywhere, and in a remote one a
        name may resolve to another address.

        Raises:
            ToolError: `url_blocked`.
        """
        if not self.process.is_guarded:
            self.process.check_frames(self.page)

    @property
    def is_within_reach(self) -> bool:
        """True if `check_reach` passes; other tabs are not listed."""
        try:
            self.check_reach()
        except ToolError:
            return False
        return True

    @property
    def state(self) -> str:
        """`open`, `dialog` or `driven` (by a user)."""
        if self.control.holder is not None:
            return "driven"
        return "dialog" if self.dialogs.open else "open"

    def name_for(self, ctx: ToolContext) -> str:
        """Return the id that its owner's tools use for it, in texts: for a model the short one of its resource."""
        if self.owner != "browser" or not self.resource_id:
            return self.tab_id
        if ctx.model_chars is None:
            return self.resource_id
        return f"{self.owner}_{self.resource_id.rpartition('_')[2]}"

    def describe_ids(self) -> dict[str, Any]:
        """Return ids and address, for a result."""
        return {"tabId": self.tab_id, "resourceId": self.resource_id, "url": self.page.url}

    def pop_loss(self) -> tuple[str, str]:
        """Return, once, why the page that this one replaces was lost, and a remark on its log-ins."""
        loss = self.lost_by
        logins = "; the log-ins were kept" if self.has_kept_logins else ""
        self.lost_by = ""
        self.has_kept_logins = False
        return loss, logins

    def add_popup(self, popup: "Tab") -> None:
        """Store that this page opened another one."""
        self._popups = [*self._popups[-49:], popup]

    def pop_popups(self) -> "list[Tab]":
        """Return the pages that this one opened since the last call and that still exist."""
        popups = self._popups
        self._popups = []
        return [popup for popup in popups if not popup.gone.done()]

    def to_json(self) -> dict[str, Any]:
        """Return the tab as JSON."""
        return {
            "tabId": self.tab_id,
            "url": self.page.url,
            "title": self.title,
            "state": self.state,
            "owner": self.owner,
            "sessionId": self.session_id,
            "resourceId": self.resource_id,
            "createdAt": self.created_at_ms,
        }

    # -- internals ---------------------------------------------------------------------------------------------

    async def _detach(self) -> None:
        """Unsubscribe from a page and leave it as it is, with its content and dialogs."""
        for event, handler in self._handlers.items():
            self.page.remove_listener(event, handler)
        self.requests.unsubscribe(self.page)
        session = await self.run_or_default(self.get_session, None)
        self.mark_gone(self._closed_error())
        if session is not None:
            await self.run_or_default(session.detach, None)

    async def _run_with_limit(self, work: Callable[[], Awaitable[T]], limit_s: float) -> T:
        # No TaskGroup: work that a dialog blocks survives the call.
        task = self._background.start(_await_work(work))
        opened = self._background.start(self.dialogs.opened.wait())
        try:
            await asyncio.wait(
                (task, opened, self.gone),
                timeout=limit_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if task.done() and not self.gone.done():
                return await self._read_result(task)
            if self.gone.done():
                raise self.gone.result()
            if self.dialogs.open is not None:
                self._behind.add(task)
                task.add_done_callback(self._behind.discard)
                task.add_done_callback(ignore_failure)
                raise DialogOpened(self.dialogs.open)
            task.cancel()  # first, so that it requests nothing more from the page
            self.stop_soon()
            raise TimeoutError
        finally:
            opened.cancel()
            if task not in self._behind:
                task.add_done_callback(ignore_failure)
                task.cancel()

    async def _read_result(self, task: "asyncio.Future[T]") -> T:
        error = task.exception()
        if error is not None and is_closed(error):
            # The driver's reply arrives before its events, which say what happened.
            await asyncio.wait((self.gone,), timeout=cleaning_s(_OWN_SECONDS))
            if self.gone.done():
                raise self.gone.result() from error
            raise browser_crashed("the page or its browser went away", tabId=self.tab_id) from error
        return task.result()

    async def _finish_previous_call(self) -> None:
        """Wait for what the previous call left: a script that is being stopped, and work that a dialog blocks.

        An open dialog is dismissed, unless the call only reads: then the call ends here.
        """
        if self.dialogs.open is not None and only_looks.get():
            raise DialogOpened(self.dialogs.open)
        await self._script_stop.wait_until_done()
        if self.dialogs.answer_open(DialogAnswer(False)) is not None and self._behind:
            await asyncio.wait(set(self._behind), timeout=work_s(_BEHIND_SECONDS))

    async def wait_for_blocked_work(self, limit_s: float) -> None:
        """Wait until the work that a dialog blocked has ended, within a limit."""
        if self._behind:
            await asyncio.wait(set(self._behind), timeout=cleaning_s(limit_s))

    async def _open_session(self) -> "CDPSession":
        session = await self.page.context.new_cdp_session(self.page)
        if self.process.is_attached:
            # A browser does not paint a page that is behind another, and actions wait for it to be painted.
            await session.send("Emulation.setFocusEmulationEnabled", {"enabled": True})
        await self.logins.start_answering(session)
        return session

    def _closed_error(self) -> ToolError:
        if self.process.crashed is not None:
            return self.process.crashed
        return ToolError(
            "tab_not_found", f"tab {self.tab_id!r} was closed", tabId=self.tab_id, resourceId=self.resource_id
        )

    def _notify_changed(self) -> None:
        self.process.notify_tab_changed(self)

    def _on_close(self) -> None:
        """Mark a closed page as gone, after a delay if the cause may be a crash, which is reported later."""
        if self.closing:
            self.mark_gone(self._closed_error())
        else:
            asyncio.get_running_loop().call_later(_CRASH_REPORT_SECONDS, lambda: self.mark_gone(self._closed_error()))

    def _on_crash(self) -> None:
        log.warning("page_crashed", tab_id=self.tab_id, session_id=self.session_id)
        url = self.page.url
        ids = {"tabId": self.tab_id, "resourceId": self.resource_id}
        self.mark_gone(browser_crashed(f"the process of the page at {url[:_URL_CHARS]!r} crashed", url=url, **ids))
        if self.is_ours:
            self.process.run_in_background(self.page.close())

    def _on_dialog(self, dialog: "Dialog") -> None:
        self.dialogs.handle_dialog(dialog)

    def _on_download(self, download: "Download") -> None:
        self.downloads.append(download)
        self.download_began.set()
        self.process.notify_tab_changed(self)

    def _on_file_chooser(self, chooser: "FileChooser") -> None:
        self.file_chooser = chooser
        self.file_chooser_reported = False
        self.chooser_opened.set()

    def _on_request_failed(self, request: "Request") -> None:
        if request.is_navigation_request() and request.frame == self.page.main_frame:
            self.refusal = self.process.find_refusal(request.url) or self.refusal


async def _await_work(work: Callable[[], Awaitable[T]]) -> T:
    return await work()
