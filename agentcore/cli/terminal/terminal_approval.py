"""Approval of calls at the terminal of the core's own process."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext

from agentcore.cli.terminal.call_dialogue import CallDialogue
from agentcore.cli.terminal.terminal import TERMINAL, ask_line
from agentcore.core.approvals.request import ApprovalRequest, Verdict
from agentcore.core.core import Core


class TerminalApprover:
    """Shows calls and asks for approval, one at a time in the order of arrival.

    Args:
        core: The core whose calls are approved.
    Attributes:
        around: Context that is entered before a call is shown, to show earlier output first and stop other input.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._turn = asyncio.Lock()
        self.around: Callable[[ApprovalRequest], AbstractAsyncContextManager[None]] = lambda _: nullcontext()

    async def __call__(self, request: ApprovalRequest) -> Verdict:
        """Ask about one call until it is decided; a closed terminal rejects it, an empty line decides nothing."""
        async with self._turn, self.around(request):
            dialogue = await CallDialogue.open(self._core, request)
            dialogue.show()
            while (line := await self._ask_line(dialogue)) is not None:
                verdict = await dialogue.read_verdict(line) if line else None
                if verdict is not None:
                    return verdict
        return Verdict(False, TERMINAL)

    async def _ask_line(self, dialogue: CallDialogue) -> str | None:
        dialogue.proof.renew_number()
        line = await ask_line(f"Run it? [{dialogue.proof.expected_input('y')}/n/?]", None)
        return None if line is None else line.strip()
