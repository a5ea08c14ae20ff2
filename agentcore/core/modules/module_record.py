"""The core's record of one module: its state, its declarations, the reason of a failure; and its tools."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from agentcore.api import ToolDefinition, WebComponent
from agentcore.api.report import ReadReport
from agentcore.bounds import REFRESH_INTERVAL_SECONDS, REFRESHES_AT_ONCE
from agentcore.core.containment import ModuleLogin, ModuleRequirement
from agentcore.core.declarations.hosted_names import name_for_people
from agentcore.core.declarations.manifest import Manifest
from agentcore.pace import Pace
from agentcore.secrets import register_masked_values
from agentcore.tool_forms import FORMS, FormName, LoweredSchema, check_tool

if TYPE_CHECKING:
    from agentcore.core.discovery.source_search import Found
    from agentcore.core.modules.host_protocols import ModuleProxy
    from agentcore.core.modules.leftovers import Surroundings
    from agentcore.core.modules.validation import CheckResult, Validate

ModuleState = Literal["missing", "loading", "ready", "failed", "stopping", "stopped"]
ToolFormat = Literal["agentcore"] | FormName

_CHECKED: tuple[FormName, ...] = ("openai", "anthropic", "gemini")
"""The forms whose problems the author can fix; problems in other forms occur in these as well."""

_HOLD_SHOWN_SECONDS = 1.0


@dataclass(slots=True)
class LoopBlockages:
    """When a module's code has blocked the event loop.

    Args:
        longest_s: The longest time, in seconds.
        tool: The tool that was called at that time; empty: none.
        place: The location of the code, `file:line in function`.
    """

    times: int = 0
    longest_s: float = 0.0
    tool: str = ""
    place: str = ""

    def add(self, seconds: float, tool: str, place: str) -> None:
        """Count one more."""
        self.times += 1
        if seconds > self.longest_s:
            self.longest_s = seconds
            self.tool = tool
            self.place = place

    def describe_problem(self) -> str:
        """A sentence about it; empty: it was never long."""
        if self.longest_s < _HOLD_SHOWN_SECONDS:
            return ""
        where = " in ".join(part for part in (self.tool and f"tool {self.tool!r}", self.place) if part)
        return (
            f"its code held the whole server {self.times} times, for {self.longest_s:.1f} s at the longest"
            f"{where and f', in {where}'}: run what takes time in a thread, and C code that keeps threads from running"
            " in a process"
        )


@dataclass(frozen=True, slots=True)
class LoadedCode:
    """A module's code, imported.

    Args:
        target: The object that its entry point names: a class, or the object itself.
        origin: Its origin, for users.
        fingerprint: The digest of the code on disk.
    """

    target: Any
    origin: dict[str, str]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class RegisteredTool:
    """A tool that can be called.

    Args:
        definition: Plain values, as they were read.
        validate: Returns the arguments as the module gets them; `DeferredArguments`: the module's host validates them.
        check_result: Checks its result's data, as JSON text; None: nothing is declared, or the module does it.
        schema: The schema of its arguments, in the form of each provider.
        encoded: The definition as JSON text, in agentcore's own form.
        looks_first: True if the module is asked for a preview of each call before that runs.
    """

    definition: ToolDefinition
    module: "ModuleRecord"
    validate: "Validate"
    check_result: "CheckResult | None"
    schema: LoweredSchema
    encoded: bytes
    looks_first: bool

    def does_the_same_as(self, other: "RegisteredTool") -> bool:
        """True if a call that was checked with one of both may run with the other.

        A module that declares its tools again keeps its code, and the rank of a tool does not affect a call.
        """
        return self is other or (self.module is other.module and self.definition.acts_like(other.definition))


_NAMES_SAID = 10


@dataclass(eq=False)
class ModuleRecord:
    """A module that is listed, or was.

    Args:
        name: Its name at the server: `shell_tools`, or `laptop/shell_tools` if it runs on a foreign machine.
        host: The foreign machine that has it; empty: it is the server's own, in whichever process.
        reason: Why it is `missing` or `failed`, in a sentence.
        traceback: The end of the traceback behind `reason`, if there was one.
        hooks: Hook name to implementation, until it is stopped.
        executes_async: True if its `execute_tool_call` is a coroutine function; else it runs in a thread.
        tools: Its tools, including those whose name another module has.
        session_claims: Tools of a foreign module that claim to affect only their session, which is not trusted.
        withheld: Those of its tools that wait for the user's review.
        offered_instructions: Instructions for models that it set while running.
        instructions: The same, unless they wait for the user's review.
        tool_errors: Definitions that are not valid, one sentence each.
        conflicts: Tools left out because another module has the name, one sentence each.
        notes: Its diagnostics: subject to finding and advice.
        report: Returns its current status; None: it has no report.
        login: Its login for the user; None: there is none.
        requirements: What it needs on the machine, by name; remain when it fails, because installing one may help.
        origin: Its origin: distribution, version, file.
        found: Its code on disk; None if it was passed as an object.
        loaded: That code, imported here.
        placed: Its proxy, while it runs in a host; None: it runs in this process.
        settings: Its settings; None before they were read.
        secrets: The values of its references that must not be shown.
        written_secrets: The secrets that its settings contain directly.
        block_model: The model of a family's block; None: there is none, or it is not known.
        rivals: The other sources of its name, which were not chosen.
        failure: Why it could not be loaded beside the running version.
        reload_error: Why the code on disk did not replace the running code; empty: it did.
        fingerprint: The digest of its code when it was loaded.
        is_change_known: True if it was reported already that the code on disk has changed.
        source_dirs: Folders of its code, to name it when that code blocks the event loop.
        started_ms: How long its start took.
        ready_at_ms: When it became ready, in milliseconds since 1970.
        before: The state of the process when it started.
        after: The state of the process when it ended; None: it has not.
        left_behind: A short description of each object that it had not released when it was last stopped.
        loop_holds: When its code has blocked the event loop.
        calls: The ids of its running calls.
        undo: Functions to call when it stops: routes, subscriptions.
        refresh_pace: Limits how often its tools are read again.
        is_refresh_due: True while its tools have changed and were not read since.
    """

    name: str
    host: str = ""
    state: ModuleState = "loading"
    reason: str = ""
    traceback: str = ""
    plugin: Any = None
    manifest: Manifest = field(default_factory=Manifest)
    hooks: Mapping[str, Any] = field(default_factory=dict)
    executes_async: bool = True
    runtime: Any = None
    tools: list[RegisteredTool] = field(default_factory=list)
    session_claims: frozenset[str] = frozenset()
    withheld: list[RegisteredTool] = field(default_factory=list)
    offered_instructions: str = ""
    instructions: str = ""
    tool_errors: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    notes: dict[str, tuple[str, str]] = field(default_factory=dict)
    component: WebComponent | None = None
    report: ReadReport | None = None
    login: ModuleLogin | None = None
    requirements: dict[str, ModuleRequirement] = field(default_factory=dict)
    origin: dict[str, str] = field(default_factory=dict)
    found: "Found | None" = None
    loaded: LoadedCode | None = None
    placed: "ModuleProxy | None" = None
    settings: Any = None
    secrets: tuple[str, ...] = field(default=(), repr=False)
    written_secrets: tuple[str, ...] = field(default=(), repr=False)
    block_model: type[BaseModel] | None = None
    rivals: tuple["Found", ...] = ()
    failure: BaseException | None = None
    reload_error: str = ""
    fingerprint: str = ""
    is_change_known: bool = False
    refresh_pace: Pace = field(default_factory=lambda: Pace(REFRESHES_AT_ONCE, REFRESH_INTERVAL_SECONDS))
    is_refresh_due: bool = False
    source_dirs: tuple[str, ...] = ()
    ready_order: int = 0
    started_ms: float = 0.0
    ready_at_ms: int = 0
    before: "Surroundings | None" = None
    after: "Surroundings | None" = None
    left_behind: list[str] = field(default_factory=list)
    loop_holds: LoopBlockages = field(default_factory=LoopBlockages)
    calls: set[str] = field(default_factory=set)
    undo: list[Callable[[], None]] = field(default_factory=list)

    @property
    def reviewed_as(self) -> str:
        """The name under which the user reviews its definitions: one for all hosts of a pool."""
        return name_for_people(self.name)

    @property
    def is_foreign(self) -> bool:
        """True if its definitions come from outside: from a foreign machine, or a mounted server."""
        return bool(self.host) or self.manifest.definitions_need_review

    @property
    def instructions_to_review(self) -> str:
        """The instructions that the user must review before models get them: for a foreign machine, all of its
        module."""
        return (
            merged_instructions(self.manifest.instructions, self.offered_instructions)
            if self.host
            else self.offered_instructions
        )

    @property
    def instructions_for_models(self) -> str:
        """The instructions that models get: none of a foreign machine that the user has not reviewed."""
        return self.instructions if self.host else merged_instructions(self.manifest.instructions, self.instructions)

    def mask_secrets(self, secrets: tuple[str, ...]) -> None:
        """Mask secrets that it was given in its texts, until it stops."""
        self.secrets += secrets
        self.undo.append(register_masked_values(secrets))

    def mask_written(self, secrets: tuple[str, ...]) -> None:
        """Mask secrets that its settings contain directly; `secrets` has only those that are stored elsewhere."""
        self.written_secrets += secrets
        self.undo.append(register_masked_values(secrets))

    def list_problems(self) -> list[str]:
        """List what is wrong with it although it runs, one sentence each."""
        held = self.loop_holds.describe_problem()
        first = [self.reload_error] if self.reload_error else []
        if self.instructions_to_review != self.instructions:
            first.append("you have not seen its instructions for models as they are now, so they wait")
        if self.withheld:
            names = [tool.definition.name for tool in self.withheld]
            more = f" and {len(names) - _NAMES_SAID} more" if len(names) > _NAMES_SAID else ""
            first.append(
                f"you have not seen these tools as they are now, so they wait: {', '.join(names[:_NAMES_SAID])}{more}"
            )
        left = [f"when it was stopped it left {what}" for what in self.left_behind]
        return [*first, *self.tool_errors, *self.conflicts, *([held] if held else []), *left]

    def problems_of_models(self) -> list[str]:
        """List what models cannot do with its tools, one sentence each, except limits of `strict` only."""
        return [
            f"tool {tool.definition.name!r}: {fault} ({FORMS[form].label})"
            for tool in self.tools
            for form, fault in check_tool(tool.definition.name, tool.definition.description, tool.schema, _CHECKED)
        ]

    @property
    def distribution(self) -> str:
        """The distribution that brought it; empty for a local module."""
        return self.origin.get("distribution", "")


def merged_instructions(declared: str, current: str) -> str:
    """Return the instructions of a module: those of its class, then those that it set while running."""
    return "\n\n".join(filter(None, (declared, current)))
