"""One module as the host keeps it: its state, what it brought, why it failed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from agentcore.api.web import WebComponent

if TYPE_CHECKING:
    from agentcore.host.call import Call
    from agentcore.host.discovery import Found
    from agentcore.host.registry import RegisteredTool

ModuleState = Literal["missing", "loading", "ready", "failed", "stopping", "stopped"]


@dataclass(eq=False)
class ModuleRecord:
    """A module that is listed, or was.

    Args:
        name: Its unique id.
        state: Where it stands.
        reason: Why it is `missing` or `failed`, in a sentence.
        traceback: The end of the traceback behind `reason`, if there was one.
        plugin: The object that implements the hooks.
        hooks: Hook name to implementation.
        executes_async: Whether its `execute_tool_call` is a coroutine function; else it runs in a thread.
        tools: Its tools, before those whose name another module has are left out.
        tool_errors: Definitions that are not valid, one sentence each.
        conflicts: Tools left out because another module has the name, one sentence each.
        notes: What it says about its surroundings: subject to what was found and what to do.
        component: Its element in the page.
        origin: Where it came from: distribution, version, file.
        found: Its code on the disk; None for one that was handed over as an object.
        fingerprint: What that code was when it was loaded.
        is_change_known: Whether it was said already that the code on the disk is another now.
        source_dirs: Folders of its code, to name it when that code holds the event loop.
        started_ms: How long its start took.
        ready_at_ms: When it got ready, in milliseconds since 1970.
        calls: Its calls in flight, by call id.
        undo: What to call when it stops: routes, subscriptions.
    """

    name: str
    state: ModuleState = "loading"
    reason: str = ""
    traceback: str = ""
    title: str = ""
    description: str = ""
    plugin: Any = None
    hooks: dict[str, Any] = field(default_factory=dict)
    executes_async: bool = True
    runtime: Any = None
    tools: list["RegisteredTool"] = field(default_factory=list)
    tool_errors: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    notes: dict[str, tuple[str, str]] = field(default_factory=dict)
    component: WebComponent | None = None
    origin: dict[str, str] = field(default_factory=dict)
    found: "Found | None" = None
    fingerprint: str = ""
    is_change_known: bool = False
    source_dirs: tuple[str, ...] = ()
    config_key: str = ""
    requires: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    stands_in_for: tuple[str, ...] = ()
    runs_scripts_in_page: bool = False
    ready_order: int = 0
    started_ms: float = 0.0
    ready_at_ms: int = 0
    calls: dict[str, "Call"] = field(default_factory=dict)
    undo: list[Callable[[], None]] = field(default_factory=list)

    @property
    def distribution(self) -> str:
        """The distribution that brought it; empty for a local module."""
        return self.origin.get("distribution", "")
