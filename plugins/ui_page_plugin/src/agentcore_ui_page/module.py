"""`UiPage`: the module with three tools that read and change agentcore's own page in the browser."""

import json
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from agentcore.api import (
    HIDDEN_FROM_MODELS,
    CallPreview,
    Field,
    Module,
    Runtime,
    ToolContext,
    ToolError,
    ToolResult,
    WebComponent,
    known_to_models,
    tool,
)
from agentcore_ui_page.broker import Answer, Broker, CommandType
from agentcore_ui_page.channel import PREFIX, Channel
from agentcore_ui_page.operations import Operation, brings_html
from agentcore_ui_page.results import PageContent, PatchedPage, ScriptValue
from agentcore_ui_page.translations import ZH

_FOLDER = Path(__file__).parent / "component"
_LIMIT_MS = 300_000
_LONGEST_S = _LIMIT_MS / 1000 + 5
_STACK_LINES = 6

TimeoutMs = Annotated[
    int,
    Field(
        ge=100,
        le=_LIMIT_MS,
        description="How long the page may take, in milliseconds.",
        json_schema_extra=HIDDEN_FROM_MODELS,
    ),
]
PageId = Annotated[
    str | None,
    Field(
        max_length=2000,
        description="The page that has to act, from an earlier result; left out, the one in use.",
        json_schema_extra=HIDDEN_FROM_MODELS,
    ),
]


class UiPage(Module):
    """agentcore's own page: read it, run scripts in it, patch it until the next reload."""

    title = "agentcore’s own page"
    translations: ClassVar = {"zh": ZH}
    instructions: ClassVar = {
        "en": (
            "These tools act on agentcore's own page, in which the person reads this conversation, and on no "
            "other. Run a script only where `ui_page_dom_patch` does not do."
        ),
        "zh": (
            "这些工具只作用于 agentcore 自己的页面，也就是用户阅读此对话的页面。"
            "`ui_page_dom_patch` 做不到时才执行脚本。"
        ),
    }
    claims = (PREFIX,)
    runs_scripts_in_page = True

    def __init__(self) -> None:
        super().__init__()
        self._broker: Broker | None = None

    async def init(self, runtime: Runtime) -> None:
        """Serve the channel on which pages request commands."""
        self._broker = Broker()
        Channel(self._broker).add_routes(runtime)

    async def shutdown(self) -> None:
        """Fail all pending commands."""
        if self._broker is not None:
            self._broker.close()

    def get_web_component(self) -> WebComponent:
        """Return the component with the script that runs commands in the page."""
        return WebComponent(
            tag="ui-page-about",
            script="about.js",
            folder=_FOLDER,
            title={"en": "Changes to this page", "zh": "对本页面的更改"},
            icon="app-window",
            group="manage",
            page_script="executor.js",
            csp={"script-src": ["'unsafe-eval'"]},
        )

    @tool(effects=("dangerous",), destructive=True, idempotent=False, open_world=True, timeout_s=_LONGEST_S)
    async def ui_page_eval_js(
        self,
        ctx: ToolContext,
        script: Annotated[str, Field(min_length=1, max_length=200_000, json_schema_extra=known_to_models())],
        timeoutMs: TimeoutMs = 15_000,  # noqa: N803 - spelled as it is on the wire
        resourceId: PageId = None,  # noqa: N803
    ) -> ToolResult[ScriptValue]:
        """Run JavaScript in agentcore's own page, an expression or a body with `await` and `return`; gives its value.

        Args:
            script: The code, with `window` and `document` in reach.
        Raises:
            ToolError: `ui_client_not_connected`, `ui_timeout`, `ui_execute_error`, `ui_queue_full`.
        """
        answer = await self._run_command("eval_js", {"script": script}, timeoutMs, resourceId)
        result = answer.result
        value = result.get("value")
        is_cut = bool(result.get("isCut"))
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
        if is_cut:
            text += "\n(the value was larger than what is given back; return less of it)"
        data: ScriptValue = {"value": value, "resourceId": answer.page_id}
        return ToolResult(text, data, truncated=is_cut, untrusted=True)

    @tool(read_only=True, open_world=True, idempotent=True, timeout_s=_LONGEST_S, keep="head")
    async def ui_page_get_content(
        self,
        ctx: ToolContext,
        selector: Annotated[
            str | None,
            Field(
                min_length=1,
                max_length=2000,
                description="CSS selector of the part; else all of it.",
                json_schema_extra=known_to_models(),
            ),
        ] = None,
        *,
        format: Literal["html", "text", "summary"] = "summary",  # noqa: A002 - spelled as it is on the wire
        maxChars: Annotated[  # noqa: N803
            int, Field(ge=1, le=1_000_000, description="Where it is cut.", json_schema_extra=known_to_models())
        ] = 20_000,
        timeoutMs: TimeoutMs = 15_000,  # noqa: N803
        resourceId: PageId = None,  # noqa: N803
    ) -> ToolResult[PageContent]:
        """Read agentcore's own page: a `summary` with headings, and controls with selectors; its `text`; its `html`.

        Raises:
            ToolError: `ui_client_not_connected`, `ui_timeout`, `ui_execute_error` (no such element), `ui_queue_full`.
        """
        args = {"selector": selector, "format": format, "maxChars": maxChars}
        answer = await self._run_command("get_content", args, timeoutMs, resourceId)
        result = answer.result
        if format == "summary":
            summary = result["summary"]
            text = json.dumps(summary, ensure_ascii=False, indent=1)
            return ToolResult(
                text,
                {"summary": summary, "resourceId": answer.page_id},
                truncated=bool(result.get("isCut")),
                untrusted=True,
            )
        content = result["content"]
        length = result["length"]
        is_cut = length > len(content)
        notice = (
            f"\n(cut at {len(content):,} of {length:,} characters; ask for a part by selector, or more by maxChars)"
        )
        data: PageContent = {"content": content, "length": length, "truncated": is_cut, "resourceId": answer.page_id}
        return ToolResult(content + (notice if is_cut else ""), data, truncated=is_cut, untrusted=True)

    def _preview_patch(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        is_dangerous = any(brings_html(operation) for operation in arguments["operations"])
        return CallPreview(effects=frozenset(("dangerous",)) if is_dangerous else frozenset(("write",)))

    @tool(
        effects=("write", "dangerous"),
        destructive=True,
        idempotent=False,
        open_world=False,
        timeout_s=_LONGEST_S,
        preview=_preview_patch,
    )
    async def ui_page_dom_patch(
        self,
        ctx: ToolContext,
        operations: Annotated[
            list[Operation], Field(min_length=1, max_length=2000, json_schema_extra=known_to_models())
        ],
        timeoutMs: TimeoutMs = 15_000,  # noqa: N803
        resourceId: PageId = None,  # noqa: N803
    ) -> ToolResult[PatchedPage]:
        """Change agentcore's own page until it is reloaded: texts, attributes, classes, HTML, style sheets.

        An operation changes all elements that its selector matches.

        Args:
            operations: What to change.
        Raises:
            ToolError: `ui_client_not_connected`, `ui_timeout`, `ui_execute_error`, `ui_queue_full`.
        """
        args = {"operations": [operation.model_dump() for operation in operations]}
        answer = await self._run_command("dom_patch", args, timeoutMs, resourceId)
        results = answer.result["results"]
        succeeded = sum(bool(result["ok"]) for result in results)
        data: PatchedPage = {
            "results": results,
            "total": len(results),
            "succeeded": succeeded,
            "failed": len(results) - succeeded,
            "resourceId": answer.page_id,
        }
        lines = [f"{succeeded} of {len(results)} operations were applied; a reload of the page undoes them"]
        lines += [
            f"{number}. {operation.op}: " + (f"{result['matched']} matched" if result["ok"] else str(result["error"]))
            for number, (operation, result) in enumerate(zip(operations, results, strict=True), 1)
        ]
        return ToolResult("\n".join(lines), data, untrusted=True)

    async def _run_command(
        self, command_type: CommandType, args: dict[str, Any], timeout_ms: int, page_id: str | None
    ) -> Answer:
        assert self._broker is not None  # noqa: S101 - init has made it
        command_id = self._broker.enqueue_to_active(command_type, args, timeout_ms, page_id=page_id)
        answer = await self._broker.await_result(command_id, timeout_ms / 1000)
        if answer.error is not None:
            stack = "\n".join(str(answer.error.get("stack", "")).splitlines()[:_STACK_LINES])
            message = f"the page threw: {answer.error['message']}"
            raise ToolError("ui_execute_error", message, untrusted=True, stack=stack, resourceId=answer.page_id)
        if not isinstance(answer.result, dict):
            raise ToolError("ui_execute_error", "the page answered in another form than it should; reload it")
        return answer
