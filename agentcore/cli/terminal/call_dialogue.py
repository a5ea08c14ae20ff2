"""Dialogue at a terminal about a call that waits for approval, until the user has decided."""

import json
import sys
from typing import Self

from agentcore.cli.terminal.approval_text import approval_text, explanation_lines
from agentcore.cli.terminal.editor import edit_text
from agentcore.cli.terminal.terminal import EXPIRED, TERMINAL, number_needed, write_line
from agentcore.cli.terminal.typed_answer import Proof
from agentcore.cli.terminal.visible_text import all_visible, json_safe
from agentcore.core.approvals.request import ApprovalRequest, Verdict
from agentcore.core.core import Core
from agentcore.core.dry_run.explanation import Question, explain_policy_decision
from agentcore.errors import ToolError

_DECIDING = frozenset(("y", "yes", "a", "e"))
# `e` needs the number since an editor obeys injected input too, and a reason since the model trusts it as the user's.
_WITH_REASON = frozenset(("n", "no"))


def call_help(proof: Proof) -> str:
    """Return the possible inputs for a call that is shown."""
    rows = (
        (proof.expected_input("y"), "approve the call as it is shown"),
        ("n", f"reject it; `{proof.expected_input('n', 'REASON')}` tells the model why"),
        (proof.expected_input("a", "NUMBER"), "approve it, and allow later calls like it"),
        (proof.expected_input("e"), "edit the arguments; the call is shown again with them"),
        ("o", "go back to the arguments that were asked for"),
        ("w", "why it is asked about, and what else was looked at"),
    )
    return "\n".join(f"  {typed:<15} {what}" for typed, what in rows)


class CallDialogue:
    """Shows a call and handles what is typed about it.

    Args:
        core: The core in which the call is pending.
        request: The approval request of the call.
        title: The title of its chat; empty if it has none.
    Attributes:
        core: The same core.
        asked: The request as it was made.
        shown: The request as it was last shown, which a yes approves.
        proof: The number that has to be typed with a decision.
    """

    def __init__(self, core: Core, request: ApprovalRequest, title: str) -> None:
        self.core = core
        self._title = title
        self.asked = self.shown = request
        self.proof = Proof()
        self._draft: str | None = None

    @classmethod
    async def open(cls, core: Core, request: ApprovalRequest) -> Self:
        """Create the dialogue for a call, and load the title of its chat."""
        titles = await core.store.chats.load_titles([request.session_id])
        return cls(core, request, titles.get(request.session_id, ""))

    def show(self) -> None:
        """Show everything that the user needs for the decision."""
        tool = self.core.registry.own.get(self.shown.definition.name)
        place = None if tool is None else self.core.places.find_module_host(tool.module.name)
        name = "" if place is None else place.name
        write_line(f"\n{approval_text(self.shown, self._title, sys.stderr, name)}")

    async def read_verdict(self, line: str) -> Verdict | None:
        """Handle a typed line; return the user's verdict, or None if the line did not decide the call.

        Too many wrong numbers reject the call, because the question has expired.
        """
        word, _, rest = line.strip().partition(" ")
        deciding = _WITH_REASON if word.lower() in _WITH_REASON and rest.strip() else _DECIDING
        typed = self.proof.parse_line(line, deciding)
        if typed is None:
            return self._handle_missing_number(word.lower())
        try:
            match typed:
                case "y" | "yes", "":
                    return Verdict(True, TERMINAL, self.shown.digest)
                case "n" | "no", reason:
                    return Verdict(False, TERMINAL, reason=reason)
                case "a", number:
                    return self._approve_with_offer(number)
                case "e", "":
                    await self._edit_arguments()
                case "o", "":
                    self._go_back()
                case "w", "":
                    await self._explain_decision()
                case "?", "":
                    write_line(call_help(self.proof))
                case _:
                    write_line(f"{all_visible(line.strip())[:40]!r} means nothing here; ? shows what can be typed")
        except ToolError as exc:
            write_line(all_visible(exc.message))
        return None

    def _handle_missing_number(self, word: str) -> Verdict | None:
        if self.proof.is_spent:
            write_line(EXPIRED)
            return Verdict(False, TERMINAL, reason=EXPIRED)
        write_line(number_needed(word))
        return None

    def _approve_with_offer(self, number: str) -> Verdict | None:
        offers = self.shown.offers
        if not offers:
            write_line("Nothing can be allowed for later along with this call.")
        elif not number.isdecimal() or not 1 <= int(number) <= len(offers):
            write_line(f"Type `{self.proof.expected_input('a')}` and the number of what to allow, 1 to {len(offers)}.")
        else:
            return Verdict(True, TERMINAL, self.shown.digest, offers[int(number) - 1])
        return None

    async def _edit_arguments(self) -> None:
        """Let the user edit the arguments, and show the call with them."""
        before = self._draft or json_safe(json.dumps(self.shown.arguments, indent=2, ensure_ascii=False)) + "\n"
        self._draft = await edit_text(before, "arguments.json")
        try:
            arguments = json.loads(self._draft)
        except ValueError as exc:
            write_line(f"This is not JSON: {exc}. Edit it again to go on.")
            return
        if not isinstance(arguments, dict):
            write_line("Arguments are a JSON object. Edit it again to go on.")
            return
        self.shown = await self.core.call_review.edit_call(self.asked.call_id, arguments)
        self._draft = None
        self.show()

    def _go_back(self) -> None:
        self.shown = self.asked
        self._draft = None
        self.show()

    async def _explain_decision(self) -> None:
        shown = self.shown
        question = Question(
            tool=shown.definition.name,
            arguments=shown.arguments,
            session_id=shown.session_id,
            caller=shown.principal.kind,
            host=shown.host,
        )
        core = self.core
        found = await explain_policy_decision(core.call_review, core.policy, question, shown.agent_id, shown.mode)
        write_line("\n".join(explanation_lines(found.model_dump(by_alias=True), sys.stderr)))
