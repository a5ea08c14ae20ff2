"""Dialogues at the server's terminal about pending calls, policy changes and client pairings."""

import sys
from typing import Protocol, get_args

from agentcore.api.tool_context import KeyScope
from agentcore.cli.terminal.call_dialogue import CallDialogue, call_help
from agentcore.cli.terminal.terminal import EXPIRED, TERMINAL, number_needed, write_line
from agentcore.cli.terminal.typed_answer import Proof
from agentcore.cli.terminal.visible_text import all_visible
from agentcore.cli.terminal.waiting_text import change_text, pairing_text
from agentcore.core.approvals.client_pairings import Pairing
from agentcore.core.approvals.policy_changes import PolicyChange
from agentcore.core.approvals.request import ApprovalRequest
from agentcore.core.core import Core

Waiting = ApprovalRequest | PolicyChange | Pairing
"""A request that is waiting for the user's decision."""

_SCOPES: tuple[KeyScope, ...] = get_args(KeyScope)
_YES = frozenset(("y", "yes"))
_NO = frozenset(("n", "no"))
_READING = "reading"


class Dialogue(Protocol):
    """Shows one pending request and handles what is typed about it."""

    @property
    def asked(self) -> Waiting:
        """The pending request."""
        ...

    @property
    def proof(self) -> Proof:
        """The number that has to be typed with a decision."""
        ...

    def show(self) -> None:
        """Show everything that the user needs for the decision."""
        ...

    def format_prompt(self) -> str:
        """Return the prompt with the possible answers."""
        ...

    def format_help(self) -> str:
        """Return all possible inputs, one per line."""
        ...

    async def handle_line(self, line: str) -> str | None:
        """Handle a line; return the decision as a sentence, or None if it is still pending.

        Raises:
            ToolError: The request is no longer pending, or the decision cannot be carried out.
        """
        ...


def list_waiting(core: Core) -> list[Waiting]:
    """Return all pending requests, oldest first, but long-lived policy changes last."""
    found: list[Waiting] = [*core.pairings.waiting, *core.policy_changes.waiting, *core.approvals.waiting]
    return sorted(found, key=lambda thing: (is_long_lived(thing), thing.requested_at_ms))


def is_long_lived(thing: Waiting) -> bool:
    """True for a policy change that stays pending while the server runs: everything else is more urgent."""
    return isinstance(thing, PolicyChange) and thing.proposal.lasts


async def open_dialogue(core: Core, thing: Waiting) -> Dialogue:
    """Return the dialogue for a pending request."""
    match thing:
        case ApprovalRequest():
            return await _Call.open(core, thing)
        case PolicyChange():
            return _Change(core, thing)
        case Pairing():
            return _Client(core, thing)


class _Call(CallDialogue):
    def format_prompt(self) -> str:
        return f"Run it? Type {self.proof.expected_input('y')}, n, or ? for what else there is."

    def format_help(self) -> str:
        return call_help(self.proof)

    async def handle_line(self, line: str) -> str | None:
        verdict = await self.read_verdict(line)
        if verdict is None:
            return None
        await self.core.approvals.decide_call(self.asked.call_id, verdict)
        return "Approved." if verdict.approved else "Rejected."


class _Change:
    def __init__(self, core: Core, change: PolicyChange) -> None:
        self._core = core
        self.asked = change
        self.proof = Proof()

    def show(self) -> None:
        write_line(f"\n{change_text(self.asked, sys.stderr)}")

    def format_prompt(self) -> str:
        return f"Apply it? Type {self.proof.expected_input('y')}, or n."

    def format_help(self) -> str:
        lines = [f"  {self.proof.expected_input('y'):<15} apply exactly this", "  n               refuse it"]
        if self.asked.proposal.reading_tools:
            also = self.proof.expected_input("y", _READING)
            lines.append(f"  {also}  apply it, and treat as reading what is read-only according to the server")
            lines.append(f"  {also} TOOL …  only these tools")
        return "\n".join(lines)

    async def handle_line(self, line: str) -> str | None:
        offered = self.asked.proposal.reading_tools
        typed = _read_yes_or_no(self.proof, line, takes_rest=bool(offered))
        if typed is None:
            return None
        approved = typed[0] in _YES
        words = typed[1].split()
        reading = (tuple(words[1:]) or offered) if words else ()
        if approved and (words[:1] not in ([], [_READING]) or not set(reading) <= set(offered)):
            write_line(f"After y, type nothing, {_READING}, or {_READING} and some of {', '.join(offered)}.")
            return None
        await self._core.policy_changes.decide_change(
            self.asked.change_id, approved=approved, by=TERMINAL, reading=reading if approved else ()
        )
        return "Applied." if approved else "Refused."


class _Client:
    def __init__(self, core: Core, pairing: Pairing) -> None:
        self._core = core
        self.asked = pairing
        self.proof = Proof()

    def show(self) -> None:
        write_line(f"\n{pairing_text(self.asked)}")

    def format_prompt(self) -> str:
        scopes = " ".join(sorted(self.asked.request.scopes)) or "SCOPES"
        return f"Pair it? Type {self.proof.expected_input('y', scopes)} with what it may ({', '.join(_SCOPES)}), or n."

    def format_help(self) -> str:
        return f"  {self.proof.expected_input('y', 'SCOPES')}   pair it, with what it may\n  n               refuse it"

    async def handle_line(self, line: str) -> str | None:
        typed = _read_yes_or_no(self.proof, line, takes_rest=True)
        if typed is None:
            return None
        word, rest = typed
        words = set(rest.lower().replace(",", " ").split()) if word in _YES else set()
        # one unknown word invalidates them all
        scopes = [scope for scope in _SCOPES if scope in words] if words <= set(_SCOPES) else []
        if word in _YES and not scopes:
            write_line(f"Say what it may: one or more of {', '.join(_SCOPES)}.")
            return None
        self._core.pairings.decide_pairing(self.asked.pairing_id, scopes, TERMINAL)
        return f"Paired: it may {', '.join(scopes)}." if scopes else "Refused."


def _read_yes_or_no(proof: Proof, line: str, *, takes_rest: bool = False) -> tuple[str, str] | None:
    """Parse a yes with its number, or a no; return None for anything else. Too many wrong numbers count as a no."""
    typed = proof.parse_line(line, _YES)
    if typed is None:
        if proof.is_spent:
            write_line(EXPIRED)
            return "n", ""
        write_line(number_needed("y"))
        return None
    word, rest = typed
    if word in _NO or (word in _YES and (takes_rest or not rest)):
        return word, rest
    write_line(f"{all_visible(line.strip())[:40]!r} means nothing here")
    return None
