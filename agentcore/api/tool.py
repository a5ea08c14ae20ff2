"""`@tool`: marks a typed method of a `Module` as a tool. Errors are reported when tools are created."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, overload

from agentcore.api.definition import CompleteMethod, DisplayRole, Effect, HostAlias, Keep, PreviewMethod, ResourceUse
from agentcore.api.tool_view import ToolView
from agentcore.late_dataclasses import dataclass
from agentcore.near_names import closest_name

F = TypeVar("F", bound=Callable[..., Any])

_MARK = "__agentcore_tool__"


@dataclass(frozen=True, slots=True)
class ToolOptions:
    """The options of `@tool` for one method, unchanged; `fault`: why they are invalid."""

    name: Any = None
    read_only: Any = False
    effects: Any = None
    destructive: Any = None
    idempotent: Any = None
    open_world: Any = None
    timeout_s: Any = None
    limit_bytes: Any = None
    model_chars: Any = None
    keep: Any = "both"
    artifact_call: Any = None
    preview: Any = None
    resource: Any = None
    rank: Any = None
    display: Any = None
    served_as: Any = None
    view: Any = None
    in_views: Any = None
    complete: Any = None
    needs_chat: Any = False
    parallel: Any = False
    host_alias: Any = None
    fault: str = ""


OPTIONS = tuple(name for name in ToolOptions.__slots__ if name != "fault")
"""The names of the options of `@tool`."""


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(
    *,
    name: str | None = None,
    read_only: bool = False,
    effects: Iterable[Effect] | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    timeout_s: float | None = None,
    limit_bytes: int | None = None,
    model_chars: int | None = None,
    keep: Keep = "both",
    artifact_call: str | None = None,
    preview: PreviewMethod | None = None,
    resource: ResourceUse | None = None,
    rank: int | None = None,
    display: Mapping[str, DisplayRole] | None = None,
    served_as: str | None = None,
    view: str | ToolView | None = None,
    in_views: str | None = None,
    complete: CompleteMethod | None = None,
    needs_chat: bool = False,
    parallel: bool = False,
    host_alias: HostAlias | None = None,
) -> Callable[[F], F]: ...
def tool(function: Any = None, /, **given: Any) -> Any:
    """Make a method of a `Module` a tool.

    The method has `self`, optionally a `ToolContext`, and the arguments, all with type hints. The first
    paragraph of its docstring becomes the tool's description, `Args:` the descriptions of its parameters. It is
    async, or sync and then runs in a worker thread.

    Args:
        name: The tool's name; the default is the method's.
        read_only: True if the tool changes nothing; its effects are `read` unless `effects` says more.
        effects: What it may do (`read`, `write`, `egress`, `execute`, `dangerous`, or `session` alone); the default
            is `execute`.
        destructive: It may destroy existing data (a hint for clients).
        idempotent: Repeating it has no further effect (a hint for clients).
        open_world: It interacts with the outside (a hint for clients).
        timeout_s: Time limit of one call in seconds, 60 by default.
        limit_bytes: Limit of the result's text; longer text is stored as an artifact.
        model_chars: Limit of what a model gets of it, in characters; the core's by default.
        keep: Which part of a longer result a model gets: `head`, `tail`, or `both` ends.
        artifact_call: For a tool that reads artifacts: its arguments for that, as JSON text with `{id}`
            and `{line}` in it.
        preview: A function `(self, ctx, arguments) -> CallPreview` that determines what exactly a call would do.
        resource: The resource that a call acts on.
        rank: 0 to 9, 5 by default: if a model cannot get all tools, low ones are included first, and the rest are
            found by searching.
        display: The display of a call: names of arguments and of fields of the data, and the meaning of each,
            such as `{"query": "subject"}`; the values are those of `DisplayRole`. The rest is shown by its shape.
        served_as: What MCP clients get instead of a tool: `prompt`, or the URI of a resource.
            `view`: only a tool for the module's views.
        view: A `ToolView` shows the results to the user in the chat; a self-contained HTML document, in MCP clients
            with MCP Apps.
        in_views: The name by which views of the module call it; they call no other tools.
        complete: A function `(self, tool, argument, begun, given) -> list[str]` that returns suggestions for an
            argument while the user types it.
        needs_chat: It works on the chat itself: history, summary, to-do list, the chat's model, or sub-agents. If a
            foreign machine may not use chats, such a tool runs on the server.
        parallel: Calls of it in one answer of a model may run at the same time, although they act.
        host_alias: The dotted name of the host protocol by which foreign machines call it, such as `browser.click`.

    No error is raised here, which would abort the import of the whole module: a tool with invalid options is left out,
    and named among the module's problems.
    """

    if isinstance(function, str):
        return lambda method: _mark_method(method, ToolOptions(fault=_POSITIONAL))
    unknown = [name for name in given if name not in OPTIONS]
    options = ToolOptions(fault=_describe_unknown_option(unknown[0])) if unknown else ToolOptions(**given)
    return _mark_method(function, options) if function is not None else lambda method: _mark_method(method, options)


_POSITIONAL = "@tool takes what it is told by name, such as @tool(name='weather_now')"


class Unmarkable:
    """Stands in a class for what `@tool` was put on and cannot mark, such as a property."""

    def __init__(self, options: ToolOptions) -> None:
        setattr(self, _MARK, options)


def get_tool_options(attribute: object) -> ToolOptions | None:
    """Return the options of `@tool` of an attribute of a class; None: it is no tool."""
    try:
        options = getattr(attribute, _MARK, None)
    except Exception:  # noqa: BLE001 - an object of the module that looks its attributes up in its own way
        return None
    return options if type(options) is ToolOptions else None


def _mark_method(method: Any, options: ToolOptions) -> Any:
    try:
        setattr(method, _MARK, options)
    except (AttributeError, TypeError):
        return Unmarkable(ToolOptions(fault=f"@tool belongs on a method, not on a {type(method).__name__}"))
    return method


def _describe_unknown_option(name: str) -> str:
    near = closest_name(name, OPTIONS)
    rather = f"did you mean {near!r}?" if near else f"it takes {', '.join(OPTIONS)}"
    return f"@tool has no parameter {name!r}; {rather}"
