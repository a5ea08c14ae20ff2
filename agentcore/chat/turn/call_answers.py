"""A person's word on a call of a chat: given to the queue, which takes one word on each, and kept in the session."""

from agentcore.core import Core
from agentcore.core.approvals import Verdict
from agentcore.errors import ToolError
from agentcore.store.chat import ChatCallRow, ChatCallState


class CallAnswers:
    """Answers that come by way of a session: the chat's wire, the page's conversation.

    Answers that come by way of the queue (approval view, terminal) are told by its events instead.

    Args:
        host: Keeps calls and sessions.
    """

    def __init__(self, core: Core) -> None:
        self._approvals = core.approvals
        self._chats = core.store.chats
        self._taking: set[str] = set()

    def is_recording_answer(self, call_id: str) -> bool:
        """Whether the queue's event about this call comes of an answer that is being taken here."""
        return call_id in self._taking

    async def record_answer(self, call: ChatCallRow, verdict: Verdict) -> bool:
        """Take the first word on a call that waits; False: it was answered already.

        From then on nothing lists it as waiting, though it may run only when the other calls of its turn are answered.

        Raises:
            ToolError: The disk cannot keep it.
        """
        if call.state != "waiting":
            return False
        self._taking.add(call.call_id)
        try:
            # what the queue does not have (the tool has changed over a restart) is said to the model in its turn
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
            return False  # somebody else was faster
        return True
