"""Pages of chat sessions: each is a resource, whose tab is opened by the first call on it."""

import asyncio
import json
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
from agentcore_chrome.browser.attached_pages import OtherPage
from agentcore_chrome.browser.engine import Engine
from agentcore_chrome.browser.launching import LaunchOptions
from agentcore_chrome.browser.process import BrowserProcess
from agentcore_chrome.call_limit import work_s
from agentcore_chrome.live.live_images import LiveViews
from agentcore_chrome.logins import parse_origin
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
from agentcore_chrome.tools.tab_result import ToolOutput, describe_dialog

_SNAPSHOT_SECONDS = 10.0
_REOPENED_CHARS = 4096
_HTTP = ("http://", "https://")
_TOO_LARGE_ADVICE = "clear the data of large sites in that chat's pages, or set `keep_state` to false"


@dataclass(slots=True)
class SessionOptions:
    """Window mode and page size of a session's browser, and the browser if the session has its own."""

    headless: bool | None = None
    viewport: Viewport | None = None
    process: BrowserProcess | None = None


class SessionPages(EngineModule):
    """The part of `browser` that finds, opens and keeps the pages of sessions.

    Attributes:
        listed_pages: The other pages of an attached browser, by target id, as last listed.
        live_views: The views in MCP clients; None before `init` and after `shutdown`.
    """

    resource_type = "browser"

    def __init__(self) -> None:
        super().__init__()
        self._options: dict[str, SessionOptions] = {}
        self._last_looks: dict[str, PageTree] = {}
        self._opening: dict[str, asyncio.Task[Tab]] = {}
        self._lost_by: dict[str, str] = {}
        self._states: SessionStates | None = None
        self.listed_pages: dict[str, OtherPage] = {}
        self.live_views: LiveViews | None = None

    async def init(self, runtime: Runtime) -> None:
        """Acquire the engine, and prepare to save log-ins if `keep_state` is set."""
        await super().init(runtime)
        self.live_views = LiveViews(self.engine.get_screencast, self.run_in_background)
        runtime.add_route("GET", "pages", self._get_pages)
        if self.settings.keep_state:
            self._states = SessionStates(runtime.storage, self._report_state_refused)
            runtime.subscribe("session.deleted", self._delete_state)

    async def shutdown(self) -> None:
        """Close the live views, save the log-ins of sessions while their pages still exist, then close everything."""
        live_views = self.live_views
        self.live_views = None
        if live_views is not None:
            live_views.close()
        if self._engine is not None:
            saved = [each.saved for each in self._engine.processes.values() if each.saved is not None]
            await asyncio.gather(*(each.close_all() for each in saved))
        await super().shutdown()

    def get_web_component(self) -> WebComponent:
        """Return the page list and the page view."""
        return WebComponent(
            tag="browser-panel",
            script="browser-panel.js",
            folder=Path(__file__).parents[1] / "component",
            title={"en": "Web pages", "zh": "网页"},
            icon="app-window",
            resource_views={self.resource_type: "browser-page-view"},
        )

    async def close_browsers(self, engine: Engine) -> None:
        """Close the sessions' own browsers; the shared one is closed with the engine."""
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
        """Run `work` on the call's page, opening it first if necessary; see `on_tab`."""
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
        """Run `work` on an open page.

        Args:
            snapshot: Whether to wait until the page settles and report what changed since it was last read;
                None: unless the caller's kind is in `PERSONS`.
            brief: How to shorten the report; None: not at all.
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
        """Return the call's page, opening it and the browser if necessary."""
        return await self.ensure_tab(self.require_resource(ctx).resource_id)

    def require_resource(self, ctx: ToolContext) -> Resource:
        """Return the call's resource, or raise `resource_not_found`."""
        if ctx.resource is None:
            raise ToolError("resource_not_found", "the session has no page; browser_launch opens one")
        return ctx.resource

    def find_open_page(self, ctx: ToolContext) -> Tab | None:
        """Return the call's page if it is open."""
        tab = self.find_tab(ctx.resource) if ctx.resource is not None else None
        return tab if tab is not None and not tab.gone.done() else None

    def get_ids(self, tab: Tab) -> dict[str, Any]:
        """Return the page's resource id."""
        return {"resourceId": tab.resource_id}

    def store_page_tree(self, tab: Tab, look: PageTree) -> None:
        """Store what a snapshot showed, so that later changes can be reported."""
        self._last_looks[tab.tab_id] = look

    async def preview_action(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        """Preview an action at the page's current address."""
        tab = self.find_open_page(ctx)
        return CallPreview(urls=(tab.page.url,) if tab is not None else ())

    async def preview_file(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        """Preview a call that writes a file if it names one, and only reads otherwise."""
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
        """Return the resource's tab, opening it and the browser if it is missing or has crashed.

        Opening continues if the caller runs out of time, so that the next call finds the tab.

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
        """Open another page of a session; its resource is released if that fails.

        Raises:
            ToolError: As `ensure_tab`; `too_many_resources`.
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
            return back  # restored with its browser, whose connection had been lost
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
        """Return the session's own or the shared browser, with log-ins saved if `keep_state` is set."""
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
        """Change the options of a session's browser; None leaves an option unchanged."""
        options = self._options.setdefault(session_id, SessionOptions())
        options.headless = headless if headless is not None else options.headless
        options.viewport = viewport or options.viewport

    # -- engine events -----------------------------------------------------------------------------------------

    def tab_added(self, tab: Tab) -> None:
        """Connect the tab to its resource, or close it if the resource no longer exists."""
        if tab.owner == self.runtime.name and tab.resource_id is not None:
            try:
                self.runtime.resources.adopt(tab.resource_id, self.release_tab)
                self.runtime.resources.update(
                    tab.resource_id, status="ready", keys={"tabId": tab.tab_id}, reopening=self.get_reopening_call(tab)
                )
            except ToolError:
                self.run_in_background(tab.close())  # the resource was released before its page opened
            else:
                self.runtime.resources.get(tab.resource_id).adapter_type = tab.process.adapter_type
                self._lost_by.pop(tab.resource_id, None)
        super().tab_added(tab)

    async def release_tab(self, resource: Resource) -> None:
        """Close the tab of a released resource and forget why it was lost."""
        self._lost_by.pop(resource.resource_id, None)
        await super().release_tab(resource)

    def get_reopening_call(self, tab: Tab) -> tuple[str, dict[str, Any]] | None:
        """Return the call that opens another page of the session at the last address."""
        url = tab.page.url
        at = {"url": url} if url.startswith(_HTTP) and len(url) <= _REOPENED_CHARS else {}
        return "browser_launch", {"new_page": True, **at}

    def tab_changed(self, tab: Tab) -> None:
        """Schedule saving the session's log-ins, which a new page may have changed, and update the resource."""
        self._schedule_state_save(tab)
        super().tab_changed(tab)

    def tab_removed(self, tab: Tab) -> None:
        """Keep the resource of a crashed page so that it can be reopened, and release that of a closed one."""
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

    # -- stored log-ins ----------------------------------------------------------------------------------------

    def _schedule_state_save(self, tab: Tab) -> None:
        process = self.engine.processes.get(tab.process.browser_id)
        if process is not None and process.saved is not None:
            process.saved.schedule_save(tab.session_id)

    def _delete_state(self, event: Any) -> None:
        session_id = event.get("sessionId")
        if self._states is not None and isinstance(session_id, str):
            self.run_in_background(self._states.delete_state(session_id))

    def _report_state_refused(self, reason: str) -> None:
        message = f"those of a chat are not kept: {reason}"
        self.runtime.note("log-ins of chats", message, advice=_TOO_LARGE_ADVICE)

    # -- web component and routes ------------------------------------------------------------------------------

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
        """Return the state of a page that is not open."""
        return "lost" if resource.status == "failed" and resource.resource_id in self._lost_by else resource.status

    # -- internals ---------------------------------------------------------------------------------------------

    async def _read_page_tree(self, tab: Tab, limit_s: float = _SNAPSHOT_SECONDS) -> PageTree | None:
        if tab.dialogs.open is not None:
            return None  # a dialog blocks the page
        return await tab.run_or_default(lambda: tab.read_page_tree(max(1, limit_s * 1000)), None, limit_s)

    async def _with_changes(
        self, tab: Tab, output: ToolOutput, activity: Activity, before: PageTree | None, brief: Brief | None
    ) -> ToolOutput:
        after = await self._read_page_tree(tab)
        if tab.dialogs.open is not None:
            return output.with_more(describe_dialog(tab.dialogs.open))
        if after is None:
            message = "The page does not answer; browser_snapshot shows it when it does."
            return output.with_more(ToolOutput(message, {"changes": []}))
        self.store_page_tree(tab, after)
        told = build_change_report(before, after, brief)
        tab.refs.mark_reported(told.text)
        errors = [f"Error in the console: {error}" for error in activity.errors]
        fields: dict[str, Any] = {"changes": told.changes, **({"consoleErrors": activity.errors} if errors else {})}
        refused = await self._describe_refused_permissions(tab, fields)
        text = "\n".join(filter(None, [told.text, *errors, refused]))
        return output.with_more(ToolOutput(text, fields, is_cut=told.is_cut))

    async def _describe_refused_permissions(self, tab: Tab, fields: dict[str, Any]) -> str:
        """Return, once, what the page asked permission for in vain, and how it can be allowed; empty: nothing."""
        nothing: list[str] = []
        asked = await tab.run_or_default(lambda: tab.refs.ask_page(tab.page, "requestedPermissions"), nothing)
        origin = parse_origin(tab.page.url)
        refused = [one for one in asked if one not in self.settings.permissions.get(origin, ())]
        if not refused:
            return ""
        fields["refusedPermissions"] = refused
        if self.settings.cdp_endpoint is not None:
            return f"The page asked for {', '.join(refused)}, about which its browser decides."
        setting = json.dumps({origin: refused})
        return (
            f"The page asked for {', '.join(refused)}, which is refused here. A person can allow it for this site: "
            f"config.chrome.permissions, {setting}"
        )


acts_on_page = tool(
    effects=("egress",), open_world=True, timeout_s=LONGEST_S, preview=SessionPages.preview_action, resource=PAGE
)
"""Decorator of tools that act on the page."""

reads_page = tool(read_only=True, open_world=True, timeout_s=LONGEST_S, keep="head", resource=PAGE)
"""Decorator of tools that only read the page."""
