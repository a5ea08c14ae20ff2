"""The summary of a `page_action` call for approval; it is complete, because it is shown instead of the arguments."""

from collections.abc import Iterable, Mapping
from typing import Literal

from agentcore_user_tabs.actions import PageAction, Target

_WORDS = {
    "en": {
        "fill": "Fill {target} with “{value}”",
        "click": "Click {target}",
        "select": "Select “{value}” in {target}",
        "check": "Check {target}",
        "uncheck": "Uncheck {target}",
        "scroll": "Scroll {target} {direction}",
        "read": "Read {target}",
        "highlight": "Highlight {target}",
        "underline": "Underline {target}",
        "selection": "the selection",
        "page": "the page",
        "up": "up",
        "down": "down",
        "top": "to its top",
        "bottom": "to its end",
        "": "into view",
    },
    "zh": {
        "fill": "在 {target} 中填写“{value}”",
        "click": "点击 {target}",
        "select": "在 {target} 中选择“{value}”",
        "check": "勾选 {target}",
        "uncheck": "取消勾选 {target}",
        "scroll": "滚动 {target}{direction}",
        "read": "读取 {target}",
        "highlight": "高亮 {target}",
        "underline": "为 {target} 加下划线",
        "selection": "当前选区",
        "page": "页面",
        "up": "（向上）",
        "down": "（向下）",
        "top": "（到顶部）",
        "bottom": "（到底部）",
        "": "（到可见处）",
    },
}


def one_line(text: str) -> str:
    """Put a page's text on one line, so that it cannot imitate separate lines of the output."""
    return " ".join(text.split())


def describe_actions(actions: Iterable[PageAction], names: Mapping[str, str], locale: Literal["en", "zh"]) -> str:
    """Describe actions, one per line.

    Args:
        actions: The actions.
        names: Names of elements by id, as of the last reading of the page.
        locale: The language.
    """
    return "\n".join(_describe_action(action, names, locale) for action in actions)


def _describe_action(action: PageAction, names: Mapping[str, str], locale: Literal["en", "zh"]) -> str:
    words = _WORDS[locale]
    params = action.params
    value = None if params is None else params.value
    direction = "" if params is None else params.direction or ""
    kind = "uncheck" if action.action == "check" and value in (False, "false") else action.action
    # Without a target, `scroll` scrolls the page, and other actions apply to the selection.
    nothing = words["page"] if kind == "scroll" else words["selection"]
    return words[kind].format(
        target=_describe_target(action.target, names) or nothing,
        value=_mark_line_ends("" if value is None else str(value)),
        direction=words[direction],
    )


def _describe_target(target: Target, names: Mapping[str, str]) -> str:
    if target.elementId is not None:
        name = names.get(target.elementId, "")
        return f"“{one_line(name)}” ({target.elementId})" if name else one_line(target.elementId)
    return one_line(target.selector or "") or (f"“{one_line(target.description)}”" if target.description else "")


def _mark_line_ends(text: str) -> str:
    """Put a value on one line, with line ends marked."""
    return "⏎".join(text.splitlines()) + ("⏎" if text.endswith("\n") else "")
