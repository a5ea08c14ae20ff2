"""Builds the system message: general parts, tools for models without tool calling, the user's page."""

import json
from collections.abc import Sequence
from typing import Any

from agentcore.chat.chat_limits import PAGE_BYTES, PAGE_TITLE_CHARS, PAGE_URL_CHARS
from agentcore.chat.client_messages import PageInfo
from agentcore.chat.model.offered_tools import OfferedTool
from agentcore.chat.model.system_message_text import Instructions
from agentcore.chat.system.parts import SystemPart
from agentcore.chat.texts import Locale, localized_text
from agentcore.chat.turn.text_tool_call_format import WrittenForm, format_call, format_signature, write_examples
from agentcore.chat.untrusted_text import mark_untrusted, one_line
from agentcore.net.url_pattern import host_of
from agentcore.tool_formats.dialects import DIALECTS

_ASK_FOR_MORE = "request_more_elements"
_ACT = "page_action"
_ID_CHARS = 200
_DESC_CHARS = 2000


def system_message(
    system: Sequence[SystemPart],
    tools: Sequence[OfferedTool],
    page: PageInfo | None,
    locale: Locale,
    *,
    written_form: WrittenForm | None,
) -> list[SystemPart]:
    """Return all parts of the system message, in the order in which they are sent.

    Args:
        system: The parts from the session's system plan.
        tools: The tools that the model may call.
        page: The user's current page.
        locale: Language.
        written_form: How the model has to be instructed to write calls; None: it calls tools natively.
    """
    lasting = [part for part in system if part.lasts]
    passing = [part for part in system if not part.lasts]
    if written_form is not None and tools:
        describe = _describe_tools if written_form == "tag" else _describe_tools_for_client
        lasting.append(SystemPart("tools", describe(tools, locale)))
    if page is not None:
        shown = _format_page(page, locale, can_ask=any(tool.name == _ASK_FOR_MORE for tool in tools))
        passing.append(SystemPart("page", shown, page_source(page, locale), lasts=False))
    return [*lasting, *passing]


def build_instructions(parts: Sequence[SystemPart]) -> Instructions:
    """Join the parts that are sent into the instructions for a provider."""
    told = [part for part in parts if part.is_told]
    lasting, passing = ("\n\n".join(part.text for part in told if part.lasts is lasts) for lasts in (True, False))
    return Instructions(lasting, passing)


def _describe_tools(tools: Sequence[OfferedTool], locale: Locale) -> str:
    """Teach the form that small models write best: a line for each tool, arguments as an object."""
    parts = [localized_text(locale, "tools_in_tags"), *(format_signature(tool) for tool in tools)]
    parts += [localized_text(locale, "examples"), *_choose_examples(tools)]
    if any(tool.name == _ACT for tool in tools):
        parts.append(localized_text(locale, "page_rules"))
    return "\n".join(parts)


def _choose_examples(tools: Sequence[OfferedTool]) -> list[str]:
    names = {tool.name for tool in tools if tool.kind == "client"}
    of_page = [format_call(tool, arguments, "tag") for tool, arguments in _EXAMPLES[:2] if tool in names]
    return of_page or list(write_examples(tools))


def _describe_tools_for_client(tools: Sequence[OfferedTool], locale: Locale) -> str:
    names = {tool.name for tool in tools if tool.kind == "client"}
    listed = [f"- {tool.name}: {tool.description}\n  {_format_schema(tool)}" for tool in tools]
    parts = [localized_text(locale, "tools"), localized_text(locale, "tools_listed"), *listed]
    if examples := [format_call(tool, example, "text") for tool, example in _EXAMPLES if tool in names]:
        parts += [localized_text(locale, "examples"), *examples]
    if _ACT in names:
        parts.append(localized_text(locale, "page_rules"))
    return "\n".join(parts)


def _format_schema(tool: OfferedTool) -> str:
    # the most compact form, since only the model reads it
    return json.dumps(tool.schema.lower_to(DIALECTS["portable"]).schema, ensure_ascii=False)


_EXAMPLES: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        _ACT,
        {
            "actions": [
                {"action": "fill", "target": {"elementId": "e_1_a"}, "params": {"value": "…"}},
                {"action": "click", "target": {"elementId": "e_1_b"}},
            ]
        },
    ),
    (_ASK_FOR_MORE, {"region": "form", "elementType": "button"}),
    (_ACT, {"actions": [{"action": "highlight", "target": {}, "params": {"color": "yellow"}}]}),
)
"""Fill then click; ask for more elements; highlight the selection with an empty target."""


def _format_page(page: PageInfo, locale: Locale, *, can_ask: bool) -> str:
    unknown = localized_text(locale, "unknown")
    lines = [
        f"{localized_text(locale, 'url')}: {one_line(page.url or '', PAGE_URL_CHARS) or unknown}",
        f"{localized_text(locale, 'title')}: {one_line(page.title or '', PAGE_TITLE_CHARS) or unknown}",
        *_format_elements(page, locale, can_ask=can_ask),
    ]
    if page.selectedText:
        lines += [localized_text(locale, "selected"), page.selectedText[:PAGE_BYTES]]
    return f"{localized_text(locale, 'page')}\n{mark_untrusted(chr(10).join(lines), page_source(page, locale))}"


def page_source(page: PageInfo, locale: Locale) -> str:
    """Return the name of a page for the user: its host."""
    return host_of(page.url or "") or localized_text(locale, "page_source")


def _format_elements(page: PageInfo, locale: Locale, *, can_ask: bool) -> list[str]:
    if not page.elements:
        said = localized_text(locale, "no_elements")
        return [f"{said} {localized_text(locale, 'more')}" if can_ask else said]
    lines = [localized_text(locale, "elements")]
    left = PAGE_BYTES
    for number, element in enumerate(page.elements):
        line = f"{one_line(element.id, _ID_CHARS)} | {one_line(element.desc, _DESC_CHARS)}"
        left -= len(line.encode("utf-8", "replace"))
        if left < 0:
            return [*lines, localized_text(locale, "cut", count=len(page.elements) - number)]
        lines.append(line)
    return lines
