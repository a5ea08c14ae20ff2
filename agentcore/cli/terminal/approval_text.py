"""Formats a call for the user who decides about it, in full and without invisible characters, and policy decisions."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from agentcore.approval_rules.criteria import list_touched
from agentcore.cli.terminal.output import colour_text
from agentcore.cli.terminal.visible_text import all_visible
from agentcore.core.approvals.request import ApprovalRequest, Changed
from agentcore.core.policy.grants import GrantOffer

COLOURS = {"allow": "green", "ask": "yellow", "deny": "red"}
_INDENT = "    "
_CHANGED: dict[Changed, str] = {
    "tool": "The tool's definition changed while the call waited. Decide again.",
    "target": "What the call would touch or write changed while it waited. Decide again.",
    "rules": "The reason to ask changed while the call waited. Decide again.",
}


def approval_text(request: ApprovalRequest, title: str, stream: Any = None, place: str = "") -> str:
    """Return everything that the user needs to decide about a call, for a terminal.

    Args:
        request: The pending call.
        title: The title of its chat. Empty: it has none, and the session's id is shown instead.
        stream: The stream on which it will be shown, which decides whether colours are used.
        place: The host in which it would run. Empty: in the server.
    """
    return "\n".join(_approval_lines(request, title, stream, place))


def _approval_lines(request: ApprovalRequest, title: str, stream: Any, place: str) -> Iterator[str]:
    definition = request.definition
    preview = request.preview
    effects = sorted(definition.effects if preview is None or preview.effects is None else preview.effects)
    yield f"A call needs your approval: {request.reason}."
    for change in request.changes:
        yield colour_text(f"  {_CHANGED[change]}", "yellow", stream)
    yield f"  tool       {colour_text(all_visible(definition.name), 'cyan', stream, bold=True)}"
    yield f"  asked by   {_requester_text(request, title)}"
    yield f"  effects    {', '.join(effects)}"
    if request.host:
        yield f"  runs on    host {colour_text(all_visible(request.host), 'cyan', stream, bold=True)}, another machine"
    elif place:
        yield f"  runs in    host {place}"
    if preview is not None:
        for kind in list_touched(request.facts):
            yield from (f"  {kind.label['en'].lower():<10} {_one_line(value)}" for value in kind.values)
    if preview is not None and preview.words:
        yield "  does"
        yield from (f"{_INDENT}{_one_line(line)}" for line in preview.words.split("\n"))
    yield "  arguments"
    yield from _argument_lines(request.arguments)
    if preview is not None and preview.diff:
        yield "  changes"
        yield from (diff_line(line, stream) for line in preview.diff.rstrip("\n").split("\n"))
    if request.offers:
        yield "  for later calls like this one you may, by number"
        yield from (f"{_INDENT}{number}  {_offer_text(offer)}" for number, offer in enumerate(request.offers, start=1))


def _requester_text(request: ApprovalRequest, title: str) -> str:
    principal = request.principal
    chat = f"chat “{_one_line(title)}”"
    if title and principal.kind == "chat" and principal.id == request.session_id:
        return chat
    name = f"{principal.kind} {principal.id}".strip()
    return f"{all_visible(name)}, {chat if title else f'session {all_visible(request.session_id)}'}"


def _offer_text(offer: GrantOffer) -> str:
    scope = {"session": "in this session, allow", "always": "always allow"}[offer.scope]
    patterns = " and ".join(f"{all_visible(name)} = {_one_line(value)}" for name, value in offer.arguments.items())
    return f"{scope} {all_visible(offer.tool)} with {patterns or 'any arguments'}"


def _argument_lines(arguments: dict[str, Any]) -> Iterator[str]:
    """Yield one argument per line; a multi-line text follows below its name, line by line."""
    if not arguments:
        yield f"{_INDENT}(none)"
    for key, value in arguments.items():
        name = all_visible(key)
        if isinstance(value, str) and "\n" in value:
            yield f"{_INDENT}{name}:"
            yield from (f"{_INDENT}  | {all_visible(line)}" for line in value.split("\n"))
        else:
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield f"{_INDENT}{name} = {_one_line(shown)}"


def diff_line(line: str, stream: Any) -> str:
    """Return one line of a unified diff, indented and in its colour."""
    colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
    shown = f"{_INDENT}{all_visible(line)}"
    return colour_text(shown, colour, stream) if colour else shown


def _one_line(text: str) -> str:
    return all_visible(text).replace("\n", "<U+000A>").replace("\t", "<U+0009>")


def explanation_lines(found: Mapping[str, Any], stream: TextIO) -> Iterator[str]:
    """Yield the response of `POST /api/approvals/explain` as lines of text.

    Args:
        found: The response.
        stream: The stream on which it will be shown, which decides whether colours are used.
    """
    yield f"{colour_text(found['decision'], COLOURS[found['decision']], stream, bold=True)}  by {found['by']}"
    yield f"  why      {all_visible(found['reason'])}"
    yield f"  mode     {found['mode']}"
    yield f"  effects  {', '.join(found['effects'])}"
    for kind in found["touches"]:
        yield from (f"  {kind['label']['en'].lower():<8} {all_visible(value)}" for value in kind["values"])
    for each in found["considered"]:
        says = "means it" if each["matches"] else all_visible(each["reason"])
        yield f"  {each['place']} ({each['decision']}): {says}"
