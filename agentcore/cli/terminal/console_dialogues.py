"""What waits at the terminal of a server, one thing at a time: a call, a change of what is allowed, a client."""

import sys
from typing import Protocol, get_args

from agentcore.api.context import KeyScope
from agentcore.cli.terminal.call_dialogue import CallDialogue, call_help
from agentcore.cli.terminal.proof import Proof
from agentcore.cli.terminal.terminal import EXPIRED, TERMINAL, number_needed, say
from agentcore.cli.terminal.visible_text import all_visible
from agentcore.cli.terminal.waiting_text import change_text, pairing_text
from agentcore.core.approvals import ApprovalRequest, Pairing, PolicyChange
from agentcore.core.core import Host

Waiting = ApprovalRequest | PolicyChange | Pairing
"""One thing that waits for a person."""

_SCOPES: tuple[KeyScope, ...] = get_args(KeyScope)
_YES = frozenset(("y", "yes"))
_NO = frozenset(("n", "no"))


class Dialogue(Protocol):
    """Shows one thing that waits, and takes what is typed about it."""

    @property
    def asked(self) -> Waiting:
        """What it is about."""
        ...

    @property
    def proof(self) -> Proof:
        """What has to be typed with a decision."""
        ...

    def show(self) -> None:
        """Show all that a decision rests on."""
        ...

    def question(self) -> str:
        """What can be typed."""
        ...

    def help(self) -> str:
        """All that can be typed, one thing a line."""
        ...

    async def answer(self, line: str) -> str | None:
        """Take a line; gives what was decided, in a sentence, or None while it waits on.

        Raises:
            ToolError: It does not wait any more, or cannot be carried out.
        """
        ...


def waiting_things(host: Host) -> list[Waiting]:
    """All that waits, in the order in which it came; changes that last come last."""
    found: list[Waiting] = [*host.pairings.waiting, *host.policy_changes.waiting, *host.approvals.waiting]
    return sorted(found, key=lambda thing: (lasts(thing), thing.requested_at_ms))


def lasts(thing: Waiting) -> bool:
    """True for a change that waits as long as the server runs: everything else is more urgent."""
    return isinstance(thing, PolicyChange) and thing.proposal.lasts


async def open_dialogue(host: Host, thing: Waiting) -> Dialogue:
    """The dialogue about one thing."""
    match thing:
        case ApprovalRequest():
            return await _Call.open(host, thing)
        case PolicyChange():
            return _Change(host, thing)
        case Pairing():
            return _Client(host, thing)


class _Call(CallDialogue):
    def question(self) -> str:
        return f"Run it? Type {self.proof.typed('y')}, n, or ? for what else there is."

    def help(self) -> str:
        return call_help(self.proof)

    async def answer(self, line: str) -> str | None:
        verdict = await self.verdict(line)
        if verdict is None:
            return None
        await self.host.approvals.decide(self.asked.call_id, verdict)
        return "Approved." if verdict.approved else "Rejected."


class _Change:
    def __init__(self, host: Host, change: PolicyChange) -> None:
        self._host, self.asked, self.proof = host, change, Proof()

    def show(self) -> None:
        say(f"\n{change_text(self.asked, sys.stderr)}")

    def question(self) -> str:
        return f"Apply it? Type {self.proof.typed('y')}, or n."

    def help(self) -> str:
        return f"  {self.proof.typed('y'):<15} apply exactly this\n  n               refuse it"

    async def answer(self, line: str) -> str | None:
        word = _plain_word(self.proof, line)
        if word is None:
            return None
        approved = word[0] in _YES
        await self._host.policy_changes.decide(self.asked.change_id, approved=approved, by=TERMINAL)
        return "Applied." if approved else "Refused."


class _Client:
    def __init__(self, host: Host, pairing: Pairing) -> None:
        self._host, self.asked, self.proof = host, pairing, Proof()

    def show(self) -> None:
        say(f"\n{pairing_text(self.asked)}")

    def question(self) -> str:
        scopes = " ".join(sorted(self.asked.request.scopes)) or "SCOPES"
        return f"Pair it? Type {self.proof.typed('y', scopes)} with what it may ({', '.join(_SCOPES)}), or n."

    def help(self) -> str:
        return f"  {self.proof.typed('y', 'SCOPES')}   pair it, with what it may\n  n               refuse it"

    async def answer(self, line: str) -> str | None:
        typed = _plain_word(self.proof, line, takes_rest=True)
        if typed is None:
            return None
        word, rest = typed
        words = set(rest.lower().replace(",", " ").split()) if word in _YES else set()
        # none, where one of the words is none
        scopes = [scope for scope in _SCOPES if scope in words] if words <= set(_SCOPES) else []
        if word in _YES and not scopes:
            say(f"Say what it may: one or more of {', '.join(_SCOPES)}.")
            return None
        self._host.pairings.decide(self.asked.pairing_id, scopes, TERMINAL)
        return f"Paired: it may {', '.join(scopes)}." if scopes else "Refused."


def _plain_word(proof: Proof, line: str, *, takes_rest: bool = False) -> tuple[str, str] | None:
    """A yes with its number, or a no; None: neither. Too many wrong numbers are a no."""
    typed = proof.read(line, _YES)
    if typed is None:
        if proof.is_spent:
            say(EXPIRED)
            return "n", ""
        say(number_needed("y"))
        return None
    word, rest = typed
    if word in _NO or (word in _YES and (takes_rest or not rest)):
        return word, rest
    say(f"{all_visible(line.strip())[:40]!r} means nothing here")
    return None
