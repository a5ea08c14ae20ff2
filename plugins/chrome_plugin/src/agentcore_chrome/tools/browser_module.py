"""`Browser` module: the chat session's own page, for agents; ids are optional."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from agentcore.api import HostAlias, ToolDefinition, ToolResult
from agentcore_chrome.tools.action_tools import (
    browser_click,
    browser_drag,
    browser_hover,
    browser_press_key,
    browser_scroll,
    browser_type,
    typing_ms,
)
from agentcore_chrome.tools.form_tools import browser_file_upload, browser_fill_form, browser_select_option
from agentcore_chrome.tools.inspection_tools import (
    WAIT_MS,
    browser_console_messages,
    browser_get_dom,
    browser_network_requests,
    browser_pdf,
    browser_screenshot,
    browser_snapshot,
    browser_wait_for,
)
from agentcore_chrome.tools.live_image_tool import browser_live_picture
from agentcore_chrome.tools.navigation_tools import (
    browser_get_state,
    browser_go_back,
    browser_go_forward,
    browser_launch,
    browser_navigate,
    browser_reload,
)
from agentcore_chrome.tools.page_tools import browser_handle_dialog, browser_tabs
from agentcore_chrome.tools.script_tools import browser_evaluate
from agentcore_chrome.tools.session_pages import SessionPages
from agentcore_chrome.tools.translations import SESSION_PAGES_EXAMPLES, SESSION_PAGES_ZH


@dataclass(frozen=True, slots=True)
class BrowserTool:
    """One tool of `browser`.

    Args:
        function: Its declaration and handler: a function marked with `@tool`, whose name is the tool's. The module is
            its first argument.
        rank: If a model cannot get all tools, those of a low rank are offered first.
        is_extra: True if only the setting `extra_tools` turns it on.
        alias: The dotted name of the host protocol by which programs of other machines call it. None: there is none.
    """

    function: Callable[..., Awaitable[ToolResult]]
    rank: int
    is_extra: bool = False
    alias: HostAlias | None = None


TOOLS = (
    BrowserTool(browser_live_picture, rank=5),
    BrowserTool(browser_snapshot, rank=1, is_extra=True),
    BrowserTool(browser_console_messages, rank=4, is_extra=True),
    BrowserTool(browser_network_requests, rank=5, is_extra=True),
    BrowserTool(browser_pdf, rank=6, is_extra=True),
    BrowserTool(browser_select_option, rank=3, is_extra=True),
    BrowserTool(browser_fill_form, rank=3, is_extra=True),
    BrowserTool(browser_file_upload, rank=3, is_extra=True),
    BrowserTool(browser_drag, rank=5, is_extra=True),
    BrowserTool(browser_handle_dialog, rank=3, is_extra=True),
    BrowserTool(browser_tabs, rank=3, is_extra=True),
    BrowserTool(browser_launch, rank=2, alias=HostAlias("browser.ensure")),
    BrowserTool(browser_navigate, rank=1, alias=HostAlias("browser.navigate")),
    BrowserTool(browser_click, rank=1, alias=HostAlias("browser.click")),
    BrowserTool(browser_type, rank=1, alias=HostAlias("browser.type")),
    BrowserTool(browser_scroll, rank=2),
    BrowserTool(browser_hover, rank=2),
    BrowserTool(browser_press_key, rank=1),
    BrowserTool(browser_screenshot, rank=1, alias=HostAlias("browser.screenshot", {"inline": True})),
    BrowserTool(browser_get_dom, rank=2),
    BrowserTool(browser_evaluate, rank=2),
    BrowserTool(browser_wait_for, rank=1, alias=HostAlias("browser.waitFor")),
    BrowserTool(browser_go_back, rank=2),
    BrowserTool(browser_go_forward, rank=2),
    BrowserTool(browser_reload, rank=2),
    BrowserTool(browser_get_state, rank=2),
)
"""The tools of `browser`, in the order in which models see them."""

_BY_NAME = {each.function.__name__: each for each in TOOLS}


class Browser(SessionPages):
    """The browser page of a chat session: go somewhere, read, click, type, look."""

    title = "Browser"
    translations: ClassVar = {"zh": SESSION_PAGES_ZH}
    examples: ClassVar = SESSION_PAGES_EXAMPLES
    instructions: ClassVar = {
        "en": (
            "A `selector` is a reference such as `e12`, which `browser_snapshot` and other results give, or CSS that "
            "one visible element matches. An action's result says what it changed; look again only when you need more, "
            "and take `browser_screenshot` only to judge how something looks. Enter passwords and personal data only "
            "where the person told you to."
        ),
        "zh": (
            "`selector` 是 `browser_snapshot` 等结果给出的引用（如 `e12`），或只匹配一个可见元素的 CSS。"
            "操作的结果会说明变化；需要更多信息时再查看，要判断外观时才用 `browser_screenshot`。"
            "只在用户要求的地方输入密码和个人数据。"
        ),
    }
    stands_in_for = ("chrome",)

    def get_tool_definitions(self) -> Sequence[ToolDefinition | dict[str, Any]]:
        """Return the standard tools, and the extra ones if `extra_tools` is set."""
        found = (made for made in super().get_tool_definitions() if isinstance(made, ToolDefinition))
        listed = ((made, _BY_NAME[made.name]) for made in found)
        return [
            replace(made, rank=each.rank, host_alias=each.alias)
            for made, each in listed
            if self.settings.extra_tools or not each.is_extra
        ]

    def limit_ms(self, tool_name: str, args: dict[str, Any]) -> int | None:
        """Return the caller's limit; typing without one gets extra time for its delays."""
        if tool_name == browser_wait_for.__name__:
            return int(args["timeoutMs"] or args["timeout"] or WAIT_MS)
        if "delay" in args and args["timeoutMs"] is None:
            return typing_ms(args["text"], args["delay"])
        return super().limit_ms(tool_name, args)


for _name, _each in _BY_NAME.items():
    setattr(Browser, _name, _each.function)  # the tools of a `Module` are the attributes of its class, in their order
