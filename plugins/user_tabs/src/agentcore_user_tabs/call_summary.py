"""What a call does in a page, in a person's words: all of it, for they stand for its arguments."""

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
    """A page's words on one line: what stands on a line of its own, it cannot make up."""
    return " ".join(text.split())


def describe_actions(actions: Iterable[PageAction], names: Mapping[str, str], locale: Literal["en", "zh"]) -> str:
    """A line for each action.

    Args:
        names: What elements are called, by their ids, as the page was read last.
    """
    return "\n".join(_describe_action(action, names, locale) for action in actions)


def _describe_action(action: PageAction, names: Mapping[str, str], locale: Literal["en", "zh"]) -> str:
    words = _WORDS[locale]
    params = action.params
    value = None if params is None else params.value
    direction = "" if params is None else params.direction or ""
    kind = "uncheck" if action.action == "check" and value in (False, "false") else action.action
    # nowhere to scroll to is the page itself; everything else without a target is the selection
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
    """A value as it is, on one line."""
    return "⏎".join(text.splitlines()) + ("⏎" if text.endswith("\n") else "")
