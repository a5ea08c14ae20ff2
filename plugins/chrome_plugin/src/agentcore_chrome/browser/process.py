"""One browser with its contexts and tabs: a launched process, or an external one."""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, Protocol
from weakref import WeakKeyDictionary

import psutil
import structlog

from agentcore.api import Background, ToolError
from agentcore_chrome.browser.attached_pages import (
    LostPage,
    OtherPage,
    create_lost_page,
    list_other_pages,
    target_not_found,
)
from agentcore_chrome.browser.guard import parse_host_and_port
from agentcore_chrome.browser.stored_state import StorageStateFile
from agentcore_chrome.browser.targets import (
    LOOK_AGAIN_SECONDS,
    TabTargets,
    find_target,
    pages_by_target,
    wait_for_target,
)
from agentcore_chrome.failures import browser_closed, browser_crashed, browser_lost, is_closed, no_tab_opened
from agentcore_chrome.logins import KnownLogins
from agentcore_chrome.lost_failures import end_within
from agentcore_chrome.session_state import SavedContexts, SessionStates
from agentcore_chrome.tab.in_page import page_setup
from agentcore_chrome.tab.refs import ENGINE, Refs
from agentcore_chrome.tab.tab import Tab, TabOptions

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, CDPSession, Page

    from agentcore_chrome.browser.request_policy import RequestFilter

log = structlog.get_logger(__name__)

_CLOSE_SECONDS = 8.0
_LOOK_SECONDS = 3.0
_JUDGED = ("http:", "https:", "file:", "chrome:", "devtools:", "view-source:", "chrome-extension:")

Place = Literal["here", "attached", "remote"]
"""Where a browser runs: launched locally, attached to over its debugging port, or on a Playwright server."""
_ADAPTERS: dict[Place, str] = {"here": "playwright", "attached": "cdp", "remote": "remote"}


class Owner(Protocol):
    """The part of the engine that a browser uses."""

    logins: KnownLogins

    def new_tab_id(self) -> str: ...
    def new_refs(self, selector_engine: str) -> Refs: ...
    def has_room(self) -> bool: ...
    def on_tab_added(self, tab: Tab) -> None: ...
    def on_tab_changed(self, tab: Tab) -> None: ...
    def on_tab_removed(self, tab: Tab) -> None: ...
    def on_browser_ended(self, process: "BrowserProcess") -> None: ...
    def find_refusal(self, host: str, port: int) -> ToolError | None: ...
    def check_url(self, url: str) -> str: ...
    def find_failure(self, host: str, port: int) -> str | None: ...
    async def acquire_session_proxy(self, session_id: str) -> str | None: ...
    async def release_session_proxy(self, session_id: str) -> None: ...


class BrowserProcess:
    """A browser with its tabs.

    Attributes:
        place: Where it runs.
        judge: Checks its requests if its connections do not pass through the guard.
        lost_pages: Pages of an attached browser that continue after the connection was lost.
        browser_id: Unique, never reused.
        session_id: The session that launched it; empty for the one that sessions share.
        tabs: Its tabs by id.
        pid: The id of its process if it was launched locally.
        logins: The log-ins for servers that require one.
        permissions: What pages may do besides, by their origin.
        prepare_context: Called with each context that is created.
        selector_engine: The name of the selector engine that finds elements by reference.
        views_within_s: Seconds to wait for a page that is marked with a resource's id; 0: open a tab if there is none.
        saved: Saves the contexts of its sessions; None: their log-ins are not stored.
        crashed: The error if it crashed or its connection was lost.
    """

    def __init__(self, browser_id: str, owner: Owner, browser: "Browser", *, session_id: str = "") -> None:
        self.browser_id = browser_id
        self.session_id = session_id
        self._owner = owner
        self.browser = browser
        self.logins = owner.logins
        self.tabs: dict[str, Tab] = {}
        self._in_front: WeakKeyDictionary[BrowserContext, str] = WeakKeyDictionary()
        self.pid: int | None = None
        self.version = browser.version
        self.started_at_ms = time.time_ns() // 1_000_000
        self.crashed: ToolError | None = None
        self.place: Place = "here"
        self.judge: RequestFilter | None = None
        self.lost_pages: list[LostPage] = []
        self.views_within_s = 0.0
        self.headless = True
        self.selector_engine = ENGINE
        self.context_options: dict[str, Any] = {}
        self.permissions: Mapping[str, Sequence[str]] = {}
        self.prepare_context: Callable[[BrowserContext], Coroutine[Any, Any, None]] | None = None
        self.shares_context = False
        self.shared_context: BrowserContext | None = None
        self._kept: StorageStateFile | None = None
        self.saved: SavedContexts | None = None
        self._contexts: dict[str, BrowserContext] = {}
        self._opening = asyncio.Lock()
        self._session: CDPSession | None = None
        self._targets = TabTargets(self)
        self._closing = False
        self._over = False
        self._ended = asyncio.Event()
        self._background = Background(f"browser:{browser_id}")
        self.on_over: Callable[[], Coroutine[Any, Any, None]] | None = None
        browser.on("disconnected", lambda _: self._on_disconnected())

    async def subscribe_to_events(self) -> None:
        """Subscribe to titles, start the request filter, and find the process id of a launched browser."""
        self._session = await self.browser.new_browser_cdp_session()
        self._targets.subscribe_to_events(self._session)
        discovering = self._session.send("Target.setDiscoverTargets", {"discover": True})
        if self.judge is not None:
            await self.judge.start(self._session)
        if self.place != "here":
            await discovering
        else:
            _, processes = await asyncio.gather(discovering, self.list_processes())
            self.pid = next((process["id"] for process in processes if process["type"] == "browser"), None)

    @property
    def is_attached(self) -> bool:
        """True if it was running already and is left running."""
        return self.place == "attached"

    @property
    def is_remote(self) -> bool:
        """True if its files are on another machine."""
        return self.place == "remote"

    @property
    def is_guarded(self) -> bool:
        """True if all its connections pass through the guard."""
        return self.place == "here"

    @property
    def adapter_type(self) -> str:
        """How its pages are driven, as their resources report it."""
        return _ADAPTERS[self.place]

    def share_context(self, context: "BrowserContext", kept: StorageStateFile | None = None) -> None:
        """Use one context for all sessions.

        Args:
            kept: The file that stores its log-ins.
        """
        self.shares_context = True
        self.shared_context = context
        self._kept = kept
        if kept is not None:
            self._background.start(kept.save_periodically(context))

    def save_sessions(self, states: SessionStates) -> None:
        """Save the log-ins of each session from now on, if each has its own context."""
        if self.saved is None and not self.shares_context:
            self.saved = SavedContexts(states, self._background.start)

    @property
    def is_open(self) -> bool:
        """True if it can be used."""
        return not self._over and not self._closing

    async def open_tab(self, options: TabOptions) -> Tab:
        """Open a new tab in the session's context.

        Raises:
            ToolError: `browser_crashed`, `browser_launch_failed`, `view_not_shown`.
        """
        await self._wait_for_view(options)  # outside of the lock, so that other tabs can open
        async with self._opening:
            if not self.is_open:
                raise self.crashed or browser_crashed("the browser has ended", browserId=self.browser_id)
            try:
                async with asyncio.timeout(_CLOSE_SECONDS * 4):
                    context = await self._get_context(options)
                    found = await self._find_marked_page(options)
                    page = found or await self._open_page(context, options)
                    if self.is_attached:
                        await page.add_init_script(page_setup())
            except ToolError:
                raise
            except TimeoutError as exc:
                raise ToolError("browser_launch_failed", "the browser did not open a tab in time") from exc
            except Exception as exc:
                if is_closed(exc):
                    await self._wait_until_ended()
                if self.crashed is not None:
                    raise self.crashed from exc
                raise no_tab_opened(exc, is_attached=self.is_attached) from exc
            return self._add_tab(page, options, is_ours=found is None)

    async def _wait_until_ended(self) -> None:
        """Wait for the driver's disconnect event, which comes after its replies."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LOOK_SECONDS):
                await self._ended.wait()

    async def other_pages(self) -> list[OtherPage]:
        """Return the pages of an attached browser that are not tabs yet and that the URL policy allows."""
        assert self._session is not None  # noqa: S101 - listen() was called
        ours = {tab.page for tab in self.tabs.values()}
        found = await list_other_pages(self.browser, self._session, ours) if self.is_attached else []
        return [one for one in found if self._may_touch(one.page)]

    async def attach_page(self, wanted: OtherPage, options: TabOptions) -> Tab:
        """Make a tab of a user's page in an attached browser; closing the tab leaves the page open.

        Raises:
            ToolError: `target_not_found`: it is gone, or no longer at the address that the user has approved.
        """
        async with self._opening:
            pages = await self.other_pages()
            found = next((one for one in pages if (one.target_id, one.url) == (wanted.target_id, wanted.url)), None)
            if found is None:
                raise target_not_found(wanted.target_id)
            return self._add_tab(found.page, options, is_ours=False)

    async def restore_lost_pages(self, lost: list[LostPage]) -> list[LostPage]:
        """Make tabs again of pages whose connection was lost, and return the pages that no longer exist."""
        async with self._opening:
            pages = await pages_by_target(self.browser, {page.target_id for page in lost})
            for one in lost:
                if (page := pages.get(one.target_id)) is not None:
                    await self._get_context(one.options)  # subscribes to its popups
                    self._add_tab(page, one.options, is_ours=one.is_ours, was=one)
        return [one for one in lost if one.target_id not in pages]

    def _may_touch(self, page: "Page") -> bool:
        try:
            self.check_frames(page)
        except ToolError:
            return False
        return True

    async def end_session(self, session_id: str) -> None:
        """Close a session's context once its last tab is gone."""
        if any(tab.session_id == session_id for tab in self.tabs.values()):
            return
        context = self._contexts.pop(session_id, None)
        if context is not None and context is not self.shared_context:
            if self.saved is not None:
                await self.saved.close(session_id)
            await end_within(context.close(), _CLOSE_SECONDS)

    async def close(self) -> None:
        """Close the browser, or only the own tabs of an attached one; may be called twice."""
        if self._closing:
            return
        self._closing = True  # first, so that the disconnect is not taken for a crash
        if self.is_attached:
            await asyncio.gather(*(tab.close() for tab in list(self.tabs.values())))
        if self.saved is not None and self.browser.is_connected():
            await self.saved.close_all()
        if self._kept is not None and self.shared_context is not None and self.browser.is_connected():
            await end_within(self._kept.save(self.shared_context), _CLOSE_SECONDS)
        closing = self.shared_context if self.shared_context is not None and not self.is_attached else self.browser
        await end_within(closing.close(), _CLOSE_SECONDS)
        if not self.is_attached and self.browser.is_connected():
            await end_within(self.browser.close(), _CLOSE_SECONDS / 4)
        self._kill_process()
        await self._handle_ended(browser_closed(self.browser_id))

    def _kill_process(self) -> None:
        """Kill the process of a browser that does not exit, such as a suspended one."""
        if not self.is_guarded or self.pid is None or not self.browser.is_connected():
            return
        log.warning("browser_killed", browser_id=self.browser_id, pid=self.pid)
        with suppress(ProcessLookupError):  # it has just exited
            os.kill(self.pid, signal.SIGKILL)

    async def list_processes(self) -> list[dict[str, Any]]:
        """Return the browser's processes by type and id; empty if it does not report them."""
        return await list_processes(self._session) if self._session is not None else []

    async def memory_bytes(self) -> int | None:
        """Return the memory of all its processes, with shared memory counted proportionally."""
        if not self.is_guarded:
            return None  # its processes belong to another machine or to the user
        pids = [process["id"] for process in await self.list_processes()]
        return await asyncio.to_thread(measure_memory, pids) if pids else None

    # -- used by tabs ------------------------------------------------------------------------------------------

    def notify_tab_changed(self, tab: Tab) -> None:
        """Notify the engine that a tab's state changed."""
        if not tab.gone.done():
            self._owner.on_tab_changed(tab)

    def remove_tab(self, tab: Tab) -> None:
        """Remove a tab that is gone, and notify the engine."""
        if self.tabs.pop(tab.tab_id, None) is not None:
            self._owner.on_tab_removed(tab)

    def run_in_background(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run work in the background, at most until the browser ends."""
        task = self._background.start(end_within(work, _CLOSE_SECONDS))
        task.add_done_callback(lambda _: work.close())  # a task cancelled before its first step never awaits it

    def check_frames(self, page: "Page") -> None:
        """Check the addresses of a page and its frames against the URL policy.

        Raises:
            ToolError: `url_blocked`.
        """
        for frame in page.frames:
            if frame.url.startswith(_JUDGED):
                self._owner.check_url(frame.url)

    def find_refusal(self, url: str) -> ToolError | None:
        """Return the URL policy's error if it refused a connection for this address."""
        place = parse_host_and_port(url)
        return self._owner.find_refusal(*place) if self.judge is None else self.judge.refused.get(place)

    def on_navigation_refused(self, frame_id: str, error: ToolError) -> None:
        """Store the error of a refused navigation if the frame is a tab's main frame, whose id is its target id."""
        tab = self._targets.find_tab(frame_id)
        if tab is not None:
            tab.refusal = error

    def find_failure(self, url: str) -> str | None:
        """Return why a connection for this address failed, as a browser's error code."""
        return self._owner.find_failure(*parse_host_and_port(url))

    # -- internals ---------------------------------------------------------------------------------------------

    async def _get_context(self, options: TabOptions) -> "BrowserContext":
        context = self._contexts.get(options.session_id)
        if context is None:
            context = self.shared_context if self.shares_context else None
            if context is None:
                context = await self._create_context(options.session_id)
                if self.prepare_context is not None:
                    await self.prepare_context(context)
            if context not in self._contexts.values():
                if not self.is_attached:  # there, it has the user's own tabs, too
                    await context.add_init_script(page_setup())
                    for origin, permissions in self.permissions.items():
                        # what is not named here is denied there, even what all other sites may do
                        await context.grant_permissions([*permissions, "clipboard-write"], origin=origin)
                context.on("page", lambda page: self.run_in_background(self._adopt_popup(page, options)))
            self._contexts[options.session_id] = context
        return context

    async def _create_context(self, session_id: str) -> "BrowserContext":
        proxy = await self._owner.acquire_session_proxy(session_id) if self.is_guarded else None
        options = self.context_options
        if proxy is not None:
            options = options | {"proxy": {"server": proxy, "bypass": "<-loopback>"}}
        try:
            if self.saved is None:
                context = await self.browser.new_context(**options)
            else:
                context = await self.saved.create_context(self.browser, options, session_id)
        except BaseException:
            if proxy is not None:
                await self._owner.release_session_proxy(session_id)
            raise
        if proxy is not None:
            context.on("close", lambda _: self.run_in_background(self._owner.release_session_proxy(session_id)))
        return context

    async def _find_marked_page(self, options: TabOptions) -> "Page | None":
        """Return the page that the attached program shows for this resource."""
        if not self.is_attached or options.resource_id is None or self._session is None:
            return None
        page = await find_target(self.browser, self._session, options.resource_id)
        if page is not None:
            self.check_frames(page)
        return page

    async def _wait_for_view(self, options: TabOptions) -> None:
        """Wait until the attached program shows its page for the resource, if it opens the pages itself."""
        if not self.views_within_s or options.resource_id is None or self._session is None:
            return
        try:
            await wait_for_target(self.browser, self._session, options.resource_id, self.views_within_s)
        except Exception as exc:
            if not is_closed(exc):
                raise
            raise self.crashed or browser_crashed("the browser has ended", browserId=self.browser_id) from exc

    async def _open_page(self, context: "BrowserContext", options: TabOptions) -> "Page":
        page = await context.new_page()
        if options.viewport is not None:
            await page.set_viewport_size({"width": options.viewport.width, "height": options.viewport.height})
        return page

    async def _adopt_popup(self, page: "Page", options: TabOptions) -> None:
        """Make a tab of a popup, a page that no call opened, or close it if there are too many tabs."""
        async with self._opening:
            if page.is_closed() or any(tab.page == page for tab in self.tabs.values()):
                return
            opening = await page.opener()
            opener = next((tab for tab in self.tabs.values() if tab.page == opening), None)
            if opener is None and self.shares_context:
                return  # a page that the user opened in the shared context
            if not self._owner.has_room():
                log.warning("popup_closed", browser_id=self.browser_id, session_id=options.session_id)
                await page.close()
                return
            if opener is not None:
                options = TabOptions(opener.owner, opener.session_id, opener.dialogs.hold_s)
            # A popup of a user's page may have been opened by the user, so it is left open as well.
            self._add_tab(page, options, is_ours=opener is None or opener.is_ours, opener=opener)

    def _add_tab(
        self,
        page: "Page",
        options: TabOptions,
        *,
        is_ours: bool,
        opener: Tab | None = None,
        was: LostPage | None = None,
    ) -> Tab:
        tab_id = self._owner.new_tab_id() if was is None else was.tab_id
        tab = Tab(tab_id, page, self, options, self._owner.new_refs(self.selector_engine))
        tab.opener = opener
        tab.is_ours = is_ours
        tab.target_id = None if was is None else was.target_id  # the connection may be lost again before it is read
        self.tabs[tab.tab_id] = tab
        self._in_front[page.context] = tab.tab_id
        tab.subscribe_to_events()
        self.run_in_background(self._targets.register_tab(tab))
        if opener is not None:
            opener.add_popup(tab)
        self._owner.on_tab_added(tab)
        return tab

    async def show_tab(self, tab: Tab) -> None:
        """Bring a tab to the front of its window, if another one was opened or used there since.

        A browser paints no page that is behind another one, such as its popup, and actions wait for a page to be
        painted. In a browser of the user nothing is moved.
        """
        context = tab.page.context
        if not self.is_attached and self._in_front.get(context) != tab.tab_id:
            self._in_front[context] = tab.tab_id
            await tab.run_or_default(tab.page.bring_to_front, None)

    def schedule_title_refresh(self, tab: Tab, after_s: float = LOOK_AGAIN_SECONDS) -> None:
        """Request a tab's title soon, because a browser does not report every change."""
        self._targets.schedule_title_refresh(tab, after_s)

    def update_tab_info(self, tab: Tab, title: str, url: str) -> None:
        """Store the current title and address of a tab, and notify the engine if they changed."""
        if (title, url) != (tab.title, tab.heard_url):
            tab.title = title
            tab.heard_url = url
            self.notify_tab_changed(tab)

    def _on_disconnected(self) -> None:
        if self._closing or self._over:
            return
        if self.place == "here":
            log.error("browser_crashed", browser_id=self.browser_id, pid=self.pid, tabs=len(self.tabs))
            self.crashed = browser_crashed("the browser's process ended", browserId=self.browser_id)
        else:
            log.warning("browser_lost", browser_id=self.browser_id, place=self.place, tabs=len(self.tabs))
            self.crashed = browser_lost(self.browser_id, goes_on=self.is_attached)
            self.lost_pages = [create_lost_page(tab) for tab in self.tabs.values() if self.is_attached]
        self._background.start(self._handle_ended(self.crashed))

    async def _handle_ended(self, error: ToolError) -> None:
        if self._over:
            return
        self._over = True
        self._ended.set()
        for tab in list(self.tabs.values()):
            tab.mark_gone(error)
        self._owner.on_browser_ended(self)
        self._background.cancel()
        if self.on_over is not None:
            await self.on_over()


async def list_processes(session: "CDPSession") -> list[dict[str, Any]]:
    """Return the processes of a browser by type and id; empty if it does not report them.

    Args:
        session: The browser's CDP session.
    """
    try:
        async with asyncio.timeout(_LOOK_SECONDS):
            reply = await session.send("SystemInfo.getProcessInfo")
    except Exception:  # noqa: BLE001 - some shells do not tell, and a dead one cannot
        return []
    found: list[dict[str, Any]] = reply.get("processInfo", [])
    return found


def measure_memory(pids: Iterable[int]) -> int:
    """Return the memory of the processes in bytes: proportional set sizes if available, else resident sizes."""
    return sum(_read_process_memory(pid) for pid in pids)


def _read_process_memory(pid: int) -> int:
    try:
        process = psutil.Process(pid)
        full = process.memory_full_info()
        return int(getattr(full, "pss", 0) or full.rss)
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return 0
    except psutil.AccessDenied:
        return 0
