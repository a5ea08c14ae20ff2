"""Decides which pages may act through modules' own routes once scripts of a model have run in the page.

A socket on which a user types into a terminal or clicks in a browser is not a tool call, so its messages need no
approval. A script in the page could open one too: once such a script has run, each page needs the user's confirmation
once per module. Watching needs none: a route that declares which messages only watch is open, all others are blocked.
"""

from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from agentcore.api import Principal
from agentcore.core.approvals.policy_changes import PolicyChange, PolicyChanges, Proposal
from agentcore.core.modules.module_record import ModuleRecord
from agentcore.core.modules.module_routes import ModuleRoute
from agentcore.core.modules.modules import Modules
from agentcore.core.modules.tool_registry import ToolRegistry
from agentcore.core.policy.page_scripts import PageScripts
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass
from agentcore.server.confirmation import propose_change

_READING = frozenset(("GET", "HEAD"))
_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ControlState:
    """The state of a page's permission to act through a module's routes.

    Args:
        state: `granted`; `waiting` for the user; `needed`: not requested, or refused, or expired without a decision.
        change: The pending change.
    """

    state: Literal["granted", "waiting", "needed"]
    change: PolicyChange | None = None

    def to_json(self) -> dict[str, Any]:
        """Return `{state, changeId?, expiresAt?}`."""
        if self.change is None:
            return {"state": self.state}
        return {"state": self.state, "changeId": self.change.change_id, "expiresAt": self.change.expires_at_ms}


class LiveControl:
    """Stores what the user has confirmed, until the server stops."""

    def __init__(
        self, modules: Modules, registry: ToolRegistry, changes: PolicyChanges, page_scripts: PageScripts
    ) -> None:
        self._modules = modules
        self._registry = registry
        self._changes = changes
        self._page_scripts = page_scripts
        self._confirmed: set[_Key] = set()
        self._asked: dict[_Key, str] = {}

    def check_route(self, by: Principal, route: ModuleRoute) -> None:
        """Allow a page to use a module's route, or ask the user to confirm that it may.

        Raises:
            ToolError: `confirmation_required`, `too_many_waiting`.
        """
        is_open = route.watching is not None if route.kind == "websocket" else route.method in _READING
        if is_open or self.may_act(by, route.module):
            return
        change = self._find_pending_change((by.id, route.module))
        if change is None:
            raise self._propose_control(by, route.module)
        message = "a person confirms in the approval view that this page may act; it waits there already"
        raise ToolError("confirmation_required", message, changeId=change.change_id, expiresAt=change.expires_at_ms)

    def get_state(self, by: Principal, module: str) -> ControlState:
        """Return the state of a principal's control of a module.

        Raises:
            ToolError: `module_not_found`.
        """
        self._find_module(module)
        if self.may_act(by, module):
            return ControlState("granted")
        change = self._find_pending_change((by.id, module))
        return ControlState("needed" if change is None else "waiting", change)

    def request_control(self, by: Principal, module: str) -> ControlState:
        """Ask the user to confirm control, unless it is granted or a request is already pending.

        Raises:
            ToolError: `module_not_found`, `too_many_waiting`.
        """
        state = self.get_state(by, module)
        if state.state != "needed":
            return state
        self._propose_control(by, module)
        return self.get_state(by, module)

    def may_act(self, by: Principal, module: str) -> bool:
        """True if messages of a principal to a module's routes may act now."""
        return (
            by.kind != "page"
            or not self._page_scripts.may_act
            or self._find_module(module).manifest.runs_scripts_in_page
            or (by.id, module) in self._confirmed
        )

    def _find_module(self, module: str) -> ModuleRecord:
        """Return the record of a module in the server or on another machine.

        Raises:
            ToolError: `module_not_found`.
        """
        return self._registry.hosted.get(module) or self._modules.get_record(module)

    def find_refusal(self, by: Principal, route: ModuleRoute, message: str | bytes) -> ToolError | None:
        """Return the reason why a message must not reach a module; None: it may."""
        if self.may_act(by, route.module):
            return None
        if route.watching is not None and _is_valid(route.watching, message):
            return None
        return ToolError(
            "confirmation_required",
            "this page may watch, and acts once a person has confirmed it in the approval view; ask for that with "
            f"POST /api/live-control/{route.module}",
            module=route.module,
        )

    def _propose_control(self, by: Principal, module: str) -> ToolError:
        key = (by.id, module)

        async def confirm() -> None:
            self._confirmed.add(key)

        refusal = propose_change(self._changes, by, Proposal("live_control", module), confirm)
        self._asked[key] = str(refusal.context["changeId"])
        return refusal

    def _find_pending_change(self, key: _Key) -> PolicyChange | None:
        asked = self._asked.get(key)
        change = next((change for change in self._changes.waiting if change.change_id == asked), None)
        if change is None:
            self._asked.pop(key, None)
        return change


def _is_valid(model: type[BaseModel], message: str | bytes) -> bool:
    try:
        model.model_validate_json(message)
    except ValidationError:
        return False
    return True
