"""Base class of the two modules: the shared engine, and tabs as resources."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import structlog

from agentcore.api import (
    Background,
    CallPreview,
    DocumentReader,
    DocumentText,
    Image,
    Module,
    Report,
    Request,
    Resource,
    Runtime,
    SecretStr,
    ToolContext,
    ToolError,
    ToolResult,
    UrlPolicy,
)
from agentcore_chrome.browser.attached_pages import LostPage
from agentcore_chrome.browser.engine import Engine, acquire_engine, release_engine
from agentcore_chrome.browser.installing import BrowserRequirement
from agentcore_chrome.browser.process import BrowserProcess
from agentcore_chrome.browser.reachability import Answer, local_playwright_version, probe_endpoint
from agentcore_chrome.call_limit import CallLimit, cleaning_s, not_counted
from agentcore_chrome.live.favicons import Favicons
from agentcore_chrome.live.input import WatchMessage
from agentcore_chrome.live.preview import serve_preview
from agentcore_chrome.logins import LoginChallenge, login_required
from agentcore_chrome.settings import EngineSettings
from agentcore_chrome.tab.dialogs import DialogOpened, only_looks
from agentcore_chrome.tab.navigation import NavigationResult, WaitUntil, go_to, open_blank_page, with_scheme
from agentcore_chrome.tab.pdf import fetch_pdf, is_pdf
from agentcore_chrome.tab.tab import Tab
from agentcore_chrome.tools.arguments import DEFAULT_MS
from agentcore_chrome.tools.tab_result import ToolOutput, describe_dialog, make_result

T = TypeVar("T")
log = structlog.get_logger(__name__)

PERSONS = frozenset(("page", "token", "cli", "approver"))
SCHEMES = frozenset(("http", "https", "about"))
_LOGIN_QUESTION = {
    "en": "{origin} asks for a user name and a password{realm}. Answer user:password to have them sent there; the "
    "agent does not see them. Anything else means no.",
    "zh": "{origin} 要求用户名和密码{realm}。请回答 user:password（用户名:密码），它们只会发送到该网站，"
    "代理看不到。回答其他内容则不登录。",
}
_USES = {"cdp": "attaches to the one at", "playwright": "uses those of the Playwright server at"}
_QUIET_SECONDS = 0.1
_FINISH_SECONDS = 10.0


class EngineModule(Module[EngineSettings]):
    """A module over the shared engine."""

    config_key = "chrome"
    resource_type = ""

    engine: Engine
    policy: UrlPolicy

    def __init__(self) -> None:
        super().__init__()
        self._engine: Engine | None = None
        self._favicons: Favicons | None = None
        self._background = Background("agentcore_chrome")
        self._documents = DocumentReader()
        self._notifying: asyncio.TimerHandle | None = None

    async def init(self, runtime: Runtime) -> None:
        """Acquire the engine; no browser is started yet."""
        settings = self.settings
        self.policy = runtime.url_policy(
            allow_private=settings.allow_private,
            allowed_hosts=settings.allowed_hosts,
            blocked_hosts=settings.blocked_hosts,
            schemes=SCHEMES,
        )
        self.engine = self._engine = await acquire_engine(settings, self.policy, runtime.data_dir.parent)
        self.policy = self.engine.policy
        self._favicons = Favicons(self.policy, self.icon_found)
        self.engine.listeners.append(self)
        runtime.add_route("GET", "preview/{page}", self._handle_preview, kind="websocket", watching=WatchMessage)
        runtime.subscribe("stop.changed", self._on_stop)
        if self.engine.endpoint is not None:
            runtime.give_report(self._build_report)
        await self._declare_browser()

    async def shutdown(self) -> None:
        """Close what this module opened and release the engine, which the last module closes."""
        engine = self._engine
        self._engine = None
        if engine is None:
            return
        if self in engine.listeners:
            engine.listeners.remove(self)
        if self._notifying is not None:
            self._notifying.cancel()
        if self._favicons is not None:
            self._favicons.close()
        own = [tab for tab in engine.tabs.values() if tab.owner == self.runtime.name]
        await asyncio.gather(*(tab.close() for tab in own))
        await self.close_browsers(engine)
        await release_engine(engine, self.runtime.data_dir.parent)
        await self._documents.close()
        await self._background.stop()

    async def close_browsers(self, engine: Engine) -> None:
        """Close the browsers that only this module uses."""

    # -- calls -------------------------------------------------------------------------------------------------

    async def execute_tool_call(self, ctx: ToolContext, tool_name: str, args: dict[str, Any]) -> Any:
        """Run a tool within its caller's limit; read-only tools leave dialogs open."""
        only_looks.set(self._get_tool_methods().found[tool_name].definition.annotations.read_only is True)
        work = self._execute_call(ctx, tool_name, args)
        limit_ms = self.limit_ms(tool_name, args)
        return await (work if limit_ms is None else CallLimit(limit_ms).run(work))

    async def _execute_call(self, ctx: ToolContext, tool_name: str, args: dict[str, Any]) -> Any:
        await self.reattach_lost_browser(ctx, tool_name, args)
        return await super().execute_tool_call(ctx, tool_name, args)

    async def reattach_lost_browser(self, ctx: ToolContext, tool_name: str, args: dict[str, Any]) -> None:
        """Reattach the lost browser that a call needs, before the call runs."""

    def limit_ms(self, tool_name: str, args: dict[str, Any]) -> int | None:
        """Return the caller's limit, or the default one; None: the tool accepts none, and its steps have their own."""
        if "timeoutMs" not in args:
            return None
        # Left out, `timeoutMs` of an action limits the wait for its element, which is shorter than the call may be.
        return DEFAULT_MS if args["timeoutMs"] is None else int(args["timeoutMs"])

    async def preview_url(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        """Preview a call that navigates, if it names an address."""
        if not (url := arguments.get("url")):
            return CallPreview()
        policy = self.engine.policy_for(ctx.session_id)
        checked = policy.check(with_scheme(url))
        service = policy.find_service(checked)
        return CallPreview(urls=(checked,), services=() if service is None else (service.name,))

    async def go_to(
        self, ctx: ToolContext, tab: Tab, url: str, wait_until: WaitUntil = "load", timeout_ms: int = DEFAULT_MS
    ) -> NavigationResult:
        """Go to an address, asking the user for the log-in if the server requires one that is not configured.

        Raises:
            ToolError: `login_required`, and those of `agentcore_chrome.tab.navigation.go_to`.
        """
        policy = self.engine.policy_for(tab.session_id)
        arrived = await go_to(tab, policy, url, wait_until, timeout_ms)
        requested = arrived.login_wanted
        if requested is None:
            return arrived
        await open_blank_page(tab)
        if not requested.was_given:
            tab.logins.set_login(requested.origin, await self._ask_for_login(ctx, requested))
            arrived = await go_to(tab, policy, url, wait_until, timeout_ms)
            if arrived.login_wanted is None:
                return arrived
            await open_blank_page(tab)
        tab.logins.set_login(requested.origin, None)
        raise login_required(requested, "what it was given is not accepted")

    async def _ask_for_login(self, ctx: ToolContext, wanted: LoginChallenge) -> SecretStr:
        realm = f" (“{wanted.realm}”)" if wanted.realm else ""
        question = _LOGIN_QUESTION[self.runtime.locale].format(origin=wanted.origin, realm=realm)
        try:
            with not_counted():
                login = (await ctx.ask(question, is_secret=True)).strip()
        except ToolError as exc:
            if exc.type != "no_person":
                raise
            raise login_required(wanted, "nobody could be asked") from exc
        if ":" not in login:
            raise login_required(wanted, "the person gave none")
        return SecretStr(login)

    async def read_pdf(self, ctx: ToolContext, tab: Tab, timeout_ms: int) -> DocumentText | None:
        """Return the text of the PDF that a tab shows; None if it shows something else.

        Raises:
            ToolError: `action_failed`: the PDF could not be read from the page.
        """
        if not await is_pdf(tab):
            return None
        return await self._documents.read(await fetch_pdf(tab, timeout_ms), ctx.workspace)

    async def run_for_result(self, ctx: ToolContext, tab: Tab, work: Awaitable[ToolOutput], **ids: Any) -> ToolResult:
        """Run work on a tab and build the call's result."""
        try:
            output = await work
        except DialogOpened as opened:
            output = describe_dialog(opened.dialog)
        return await self.create_result(ctx, tab, output, **ids)

    async def create_result(self, ctx: ToolContext, tab: Tab, output: ToolOutput, **ids: Any) -> ToolResult:
        """Build the result of a call on a tab."""
        if not tab.gone.done():
            tab.check_reach()  # it may have left the allowed addresses meanwhile
        return await make_result(ctx, tab, output, {**self.get_ids(tab), **ids})

    def get_ids(self, tab: Tab) -> dict[str, Any]:
        """Return the ids that each of the module's results contains."""
        return {"tabId": tab.tab_id}

    def may_reach(self, ctx: ToolContext, session_id: str) -> bool:
        """True if a call may access a session's browsers: a user's any, other calls only those of their own session."""
        return ctx.principal.kind in PERSONS or ctx.session_id == session_id

    # -- engine events -----------------------------------------------------------------------------------------

    def tab_added(self, tab: Tab) -> None:
        """Create the resource of a new tab of this module, or close the tab if that fails."""
        if tab.owner == self.runtime.name and tab.resource_id is None:
            try:
                self.make_resource(tab)
            except ToolError as exc:
                log.warning("tab_without_resource", tab_id=tab.tab_id, reason=str(exc))
                self.run_in_background(tab.close())
        self.browsers_changed()

    def make_resource(self, tab: Tab) -> Resource:
        """Create the resource of a tab."""
        resource = self.runtime.resources.create(
            self.resource_type,
            tab.session_id,
            adapter_type=tab.process.adapter_type,
            keys={"tabId": tab.tab_id},
            on_release=self.release_tab,
        )
        tab.resource_id = resource.resource_id
        self.runtime.resources.update(resource.resource_id, status="ready")
        return resource

    def tab_changed(self, tab: Tab) -> None:
        """Update the tab's resource and look up the site's icon."""
        if tab.owner == self.runtime.name and tab.resource_id is not None:
            try:
                self.runtime.resources.update(
                    tab.resource_id, last_url=tab.page.url, title=tab.title, reopening=self.get_reopening_call(tab)
                )
            except ToolError:
                log.debug("resource_gone", resource_id=tab.resource_id)
            else:
                if self._favicons is not None:
                    self._favicons.schedule_lookup(tab)
        self.browsers_changed()

    def get_reopening_call(self, tab: Tab) -> tuple[str, dict[str, Any]] | None:
        """Return the call that opens a replacement for a tab that ended with the server; None: there is none."""
        return None

    def icon_found(self, tab: Tab, icon: Image) -> None:
        """Set the icon of a tab's resource; an icon without data means that the site has none."""
        if tab.resource_id is not None:
            try:
                self.runtime.resources.update(tab.resource_id, icon=icon)
            except ToolError:
                log.debug("resource_gone", resource_id=tab.resource_id)

    def tab_removed(self, tab: Tab) -> None:
        """Release the tab's resource, or mark it as failed while an attached browser may come back."""
        if tab.process.is_attached and tab.gone.result().type == "browser_lost":
            self.mark_lost(tab)  # reattaching restores it under the same resource
            self.browsers_changed()
            return
        if tab.owner == self.runtime.name and tab.resource_id is not None:
            self.run_in_background(self.runtime.resources.release(tab.resource_id, self.explain_gone(tab)))
        self.run_in_background(tab.process.end_session(tab.session_id))
        self.browsers_changed()

    def mark_lost(self, tab: Tab) -> None:
        """Mark a tab's resource as failed and publish the error."""
        if tab.owner != self.runtime.name or tab.resource_id is None:
            return
        try:
            self.runtime.resources.update(tab.resource_id, status="failed")
            self.runtime.resources.emit(tab.resource_id, "error", {"error": tab.gone.result().to_json()})
        except ToolError:
            log.debug("resource_gone", resource_id=tab.resource_id)  # it was released at the same time

    def explain_gone(self, tab: Tab) -> str:
        """Return the reason reported to calls on a tab that is gone; empty: none."""
        return ""

    def browsers_changed(self) -> None:
        """Publish `changed`, once for several changes in quick succession."""
        if self._notifying is None and self._engine is not None:
            self._notifying = asyncio.get_running_loop().call_later(_QUIET_SECONDS, self._publish_changed)

    def browser_crashed(self, process: BrowserProcess) -> None:
        """Publish that a browser crashed or that the connection to it was lost."""
        event = "browserCrashed" if process.is_guarded else "browserLost"
        self.runtime.publish(event, {"browserId": process.browser_id, "pid": process.pid})

    def page_gone(self, page: LostPage) -> None:
        """Ignore a page that disappeared while its browser was lost; a subclass may release its resource."""

    async def release_tab(self, resource: Resource) -> None:
        """Close the tab of a released resource."""
        tab = self.find_tab(resource)
        if tab is not None:
            await tab.close()

    def find_tab(self, resource: Resource) -> Tab | None:
        """Return the tab of a resource, if it exists."""
        return self.engine.tabs.get(resource.keys.get("tabId", ""))

    async def run_cleanup(self, work: Coroutine[Any, Any, Any]) -> None:
        """Clean up within the call's remaining time; unfinished work continues in the background."""
        await asyncio.wait((self.run_in_background(work),), timeout=cleaning_s(_FINISH_SECONDS))

    async def run_shielded(self, work: Coroutine[Any, Any, T], undo: Callable[[T], Coroutine[Any, Any, Any]]) -> T:
        """Run work that must not be interrupted, and undo it if the caller is cancelled before it is done."""
        task: asyncio.Task[T] = self.run_in_background(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(lambda done: self._undo_when_done(done, undo))
            raise

    def _undo_when_done(self, done: asyncio.Task[T], undo: Callable[[T], Coroutine[Any, Any, Any]]) -> None:
        if not done.cancelled() and done.exception() is None:
            self.run_in_background(undo(done.result()))

    def run_in_background(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run work in the background until it is done."""
        return self._background.start(work)

    async def _handle_preview(self, request: Request) -> None:
        requested = request.path_values["page"]
        tabs = self.engine.tabs.values()
        tab = next((tab for tab in tabs if requested in {tab.resource_id, *self.get_ids(tab).values()}), None)
        policy = self.policy if tab is None else self.engine.policy_for(tab.session_id)
        await serve_preview(request, tab, self.engine.get_screencast, policy)

    async def _declare_browser(self) -> None:
        """Declare the required browser, or report the current state of an external one."""
        runtime = self.runtime
        endpoint = self.engine.endpoint
        if endpoint is not None:
            answer = await self._probe_state()
            version = f", version {answer.version}" if answer.version else ""
            message = f"{_USES[endpoint.kind]} {endpoint}: {answer.said}{version}"
            runtime.note("web browser", message, advice=answer.advice)
            return
        runtime.declare_requirement(BrowserRequirement(self.settings))

    async def _probe_state(self) -> Answer:
        """Return the current state of the external browser: in use, or what its endpoint answers."""
        engine = self.engine
        if process := next(iter(engine.processes.values()), None):
            return Answer("answers", "in use", version=process.version)
        assert engine.endpoint is not None  # noqa: S101 - asked only where there is one
        return await probe_endpoint(engine.endpoint)

    async def _build_report(self) -> Report:
        endpoint, answer = self.engine.endpoint, await self._probe_state()
        lost = len(self.engine.lost.all())
        facts = {"endpoint": str(endpoint), "state": f"{answer.said}; {lost} lost" if lost else answer.said}
        if answer.version:
            facts["version"] = answer.version
        if endpoint is not None and endpoint.kind == "playwright":
            facts["playwright"] = local_playwright_version()
        return Report(facts)

    def _publish_changed(self) -> None:
        self._notifying = None
        self.runtime.publish("changed", {})
        if self.engine.endpoint is not None:
            self.run_in_background(self._declare_browser())

    def _on_stop(self, event: Any) -> None:
        if event.get("stopped") and self._engine is not None:
            self.run_in_background(self._engine.close_all())
