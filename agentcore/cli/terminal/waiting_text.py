"""Changes of what is allowed, and clients that want to be paired, as a person has to see them before deciding."""

from typing import Any

from agentcore.cli.terminal.approval_text import diff_line
from agentcore.cli.terminal.visible_text import all_visible
from agentcore.host.approvals import Pairing, PolicyChange

SCOPES = {
    "approve": "see and decide every call that waits; stop everything, and resume",
    "chat": "make chat sessions, talk in them, change and delete them, and decide the calls of these sessions",
    "tab": "offer the tabs of your browser that you share with a chat; it sees the titles of all chats",
}
"""What the key of a paired client can be for."""


def change_text(change: PolicyChange, stream: Any = None) -> str:
    """Everything that a decision on a change rests on, for a terminal.

    Args:
        change: The change that waits.
        stream: Where it will be shown, for the colours.
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
    return "\n".join(lines)


def pairing_text(pairing: Pairing) -> str:
    """Everything that a decision on a client rests on, for a terminal."""
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
