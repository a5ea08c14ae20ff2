"""Formats policy changes, clients and hosts for the user who decides about them."""

from collections.abc import Iterator, Mapping
from typing import Any

from agentcore.cli.terminal.approval_text import diff_line
from agentcore.cli.terminal.visible_text import all_visible
from agentcore.core.approvals.client_pairings import Pairing
from agentcore.core.approvals.definition_review import definition_text
from agentcore.core.approvals.host_pairings import HostOffer
from agentcore.core.approvals.policy_changes import PolicyChange

SCOPES = {
    "approve": "see and decide every call that waits; stop everything, and resume",
    "chat": "make chat sessions, talk in them, change and delete them, and decide the calls of these sessions",
    "tab": "offer the tabs of your browser that you share with a chat; it sees the titles of all chats",
}
"""Scopes of a paired client's key, with what each permits."""


def change_text(change: PolicyChange, stream: Any = None) -> str:
    """Return everything that the user needs to decide about a policy change, for a terminal.

    Args:
        change: The pending change.
        stream: The stream on which it will be shown, which decides whether colours are used.
    """
    proposal = change.proposal
    lines = [
        "A change of what is allowed, or of what runs, needs your confirmation. Apply it only if you asked for it.",
        f"  changes    {all_visible(proposal.kind)} {all_visible(proposal.subject)}",
        f"  asked by   {all_visible(change.principal.name)}",
        *(f"  part       {all_visible(path)}" for path in proposal.paths),
    ]
    for file, text in proposal.diff:
        lines.append(f"  {all_visible(file)}")
        lines += (diff_line(line, stream) for line in text.rstrip("\n").split("\n"))
    if proposal.reading_tools:
        lines.append("  read-only, according to the server (type ? for how to treat them so)")
        lines += (f"    {all_visible(name)}" for name in proposal.reading_tools)
    return "\n".join(lines)


def pairing_text(pairing: Pairing) -> str:
    """Return everything that the user needs to decide about pairing a client, for a terminal."""
    request = pairing.request
    lines = [
        "A client has shown a code and wants a key of its own. Pair it only if you have just typed that code into it.",
        f"  name       {all_visible(request.name)}",
        f"  says it is {all_visible(request.kind)}",
        f"  comes from {all_visible(request.origin) or 'a program: no web page or extension'}",
        f"  asks for   {', '.join(sorted(request.scopes)) or 'nothing in particular'}",
        "  it could",
        *(f"    {scope:<8} {what}" for scope, what in SCOPES.items()),
    ]
    return "\n".join(lines)


def host_text(shown: Mapping[str, Any], *, may_use_chats: bool = False) -> str:
    """Return everything that the user needs to decide about pairing a host, for a terminal.

    Args:
        shown: The response of `POST /api/host-pairings`; everything but the address is the host's own claim.
        may_use_chats: True if pairing it would also allow it to use chats.
    """
    folders = shown["workspace"] or ["no folder"]
    lines = [
        "A machine has dialled in, and says what stands here. Let it in only if it is yours, and you have just typed",
        "the code that it shows. Models can then call its tools, under your rules.",
        f"  name       {_one_line(shown['name'])}",
        f"  dials in   from {_one_line(shown['address'])}",
        f"  says it is {_one_line(shown['platform'])}, agentcore {_one_line(shown['version'])}",
        *(f"  works in   {_one_line(folder)}" for folder in folders),
        *(f"  {text}" for module in shown["modules"] for text in _module_lines(module)),
        _CHATS
        if may_use_chats
        else f"  It may not use chats. To allow that: agentcore hosts chats {_one_line(shown['name'])} on",
    ]
    if shown["replaces"]:
        lines.append("  There is a host of this name already; it is forgotten if you let this one in.")
    return "\n".join(lines)


def encode_host_offer(offer: HostOffer) -> dict[str, Any]:
    """Convert the offer of a host to pair in this process into the mapping that `host_text` accepts."""
    return {
        **{name: getattr(offer, name) for name in ("name", "address", "platform", "version", "workspace", "replaces")},
        "modules": [
            {
                "name": each.name,
                "title": each.title,
                "instructions": each.instructions,
                "tools": [
                    {"name": tool.name, "effects": sorted(tool.effects), "definition": definition_text(tool)}
                    for tool in each.tools
                ],
                "problems": list(each.problems),
            }
            for each in offer.modules
        ],
    }


_CHATS = (
    "  It may use chats: read conversations, replace their summaries and to-do lists, have your models write, and run\n"
    "  sub-agents."
)


def _module_lines(module: Mapping[str, Any]) -> Iterator[str]:
    tools = module["tools"]
    yield f"offers     {_one_line(module['title'])} ({_one_line(module['name'])}), {len(tools)} tools"
    if module["instructions"]:
        yield "  instructions for models"
        yield from _indented_lines(module["instructions"])
    for tool in tools:
        effects = ", ".join(sorted(tool["effects"]))
        yield f"  tool     {_one_line(tool['name'])} [{_one_line(effects)}]"
        yield from _indented_lines(tool["definition"])
    for problem in module["problems"]:
        yield f"  left out {_one_line(problem)}"


def _indented_lines(text: str) -> Iterator[str]:
    return (f"           {all_visible(line)}" for line in text.split("\n"))


def _one_line(text: str) -> str:
    """Escape line feeds and tabs too, so that the text cannot look like further lines."""
    return all_visible(text.replace("\n", "<U+000A>").replace("\t", "<U+0009>"))
