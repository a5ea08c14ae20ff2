"""Pages that belong to chat sessions: each is a resource, and its tab is opened when something is done to it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from agentcore.api import (
    CallPreview,
    Request,
    Resource,
    Response,
    Runtime,
    ToolContext,
    ToolError,
    ToolResult,
    WebComponent,
    tool,
)
from agentcore_chrome.browser.engine import Engine
from agentcore_chrome.browser.launching import LaunchOptions
from agentcore_chrome.browser.process import BrowserProcess
from agentcore_chrome.call_limit import work_s
from agentcore_chrome.lost_failures import ignore_failure
from agentcore_chrome.session_state import SessionStates
from agentcore_chrome.settings import Viewport
from agentcore_chrome.tab.navigation import restore_page
from agentcore_chrome.tab.page_tree import PageTree
from agentcore_chrome.tab.settling import Activity
from agentcore_chrome.tab.tab import Tab, TabOptions
from agentcore_chrome.tools.action_report import Brief, build_change_report
from agentcore_chrome.tools.arguments import LONGEST_S, PAGE
from agentcore_chrome.tools.engine_module import PERSONS, EngineModule
from agentcore_chrome.tools.result import ToolOutput, describe_dialog

_SNAPSHOT_SECONDS = 10.0
_REOPENED_CHARS = 4096
_HTTP = ("http://", "https://")
_TOO_LARGE_ADVICE = "clear the data of large sites in that chat's pages, or set `keep_state` to false"


@dataclass(slots=True)
class SessionOptions:
    """How a session's browser is to be: with a window or without, and the size of its pages."""

    headless: bool | None = None
    viewport: Viewport | None = None
    process: BrowserProcess | None = None


class SessionPages(EngineModule):
    """The part of `browser` that finds, opens and keeps the pages of sessions."""

    resource_type = "browser"

    def __init__(self) -> None:
        super().__init__()
        self._options: dict[str, SessionOptions] = {}
        self._last_looks: dict[str, PageTree] = {}
        self._opening: dict[str, asyncio.Task[Tab]] = {}
        self._lost_by: dict[str, str] = {}
        self._states: SessionStates | None = None

    async def init(self, runtime: Runtime) -> None:
        """Take the engine."""
        await super().init(runtime)
        runtime.add_route("GET", "pages", self._get_pages)
        if self.settings.keep_state:
            self._states = SessionStates(runtime.storage, self._report_state_refused)
            runtime.subscribe("session.deleted", self._delete_state)

    async def shutdown(self) -> None:
        """Keep the log-ins of sessions while their pages are there, then close all."""
        if self._engine is not None:
            saved = [each.saved for each in self._engine.processes.values() if each.saved is not None]
            await asyncio.gather(*(each.close_all() for each in saved))
        await super().shutdown()

    def get_web_component(self) -> WebComponent:
        """The list of pages, and the view of one."""
        return WebComponent(
            tag="browser-panel",
            script="browser-panel.js",
            folder=Path(__file__).parents[1] / "component",
            title={"en": "Web pages in chats", "zh": "对话中的网页"},
            icon="app-window",
            resource_views={self.resource_type: "browser-page-view"},
        )

    async def close_browsers(self, engine: Engine) -> None:
        """Close the browsers that sessions have for themselves; the shared one goes with the engine."""
        for options in self._options.values():
            if options.process is not None:
                await options.process.close()
        self._options.clear()

    # -- calls -------------------------------------------------------------------------------------------------

    async def on_page(
        self,
        ctx: ToolContext,
        work: Callable[[Tab], Awaitable[ToolOutput]],
        *,
        snapshot: bool | None = False,
        brief: Brief | None = None,
    ) -> ToolResult:
        """Do something with the call's page, opening it first if need be; see `on_tab`."""
        return await self.on_tab(ctx, await self.ensure_page(ctx), work, snapshot=snapshot, brief=brief)

    async def on_tab(
        self,
        ctx: ToolContext,
        tab: Tab,
        work: Callable[[Tab], Awaitable[ToolOutput]],
        *,
        snapshot: bool | None = None,
        brief: Brief | None = None,
    ) -> ToolResult:
        """Do something with a page that is open.

        Args:
            snapshot: Whether to wait for what it sets going, and to tell what changed since the last look at the page;
                None: for all but persons and programs.
            brief: How little to tell; None: all that changed.
        """
        if not (ctx.principal.kind not in PERSONS if snapshot is None else snapshot):
            try:
                return await self.run_for_result(ctx, tab, work(tab))
            finally:
                self._schedule_state_save(tab)

        async def run() -> ToolOutput:
            before = self._last_looks.get(tab.tab_id) or await self._read_page_tree(tab, work_s(_SNAPSHOT_SECONDS))
            async with Activity(tab) as activity:
                output = await work(tab)
                await activity.wait_until_settled()
                return await self._with_changes(tab, output, activity, before, brief)

        try:
            return await self.run_for_result(ctx, tab, run())
        finally:
            self._schedule_state_save(tab)

    async def ensure_page(self, ctx: ToolContext) -> Tab:
        """The call's page; opened, with the browser, if it is not there."""
        return await self.ensure_tab(self.require_resource(ctx).resource_id)

    def require_resource(self, ctx: ToolContext) -> Resource:
        """The call's resource."""
        if ctx.resource is None:
            raise ToolError("resource_not_found", "the session has no page; browser_launch opens one")
        return ctx.resource

    def find_open_page(self, ctx: ToolContext) -> Tab | None:
        """The call's page, if it is open."""
        tab = self.find_tab(ctx.resource) if ctx.resource is not None else None
        return tab if tab is not None and not tab.gone.done() else None

    def get_ids(self, tab: Tab) -> dict[str, Any]:
        """See `EngineModule.get_ids`."""
        return {"resourceId": tab.resource_id}

    def store_page_tree(self, tab: Tab, look: PageTree) -> None:
        """Keep what a snapshot showed, to tell what changed after it."""
        self._last_looks[tab.tab_id] = look

    async def preview_action(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        """An action goes to wherever the page is."""
        tab = self.find_open_page(ctx)
        return CallPreview(urls=(tab.page.url,) if tab is not None else ())

    async def preview_file(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        """A call that writes a file, if it names one."""
        path = arguments.get("path")
        if path is None:
            return CallPreview(effects=frozenset(("read",)))

        def describe_file() -> CallPreview:
            target = ctx.workspace.locate(path)
            return CallPreview(
                effects=frozenset(("write",)),
                paths=(ctx.workspace.real_path(target),),
                is_protected=ctx.workspace.is_protected(target),
            )

        return await asyncio.to_thread(describe_file)

    # -- tabs --------------------------------------------------------------------------------------------------

    async def ensure_tab(self, resource_id: str) -> Tab:
        """The resource's tab; opened, with the browser, if it is not there or has crashed.

        What has begun to open goes on when a caller has no time left, and the next one finds it.

        Raises:
            ToolError: `browser_not_found`, `browser_launch_failed`, `too_many_tabs`, `too_many_browsers`.
        """
        tab = self.find_tab(self.runtime.resources.get(resource_id))
        if tab is not None and not tab.gone.done():
            return tab
        opening = self._opening.get(resource_id)
        if opening is None:
            opening = self._opening[resource_id] = self.run_in_background(self._open_tab(resource_id))
            opening.add_done_callback(lambda _: self._opening.pop(resource_id, None))
            opening.add_done_callback(ignore_failure)
        return await asyncio.shield(opening)

    async def open_further_page(self, session_id: str) -> Tab:
        """One more page of a session; where it cannot be opened, nothing of it stays.

        Raises:
            ToolError: As `tab_for`; `too_many_resources`.
        """
        made = self.runtime.resources.create(self.resource_type, session_id, on_release=self.release_tab)
        try:
            return await self.ensure_tab(made.resource_id)
        except ToolError:
            await self.runtime.resources.release(made.resource_id)
            raise

    async def _open_tab(self, resource_id: str) -> Tab:
        resource = self.runtime.resources.get(resource_id)
        session_id = resource.session_id
        last_url = resource.last_url
        lost_with_host = resource.lost_by
        lost_by = (
            "the page had crashed" if resource.status == "failed" else lost_with_host or "the server was restarted"
        )
        process = await self._process_for(session_id)
        back = self.find_tab(self.runtime.resources.get(resource_id))
        if back is not None and not back.gone.done():
            return back  # with the browser, to which the connection had been lost
        lost_by = self._lost_by.get(resource_id, lost_by)
        options = self._options.get(session_id)
        viewport = options.viewport if options is not None else None
        tab = await self.engine.open_tab(
            process,
            TabOptions(self.runtime.name, session_id, self.settings.dialog_timeout, resource_id, viewport),
        )
        tab.lost_by = lost_with_host
        tab.has_kept_logins = process.saved is not None and process.saved.was_restored(session_id)
        if last_url is not None and last_url.startswith(_HTTP):
            tab.restore = partial(restore_page, tab, self.policy, last_url, lost_by)
        return tab

    async def _process_for(self, session_id: str) -> BrowserProcess:
        """The session's own browser if it wanted one, else the one that sessions share; it keeps log-ins, if wanted."""
        process = await self._browser_for(session_id)
        if self._states is not None:
            process.save_sessions(self._states)
        return process

    async def _browser_for(self, session_id: str) -> BrowserProcess:
        options = self._options.get(session_id)
        if options is None or options.headless is None or options.headless == self.settings.headless:
            return await self.engine.get_shared_browser()
        if options.process is not None and options.process.browser_id in self.engine.lost:
            options.process = await self.engine.lost.reattach_browser(options.process.browser_id)
        if options.process is None or not options.process.is_open:
            options.process = await self.engine.launch_browser(
                LaunchOptions(headless=options.headless, viewport=options.viewport, session_id=session_id)
            )
        return options.process

    def set_options(self, session_id: str, headless: bool | None, viewport: Viewport | None) -> None:
        """Set how a session's browser is from now on; None: as before."""
        options = self._options.setdefault(session_id, SessionOptions())
        options.headless = headless if headless is not None else options.headless
        options.viewport = viewport or options.viewport

    # -- what the engine tells ---------------------------------------------------------------------------------

    def tab_added(self, tab: Tab) -> None:
        """See `agentcore_chrome.browser.engine.Listener`."""
        if tab.owner == self.runtime.name and tab.resource_id is not None:
            try:
                self.runtime.resources.adopt(tab.resource_id, self.release_tab)
                self.runtime.resources.update(
                    tab.resource_id, status="ready", keys={"tabId": tab.tab_id}, reopening=self.get_reopening_call(tab)
                )
            except ToolError:
                self.run_in_background(tab.close())  # it was closed before its page was there
            else:
                self.runtime.resources.get(tab.resource_id).adapter_type = tab.process.adapter_type
                self._lost_by.pop(tab.resource_id, None)
        super().tab_added(tab)

    async def release_tab(self, resource: Resource) -> None:
        """See `EngineModule.release_tab`."""
        self._lost_by.pop(resource.resource_id, None)
        await super().release_tab(resource)

    def get_reopening_call(self, tab: Tab) -> tuple[str, dict[str, Any]] | None:
        """See `EngineModule.get_reopening_call`: a further page of the session, at the last address."""
        url = tab.page.url
        at = {"url": url} if url.startswith(_HTTP) and len(url) <= _REOPENED_CHARS else {}
        return "browser_launch", {"new_page": True, **at}

    def tab_changed(self, tab: Tab) -> None:
        """See `agentcore_chrome.browser.engine.Listener`; where a page is another, its log-ins may be, too."""
        self._schedule_state_save(tab)
        super().tab_changed(tab)

    def tab_removed(self, tab: Tab) -> None:
        """A page that crashed stays as a resource, to be opened anew; one that was closed goes."""
        self._last_looks.pop(tab.tab_id, None)
        why = tab.gone.result().type if tab.gone.done() else ""
        is_lost = why in {"browser_crashed", "browser_lost"}
        if tab.owner == self.runtime.name and tab.resource_id is not None and is_lost:
            if why == "browser_lost":
                self._lost_by[tab.resource_id] = "the connection to its browser had been lost"
            self.mark_lost(tab)
            self.run_in_background(tab.process.end_session(tab.session_id))
            self.browsers_changed()
            return
        super().tab_removed(tab)

    # -- log-ins that are kept ---------------------------------------------------------------------------------

    def _schedule_state_save(self, tab: Tab) -> None:
        process = self.engine.processes.get(tab.process.browser_id)
        if process is not None and process.saved is not None:
            process.saved.schedule_save(tab.session_id)

    def _delete_state(self, event: Any) -> None:
        session_id = event.get("sessionId")
        if self._states is not None and isinstance(session_id, str):
            self.run_in_background(self._states.delete_state(session_id))

    def _report_state_refused(self, reason: str) -> None:
        said = f"those of a chat are not kept: {reason}"
        self.runtime.note("log-ins of chats", said, advice=_TOO_LARGE_ADVICE)

    # -- the page ----------------------------------------------------------------------------------------------

    async def _get_pages(self, _: Request) -> Response:
        resources = self.runtime.resources.list(resource_type=self.resource_type)
        tabs = {resource.resource_id: self.find_tab(resource) for resource in resources}
        pages = [
            resource.to_json()
            | {"state": tab.state if (tab := tabs[resource.resource_id]) else self._describe_state(resource)}
            for resource in resources
        ]
        return Response({"pages": pages})

    def _describe_state(self, resource: Resource) -> str:
        """How a page is that is not open."""
        return "lost" if resource.status == "failed" and resource.resource_id in self._lost_by else resource.status

    # -- inside ------------------------------------------------------------------------------------------------

    async def _read_page_tree(self, tab: Tab, limit_s: float = _SNAPSHOT_SECONDS) -> PageTree | None:
        if tab.dialogs.open is not None:
            return None  # it holds the page up
        return await tab.run_or_default(lambda: tab.read_page_tree(max(1, limit_s * 1000)), None, limit_s)

    async def _with_changes(
        self, tab: Tab, output: ToolOutput, activity: Activity, before: PageTree | None, brief: Brief | None
    ) -> ToolOutput:
        after = await self._read_page_tree(tab)
        if tab.dialogs.open is not None:
            return output.with_more(describe_dialog(tab.dialogs.open))
        if after is None:
            said = "The page does not answer; browser_snapshot shows it when it does."
            return output.with_more(ToolOutput(said, {"changes": []}))
        self.store_page_tree(tab, after)
        told = build_change_report(before, after, brief)
        errors = [f"Error in the console: {error}" for error in activity.errors]
        fields: dict[str, Any] = {"changes": told.changes, **({"consoleErrors": activity.errors} if errors else {})}
        return output.with_more(ToolOutput("\n".join(filter(None, [told.text, *errors])), fields, is_cut=told.is_cut))


acts_on_page = tool(
    effects=("egress",), open_world=True, timeout_s=LONGEST_S, preview=SessionPages.preview_action, resource=PAGE
)
"""Marks a tool that does something to the page."""

reads_page = tool(read_only=True, open_world=True, timeout_s=LONGEST_S, keep="head", resource=PAGE)
"""Marks a tool that only looks at the page."""
