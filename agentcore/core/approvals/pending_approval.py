"""One call in the queue: the request as shown to the user, the decision, and how the decision is used."""

import asyncio
import time
from collections.abc import MutableMapping
from dataclasses import replace

from agentcore.api import ToolDefinition
from agentcore.core.approvals.request import ApprovalRequest, Verdict
from agentcore.core.events import EventBus
from agentcore.errors import ToolError
from agentcore.limits import EDITS_KEPT
from agentcore.store.approvals.approval_store import ApprovalStore


class PendingApproval:
    """A call that waits, from when it is put into the queue until its verdict is used, or it leaves without one.

    Created by `ApprovalQueue`, which also decides it.

    Args:
        asked_digest: Digest of the arguments of the caller.
        is_kept: True if it survives this process, as does a call whose caller does not wait for it.
    Attributes:
        request: The call as requested; once it is decided, as it was shown for the decision.
        verdict: The user's decision; None: there is none yet.
        is_being_decided: True while a verdict is being written to disk.
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
        self.request = request
        self.asked_digest = asked_digest
        self.is_kept = is_kept
        self.size_bytes = size_bytes
        self.verdict: Verdict | None = None
        self.is_being_decided = False
        self.withdrawn_because = ""
        self._announced = asyncio.Event()
        self._announced.set()
        self._queue = queue
        self._store = store
        self._events = events
        self._edits: dict[str, ApprovalRequest] = {}
        self._answered = asyncio.Event()

    @property
    def is_announced(self) -> bool:
        """True if it may be listed, which is once it is on disk."""
        return self._announced.is_set()

    def delay_announcement(self) -> None:
        """Leave it out of lists until `announce` is called; for the queue, while it is being written to disk."""
        self._announced.clear()

    def announce(self) -> None:
        """List it from now on; for the queue."""
        self._announced.set()

    async def wait_until_announced(self) -> None:
        """Return when it may be listed, or has left the queue."""
        await self._announced.wait()

    @property
    def is_expired(self) -> bool:
        """True when it was decided too long ago; without a decision it waits as long as its session."""
        return self.request.expires_at_ms is not None and self.request.expires_at_ms <= now_ms()

    @property
    def is_waiting(self) -> bool:
        """True if it is still in the queue."""
        return self._queue.get(self.request.call_id) is self and not self.is_expired

    @property
    def is_decided(self) -> bool:
        """True if the user has decided on it."""
        return self.verdict is not None

    def is_for(self, digest: str, definition: ToolDefinition, session_id: str) -> bool:
        """True if this is the call that a caller requests, on any host: its arguments, its tool, its session."""
        # a tool that changed is shown before it is decided on
        is_same_tool = self.verdict is None or self.request.definition.acts_like(definition)
        return is_same_tool and (self.asked_digest, self.request.session_id) == (digest, session_id)

    def ask_again(self, request: ApprovalRequest) -> None:
        """Replace the request that is shown; for the queue."""
        self.request = request
        self._edits.clear()

    # -- as it is shown ----------------------------------------------------------------------------------------

    def add_edit(self, edited: ApprovalRequest) -> None:
        """Store the call with arguments that the user has edited, so that a verdict can refer to it; only the newest
        few."""
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
        """Return the call that the user decides on, by the digest of the request that they were shown.

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
        """Set the user's verdict, the request that it is about, and its expiry; for the queue, once it is stored."""
        self.request = replace(shown, expires_at_ms=expires_at_ms)
        self.verdict = verdict
        self.notify_waiters()

    def notify_waiters(self) -> None:
        """Wake everything that waits for a decision on it."""
        self._answered.set()

    async def wait(self) -> None:
        """Return when it is decided or withdrawn, or the queue is closed."""
        await self._answered.wait()

    def expire(self) -> None:
        """Leave the queue with an unused verdict; it is removed from disk at the next start."""
        self._queue.pop(self.request.call_id, None)
        self.notify_waiters()

    def use_verdict(self) -> Verdict | None:
        """Use up the verdict, which is returned once; None if there is none (yet), or if it has expired.

        On disk it is used up when the call begins, or by `delete_stored_request`.
        """
        if self.verdict is None or not self.is_waiting:
            return None
        del self._queue[self.request.call_id]
        return self.verdict

    async def delete_stored_request(self) -> None:
        """Use up on disk the decision about a call that does not begin."""
        if self.is_kept:
            await self._store.delete_call(self.request.call_id)

    async def withdraw(self, reason: str = "") -> None:
        """Leave the queue and the disk; may be called at any time.

        Args:
            reason: Reported to everything that waits for a decision; empty: the callers have gone.
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
        self._announced.set()
        # Clients remove its card on this event: neither a decision nor the end of a call follows.
        self._events.publish("approval.withdrawn", {"callId": self.request.call_id}, session_id=self.request.session_id)
        return True


def now_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000
