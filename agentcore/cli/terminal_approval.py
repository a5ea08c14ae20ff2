"""Approving at the terminal of the host's own process."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Self

from agentcore.cli.approval_text import approval_text
from agentcore.cli.terminal import TERMINAL, ask_yes, has_person
from agentcore.host.approvals import ApprovalRequest, Verdict


class TerminalApprover:
    """Shows a call and asks; one at a time, in the order in which they come.

    Attributes:
        before: Awaited before a call is shown, for whoever has something to show first.
    """

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self.before: Callable[[ApprovalRequest], Awaitable[None]] | None = None

    @classmethod
    def if_there_is_a_terminal(cls) -> Self | None:
        """An approver where somebody can be asked; without one, calls end with `approval_required`."""
        return cls() if has_person() else None

    async def __call__(self, request: ApprovalRequest) -> Verdict:
        """Ask about one call; no answer before it expires is a no."""
        if self.before is not None:
            await self.before(request)
        async with self._turn:
            sys.stderr.write(f"\n{approval_text(request, sys.stderr)}\n")
            sys.stderr.flush()
            left_s = max(request.expires_at_ms / 1000 - time.time(), 0)
            answer = await ask_yes("Run it?", left_s)
        return Verdict(approved=bool(answer), by=TERMINAL)
