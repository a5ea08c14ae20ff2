"""`InstructionReview`: instruction files of a folder reach a model as the user has accepted them, and no other way."""

from collections.abc import Mapping
from functools import partial

import structlog

from agentcore.api import Principal
from agentcore.core.approvals.policy_changes import PolicyChanges, Proposal
from agentcore.errors import ToolError
from agentcore.store.seen_definitions import SeenDefinitions, Verdict

log = structlog.get_logger(__name__)

_SERVER = Principal("server")


class InstructionReview:
    """Knows the texts of instruction files that the user accepted, and proposes those that are new or have changed.

    Nobody waits for the decision: until it is made, the text that was accepted last is used, or none.

    Args:
        store: Where decisions are stored.
        changes: Where the user decides.
    """

    def __init__(self, store: SeenDefinitions, changes: PolicyChanges) -> None:
        self._store = store
        self._changes = changes
        self._decided: dict[Verdict, dict[str, str]] = {"accepted": {}, "refused": {}}
        self._proposed: dict[str, tuple[str, str]] = {}
        self._deciding: set[str] = set()

    async def load_decisions(self) -> None:
        """Load what was decided."""
        for row in await self._store.load():
            if row.module == _KEY:
                self._decided[row.verdict][row.tool] = row.definition

    def choose_texts(self, files: Mapping[str, str]) -> dict[str, str]:
        """The texts that models may get now; what the user has not decided on is proposed to them.

        Args:
            files: The texts that are there, by the absolute paths of their files.
        Returns:
            The accepted text of each file that has one, by its path.
        """
        for path in [path for path in self._proposed if path not in files]:
            self._withdraw_proposal(path)
        for path, text in files.items():
            self._propose_text(path, text)
        accepted = self._decided["accepted"]
        return {path: accepted[path] for path in files if path in accepted}

    def _propose_text(self, path: str, text: str) -> None:
        accepted = self._decided["accepted"].get(path)
        change_id, proposed = self._proposed.get(path, ("", ""))
        is_waiting = any(change.change_id == change_id for change in self._changes.waiting)
        if path in self._deciding or (is_waiting and proposed == text):
            return
        self._withdraw_proposal(path)
        if text in (accepted, self._decided["refused"].get(path)):
            return
        proposal = Proposal("instructions", path, (), ((path, _diff(path, accepted or "", text)),), lasts=True)
        accept = partial(self._store_decision, path, text, "accepted")
        refuse = partial(self._store_decision, path, text, "refused")
        try:
            change = self._changes.propose_change(proposal, _SERVER, accept, refuse)
        except ToolError as exc:
            log.warning("instructions_not_shown", path=path, reason=exc.message)
            return
        self._proposed[path] = (change.change_id, text)

    def _withdraw_proposal(self, path: str) -> None:
        change_id, _ = self._proposed.pop(path, ("", ""))
        self._changes.withdraw_change(change_id)

    async def _store_decision(self, path: str, text: str, verdict: Verdict) -> None:
        self._deciding.add(path)
        try:
            await self._store.save_decision(_KEY, {path: text}, verdict)
            self._decided[verdict][path] = text
        finally:
            self._deciding.discard(path)
            self._proposed.pop(path, None)


_KEY = "instruction files"
"""Stands for them among the names of modules, of which none has a space."""


def _diff(path: str, before: str, after: str) -> str:
    old = before.split("\n") if before else []
    import difflib  # noqa: PLC0415 - few processes need it

    lines = difflib.unified_diff(old, after.split("\n"), path, path, lineterm="", n=3)
    return "\n".join(lines) + "\n"
