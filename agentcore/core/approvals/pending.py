"""One call in the queue: what a person is shown of it, what they said, and how their word is used up."""

import asyncio
import time
from collections.abc import MutableMapping
from dataclasses import replace

from agentcore.api import ToolDefinition
from agentcore.bounds import EDITS_KEPT
from agentcore.core.approvals.request import ApprovalRequest, Verdict
from agentcore.core.events import EventBus
from agentcore.errors import ToolError
from agentcore.store.approvals.store import ApprovalStore


class PendingApproval:
    """A call that waits, from when it is put into the queue until its verdict is used, or it leaves without one.

    Made by `ApprovalQueue`, which also decides it; whoever carries out the call, or talks about it, holds this.

    Args:
        asked_digest: Digest of the arguments that the caller gave.
        is_kept: Whether it outlives this process, as a call does whose caller does not stay with it.

    Attributes:
        request: The call as it was asked for; once it is decided, as it was shown to whoever decided.
        verdict: What a person said; None: nothing yet.
        is_being_decided: Whether a verdict is on its way to the disk.
        is_announced: Whether it may be listed: False while the disk does not have it yet.
        size_bytes: The request as JSON text.
    """

    def __init__(
        self,
        request: ApprovalRequest,
        asked_digest: str,
        *,
        size_bytes: int,
        is_kept: bool,
        queue: "MutableMapping[str, PendingApproval]",
        store: ApprovalStore,
        events: EventBus,
    ) -> None:
        self.request, self.asked_digest, self.is_kept = request, asked_digest, is_kept
        self.size_bytes = size_bytes
        self.verdict: Verdict | None = None
        self.is_being_decided = False
        self.withdrawn_because = ""
        self.is_announced = True
        self._queue, self._store, self._events = queue, store, events
        self._edits: dict[str, ApprovalRequest] = {}
        self._answered = asyncio.Event()

    @property
    def is_expired(self) -> bool:
        """True when it was decided too long ago; without a decision it waits as long as its session."""
        return self.request.expires_at_ms is not None and self.request.expires_at_ms <= now_ms()

    @property
    def is_waiting(self) -> bool:
        """Whether it is still in the queue."""
        return self._queue.get(self.request.call_id) is self and not self.is_expired

    @property
    def is_decided(self) -> bool:
        """Whether a person has said a word on it."""
        return self.verdict is not None

    def is_for(self, digest: str, definition: ToolDefinition, session_id: str) -> bool:
        """Whether this is the call that a caller asks for, on whichever host: its arguments, its tool, its session."""
        # a tool that changed is shown before it is decided on
        is_same_tool = self.verdict is None or self.request.definition.acts_like(definition)
        return is_same_tool and (self.asked_digest, self.request.session_id) == (digest, session_id)

    def ask_again(self, request: ApprovalRequest) -> None:
        """Show the call as it is now in the place of what was shown; for the queue."""
        self.request = request
        self._edits.clear()

    # -- as it is shown ----------------------------------------------------------------------------------------

    def add_edit(self, edited: ApprovalRequest) -> None:
        """Keep the call as it would be with arguments of a person, so that a verdict can mean that; the newest few."""
        digest = edited.digest
        self._edits.pop(digest, None)
        self._edits[digest] = edited
        while len(self._edits) > EDITS_KEPT:
            del self._edits[next(iter(self._edits))]

    def as_edited(self, digest: str | None) -> ApprovalRequest:
        """The call as it was edited and shown with this digest; where there is none, as it was asked for."""
        if digest is None:
            return self.request
        return self._edits.get(digest, self.request)

    def as_shown(self, digest: str | None) -> ApprovalRequest:
        """The call that a person decides on, by the digest of what they were shown.

        Raises:
            ToolError: `approval_changed`: this is not what would run, or not what it would do.
        """
        shown = self.as_edited(digest)
        if digest is not None and digest != shown.digest:
            message = "the call that waits is not the one that was shown; look at it again"
            raise ToolError("approval_changed", message, call_id=shown.call_id, digest=self.request.digest)
        return shown

    # -- its end -----------------------------------------------------------------------------------------------

    def set_verdict(self, shown: ApprovalRequest, verdict: Verdict, expires_at_ms: int | None) -> None:
        """Note what a person said, of which arguments, and until when it counts; for the queue, once it is stored."""
        self.request = replace(shown, expires_at_ms=expires_at_ms)
        self.verdict = verdict
        self.notify_waiters()

    def notify_waiters(self) -> None:
        """Let go whoever waits for a word on it."""
        self._answered.set()

    async def wait(self) -> None:
        """Return when it is decided or withdrawn, or the queue is closed."""
        await self._answered.wait()

    def expire(self) -> None:
        """Leave the queue with an unused verdict; the disk lets go of it at the next start."""
        self._queue.pop(self.request.call_id, None)
        self.notify_waiters()

    def use_verdict(self) -> Verdict | None:
        """Use up the verdict: it is given once; None when there is none (yet), or none that still counts.

        On the disk it is used up when the call begins, or by `forget`.
        """
        if self.verdict is None or not self.is_waiting:
            return None
        del self._queue[self.request.call_id]
        return self.verdict

    async def delete_stored_request(self) -> None:
        """Use up on the disk what was said of a call that does not begin."""
        if self.is_kept:
            await self._store.delete_call(self.request.call_id)

    async def withdraw(self, reason: str = "") -> None:
        """Leave the queue and the disk; may be called at any time.

        Args:
            reason: What whoever waits for a word is told of it; empty: they have gone.
        """
        if self.leave_queue(reason):
            await self.delete_stored_request()

    def leave_queue(self, reason: str) -> bool:
        """Leave the queue without a verdict, and not the disk; False: it was in the queue no more."""
        if self._queue.get(self.request.call_id) is not self:
            return False
        self.withdrawn_because = reason
        del self._queue[self.request.call_id]
        self.notify_waiters()
        # Clients remove its card on this event: neither a decision nor the end of a call follows.
        self._events.publish("approval.withdrawn", {"callId": self.request.call_id}, session_id=self.request.session_id)
        return True


def now_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000
