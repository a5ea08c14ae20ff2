"""The engine: all browsers and tabs of one server or worker, for both modules."""

import asyncio
import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import structlog

from agentcore.api import ToolError, UrlPolicy
from agentcore_chrome.browser.attached_pages import LostPage
from agentcore_chrome.browser.attaching import attach_to_browser
from agentcore_chrome.browser.connecting import connect_to_server
from agentcore_chrome.browser.driver import Driver
from agentcore_chrome.browser.endpoint_policy import EndpointPolicy
from agentcore_chrome.browser.guard import Guard
from agentcore_chrome.browser.launching import LaunchOptions, launch_browser
from agentcore_chrome.browser.lost_browsers import LostBrowser, LostBrowsers
from agentcore_chrome.browser.process import BrowserProcess
from agentcore_chrome.browser.profile_folders import ProfileFolders
from agentcore_chrome.browser.session_guards import SessionGuards
from agentcore_chrome.endpoint import Endpoint, create_endpoint
from agentcore_chrome.failures import instance_not_found, tab_not_found
from agentcore_chrome.live.screencast import Screencast
from agentcore_chrome.logins import KnownLogins
from agentcore_chrome.settings import EngineSettings
from agentcore_chrome.tab.refs import Refs
from agentcore_chrome.tab.tab import Tab, TabOptions

log = structlog.get_logger(__name__)


class Listener(Protocol):
    """A module that is notified about tabs and browsers."""

    def tab_added(self, tab: Tab) -> None:
        """Handle a new tab, a popup, or the tab of a page that was reattached."""
        ...

    def tab_changed(self, tab: Tab) -> None:
        """Handle a tab whose address, title or state changed."""
        ...

    def tab_removed(self, tab: Tab) -> None:
        """Handle a tab that is gone; `tab.gone` contains the reason."""
        ...

    def browsers_changed(self) -> None:
        """Handle a browser that started or ended."""
        ...

    def browser_crashed(self, process: BrowserProcess) -> None:
        """Handle a browser that crashed or whose connection was lost."""
        ...

    def page_gone(self, page: LostPage) -> None:
        """Handle a page that disappeared while its browser was lost."""
        ...


class Engine:
    """Browsers, launched on first use or attached to, with ids that are never reused.

    Attributes:
        endpoint: The external browser or server; None: browsers are launched locally.
        lost: Browsers whose connection was lost, and which may still be running.
    Args:
        settings: `config.chrome`.
        policy: Which addresses may be opened.
        state_folder: Identifies the server or worker; profile folders that its earlier process left are removed.
    """

    def __init__(self, settings: EngineSettings, policy: UrlPolicy, state_folder: Path) -> None:
        self.settings = settings
        self.endpoint: Endpoint | None = create_endpoint(settings)
        self.policy = policy if self.endpoint is None else EndpointPolicy(policy, self.endpoint)
        self.processes: dict[str, BrowserProcess] = {}
        self.tabs: dict[str, Tab] = {}
        self.listeners: list[Listener] = []
        self.folders = ProfileFolders(state_folder)
        self.guard = Guard(policy, settings.proxy)
        # contexts of a profile belong to no session, and another proxy does not reach loopback here
        has_session_guards = self.endpoint is None and settings.profile is None and settings.proxy is None
        self._session_guards = SessionGuards(policy, self.guard) if has_session_guards else None
        self.driver = Driver()
        self.logins = KnownLogins(settings.basic_auth)
        self._screencasts: dict[str, Screencast] = {}
        self._browser_ids = itertools.count(1)
        self._tab_ids = itertools.count(1)
        self._refs = itertools.count(1)
        self._shared: BrowserProcess | None = None
        self._sharing = asyncio.Lock()
        self._launching = 0
        self._crashed: set[str] = set()
        self.lost = LostBrowsers(self._reattach_browser, self._page_gone)

    # -- browsers ----------------------------------------------------------------------------------------------

    async def launch_browser(self, options: LaunchOptions) -> BrowserProcess:
        """Launch a browser, or connect to the external one of the settings.

        Raises:
            ToolError: `browser_not_found`, `browser_launch_failed`, `browser_version_mismatch`, `too_many_browsers`.
        """
        limit = self.settings.max_browsers
        if len(self.processes) + self._launching >= limit:
            raise ToolError(
                "too_many_browsers", f"{limit} browsers run already; close one, or raise `max_browsers`", limit=limit
            )
        self._launching += 1
        try:
            browser_id = f"b{next(self._browser_ids)}"
            process = await self._create_browser(browser_id, options)
        finally:
            self._launching -= 1
        self.processes[browser_id] = process
        log.info("browser_started", browser_id=browser_id, pid=process.pid, version=process.version)
        self._notify_listeners(lambda listener: listener.browsers_changed())
        return process

    async def get_shared_browser(self, options: LaunchOptions | None = None) -> BrowserProcess:
        """Return the browser that sessions share, each with its own context; start it if necessary."""
        async with self._sharing:
            if self._shared is not None and self._shared.browser_id in self.lost:
                self._shared = await self.lost.reattach_browser(self._shared.browser_id)
            if self._shared is None or not self._shared.is_open:
                self._shared = await self.launch_browser(options or LaunchOptions())
            return self._shared

    async def _create_browser(self, browser_id: str, options: LaunchOptions) -> BrowserProcess:
        if self.endpoint is None:
            return await launch_browser(self, browser_id, options)
        if isinstance(self.policy, EndpointPolicy):
            await self.policy.resolve_endpoint()
        make = attach_to_browser if self.endpoint.kind == "cdp" else connect_to_server
        return await make(self, self.endpoint, browser_id, options)

    async def _reattach_browser(self, lost: LostBrowser) -> BrowserProcess:
        process = await self._create_browser(lost.browser_id, LaunchOptions(session_id=lost.session_id))
        self.processes[lost.browser_id] = process
        self._crashed.discard(lost.browser_id)
        if self._shared is not None and self._shared.browser_id == lost.browser_id:
            self._shared = process
        log.info("browser_attached_again", browser_id=lost.browser_id, tabs=len(lost.pages))
        return process

    def _page_gone(self, page: LostPage) -> None:
        self._notify_listeners(lambda listener: listener.page_gone(page))

    def get_browser(self, browser_id: str) -> BrowserProcess:
        """Return a browser by its id.

        Raises:
            ToolError: `instance_not_found`.
        """
        process = self.processes.get(browser_id)
        if process is None:
            raise instance_not_found(browser_id, has_crashed=browser_id in self._crashed)
        return process

    async def open_tab(self, process: BrowserProcess, options: TabOptions) -> Tab:
        """Open a new tab of a session.

        Raises:
            ToolError: `too_many_tabs`, `browser_crashed`, `browser_launch_failed`.
        """
        if not self.has_room():
            limit = self.settings.max_tabs
            raise ToolError(
                "too_many_tabs", f"{limit} tabs are open already; close some, or raise `max_tabs`", limit=limit
            )
        return await process.open_tab(options)

    def get_tab(self, tab_id: str) -> Tab:
        """Return a tab by its id.

        Raises:
            ToolError: `tab_not_found`.
        """
        tab = self.tabs.get(tab_id)
        if tab is None:
            raise tab_not_found(tab_id)
        return tab

    def get_screencast(self, tab: Tab) -> Screencast:
        """Return the screencast of a tab, which all its viewers share."""
        return self._screencasts.setdefault(tab.tab_id, Screencast(tab))

    async def describe_browsers(self) -> list[dict[str, Any]]:
        """Return all browsers with their tabs as JSON."""
        running = await asyncio.gather(*(_describe_browser(process) for process in list(self.processes.values())))
        return [*running, *(lost.to_json() for lost in self.lost.all())]

    async def close_all(self) -> None:
        """Close all browsers; the engine can start others."""
        await self.lost.remove_all()
        await asyncio.gather(*(process.close() for process in list(self.processes.values())))

    async def close(self) -> None:
        """Close everything; may be called twice."""
        await self.close_all()
        await self.driver.stop()
        await self.guard.stop()
        if self._session_guards is not None:
            await self._session_guards.stop()
        await asyncio.to_thread(self.folders.remove_all)

    # -- used by browsers --------------------------------------------------------------------------------------

    def new_tab_id(self) -> str:
        """Return an id that no tab has had before."""
        return f"t{next(self._tab_ids)}"

    def new_refs(self, selector_engine: str) -> Refs:
        """Return references for a tab; no two tabs have the same."""
        return Refs(self._refs, selector_engine)

    def has_room(self) -> bool:
        """True if another tab may be opened."""
        return len(self.tabs) < self.settings.max_tabs

    def on_tab_added(self, tab: Tab) -> None:
        """Register a tab and notify the listeners."""
        self.tabs[tab.tab_id] = tab
        self._notify_listeners(lambda listener: listener.tab_added(tab))

    def on_tab_changed(self, tab: Tab) -> None:
        """Notify viewers and listeners that a tab changed."""
        if (screencast := self._screencasts.get(tab.tab_id)) is not None:
            screencast.notify_viewers()
        self._notify_listeners(lambda listener: listener.tab_changed(tab))

    def on_tab_removed(self, tab: Tab) -> None:
        """Remove a tab, close its screencast and notify the listeners."""
        self.tabs.pop(tab.tab_id, None)
        if (screencast := self._screencasts.pop(tab.tab_id, None)) is not None:
            screencast.close()
        self._notify_listeners(lambda listener: listener.tab_removed(tab))

    def on_browser_ended(self, process: BrowserProcess) -> None:
        """Remove a browser, record it if it crashed or was lost, and notify the listeners."""
        self.processes.pop(process.browser_id, None)
        if process.is_attached and process.crashed is not None:
            self.lost.add(process)
        if process.crashed is not None:
            self._crashed.add(process.browser_id)
            self._notify_listeners(lambda listener: listener.browser_crashed(process))
        self._notify_listeners(lambda listener: listener.browsers_changed())

    def find_refusal(self, host: str, port: int) -> ToolError | None:
        """Return the policy's error for a refused connection."""
        return self.guard.refused.get((host, port))

    def policy_for(self, session_id: str) -> UrlPolicy:
        """Return the URL policy for the pages of a session, which may also open the session's services."""
        return self.policy if self._session_guards is None else self.policy.with_services(session_id)

    async def acquire_session_proxy(self, session_id: str) -> str | None:
        """Return the proxy for a new context of a session; None: that of the browser."""
        return None if self._session_guards is None else await self._session_guards.acquire(session_id)

    async def release_session_proxy(self, session_id: str) -> None:
        """Stop the proxy of a session after its last context."""
        if self._session_guards is not None:
            await self._session_guards.release(session_id)

    def check_url(self, url: str) -> str:
        """Check an address against the URL policy.

        Raises:
            ToolError: `url_blocked`.
        """
        return self.policy.check(url)

    def find_failure(self, host: str, port: int) -> str | None:
        """Return why a connection failed, as a browser's error code."""
        return self.guard.failed.get((host, port))

    def _notify_listeners(self, what: Callable[[Listener], None]) -> None:
        for listener in list(self.listeners):
            what(listener)


async def _describe_browser(process: BrowserProcess) -> dict[str, Any]:
    """Return a browser with its tabs as JSON."""
    return {
        "browserId": process.browser_id,
        "sessionId": process.session_id,
        "isShared": not process.session_id,
        "isAttached": process.is_attached,
        "isRemote": process.is_remote,
        "state": "open",
        "headless": process.headless,
        "version": process.version,
        "pid": process.pid,
        "memoryBytes": await process.memory_bytes(),
        "startedAt": process.started_at_ms,
        "tabs": [tab.to_json() for tab in process.tabs.values() if tab.is_within_reach],
    }


@dataclass(slots=True)
class _Shared:
    engine: Engine
    users: int = 0


_ENGINES: dict[tuple[int, str], _Shared] = {}
"""By event loop and state folder: the modules of one server or worker share an engine, others never do."""


async def acquire_engine(settings: EngineSettings, policy: UrlPolicy, state_folder: Path) -> Engine:
    """Return the shared engine; the first module creates it and removes what an earlier process left behind."""
    key = _engine_key(state_folder)
    shared = _ENGINES.get(key)
    if shared is None:
        shared = _ENGINES[key] = _Shared(Engine(settings, policy, state_folder))
        shared.users = 1
        await asyncio.to_thread(shared.engine.folders.remove_all)
    else:
        shared.users += 1
    return shared.engine


async def release_engine(engine: Engine, state_folder: Path) -> None:
    """Release the engine; the last module that uses it closes it."""
    shared = _ENGINES.get(_engine_key(state_folder))
    if shared is None or shared.engine is not engine:
        return
    shared.users -= 1
    if shared.users <= 0:
        del _ENGINES[_engine_key(state_folder)]
        await engine.close()


def _engine_key(state_folder: Path) -> tuple[int, str]:
    return id(asyncio.get_running_loop()), os.fspath(state_folder)
