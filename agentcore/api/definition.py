"""What a tool is: its name, its schema, what it may do, how long and how much."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import BaseModel

from agentcore.api.context import ToolContext
from agentcore.api.tool_icon import ToolIcon
from agentcore.api.tool_view import ToolView

if TYPE_CHECKING:
    from agentcore.tool_forms import FormName

Effect = Literal["read", "write", "egress", "execute", "dangerous", "session"]
"""What a call can do to the world; rules, modes and the approval view go by it.

`session` stands alone: the call touches nothing but the state of its own session, or asks the person. Every mode but
`deny` lets it pass, and only a rule that names the tool holds it.
"""

EFFECTS: frozenset[Effect] = frozenset(("read", "write", "egress", "execute", "dangerous", "session"))

SESSION_ONLY: frozenset[Effect] = frozenset(("session",))

_LinesRole = Literal["first_line", "last_line", "line_count"]
DisplayRole = Literal["subject", "command", "output", "exit_code", "path", _LinesRole, "content", "edits", "todos"]
"""What an argument, or a field of the data, is to the person who reads a call.

`subject`: what it is about, in one line. `command`: what a shell runs; `output`: what that wrote; `exit_code`: how it
ended. `path`: the file; `first_line`, `last_line`, `line_count`: the part of it. `content`: the whole new text of the
file; `edits`: a list of `{old, new}`. `todos`: a list of `{content, status}`.
"""

DISPLAY_ROLES: frozenset[str] = frozenset(get_args(DisplayRole))


Keep = Literal["head", "tail", "both"]
"""The part of a long result that matters most: how a file begins, how a log ends, or both ends of it."""


@dataclass(frozen=True, slots=True)
class ToolAnnotations:
    """Hints for clients in the words of MCP; they grant nothing. None: not said."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None

    def to_mcp(self) -> dict[str, bool]:
        """The hints that were given, under MCP's names."""
        hints = {
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": self.open_world,
        }
        return {name: value for name, value in hints.items() if value is not None}


@dataclass(frozen=True, slots=True)
class CallPreview:
    """What one call would do, for exactly these arguments; made without side effects.

    Args:
        effects: Replaces the definition's effects for this call; None keeps them.
        paths: Resolved paths that the call touches, for rules and for the person.
        cwd: The working directory of a command.
        urls: Addresses that the call contacts.
        diff: A unified diff of what a write would change.
        words: What the call would do, in the server's language, a line for each step. People read it in the place of
            the arguments, which are folded away: it says all of what matters in them, and shortens nothing.
        is_protected: The call touches something that always needs a person (security-relevant files).
        is_sandboxed: What it executes is held in a sandbox that keeps it from the person's files and keys.
        caution: What a person has to know before it runs, in the server's language: a call with one is always asked
            about, also a person's own, and the question says it. Empty: nothing.
        failure: Set by the core, never by a module: its preview ended with an error (`failed`), or was not done in
            time (`timed_out`), and the call is always asked about. Nothing else is known of it then. Empty: it did not.
    """

    effects: frozenset[Effect] | None = None
    paths: tuple[str, ...] = ()
    cwd: str | None = None
    urls: tuple[str, ...] = ()
    diff: str | None = None
    words: str = ""
    is_protected: bool = False
    is_sandboxed: bool = False
    caution: str = ""
    failure: Literal["", "failed", "timed_out"] = ""


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """How a tool names the living thing (a browser page, a terminal) that it acts on.

    The host takes the id from the argument or from the call, else the session's resource of lowest index, checks
    whose it is, lets calls on one resource run one after another, and sets `ctx.resource`.

    Args:
        type: Resource type, such as `browser` or `terminal`.
        argument: The tool argument that carries the id (or the key).
        create: Whether the host makes a resource when the session has none and none was named.
        key: When set, the argument holds this key of the resource (such as `tabId`), not its id.
        skip_queue: The call does not wait for its turn (kill, cancel, close).
        not_found: The type of the error for an argument that names nothing, in the module's own words.
    """

    type: str
    argument: str = "resourceId"
    create: bool = False
    key: str | None = None
    skip_queue: bool = False
    not_found: str = "resource_not_found"


Complete = Callable[[str, str, str, dict[str, str]], Sequence[str] | Awaitable[Sequence[str]]]
"""Says what an argument can be: gets the tool's name, the argument's, what is typed of it, and the other arguments."""

CompleteMethod = Callable[[Any, str, str, str, dict[str, str]], Sequence[str] | Awaitable[Sequence[str]]]
"""The same as a method of a module, as `@tool` takes it."""

DEFAULT_RANK = 5
"""The rank of a tool that says none."""

Preview = Callable[[ToolContext, dict[str, Any]], CallPreview | Awaitable[CallPreview]]
"""Says what exactly a call with these arguments would do."""

PreviewMethod = Callable[[Any, ToolContext, dict[str, Any]], CallPreview | Awaitable[CallPreview]]
"""The same as a method of a module, as `@tool` takes it."""


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One tool as the host and every surface see it.

    Args:
        name: `^[a-zA-Z0-9_-]{1,64}$`, unique over all modules.
        description: What a model reads to choose the tool.
        input_schema: JSON Schema of the arguments, an object.
        output_schema: JSON Schema of the result's `data`, if it has one shape.
        effects: What the tool may do; none given means `execute`.
        annotations: MCP's hints, apart from the effects.
        timeout_s: Time limit of one call in seconds, unless the caller asks for another.
        limit_bytes: Bound of the result's text in bytes; more becomes an artifact. None: the host's bound.
        preview: Makes effects, paths and diff exact for one call; without side effects, within 2 s.
        resource: The resource that a call acts on.
        arguments: A pydantic model that validates the arguments in place of the schema.
        checks_result: The module itself holds results against what is declared; else the host holds `data` against
            `output_schema`.
        rank: Where there are too many tools to give a model all of them, those of a low rank go first: 0 is what nearly
            every conversation needs, 9 what is seldom asked for.
        model_chars: Bound of what a model gets of the result's text in characters; the whole is kept as an artifact.
            None: the host's bound. Programs get the whole.
        keep: The part that a model gets of a result over that bound.
        artifact_call: For a tool that gives what is in an artifact: the arguments, as JSON text, with `{id}` for the
            artifact and `{line}` for the line to begin at. Where a result is cut, a model is told this call.
        display: How people are shown a call: names of arguments and of fields of `data`, and what each is to them.
        served_as: What clients of MCP are offered it as, in place of a tool; models are not offered it. `prompt`: a
            prompt that their person picks, made of its result. A URI: a resource, read by a call; `{name}` in it stands
            for an argument. `view`: nothing but a tool of the module's views.
        view: What shows people the results in a frame (MCP Apps). A `ToolView`: in the chat. An HTML document: in MCP
            clients; it is whole in itself, may load nothing, and connect to nothing. None: there is none.
        in_views: The name by which views of the module call the tool, as a model would: rules and approvals hold. None:
            they cannot.
        complete: Says what an argument can be while a person types it, the best first; without side effects, within
            2 s. At most 100 texts of one line are shown. Arguments whose schema names their values need none.
        icons: Pictures by which people know the tool; at most 4.
        needs_chat: The tool works on the chat itself: its history, summary or to-do list, its model, or sub-agents. It
            runs on the server where a foreign machine (a host that dialled in, a pool) may not use chats.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    effects: frozenset[Effect] = frozenset(("execute",))
    annotations: ToolAnnotations = ToolAnnotations()
    timeout_s: float = 60.0
    limit_bytes: int | None = None
    preview: Preview | None = None
    resource: ResourceUse | None = None
    arguments: type[BaseModel] | None = field(default=None, repr=False)
    checks_result: bool = False
    rank: int = DEFAULT_RANK
    model_chars: int | None = None
    keep: Keep = "both"
    artifact_call: str | None = None
    display: Mapping[str, DisplayRole] = field(default_factory=dict)
    served_as: str | None = None
    view: str | ToolView | None = field(default=None, repr=False)
    in_views: str | None = None
    complete: Complete | None = field(default=None, repr=False, compare=False)
    icons: tuple[ToolIcon, ...] = field(default=(), repr=False)
    needs_chat: bool = False

    def acts_like(self, other: "ToolDefinition") -> bool:
        """Whether what a person said of a call of one holds for the other: all is equal but its rank and its icons."""
        return self is other or self == replace(other, rank=self.rank, icons=self.icons)

    def to_openai(self) -> dict[str, Any]:
        """The definition in the OpenAI tools schema, without what OpenAI does not take."""
        return self._to_form("openai")

    def to_anthropic(self) -> dict[str, Any]:
        """The definition in Anthropic's form, without what Anthropic does not take."""
        return self._to_form("anthropic")

    def to_mcp(self) -> dict[str, Any]:
        """The definition in MCP's form (`tools/list`), without what clients' providers may not take."""
        return self._to_form("mcp")

    def _to_form(self, form: "FormName") -> dict[str, Any]:
        from agentcore.tool_forms import FORMS, LoweredSchema  # noqa: PLC0415 - a module that starts needs none of it

        return FORMS[form].write(self, LoweredSchema(self.input_schema).lower_to(FORMS[form].dialect))

    def to_json(self) -> dict[str, Any]:
        """The definition in agentcore's own form, as `GET /api/tools` gives it."""
        tool: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "input_schema": self.input_schema,
            "effects": sorted(self.effects),
            "annotations": self.annotations.to_mcp(),
            "timeout_ms": int(self.timeout_s * 1000),
            "rank": self.rank,
        }
        if self.output_schema is not None:
            tool["output_schema"] = self.output_schema
        if self.served_as is not None:
            tool["served_as"] = self.served_as
        if self.complete is not None:
            tool["completes"] = True
        if isinstance(self.view, ToolView):
            tool["has_view"] = True
        if self.icons:
            tool["icons"] = [icon.to_json() for icon in self.icons]
        if self.display:
            tool["display"] = dict(self.display)
        if self.resource is not None:
            tool["resource"] = {"type": self.resource.type, "argument": self.resource.argument}
        return tool
