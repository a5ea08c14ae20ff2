"""`UserTabs`: the module with four tools that read and act in shared tabs of the user's own browser."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from agentcore.api import (
    HIDDEN_FROM_MODELS,
    Background,
    CallPreview,
    Field,
    Module,
    ResourceUse,
    Runtime,
    ToolContext,
    ToolDefinition,
    ToolResult,
    WebComponent,
    known_to_models,
    tool,
)
from agentcore_user_tabs.actions import ACTIONS, PageAction, are_read_only
from agentcore_user_tabs.call_summary import describe_actions, one_line
from agentcore_user_tabs.channel import PREFIX, Channel
from agentcore_user_tabs.results import (
    ActionsAnswer,
    ClearAnswer,
    ClearedStyles,
    ElementsAnswer,
    PageActions,
    PageElements,
    SelectedText,
    SelectionAnswer,
    read_answer,
)
from agentcore_user_tabs.tab import SharedTab
from agentcore_user_tabs.tabs import RESOURCE_TYPE, SharedTabs
from agentcore_user_tabs.translations import ZH

_FOLDER = Path(__file__).parent / "component"
_TAB = ResourceUse(RESOURCE_TYPE, not_found="user_tab_not_shared")
_RANK = 1
_RANK_WITHOUT_TABS = 9
_LIMIT_MS = 300_000
_LONGEST_S = _LIMIT_MS / 1000 + 5

TimeoutMs = Annotated[
    int,
    Field(
        ge=100,
        le=_LIMIT_MS,
        description="How long the tab may take, in milliseconds; a question to the person counts.",
        json_schema_extra=HIDDEN_FROM_MODELS,
    ),
]
TabId = Annotated[
    str | None,
    Field(
        max_length=200,
        description="Which of several shared tabs, from an earlier result.",
        json_schema_extra=known_to_models(),
    ),
]


class UserTabs(Module):
    """Tabs of your own browser that you share with a chat, one by one, through the browser extension."""

    title: ClassVar = {"en": "Your tabs", "zh": "你的标签页"}
    translations: ClassVar = {"zh": ZH}
    claims = (PREFIX,)

    def __init__(self) -> None:
        super().__init__()
        self._tabs: SharedTabs | None = None
        self._background = Background("user_tabs")
        self._was_shared = False

    async def init(self, runtime: Runtime) -> None:
        """Serve the WebSocket on which paired browsers offer tabs."""
        tabs = SharedTabs(runtime.resources, self._background.start, self._on_change)
        self._tabs = tabs
        Channel(tabs, runtime).add_routes()
        runtime.subscribe("session.deleted", lambda event: tabs.end_session(str(event.get("sessionId", ""))))
        runtime.subscribe("approvers.changed", _on_revoked(tabs))

    def get_tool_definitions(self) -> list[ToolDefinition]:
        """Return the four tools, ranked before others while a tab is shared; otherwise models find them by search."""
        rank = _RANK if self._was_shared else _RANK_WITHOUT_TABS
        return [replace(one, rank=rank) for one in super().get_tool_definitions() if isinstance(one, ToolDefinition)]

    async def shutdown(self) -> None:
        """Fail pending calls; the browsers offer their tabs again after a restart."""
        if self._tabs is not None:
            self._tabs.close()
        await self._background.stop()

    def get_web_component(self) -> WebComponent:
        """Return the component that shows the list of shared tabs and the view of one tab."""
        return WebComponent(
            tag="user-tabs-about",
            script="about.js",
            folder=_FOLDER,
            title={"en": "Your tabs", "zh": "你的标签页"},
            icon="panels-top-left",
            resource_views={RESOURCE_TYPE: "user-tabs-view"},
        )

    def _preview_actions(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        looks = are_read_only(action.action for action in arguments["actions"])
        tab = self._shared_tabs.require_tab(ctx.resource)
        said = describe_actions(arguments["actions"], dict(tab.names), self.runtime.locale)
        return replace(_build_preview(tab, "read" if looks else "egress"), words=said)

    def _preview_read(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        return _build_preview(self._shared_tabs.require_tab(ctx.resource), "read")

    @tool(
        effects=("read", "egress"),
        destructive=True,
        idempotent=False,
        open_world=True,
        timeout_s=_LONGEST_S,
        preview=_preview_actions,
        resource=_TAB,
    )
    async def page_action(
        self,
        ctx: ToolContext,
        actions: Annotated[list[PageAction], Field(min_length=1, max_length=ACTIONS)],
        timeoutMs: TimeoutMs = 60_000,  # noqa: N803 - spelled as it is on the wire
        resourceId: TabId = None,  # noqa: N803
    ) -> ToolResult[PageActions]:
        """Act in the tab of the person's own browser that they share, where they are logged in, in order.

        Look with `request_more_elements` first and name elements by their ids; put what belongs together into one call.
        Ask the person before you send, buy or delete anything.

        Args:
            actions: What to do.
        Raises:
            ToolError: `user_tab_not_shared`, `user_tab_paused`, `user_tab_forbidden`, `user_tab_moved`,
                `user_tab_away`, `user_tab_timeout`, `user_tab_busy`, `user_tab_failed`, `interrupted`.
        """
        tab = self._shared_tabs.require_tab(ctx.resource)
        given = {"actions": [action.model_dump(exclude_none=True) for action in actions]}
        answer = read_answer(ActionsAnswer, await self._call_tab(ctx, tab, "page_action", given, timeoutMs))
        tab.store_names({element.id: element.desc for element in answer.elements})
        lines = [f"{number}. {step.message}" for number, step in enumerate(answer.results, 1)]
        data: PageActions = {
            "success": answer.success,
            "results": [{"success": step.success, "message": step.message} for step in answer.results],
            "summary": answer.summary,
            "resourceId": tab.resource_id,
        }
        return ToolResult("\n".join([answer.summary, *lines]), data, untrusted=True)

    @tool(
        read_only=True,
        open_world=True,
        idempotent=True,
        timeout_s=_LONGEST_S,
        preview=_preview_read,
        resource=_TAB,
    )
    async def request_more_elements(
        self,
        ctx: ToolContext,
        region: Annotated[
            Literal["form", "header", "sidebar", "footer", "below_viewport"] | None,
            Field(description="Only those in this part of the page.", json_schema_extra=known_to_models()),
        ] = None,
        elementType: Annotated[  # noqa: N803
            Literal["input", "button", "link", "select", "all"] | None,
            Field(description="Only those of this kind.", json_schema_extra=known_to_models()),
        ] = None,
        keyword: Annotated[
            str | None,
            Field(
                max_length=200, description="Matches text, placeholder and label.", json_schema_extra=known_to_models()
            ),
        ] = None,
        *,
        timeoutMs: TimeoutMs = 15_000,  # noqa: N803
        resourceId: TabId = None,  # noqa: N803
    ) -> ToolResult[PageElements]:
        """Look at the page in the tab that the person shares: its address and title, and its elements with their ids.

        Raises:
            ToolError: As `page_action`.
        """
        tab = self._shared_tabs.require_tab(ctx.resource)
        requested = {"region": region, "elementType": elementType, "keyword": keyword}
        given = {name: value for name, value in requested.items() if value}
        answer = read_answer(ElementsAnswer, await self._call_tab(ctx, tab, "request_more_elements", given, timeoutMs))
        data: PageElements = {
            "success": answer.success,
            "elements": [{"id": element.id, "desc": element.desc} for element in answer.elements],
            "url": tab.url,
            "title": tab.title,
            "resourceId": tab.resource_id,
        }
        tab.store_names({element.id: element.desc for element in answer.elements})
        lines = [
            *self._describe_tabs(tab),
            *(f"{one_line(element.id)} {one_line(element.desc)}" for element in answer.elements),
        ]
        if not answer.elements:
            lines.append("(no such elements; leave the filters out, or scroll)")
        return ToolResult("\n".join(lines), data, untrusted=True)

    @tool(
        read_only=True,
        open_world=True,
        idempotent=True,
        timeout_s=_LONGEST_S,
        preview=_preview_read,
        resource=_TAB,
        keep="head",
    )
    async def get_selected_text(
        self,
        ctx: ToolContext,
        timeoutMs: TimeoutMs = 15_000,  # noqa: N803
        resourceId: TabId = None,  # noqa: N803
    ) -> ToolResult[SelectedText]:
        """Read what the person has selected in the tab that they share.

        Raises:
            ToolError: As `page_action`.
        """
        tab = self._shared_tabs.require_tab(ctx.resource)
        answer = read_answer(SelectionAnswer, await self._call_tab(ctx, tab, "get_selected_text", {}, timeoutMs))
        data: SelectedText = {"success": answer.success, "text": answer.text, "resourceId": tab.resource_id}
        return ToolResult(answer.text or "(nothing is selected)", data, untrusted=True)

    @tool(read_only=True, open_world=True, idempotent=True, timeout_s=_LONGEST_S, preview=_preview_read, resource=_TAB)
    async def clear_ai_styles(
        self,
        ctx: ToolContext,
        timeoutMs: TimeoutMs = 15_000,  # noqa: N803
        resourceId: TabId = None,  # noqa: N803
    ) -> ToolResult[ClearedStyles]:
        """Take away every highlight and underline that `page_action` has made in the tab that the person shares.

        Raises:
            ToolError: As `page_action`.
        """
        tab = self._shared_tabs.require_tab(ctx.resource)
        answer = read_answer(ClearAnswer, await self._call_tab(ctx, tab, "clear_ai_styles", {}, timeoutMs))
        data: ClearedStyles = {"success": answer.success, "message": answer.message, "resourceId": tab.resource_id}
        return ToolResult(answer.message or "the marks are gone", data)

    def _describe_tabs(self, tab: SharedTab) -> list[str]:
        """Describe the tab's page; if the chat has several shared tabs, list all of them with their resource ids."""
        others = [other for other in self._shared_tabs.list_for_session(tab.session_id) if other is not tab]
        if not others:
            return [_format_page(tab)]
        return [
            f"{_format_page(tab)} (resourceId {tab.resource_id!r})",
            *(f"also shared, by resourceId {other.resource_id!r}: {_format_page(other)}" for other in others),
        ]

    def _on_change(self) -> None:
        self.runtime.publish("changed", {})
        if bool(self._shared_tabs.tabs) != self._was_shared:
            self._was_shared = not self._was_shared
            self.runtime.tools_changed()

    @property
    def _shared_tabs(self) -> SharedTabs:
        assert self._tabs is not None  # noqa: S101 - init has made it
        return self._tabs

    async def _call_tab(
        self, ctx: ToolContext, tab: SharedTab, name: str, arguments: dict[str, Any], timeout_ms: int
    ) -> dict[str, Any]:
        left_ms = int((ctx.deadline - asyncio.get_running_loop().time()) * 1000)
        # Time out before the core does, because this module's error says more.
        limit_ms = max(100, min(timeout_ms, left_ms - 500))
        return await self._shared_tabs.call_tab(
            tab, name, arguments, call_id=ctx.call_id, timeout_ms=limit_ms, locale=self.runtime.locale
        )


def _format_page(tab: SharedTab) -> str:
    return f"{one_line(tab.title)} – {one_line(tab.url)}"


def _build_preview(tab: SharedTab, effect: Literal["read", "egress"]) -> CallPreview:
    """Build the preview of a call: its effect, and the page's URL without the query, which may change any time."""
    parts = urlsplit(tab.url)
    return CallPreview(effects=frozenset((effect,)), urls=(f"{parts.scheme}://{parts.netloc}{parts.path}",))


def _on_revoked(tabs: SharedTabs) -> Any:
    def listen(event: Any) -> None:
        if event.get("outcome") == "approver_revoked":
            tabs.end_client(str(event.get("name", "")))

    return listen
