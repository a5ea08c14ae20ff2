"""The tools of `browser` beyond the fifteen: snapshot, forms, files, dialogs, tabs, messages, requests, PDF."""

import asyncio
import json
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict

from agentcore.api import BaseModel, CallPreview, Field, ToolContext, ToolError, ToolResult, Workspace, tool
from agentcore_chrome.call_limit import work_ms
from agentcore_chrome.failures import headline, is_driver_error, is_driver_timeout
from agentcore_chrome.tab.dialogs import Answer
from agentcore_chrome.tab.elements import Target, locate, on_element
from agentcore_chrome.tab.evaluation import VALUE_CHARS
from agentcore_chrome.tab.navigation import with_scheme
from agentcore_chrome.tab.snapshot import take_snapshot
from agentcore_chrome.tab.tab import Tab
from agentcore_chrome.tools.actions import keep, save_file, simple
from agentcore_chrome.tools.adapter import DEFAULT_MS
from agentcore_chrome.tools.arguments import (
    LONGEST_S,
    PAGE,
    PAGE_AT_ONCE,
    PAGE_IF_ANY,
    LimitMs,
    PageId,
    Selector,
    ShowChanges,
)
from agentcore_chrome.tools.result import Told
from agentcore_chrome.tools.session_pages import SessionPages
from agentcore_chrome.tools.uploads import read_uploads

if TYPE_CHECKING:
    from playwright.async_api import Locator

_SETTLE_S = 5.0
_SHOWN = 100
_TEXT_CHARS = 500


class FormField(BaseModel):
    """One field of a form, and what it shall hold."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    selector: Annotated[
        str | None, Field(max_length=4096, description="CSS selector, or a reference of browser_snapshot.")
    ] = None
    ref: Annotated[str | None, Field(max_length=100, description="The same as selector.")] = None
    target: Annotated[str | None, Field(max_length=4096, description="The same as selector.")] = None
    value: Annotated[
        str | bool | list[str], Field(description="Text; true or false for check boxes; labels for choices.")
    ]

    @property
    def element(self) -> str:
        """Its selector, whichever way it was given."""
        return self.selector or self.ref or self.target or ""


class ExtraTools(SessionPages):
    """Further tools for session pages."""

    _EXTRA: ClassVar[frozenset[str]] = frozenset(
        (
            "browser_snapshot",
            "browser_select_option",
            "browser_file_upload",
            "browser_handle_dialog",
            "browser_tabs",
            "browser_console_messages",
            "browser_network_requests",
            "browser_fill_form",
            "browser_drag",
            "browser_pdf",
        )
    )

    def extra_names(self) -> frozenset[str]:
        """The names of the tools that the setting `extra_tools` is about."""
        return self._EXTRA

    async def preview_action(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        """An action goes to wherever the page is."""
        tab = self.open_page(ctx)
        return CallPreview(urls=(tab.page.url,) if tab is not None else ())

    async def preview_file(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        """A call that writes a file, if it names one."""
        path = arguments.get("path")
        if path is None:
            return CallPreview(effects=frozenset(("read",)))

        def look() -> CallPreview:
            place = ctx.workspace.locate(path)
            return CallPreview(
                effects=frozenset(("write",)),
                paths=(ctx.workspace.real_path(place),),
                is_protected=ctx.workspace.is_protected(place),
            )

        return await asyncio.to_thread(look)

    @tool(read_only=True, open_world=True, timeout_s=LONGEST_S, resource=PAGE)
    async def browser_snapshot(
        self,
        ctx: ToolContext,
        selector: Annotated[
            Selector | None, Field(description="Only this part: a reference or a CSS selector.")
        ] = None,
        depth: Annotated[int | None, Field(ge=1, le=50, description="How many levels.")] = None,
        find: Annotated[
            str | None, Field(max_length=500, description="Only lines with this text, or /regular expression/.")
        ] = None,
        resourceId: PageId = None,
        timeoutMs: LimitMs = DEFAULT_MS,
    ) -> ToolResult:
        """Give the page as a tree of roles and names with references (e12) that other tools take as selector.

        This is the best way to see what can be done on a page.
        """

        async def look(tab: Tab) -> Told:
            made = await take_snapshot(tab, selector=selector, depth=depth, find=find, timeout_ms=timeoutMs)
            if selector is None and depth is None and find is None and not made.left_out:
                self.remember(tab, list(made.lines))
            text = f"{tab.page.url} – {tab.title}\n{made}"
            return Told(
                text, {"url": tab.page.url, "title": tab.title, "leftOut": made.left_out}, is_cut=bool(made.left_out)
            )

        return await self.on_page(ctx, look)

    @tool(effects=("egress",), open_world=True, timeout_s=LONGEST_S, preview=preview_action, resource=PAGE)
    async def browser_select_option(
        self,
        ctx: ToolContext,
        selector: Selector,
        values: Annotated[list[str], Field(max_length=100, description="Values or labels to choose.")],
        snapshot: ShowChanges = False,
        resourceId: PageId = None,
        timeoutMs: LimitMs = DEFAULT_MS,
    ) -> ToolResult:
        """Choose options of a select field by value or label."""

        async def choose(tab: Tab) -> Told:
            chosen = await on_element(tab, Target(selector), timeoutMs, _choose(values, timeoutMs))
            return Told(f"Chose {', '.join(map(repr, chosen)) or 'nothing'}.", {"values": chosen})

        return await self.on_page(ctx, choose, snapshot=snapshot)

    @tool(effects=("egress",), open_world=True, timeout_s=LONGEST_S, preview=preview_action, resource=PAGE)
    async def browser_fill_form(
        self,
        ctx: ToolContext,
        fields: Annotated[list[FormField], Field(min_length=1, max_length=100, description="The fields, in order.")],
        snapshot: ShowChanges = False,
        resourceId: PageId = None,
        timeoutMs: LimitMs = DEFAULT_MS,
    ) -> ToolResult:
        """Fill several fields of a form: texts, check boxes, choices."""

        async def fill(tab: Tab) -> Told:
            for field in fields:
                if not field.element:
                    raise ToolError("invalid_arguments", f"a field with value {field.value!r} names no selector")
                await on_element(tab, Target(field.element), timeoutMs, _fill(field.value, work_ms(timeoutMs)))
            return Told(f"Filled {len(fields)} fields.", {"filled": len(fields)})

        return await self.on_page(ctx, fill, snapshot=snapshot)

    async def _preview_upload(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        urls = (await self.preview_action(ctx, arguments)).urls
        paths = await asyncio.to_thread(_real_paths, ctx.workspace, arguments["paths"])
        return CallPreview(effects=frozenset(("read", "egress")), paths=paths, urls=urls)

    @tool(effects=("read", "egress"), open_world=True, timeout_s=LONGEST_S, preview=_preview_upload, resource=PAGE)
    async def browser_file_upload(
        self,
        ctx: ToolContext,
        paths: Annotated[list[str], Field(max_length=20, description="Files of the workspace; none: no file.")] = [],
        selector: Annotated[
            Selector | None, Field(description="The file field; left out, the chooser that the page opened.")
        ] = None,
        resourceId: PageId = None,
        timeoutMs: LimitMs = DEFAULT_MS,
    ) -> ToolResult:
        """Give files to a file field, or to the file chooser that a click has opened."""
        files = await asyncio.to_thread(read_uploads, ctx.workspace, paths)

        async def give(tab: Tab) -> Told:
            if selector is None:
                await tab.look(tab.chooser_opened.wait, default=True)
            chooser, tab.file_chooser = tab.file_chooser, None
            tab.chooser_opened.clear()
            if selector is not None:

                async def into(locator: "Locator") -> None:
                    await locator.set_input_files(files, timeout=timeoutMs)

                await on_element(tab, Target(selector), timeoutMs, into)
            elif chooser is None:
                raise ToolError("no_file_chooser", "the page asks for no files now; name the file field's selector")
            else:
                await simple(tab, timeoutMs, "give the files", lambda: chooser.set_files(files, timeout=timeoutMs))
            return Told(f"Gave {len(files)} files.", {"files": [file["name"] for file in files]})

        return await self.on_page(ctx, give)

    @tool(effects=("egress",), open_world=True, preview=preview_action, resource=PAGE_IF_ANY)
    async def browser_handle_dialog(
        self,
        ctx: ToolContext,
        accept: Annotated[bool, Field(description="OK, or Cancel.")],
        text: Annotated[str | None, Field(max_length=10_000, description="Text for a prompt.")] = None,
        resourceId: PageId = None,
    ) -> ToolResult:
        """Answer the dialog that is open; or, when none is, say how the next one is to be answered."""
        tab = self.open_page(ctx)
        if tab is None:
            raise ToolError("no_dialog", "no page is open, so there is no dialog; browser_navigate opens one")
        answer = Answer(accept, text)
        seen = tab.dialogs.answer_open(answer)
        if seen is None:
            tab.dialogs.prepare(answer)
            told = Told("No dialog is open; the next one will be answered like that.", {"prepared": True})
        else:
            await tab.settle(_SETTLE_S)
            told = Told(f"Answered {seen}.", {"prepared": False, "dialog": seen.to_json()})

        async def ready() -> Told:
            return told

        return await self.told(ctx, tab, ready())

    async def _preview_tabs(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        if arguments.get("action") == "list":
            return CallPreview(effects=frozenset(("read",)))
        url = arguments.get("url")
        return CallPreview(urls=(self.policy.check(with_scheme(url)),) if url else ())

    @tool(effects=("egress",), open_world=True, timeout_s=LONGEST_S, preview=_preview_tabs, resource=PAGE_AT_ONCE)
    async def browser_tabs(
        self,
        ctx: ToolContext,
        action: Annotated[Literal["list", "new", "close"], Field(description="What to do.")],
        url: Annotated[str | None, Field(max_length=16_384, description="Address for a new page.")] = None,
        resourceId: PageId = None,
    ) -> ToolResult:
        """List the session's pages, open a new one, or close one (resourceId). Other tools take the resourceId."""
        if action == "close":
            return await self._close_page(ctx)
        if action == "list":
            return self._list_pages(ctx)
        session_id = ctx.resource.session_id if ctx.resource is not None else ctx.session_id
        made = self.runtime.resources.create(self.resource_type, session_id, on_release=self.release_tab)
        tab = await self.adapter.tab(made.resource_id)

        async def go() -> Told:
            if url is None:
                return Told(f"Opened page {made.resource_id}.", {"url": tab.page.url})
            arrived = await self.adapter.arrive(made.resource_id, url, "load", DEFAULT_MS)
            return Told(f"Opened page {made.resource_id}: {arrived}", arrived.to_json())

        return await self.told(ctx, tab, go())

    @tool(read_only=True, open_world=True, resource=PAGE)
    async def browser_console_messages(
        self,
        ctx: ToolContext,
        level: Annotated[
            Literal["error", "warning", "info", "debug"], Field(description="This and what is worse.")
        ] = "info",
        resourceId: PageId = None,
    ) -> ToolResult:
        """Give what the page's scripts wrote to the console, and errors that nobody caught; the newest last."""
        levels = _levels_from(level)

        async def read(tab: Tab) -> Told:
            messages = await simple(tab, DEFAULT_MS, "read the console", tab.page.console_messages)
            errors = await simple(tab, DEFAULT_MS, "read the errors", tab.page.page_errors)
            shown = [
                {"type": message.type, "text": message.text[:_TEXT_CHARS]}
                for message in messages
                if _level_of(message.type) in levels
            ]
            shown += [{"type": "uncaught", "text": str(error)[:_TEXT_CHARS]} for error in errors]
            lines = [f"[{message['type']}] {message['text']}" for message in shown[-_SHOWN:]]
            return Told("\n".join(lines) or "Nothing was written.", {"messages": shown[-_SHOWN:]})

        return await self.on_page(ctx, read)

    @tool(read_only=True, open_world=True, resource=PAGE)
    async def browser_network_requests(
        self,
        ctx: ToolContext,
        static: Annotated[bool, Field(description="Pictures, fonts, styles and scripts, too.")] = False,
        resourceId: PageId = None,
    ) -> ToolResult:
        """Give the requests that the page made lately: method, status, address."""

        async def read(tab: Tab) -> Told:
            requests = await simple(tab, DEFAULT_MS, "read the requests", tab.page.requests)
            shown: list[dict[str, Any]] = []
            for request in requests[-_SHOWN:]:
                if static or request.resource_type not in ("image", "font", "stylesheet", "script", "media"):
                    response = request.existing_response
                    status = response.status if response is not None else None
                    failed = request.failure
                    shown.append(
                        {
                            "method": request.method,
                            "url": request.url[:2000],
                            "type": request.resource_type,
                            "status": status,
                            "failure": failed,
                        }
                    )
            lines = [f"{one['method']} {one['status'] or one['failure'] or '…'} {one['url']}" for one in shown]
            return Told("\n".join(lines) or "No requests.", {"requests": shown})

        return await self.on_page(ctx, read)

    @tool(effects=("egress",), open_world=True, timeout_s=LONGEST_S, preview=preview_action, resource=PAGE)
    async def browser_drag(
        self,
        ctx: ToolContext,
        source: Annotated[Selector, Field(description="What to drag: a selector or a reference.")],
        destination: Annotated[Selector, Field(description="Where to drop it: a selector or a reference.")],
        snapshot: ShowChanges = False,
        resourceId: PageId = None,
        timeoutMs: LimitMs = DEFAULT_MS,
    ) -> ToolResult:
        """Drag one element onto another."""

        async def drag(tab: Tab) -> Told:
            async def onto(locator: "Locator") -> None:
                await locator.drag_to(await locate(tab, Target(destination)), timeout=timeoutMs)

            await on_element(tab, Target(source), timeoutMs, onto)
            return Told(f"Dragged {source!r} onto {destination!r}.", {"dragged": True})

        return await self.on_page(ctx, drag, snapshot=snapshot)

    @tool(read_only=True, open_world=True, timeout_s=LONGEST_S, preview=preview_file, resource=PAGE)
    async def browser_pdf(
        self,
        ctx: ToolContext,
        path: Annotated[
            str | None, Field(max_length=4096, description="File in the workspace; left out, an artifact is kept.")
        ] = None,
        resourceId: PageId = None,
    ) -> ToolResult:
        """Print the page as a PDF. Needs a browser without a window."""

        async def to_pdf(tab: Tab) -> Told:
            data = await simple(tab, DEFAULT_MS, "print the page", tab.page.pdf)
            if path is not None:
                shown = await asyncio.to_thread(save_file, ctx.workspace, path, data)
                return Told(f"Wrote {shown} ({len(data):,} bytes).", {"path": shown})
            return await keep(ctx, data, "application/pdf", f"{tab.resource_id}.pdf")

        return await self.on_page(ctx, to_pdf)

    # -- inside ------------------------------------------------------------------------------------------------

    def _list_pages(self, ctx: ToolContext) -> ToolResult:
        session_id = ctx.resource.session_id if ctx.resource is not None else ctx.session_id
        pages = []
        for resource in self.runtime.resources.list(session_id=session_id, resource_type=self.resource_type):
            tab = self.tab_of(resource)
            state = tab.state if tab is not None else resource.status
            url = tab.page.url if tab is not None else resource.last_url
            title = tab.title if tab is not None else resource.title
            pages.append({"resourceId": resource.resource_id, "url": url, "title": title, "state": state})
        lines = [f"{page['resourceId']}: {page['url']} – {page['title']} ({page['state']})" for page in pages]
        return ToolResult("\n".join(lines) or "The session has no pages.", {"pages": pages}, untrusted=True)

    async def _close_page(self, ctx: ToolContext) -> ToolResult:
        resource_id = self.resource(ctx).resource_id
        await self.runtime.resources.release(resource_id)
        return ToolResult(f"Closed page {resource_id}.", {"resourceId": resource_id})


async def element_value(tab: Tab, selector: str, script: str, timeout_ms: int) -> Told:
    """Call a function with an element, and tell its value.

    Raises:
        ToolError: `evaluation_error`, and those of finding the element.
    """

    async def run(locator: "Locator") -> Any:
        try:
            return await locator.evaluate(script, timeout=timeout_ms)
        except Exception as exc:
            if is_driver_error(exc) and type(exc).__name__ == "Error":
                raise ToolError("evaluation_error", f"the script failed: {headline(exc)}", url=tab.page.url) from exc
            raise

    value = await on_element(tab, Target(selector), timeout_ms, run, acts=False)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if len(text) > VALUE_CHARS:
        return Told(text[:VALUE_CHARS], {"value": None, "length": len(text)}, is_cut=True)
    return Told(text, {"value": value})


def _real_paths(workspace: Workspace, paths: list[str]) -> tuple[str, ...]:
    return tuple(workspace.real_path(workspace.locate(path)) for path in paths)


def _choose(values: list[str], timeout_ms: int) -> Any:
    async def choose(locator: "Locator") -> list[str]:
        return await locator.select_option(values, timeout=timeout_ms)

    return choose


def _fill(value: str | bool | list[str], timeout_ms: int) -> Any:
    async def fill(locator: "Locator") -> None:
        if isinstance(value, bool):
            await locator.set_checked(value, timeout=timeout_ms)
        elif isinstance(value, list):
            await locator.select_option(value, timeout=timeout_ms)
        else:
            await _fill_text(locator, value, timeout_ms)

    return fill


async def _fill_text(locator: "Locator", value: str, timeout_ms: int) -> None:
    """Fill a field; one that takes no text says so itself, and is set by what it is."""
    try:
        await locator.fill(value, timeout=timeout_ms)
    except Exception as exc:
        if not is_driver_error(exc) or is_driver_timeout(exc):
            raise
        if await locator.evaluate("e => e.tagName", timeout=timeout_ms) == "SELECT":
            await locator.select_option(value, timeout=timeout_ms)
        elif value in {"true", "false"}:
            await locator.set_checked(value == "true", timeout=timeout_ms)
        else:
            raise


_LEVELS = ("error", "warning", "info", "debug")


def _levels_from(level: str) -> frozenset[str]:
    return frozenset(_LEVELS[: _LEVELS.index(level) + 1])


def _level_of(kind: str) -> str:
    if kind in {"error", "assert"}:
        return "error"
    return {"warning": "warning", "debug": "debug", "verbose": "debug"}.get(kind, "info")
