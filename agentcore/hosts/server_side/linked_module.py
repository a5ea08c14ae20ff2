"""A module that a host runs, as the server's end of the link knows it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from agentcore.core.modules.module_runtime import ModuleRuntime
from agentcore.errors import ToolError
from agentcore.hosts.server_side import host_messages
from agentcore.hosts.server_side.browser_methods import BrowserMethod
from agentcore.late_dataclasses import dataclass


@dataclass(eq=False)
class LinkedModule:
    """A module that the host runs, as the link knows it.

    Args:
        runtime: What it may use here, once it starts.
        tools: The names of its tools, including those that wait for the user's review.
        methods: Those of its tools that it offers under a dotted name of the protocol, by the names of the tools.
        resource_types: The types of resources that its calls act on.
    """

    name: str
    number: int
    runtime: ModuleRuntime | None = None
    tools: frozenset[str] = frozenset()
    methods: Mapping[str, BrowserMethod] = field(default_factory=dict)
    resource_types: frozenset[str] = frozenset()
    on_definitions: Callable[[], None] = lambda: None
    on_report: Callable[[], None] = lambda: None
    on_login: Callable[[host_messages.LoginState], None] = lambda status: None
    on_requirement: Callable[[host_messages.RequirementInfo], None] = lambda info: None
    on_requirement_progress: Callable[[host_messages.RequirementProgress], None] = lambda progress: None
    subscriptions: dict[int, Callable[[], None]] = field(default_factory=dict)


def module_failed_error(module: str, reason: str) -> ToolError:
    """Return the error of a call whose host has ended."""
    return ToolError(
        "module_failed",
        f"the process of module {module!r} ended: {reason or 'it was closed'}; whether the call had an effect is not "
        "known",
        module=module,
    )


def types_of(tools: Sequence[Any]) -> frozenset[str]:
    """The types of resources that tools act on."""
    return frozenset(tool.resource.type for tool in tools if tool.resource is not None)
