"""One call that waits, at a terminal: what a person can type about it until they have decided."""

import json
import sys
from typing import Self

from agentcore.cli.terminal.approval_text import approval_text, explanation_lines
from agentcore.cli.terminal.editor import edit_text
from agentcore.cli.terminal.proof import Proof
from agentcore.cli.terminal.terminal import EXPIRED, TERMINAL, number_needed, say
from agentcore.cli.terminal.visible_text import all_visible, json_safe
from agentcore.core.approvals import ApprovalRequest, Verdict
from agentcore.core.core import Host
from agentcore.core.review import Question, explain
from agentcore.errors import ToolError

_DECIDING = frozenset(("y", "yes", "a", "e"))
# an editor does what is typed into it, whoever typed it; and the model takes a reason for the person's word
_WITH_REASON = frozenset(("n", "no"))


def call_help(proof: Proof) -> str:
    """What can be typed about a call that is shown."""
    rows = (
        (proof.typed("y"), "approve the call as it is shown"),
        ("n", f"reject it; `{proof.typed('n', 'REASON')}` tells the model why"),
        (proof.typed("a", "NUMBER"), "approve it, and allow later calls like it"),
        (proof.typed("e"), "edit the arguments; the call is shown again with them"),
        ("o", "go back to the arguments that were asked for"),
        ("w", "why it is asked about, and what else was looked at"),
    )
    return "\n".join(f"  {typed:<15} {what}" for typed, what in rows)


class CallDialogue:
    """Shows a call, and takes what is typed about it.

    Args:
        host: Where the call waits.
        request: The call.
        title: The title of its chat; empty: it has none.
    Attributes:
        host: The same.
        asked: The call as it was asked for.
        shown: The call as it was shown last: what a yes means.
        proof: What has to be typed with a decision.
    """

    def __init__(self, host: Host, request: ApprovalRequest, title: str) -> None:
        self.host, self._title = host, title
        self.asked = self.shown = request
        self.proof = Proof()
        self._draft: str | None = None

    @classmethod
    async def open(cls, host: Host, request: ApprovalRequest) -> Self:
        """The dialogue about a call, whose chat is looked up."""
        titles = await host.store.chats.titles([request.session_id])
        return cls(host, request, titles.get(request.session_id, ""))

    def show(self) -> None:
        """Show all that a decision rests on."""
        tool = self.host.registry.own.get(self.shown.definition.name)
        place = None if tool is None else self.host.places.of(tool.module.name)
        name = "" if place is None else place.name
        say(f"\n{approval_text(self.shown, self._title, sys.stderr, name)}")

    async def verdict(self, line: str) -> Verdict | None:
        """Take a line that was typed: the person's word on the call, or None when something else was done or said.

        Too many wrong numbers are a no: the question has expired.
        """
        word, _, rest = line.strip().partition(" ")
        deciding = _WITH_REASON if word.lower() in _WITH_REASON and rest.strip() else _DECIDING
        typed = self.proof.read(line, deciding)
        if typed is None:
            return self._without_number(word.lower())
        try:
            match typed:
                case "y" | "yes", "":
                    return Verdict(True, TERMINAL, self.shown.digest)
                case "n" | "no", reason:
                    return Verdict(False, TERMINAL, reason=reason)
                case "a", number:
                    return self._with_offer(number)
                case "e", "":
                    await self._edit()
                case "o", "":
                    self._go_back()
                case "w", "":
                    await self._explain()
                case "?", "":
                    say(call_help(self.proof))
                case _:
                    say(f"{all_visible(line.strip())[:40]!r} means nothing here; ? shows what can be typed")
        except ToolError as exc:
            say(all_visible(exc.message))
        return None

    def _without_number(self, word: str) -> Verdict | None:
        if self.proof.is_spent:
            say(EXPIRED)
            return Verdict(False, TERMINAL, reason=EXPIRED)
        say(number_needed(word))
        return None

    def _with_offer(self, number: str) -> Verdict | None:
        offers = self.shown.offers
        if not offers:
            say("Nothing can be allowed for later along with this call.")
        elif not number.isdecimal() or not 1 <= int(number) <= len(offers):
            say(f"Type `{self.proof.typed('a')}` and the number of what to allow, 1 to {len(offers)}.")
        else:
            return Verdict(True, TERMINAL, self.shown.digest, offers[int(number) - 1])
        return None

    async def _edit(self) -> None:
        """Have the arguments edited, and show what the call would be with them."""
        before = self._draft or json_safe(json.dumps(self.shown.arguments, indent=2, ensure_ascii=False)) + "\n"
        self._draft = await edit_text(before, "arguments.json")
        try:
            arguments = json.loads(self._draft)
        except ValueError as exc:
            say(f"This is not JSON: {exc}. Edit it again to go on.")
            return
        if not isinstance(arguments, dict):
            say("Arguments are a JSON object. Edit it again to go on.")
            return
        self.shown = await self.host.call_review.edit(self.asked.call_id, arguments)
        self._draft = None
        self.show()

    def _go_back(self) -> None:
        self.shown, self._draft = self.asked, None
        self.show()

    async def _explain(self) -> None:
        shown = self.shown
        question = Question(
            tool=shown.definition.name,
            arguments=shown.arguments,
            session_id=shown.session_id,
            caller=shown.principal.kind,
            host=shown.host,
        )
        host = self.host
        found = await explain(host.call_review, host.policy, question, shown.agent_id, shown.mode)
        say("\n".join(explanation_lines(found.model_dump(by_alias=True), sys.stderr)))
