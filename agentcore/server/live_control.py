"""Which pages may act through modules' own routes while scripts of a model run in the page.

A socket on which a person types into a terminal or clicks in a browser is no tool call, so nobody is asked about what
goes through it. A script in the page could open one too: while such scripts may run, each page asks once a module.
"""

from agentcore.api.errors import ToolError
from agentcore.host.policy_changes import Proposal
from agentcore.host.routes import ModuleRoute
from agentcore.server.confirmation import laid_before_person
from agentcore.server.exchange import Exchange

_READING = frozenset(("GET", "HEAD"))


class LiveControl:
    """Keeps what a person has confirmed, for as long as the server runs."""

    def __init__(self) -> None:
        self._confirmed: set[tuple[str, str]] = set()
        self._asked: dict[tuple[str, str], str] = {}

    def check(self, exchange: Exchange, route: ModuleRoute) -> None:
        """Let a page act through a module's route, or have a person confirm that it may.

        Raises:
            ToolError: `confirmation_required`, `too_many_waiting`.
        """
        host, principal = exchange.host, exchange.principal
        if principal.kind != "page" or not host.registry.runs_page_scripts:
            return
        if (route.kind != "websocket" and route.method in _READING) or host.modules.get(
            route.module
        ).runs_scripts_in_page:
            return
        key = (principal.id, route.module)
        if key in self._confirmed:
            return
        waiting = {change.change_id for change in host.policy_changes.waiting}
        if self._asked.get(key) in waiting:
            message = "a person confirms in the approval view that this page may act; it waits there already"
            raise ToolError("confirmation_required", message, changeId=self._asked[key])
        proposal = Proposal("live_control", route.module, paths=(route.path,))

        async def confirm() -> None:
            self._confirmed.add(key)

        refusal = laid_before_person(exchange, proposal, confirm)
        self._asked[key] = str(refusal.context["changeId"])
        raise refusal
