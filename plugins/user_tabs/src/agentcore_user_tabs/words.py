"""What a call does in a page, in words of the person who is asked about it."""

from collections.abc import Iterable, Mapping
from typing import Literal

from agentcore_user_tabs.actions import PageAction, Target

_SHOWN_CHARS = 300

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


def in_words(actions: Iterable[PageAction], names: Mapping[str, str], locale: Literal["en", "zh"]) -> str:
    """A numbered line for each action.

    Args:
        names: What elements are called, by their ids, as the page was read last.
    """
    return "\n".join(f"{number}. {_line(action, names, locale)}" for number, action in enumerate(actions, 1))


def _line(action: PageAction, names: Mapping[str, str], locale: Literal["en", "zh"]) -> str:
    words, params = _WORDS[locale], action.params
    value = None if params is None else params.value
    direction = "" if params is None else params.direction or ""
    kind = "uncheck" if action.action == "check" and value in (False, "false") else action.action
    # nowhere to scroll to is the page itself; everything else without a target is the selection
    nothing = words["page"] if kind == "scroll" else words["selection"]
    return words[kind].format(
        target=_name(action.target, names) or nothing,
        value=_shortened(str("" if value is None else value)),
        direction=words[direction],
    )


def _name(target: Target, names: Mapping[str, str]) -> str:
    if target.elementId is not None:
        name = names.get(target.elementId, "")
        return f"“{_shortened(name)}” ({target.elementId})" if name else target.elementId
    return _shortened(target.selector or "") or (f"“{_shortened(target.description)}”" if target.description else "")


def _shortened(text: str) -> str:
    """All of a call's arguments stand below in full length."""
    line = one_line(text)
    return line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}…"
