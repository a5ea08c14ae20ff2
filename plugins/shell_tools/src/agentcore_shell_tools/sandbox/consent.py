"""`Consent`: a person's one confirmation that commands run without the sandbox that the settings prefer."""

from collections import OrderedDict

from agentcore.api import Sandbox

_CALLS_KEPT = 1000


class Consent:
    """Knows whether a person has to be asked, and was.

    A call whose preview holds the question is always put to a person, so one that runs nevertheless was approved. What
    a call was shown with stays so while it waits, for an approval is bound to it.

    Args:
        sandbox: What commands would run in.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._given_for: str | None = None
        self._asking: OrderedDict[str, str] = OrderedDict()

    def find_reason(self, call_id: str) -> str:
        """Why a person has to confirm this call; empty: there is nothing to confirm."""
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
        """See, as a call runs, that it may: in the sandbox, or without it because a person has confirmed that.

        Raises:
            ToolError: `sandbox_unavailable`: it turned out only now that the sandbox does not hold.
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
