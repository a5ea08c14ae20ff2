"""The five hooks of a module, as pluggy specifications.

The core calls each hook of each module separately, catches whatever it raises, and applies a time limit; a module never
waits for a hook of another one, except where it `requires` it. A sync hook runs in a worker thread; an async one runs
on the event loop and must not block it.
"""

from collections.abc import Awaitable, Sequence
from typing import Any

import pluggy

from agentcore.api import Runtime, ToolContext, ToolDefinition, WebComponent

hookspec = pluggy.HookspecMarker("agentcore")


@hookspec
def get_tool_definitions() -> Sequence[ToolDefinition | dict[str, Any]]:  # type: ignore[empty-body]
    """Give the module's tools.

    Called after `init`, and again after `runtime.tools_changed()`; within 10 s.

    Returns:
        Tool definitions, or dicts in the OpenAI tools schema. A definition that is not valid, or whose name another
        module has already, is left out and named in the module's state. No implementation: no tools.
    """


@hookspec
def execute_tool_call(ctx: ToolContext, tool_name: str, args: dict[str, Any]) -> Any:
    """Carry out one call of one of the module's tools.

    Called once for each call, many at a time, after the arguments were validated and the call was allowed; under the
    call's deadline. When the deadline passes or the call is cancelled, an async implementation gets
    `CancelledError`, a sync one sees `ctx.is_cancelled`.

    Args:
        ctx: The call's context.
        tool_name: One of the names that `get_tool_definitions` gave.
        args: The arguments as the tool's schema says them; where the definition has a model, its field values.

    Returns:
        A `ToolResult`; or text; or JSON values, a dataclass or a pydantic model, which become data and its text; or
        an `Image`; or None.

    Raises:
        ToolError: The call failed for a reason that the caller can act on. Anything else is a defect of the module.
    """


@hookspec
def init(runtime: Runtime) -> Awaitable[None] | None:
    """Get ready.

    Called once, concurrently with other modules, after those that the module requires are ready; within
    `init_timeout` (30 s). What tools need is ready when it returns; what is heavy (a browser) starts at first use.

    Raises:
        Exception: The module cannot work; the message becomes the reason that people see.
    """


@hookspec
def shutdown() -> Awaitable[None] | None:
    """Release everything: tasks, processes, files, connections.

    Called in reverse order of readiness, also after a failed `init`, maybe twice; within `shutdown_timeout` (10 s).
    """


@hookspec
def get_web_component() -> WebComponent | None:
    """Give the module's element in the page, or None. Called once, after `init`; within 10 s."""
