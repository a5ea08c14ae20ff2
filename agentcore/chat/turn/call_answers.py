"""Decisions on calls of a chat: passed to the approval queue, which accepts one per call, and stored in the session."""

from agentcore.core import Core
from agentcore.core.approvals import Verdict
from agentcore.errors import ToolError
from agentcore.store.chat import ChatCallRow, ChatCallState


class CallAnswers:
    """Records decisions that arrive through a session: from the chat endpoint or the page's conversation.

    Decisions that arrive through the approval queue (approval view, terminal) are reported by its events instead.

    Args:
        core: Stores calls and sessions.
    """

    def __init__(self, core: Core) -> None:
        self._approvals = core.approvals
        self._chats = core.store.chats
        self._taking: set[str] = set()

    def is_recording_answer(self, call_id: str) -> bool:
        """True while a decision on this call is being recorded here, which causes the queue's event about it."""
        return call_id in self._taking

    async def record_answer(self, call: ChatCallRow, verdict: Verdict) -> bool:
        """Record the first decision on a waiting call; False if it was decided already.

        From then on it is not listed as waiting, though it may run only when the other calls of its turn are decided.

        Raises:
            ToolError: The decision cannot be written to the disk.
        """
        if call.state != "waiting":
            return False
        self._taking.add(call.call_id)
        try:
            # a call that the queue does not have (its tool changed over a restart) is reported to the model in its turn
            if self._approvals.find_pending(call.call_id) is not None and not await self._decide_approval(
                call.call_id, verdict
            ):
                return False
            after: ChatCallState = "approved" if verdict.approved else "rejected"
            return await self._chats.move_call(call.session_id, call.tool_id, "waiting", after, answered_by=verdict.by)
        finally:
            self._taking.discard(call.call_id)

    async def _decide_approval(self, call_id: str, verdict: Verdict) -> bool:
        try:
            await self._approvals.decide_call(call_id, verdict)
        except ToolError as exc:
            if exc.type != "approval_not_found":
                raise
            return False  # another decision was first
        return True
