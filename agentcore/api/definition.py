"""The definition of a tool: its name, its schema, its effects and limits."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import BaseModel

from agentcore.api.readable_resource import ReadableResource
from agentcore.api.tool_context import ToolContext
from agentcore.api.tool_icon import ToolIcon
from agentcore.api.tool_view import ToolView
from agentcore.late_dataclasses import dataclass

if TYPE_CHECKING:
    from agentcore.tool_formats.formats import FormName

Effect = Literal["read", "write", "egress", "execute", "dangerous", "session"]
"""An effect of a call, which rules, modes and the approval view use.

`session` cannot be combined: the call affects only the state of its own session, or asks the user. Every mode but
`deny` allows it, and only a rule that names the tool can stop it.
"""

EFFECTS: frozenset[Effect] = frozenset(("read", "write", "egress", "execute", "dangerous", "session"))

SESSION_ONLY: frozenset[Effect] = frozenset(("session",))

_LinesRole = Literal["first_line", "last_line", "line_count"]
DisplayRole = Literal["subject", "command", "output", "exit_code", "path", _LinesRole, "content", "edits", "todos"]
"""The meaning of an argument, or of a field of the data, in the display of a call.

`subject`: its object, in one line. `command`: a shell command; `output`: its output; `exit_code`: its exit
code. `path`: the file; `first_line`, `last_line`, `line_count`: the part of it. `content`: the complete new text of the
file; `edits`: a list of `{old, new}`. `todos`: a list of `{content, status}`.
"""

DISPLAY_ROLES: frozenset[str] = frozenset(get_args(DisplayRole))


Keep = Literal["head", "tail", "both"]
"""The relevant part of a long result: the beginning of a file, the end of a log, or both ends of it."""


@dataclass(frozen=True, slots=True)
class ToolAnnotations:
    """MCP's hints for clients; they permit nothing. None: not set."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None

    def to_mcp(self) -> dict[str, bool]:
        """Return the hints that were set, under MCP's names."""
        hints = {
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": self.open_world,
        }
        return {name: value for name, value in hints.items() if value is not None}


@dataclass(frozen=True, slots=True)
class EffectsClaim:
    """Effects that somebody else claims for a tool, such as the MCP server that it comes from.

    The user may accept the claim when reviewing the tool. Its effects are then written to app.json, and the module
    is reloaded, which must then define the tool with these effects and annotations, and without a claim.

    Args:
        effects: The effects that are claimed: `read`, or `read` and `egress`.
        annotations: MCP's hints as they would be with these effects.
        setting: Path of the setting for these effects in the module's block of app.json. A module that is not made of
            a block has no claims.
    """

    effects: frozenset[Effect]
    annotations: ToolAnnotations
    setting: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallPreview:
    """The effects and targets of one call with these arguments, determined without side effects.

    Args:
        effects: Replaces the definition's effects for this call; None keeps them.
        paths: Resolved paths that the call touches, for rules and for the user.
        cwd: The working directory of a command.
        urls: Addresses that the call contacts.
        services: Services of the session among these addresses, by their short ids: the user sees that a call
            reaches a command of its own session.
        diff: A unified diff of what a write would change.
        words: What the call would do, in the server's language, one line for each step. It is shown instead of
            the arguments, which are folded: it must contain everything that matters in them, unabridged.
        is_protected: True if the call touches something that always needs approval (security-relevant files).
        is_sandboxed: True if it runs in a sandbox that protects the user's files and keys.
        caution: A warning for the user, in the server's language: a call with one always needs approval,
            also a user's own, and the approval shows it. Empty: none.
        failure: Set by the core, never by a module: the preview ended with an error (`failed`), or was not done in
            time (`timed_out`), and the call always needs approval. Nothing else is known of it then. Empty: it
                succeeded.
    """

    effects: frozenset[Effect] | None = None
    paths: tuple[str, ...] = ()
    cwd: str | None = None
    urls: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    diff: str | None = None
    words: str = ""
    is_protected: bool = False
    is_sandboxed: bool = False
    caution: str = ""
    failure: Literal["", "failed", "timed_out"] = ""


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """How a tool identifies the resource (a browser page, a terminal) that it acts on.

    The core reads the id from the argument or from the call, else uses the session's resource of lowest index. It
    checks the owner, runs calls on one resource one after another, and sets `ctx.resource`.

    Args:
        type: Resource type, such as `browser` or `terminal`.
        argument: The tool argument with the id (or the key).
        create: True if the core creates a resource if the session has none and none was named.
        key: If set, the argument contains this key of the resource (such as `tabId`), not its id.
        skip_queue: True if the call does not wait in the queue (kill, cancel, close).
        not_found: The module's own error type for an argument that names no resource.
    """

    type: str
    argument: str = "resourceId"
    create: bool = False
    key: str | None = None
    skip_queue: bool = False
    not_found: str = "resource_not_found"


@dataclass(frozen=True, slots=True)
class HostAlias:
    """A dotted name of the host protocol by which programs of other machines call a tool.

    Args:
        name: The name, such as `browser.click`. The tool accepts its arguments under the names that the protocol gives
            them, and returns `data` with the fields of its result, among others.
        arguments: Further arguments of each such call, which select what the protocol expects.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


Complete = Callable[[str, str, str, dict[str, str]], Sequence[str] | Awaitable[Sequence[str]]]
"""Says what an argument can be: gets the tool's name, the argument's, what is typed of it, and the other arguments."""

CompleteMethod = Callable[[Any, str, str, str, dict[str, str]], Sequence[str] | Awaitable[Sequence[str]]]
"""The same as a method of a module, as `@tool` accepts it."""

DEFAULT_RANK = 5
"""The default rank of a tool."""

Preview = Callable[[ToolContext, dict[str, Any]], CallPreview | Awaitable[CallPreview]]
"""Says what exactly a call with these arguments would do."""

PreviewMethod = Callable[[Any, ToolContext, dict[str, Any]], CallPreview | Awaitable[CallPreview]]
"""The same as a method of a module, as `@tool` accepts it."""


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One tool as the core and every surface see it.

    Args:
        name: `^[a-zA-Z0-9_-]{1,64}$`, unique over all modules.
        description: The text from which a model chooses the tool.
        input_schema: JSON Schema of the arguments, an object.
        output_schema: JSON Schema of the result's `data`, if it has one shape.
        effects: What the tool may do; the default is `execute`.
        annotations: MCP's hints, apart from the effects.
        timeout_s: Default time limit of one call in seconds.
        limit_bytes: Limit of the result's text in bytes; longer text becomes an artifact. None: the core's limit.
        preview: Determines effects, paths and diff of one call; without side effects, within 2 s.
        resource: The resource that a call acts on.
        arguments: A pydantic model that validates the arguments instead of the schema.
        checks_result: True if the module itself validates results; else the core validates `data` against
            `output_schema`.
        rank: If there are too many tools for a model, those of a low rank are included first: 0 for the few without
            which no work on files is possible, 1 for tools that nearly every conversation needs,
            9 for rarely used ones.
        model_chars: Limit of the result's text for a model in characters; the complete text is stored as an artifact.
            None: the core's limit. Programs get the complete text.
        keep: The part of a longer result that a model gets.
        artifact_call: For a tool that reads artifacts: its arguments, as JSON text, with `{id}` for the
            artifact and `{line}` for the first line. A shortened result names this call to the model.
        display: The display of a call: names of arguments and of fields of `data`, and the meaning of each.
        served_as: What MCP clients get instead of a tool; models do not see it as a tool. `prompt`: a
            prompt that the user picks, whose text is the result. A URI: a resource, read by a call; `{name}` in it is
            an argument. `view`: only a tool for the module's views.
        view: Shows the results to the user in a frame (MCP Apps). A `ToolView`: in the chat. An HTML document: in MCP
            clients; it must be self-contained, and may load nothing and connect to nothing. None: there is none.
        in_views: The name by which views of the module call the tool, as a model would, with rules and approvals. None:
            they cannot.
        complete: Returns suggestions for an argument while the user types it, the best first; without side effects,
            within 2 s. At most 100 texts of one line are shown. Arguments whose schema lists their values need none.
        icons: Icons of the tool; at most 4.
        needs_chat: True if the tool works on the chat itself: its history, summary or to-do list, its model, or
            sub-agents. It runs on the server if a foreign machine (a host that dialled in, a pool) may not use chats.
        parallel: True if calls of it in one answer of a model may run at the same time, although they act.
        host_alias: The dotted name of the host protocol by which foreign machines call the tool. None: there is none.
        reads: Resources that a call reads whose argument `uri` is their URI; at most 1,000. MCP clients get them in
            their list of resources, and read them by calls of the tool, under the same rules and approvals.
        claim: Effects that are claimed for the tool, and used only if the user accepts them. None: there are none.
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
    parallel: bool = False
    host_alias: HostAlias | None = None
    reads: tuple[ReadableResource, ...] = field(default=(), repr=False)
    claim: EffectsClaim | None = None

    def acts_like(self, other: "ToolDefinition") -> bool:
        """True if an approval of a call of one is valid for the other.

        All is equal but its rank, its icons, the resources that there are to read, and what is only claimed of it.
        """
        if self is other:
            return True
        return self == replace(other, rank=self.rank, icons=self.icons, reads=self.reads, claim=self.claim)

    def with_claim_accepted(self) -> "ToolDefinition":
        """Return the definition as it is once the user has accepted its claim."""
        if self.claim is None:
            return self
        return replace(self, effects=self.claim.effects, annotations=self.claim.annotations, claim=None)

    def to_openai(self) -> dict[str, Any]:
        """Return the definition in the OpenAI tools schema, without what OpenAI does not support."""
        return self._to_form("openai")

    def to_anthropic(self) -> dict[str, Any]:
        """Return the definition in Anthropic's form, without what Anthropic does not support."""
        return self._to_form("anthropic")

    def to_mcp(self) -> dict[str, Any]:
        """Return the definition in MCP's form (`tools/list`), without what clients' providers may not support."""
        return self._to_form("mcp")

    def _to_form(self, form: "FormName") -> dict[str, Any]:
        from agentcore.tool_formats.formats import FORMS, LoweredSchema  # noqa: PLC0415 - a module that starts needs none of it

        return FORMS[form].write(self, LoweredSchema(self.input_schema).lower_to(FORMS[form].dialect))

    def to_json(self) -> dict[str, Any]:
        """Return the definition in agentcore's own form, as in `GET /api/tools`."""
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
