"""`InstructionReview`: instruction files and skills reach a model as the user has accepted them, and no other way."""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import structlog

from agentcore.api import Principal
from agentcore.core.approvals.policy_changes import PolicyChanges, Proposal
from agentcore.errors import ToolError
from agentcore.store.seen_definitions import SeenDefinitions, Verdict

log = structlog.get_logger(__name__)


class _Proposed(NamedTuple):
    change_id: str
    files: Mapping[str, str]


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
        self._proposed: dict[tuple[str, str], _Proposed] = {}
        self._deciding: set[str] = set()

    async def load_decisions(self) -> None:
        """Load what was decided."""
        for row in await self._store.load():
            if row.module == _KEY:
                self._decided[row.verdict][row.tool] = row.definition

    def choose_texts(
        self,
        subjects: Mapping[str, Mapping[str, str]],
        *,
        kind: str = "instructions",
        limit: int | None = None,
    ) -> dict[str, str]:
        """The texts that models may get now; what the user has not decided on is proposed to them.

        Args:
            subjects: The files that are there: for each subject, which the user decides on as a whole, the texts by
                the absolute paths of the files.
            kind: The kind of the proposals. Those of this kind whose subjects are gone are withdrawn.
            limit: The most subjects that wait at once; None: no limit of their own.
        Returns:
            The accepted text of each file that has one, by its path.
        """
        for key in [key for key in self._proposed if key[0] == kind and key[1] not in subjects]:
            self._withdraw_proposal(key)
        for subject, files in subjects.items():
            self._propose_files((kind, subject), files, limit)
        accepted = self._decided["accepted"]
        return {path: accepted[path] for files in subjects.values() for path in files if path in accepted}

    def verdict_on(self, path: str, text: str) -> Verdict | None:
        """Return the user's decision on a text of a file; None: there is none."""
        return next((verdict for verdict, texts in self._decided.items() if texts.get(path) == text), None)

    def is_waiting(self, kind: str, subject: str) -> bool:
        """True while a proposal about the subject waits for the user."""
        proposed = self._proposed.get((kind, subject))
        return proposed is not None and self._waits(proposed)

    def _waits(self, proposed: _Proposed) -> bool:
        return any(change.change_id == proposed.change_id for change in self._changes.waiting)

    def _propose_files(self, key: tuple[str, str], files: Mapping[str, str], limit: int | None) -> None:
        news = {path: text for path, text in files.items() if self.verdict_on(path, text) != "accepted"}
        proposed = self._proposed.get(key)
        if not self._deciding.isdisjoint(news) or (
            proposed is not None and proposed.files == news and self._waits(proposed)
        ):
            return
        self._withdraw_proposal(key)
        if all(self.verdict_on(path, text) == "refused" for path, text in news.items()):
            return
        if limit is not None and sum(kind == key[0] for kind, _ in self._proposed) >= limit:
            return
        self._propose(key, news)

    def _propose(self, key: tuple[str, str], files: Mapping[str, str]) -> None:
        kind, subject = key
        accepted = self._decided["accepted"]
        diffs: list[tuple[str, str]] = []
        left_chars = _PROPOSAL_CHARS
        for path, text in files.items():
            diff = _diff(path, accepted.get(path, ""), text, min(_DIFF_CHARS, left_chars))
            left_chars = max(left_chars - len(diff), 0)
            diffs.append((path, diff))
        proposal = Proposal(kind, subject, (), tuple(diffs), lasts=True)
        accept = partial(self._store_decision, key, files, "accepted")
        refuse = partial(self._store_decision, key, files, "refused")
        try:
            change = self._changes.propose_change(proposal, Principal("server", kind), accept, refuse)
        except ToolError as exc:
            log.warning("instructions_not_shown", path=subject, reason=exc.message)
            return
        self._proposed[key] = _Proposed(change.change_id, files)

    def _withdraw_proposal(self, key: tuple[str, str]) -> None:
        proposed = self._proposed.pop(key, None)
        if proposed is not None:
            self._changes.withdraw_change(proposed.change_id)

    async def _store_decision(self, key: tuple[str, str], files: Mapping[str, str], verdict: Verdict) -> None:
        self._deciding.update(files)
        try:
            await self._store.save_decision(_KEY, files, verdict)
            self._decided[verdict].update(files)
        finally:
            self._deciding.difference_update(files)
            self._proposed.pop(key, None)


_KEY = "instruction files"
"""Stands for them among the names of modules, of which none has a space."""

_DIFF_CHARS = 100_000
"""Maximum length of what is shown of one file; a page with more would not be read either."""

_PROPOSAL_CHARS = 500_000
"""Maximum length of what is shown of all files of one subject; of further ones, the names."""


def _diff(path: str, before: str, after: str, limit_chars: int) -> str:
    old = before.split("\n") if before else []
    import difflib  # noqa: PLC0415 - few processes need it

    lines = list(difflib.unified_diff(old, after.split("\n"), path, path, lineterm="", n=3))
    shown = "\n".join(lines)
    if len(shown) > limit_chars:
        names = "\n".join(lines[:3])  # the page needs them to read the diff
        head = max(shown[:limit_chars], names, key=len)
        shown = f"{head}\n+[{len(shown) - len(head):,} more characters: read them in the file]"
    return shown + "\n"
