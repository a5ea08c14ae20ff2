"""`Consent`: the user's one-time confirmation that commands run without the sandbox that the settings prefer."""

from collections import OrderedDict

from agentcore.api import Sandbox

_CALLS_KEPT = 1000


class Consent:
    """Tracks whether the user has to confirm, and has confirmed, running without the sandbox.

    A call whose preview contains the question always waits for the user, so a call that runs nevertheless was approved.
    The reason shown for a call does not change while it waits, since an approval is bound to it.

    Args:
        sandbox: The preferred sandbox.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._given_for: str | None = None
        self._asking: OrderedDict[str, str] = OrderedDict()

    def find_reason(self, call_id: str) -> str:
        """Return why the user has to confirm this call; empty if no confirmation is needed."""
        if call_id in self._asking:
            return self._asking[call_id]
        sandbox = self._sandbox
        if not sandbox.is_wanted or sandbox.is_on or self._given_for == sandbox.reason:
            return ""
        self._asking[call_id] = sandbox.reason
        while len(self._asking) > _CALLS_KEPT:
            self._asking.popitem(last=False)
        return sandbox.reason

    async def check_confirmed(self, call_id: str) -> None:
        """Check when a call runs that it is sandboxed, or that the user has confirmed running without the sandbox.

        Raises:
            ToolError: `sandbox_unavailable`: the sandbox failed after the preview, for a reason that was not confirmed.
        """
        sandbox = self._sandbox
        await sandbox.settle()
        shown = self._asking.pop(call_id, None)
        if not sandbox.is_wanted or sandbox.is_on:
            return
        if shown == sandbox.reason:
            self._given_for = shown
        if self._given_for != sandbox.reason:
            raise sandbox.unavailable()
