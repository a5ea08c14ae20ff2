"""The tool of `browser` that runs scripts, and running scripts for both modules."""

import json
from typing import Annotated, Any

from agentcore.api import Field, ToolContext, ToolError, ToolResult, also_called, known_to_models, tool
from agentcore_chrome.call_limit import work_ms
from agentcore_chrome.failures import extract_headline, is_driver_error
from agentcore_chrome.tab.elements import ELEMENT_MS, Hit, Target, act_on_element
from agentcore_chrome.tab.evaluation import VALUE_CHARS, run_script
from agentcore_chrome.tab.tab import Tab
from agentcore_chrome.tools import result_types as results
from agentcore_chrome.tools.action_report import Brief
from agentcore_chrome.tools.arguments import (
    DEFAULT_MS,
    LONGEST_S,
    PAGE,
    PageId,
    PageLimitMs,
    PageSelector,
    Script,
    element_field,
)
from agentcore_chrome.tools.session_pages import SessionPages
from agentcore_chrome.tools.tab_result import ToolOutput


@tool(
    effects=("execute",), open_world=True, timeout_s=LONGEST_S,
    preview=SessionPages.preview_action, resource=PAGE,
)  # fmt: skip
async def browser_evaluate(
    pages: SessionPages,
    ctx: ToolContext,
    script: Annotated[Script, Field(json_schema_extra=known_to_models() | also_called("function", "expression"))],
    selector: Annotated[PageSelector | None, element_field("An element that a function is called with.")] = None,
    resourceId: PageId = None,
    timeoutMs: PageLimitMs = DEFAULT_MS,
) -> ToolResult[results.PageEvaluation]:
    """Run JavaScript in the page and give its value: an expression, or statements with `await` and `return`.

    A function is called, with the element of `selector` if given.
    """

    async def run(tab: Tab) -> ToolOutput:
        if selector is not None:
            return await evaluate_with_element(tab, selector, script, timeoutMs)
        return await evaluate_script(tab, script, timeoutMs)

    return await pages.on_page(ctx, run, snapshot=None, brief=Brief())


async def evaluate_script(tab: Tab, script: str, timeout_ms: int) -> ToolOutput:
    """Run a script in the page.

    Raises:
        ToolError: Those of `agentcore_chrome.tab.evaluation.run_script`.
    """
    value = await run_script(tab, script, timeout_ms)
    if value.cut_text is not None:
        text = f"{value.cut_text}\n[cut: {value.length:,} characters of JSON in all]"
        return ToolOutput(text, {"value": None, "cutText": value.cut_text, "length": value.length}, is_cut=True)
    text = value.value if isinstance(value.value, str) else json.dumps(value.value, ensure_ascii=False, indent=1)
    return ToolOutput(text, {"value": value.value})


async def evaluate_with_element(tab: Tab, selector: str, script: str, timeout_ms: int) -> ToolOutput:
    """Call a script, which must be a function, with an element.

    Raises:
        ToolError: `evaluation_error`, and those of finding the element.
    """

    async def run(hit: Hit) -> Any:
        try:
            return await hit.locator.evaluate(script, timeout=work_ms(timeout_ms))
        except Exception as exc:
            if is_driver_error(exc) and type(exc).__name__ == "Error":
                raise ToolError(
                    "evaluation_error", f"the script failed: {extract_headline(exc)}", url=tab.page.url
                ) from exc
            raise

    value = await act_on_element(tab, Target(selector), run, wait_ms=min(timeout_ms, ELEMENT_MS), limit_ms=timeout_ms)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if len(text) > VALUE_CHARS:
        return ToolOutput(text[:VALUE_CHARS], {"value": None, "length": len(text)}, is_cut=True)
    return ToolOutput(text, {"value": value})
