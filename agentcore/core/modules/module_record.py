"""The core's record of one module: a state machine, which alone changes what is recorded.

Everything else reports what has happened: `record.mark_ready(…)`, `record.fail(…)`, `record.release()`. What a module
has only for a part of its life is in one dataclass, and goes away as a whole.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel

from agentcore.api import ToolDefinition, WebComponent
from agentcore.api.report import ReadReport
from agentcore.core.declarations.hosted_names import name_for_people
from agentcore.core.declarations.manifest import Manifest
from agentcore.core.declarations.module_login import ModuleLogin
from agentcore.core.declarations.module_requirement import ModuleRequirement
from agentcore.late_dataclasses import dataclass
from agentcore.limits import REFRESH_INTERVAL_SECONDS, REFRESHES_AT_ONCE
from agentcore.rate_limit import Pace
from agentcore.secrets import register_masked_values
from agentcore.tool_formats.check import check_tool
from agentcore.tool_formats.formats import FORMS, FormName, LoweredSchema

if TYPE_CHECKING:
    from agentcore.core.discovery.source_search import Found
    from agentcore.core.modules.host_protocols import ModuleProxy
    from agentcore.core.modules.leftovers import RunPeriod, Surroundings
    from agentcore.core.modules.validation import CheckResult, Validate

ModuleState = Literal["missing", "loading", "ready", "failed", "stopping", "stopped"]
ToolFormat = Literal["agentcore"] | FormName

_TRANSITIONS: Mapping[ModuleState, frozenset[ModuleState]] = {
    "loading": frozenset(("ready", "failed", "missing")),
    "ready": frozenset(("stopping", "failed")),
    "stopping": frozenset(("stopped",)),
    # its host can end after it has failed, which is another reason
    "failed": frozenset(("failed", "stopped")),
    "missing": frozenset(("stopped",)),
    "stopped": frozenset(),
}
"""The states that can follow each state. A module that starts again has a new record."""

_CHECKED: tuple[FormName, ...] = ("openai", "anthropic", "gemini")
"""The forms whose problems the author can fix; problems in other forms occur in these as well."""

_HOLD_SHOWN_SECONDS = 1.0
_NAMES_SAID = 10


class WrongTransitionError(RuntimeError):
    """A module cannot do this in its state: a defect of the core."""


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
        source_dirs: Folders of its code, to name it when that code blocks the event loop.
    """

    target: Any
    origin: Mapping[str, str]
    fingerprint: str
    source_dirs: tuple[str, ...]


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


# -- what belongs to a state -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Loading:
    """Its start has not ended.

    Args:
        is_prepared: True once everything before its `init` was done.
        failure: Why it could not be prepared, beside the running version; its start fails with it.
    """

    is_prepared: bool = False
    failure: BaseException | None = None
    name: ModuleState = "loading"


@dataclass(frozen=True, slots=True)
class Ready:
    """It runs.

    Args:
        order: Counts the modules that became ready; 0 for modules of foreign machines, which stop on their own.
        started_ms: How long its start took.
        at_ms: When it became ready, in milliseconds since 1970.
    """

    order: int
    started_ms: float
    at_ms: int
    name: ModuleState = "ready"


@dataclass(frozen=True, slots=True)
class Stopping:
    """It is being stopped."""

    name: ModuleState = "stopping"


@dataclass(frozen=True, slots=True)
class Ended:
    """It does not run.

    Args:
        name: `missing`, `failed` or `stopped`.
        reason: Why, in a sentence; empty if it was simply stopped.
        traceback: The end of the traceback of its failure, if there was one.
        output: The end of what the program wrote whose failure it was, if it was one.
    """

    name: ModuleState
    reason: str = ""
    traceback: str = ""
    output: str = ""


@dataclass(frozen=True, slots=True)
class ModuleSource:
    """The source of a module's code.

    Args:
        origin: Its origin: distribution, version, file.
        found: Its code on disk; None if it was passed as an object, or runs on a foreign machine.
        fingerprint: The digest of its code when it was loaded.
        loaded: That code, imported here.
        rivals: The other sources of its name, which were not chosen.
    """

    origin: Mapping[str, str] = field(default_factory=dict)
    found: "Found | None" = None
    fingerprint: str = ""
    loaded: LoadedCode | None = None
    rivals: tuple["Found", ...] = ()


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """A module's settings, as far as they were read.

    Args:
        values: An object of its model, or a dict; None before they were read.
        secrets: The values of its references that must not be shown.
        written_secrets: The secrets that its settings contain directly.
        block_model: The model of a family's block; None: there is none, or it is not known.
    """

    values: Any = None
    secrets: tuple[str, ...] = field(default=(), repr=False)
    written_secrets: tuple[str, ...] = field(default=(), repr=False)
    block_model: type[BaseModel] | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools and instructions of a module, as last read.

    Args:
        tools: Its tools, including those whose name another module has.
        withheld: Those that wait for the user's review.
        errors: Definitions that are not valid, one sentence each.
        session_claims: Tools of a foreign module that claim to affect only their session, which is not trusted.
        instructions: The instructions that it set while running, unless they wait for the user's review.
    """

    tools: Sequence[RegisteredTool] = ()
    withheld: Sequence[RegisteredTool] = ()
    errors: Sequence[str] = ()
    session_claims: frozenset[str] = frozenset()
    instructions: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why a module cannot work although it runs; see `Runtime.set_waiting`.

    Args:
        reason: `login`, `network`, `program` or `retry`.
        said: A sentence.
        output: The end of what a program wrote whose failure it was, if it was one.
        retry_at_ms: When it is tried again, in milliseconds since 1970; None: that is not known.
    """

    reason: str
    said: str
    output: str = ""
    retry_at_ms: int | None = None


class ChatStart(NamedTuple):
    """A text that a module gives to the model of a new chat.

    Args:
        tool: Only models that may call this tool of the module get it.
        text: The text.
        untrusted: More text, which content from outside may have caused.
    """

    tool: str
    text: str
    untrusted: str


@dataclass(slots=True)
class Registered:
    """Everything that a module registers while it runs. Not frozen: its threads may register something at any time.

    Args:
        instructions: Instructions for models.
        report: Returns its current status; None: it has no report.
        login: Its login for the user; None: there is none.
        waiting: Why it cannot work now; None: it works.
        chat_starts: What models are told when a chat begins, by tool.
    """

    instructions: str = ""
    report: ReadReport | None = None
    login: ModuleLogin | None = None
    waiting: Waiting | None = None
    chat_starts: dict[str, ChatStart] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Live:
    """What a module has from the reading of its declarations to its release.

    Args:
        placed: Its proxy, while it runs in a host; None: it runs in this process.
        hooks: Hook name to implementation.
        runtime: What was passed to its `init`.
        offer: What it offers to models.
        component: Its component in the page.
        registered: What it has registered by itself.
    """

    placed: "ModuleProxy | None" = None
    hooks: Mapping[str, Any] = field(default_factory=dict)
    runtime: Any = None
    offer: Offer = field(default_factory=Offer)
    component: WebComponent | None = None
    registered: Registered = field(default_factory=Registered)


@dataclass(frozen=True, slots=True)
class FailedReload:
    """Why the code on disk did not replace the running code.

    Args:
        reason: A sentence.
        traceback: The end of the traceback, if there was one.
        output: The end of what the program wrote whose failure it was, if it was one.
    """

    reason: str
    traceback: str
    output: str


# -- the record ------------------------------------------------------------------------------------------------


class ModuleRecord:
    """A module that is listed, or was: one start of it, to its end.

    Args:
        name: Its name at the server: `shell_tools`, or `laptop/shell_tools` if it runs on a foreign machine.
        host: The foreign machine that has it; empty: it is the server's own, in whichever process.
        source: Its source, if that is known before it starts.
    Attributes:
        notes: Its diagnostics: subject to finding and advice.
        requirements: What it needs on the machine, by name; remain when it fails, because installing one may help.
        undo: Functions to call when it is released: routes, subscriptions.
        calls: The ids of its running calls.
        loop_holds: When its code has blocked the event loop.
        refresh_pace: Limits how often its tools are read again.
    """

    def __init__(self, name: str, host: str = "", source: ModuleSource | None = None) -> None:
        self.name = name
        self.host = host
        self.notes: dict[str, tuple[str, str]] = {}
        self.requirements: dict[str, ModuleRequirement] = {}
        self.undo: list[Callable[[], None]] = []
        self.calls: set[str] = set()
        self.loop_holds = LoopBlockages()
        self.refresh_pace = Pace(REFRESHES_AT_ONCE, REFRESH_INTERVAL_SECONDS)
        self._state: Loading | Ready | Stopping | Ended = Loading()
        self._source = source or ModuleSource()
        self._settings = ReadSettings()
        self._plugin: Any = None
        self._manifest = Manifest()
        self._live = Live()
        self._period: RunPeriod | None = None
        self._conflicts: tuple[str, ...] = ()
        self._left_behind: tuple[str, ...] = ()
        self._failed_reload: FailedReload | None = None
        self._is_change_known = False
        self._on_change: Callable[[ModuleRecord], None] = _ignore_change

    def __repr__(self) -> str:
        return f"<ModuleRecord {self.name!r}: {self.state}>"

    # -- its state ---------------------------------------------------------------------------------------------

    @property
    def state(self) -> ModuleState:
        """Its state, as clients see it."""
        return self._state.name

    @property
    def reason(self) -> str:
        """Why it is `missing` or `failed`, in a sentence."""
        return self._state.reason if isinstance(self._state, Ended) else ""

    @property
    def ready(self) -> Ready | None:
        """Its start, while it runs; None: it does not run, or not any more."""
        return self._state if isinstance(self._state, Ready) else None

    @property
    def traceback(self) -> str:
        """The end of the traceback of its last failure: of a reload, else of its start; empty: there was none."""
        return self._failed_traceback if self._failed_reload is None else self._failed_reload.traceback

    @property
    def output(self) -> str:
        """The end of what the program wrote whose failure was its last one; empty: it was none of a program."""
        if self.waiting is not None:
            return self.waiting.output
        return self._failed_output if self._failed_reload is None else self._failed_reload.output

    @property
    def reload_error(self) -> str:
        """Why the code on disk did not replace the running code; empty: it did."""
        return "" if self._failed_reload is None else self._failed_reload.reason

    def mark_ready(self, order: int, started_ms: float, at_ms: int) -> None:
        """Its start has succeeded; see `Ready`."""
        self._change_state(Ready(order, started_ms, at_ms))

    def mark_missing(self, reason: str) -> None:
        """There is no code of this name."""
        self._change_state(Ended("missing", reason))

    def fail(self, reason: str, traceback: str = "", output: str = "") -> None:
        """Its start has failed, or its host has ended."""
        self._change_state(Ended("failed", reason, traceback or self._failed_traceback, output or self._failed_output))

    def wait_for_choice(self, reason: str, candidates: tuple["Found", ...]) -> None:
        """Its start has failed because the user has to choose its source first."""
        self.find_rivals(candidates)
        self._change_state(Ended("failed", reason))

    def mark_stopping(self) -> None:
        """It is being stopped; its running calls are ended."""
        self._change_state(Stopping())

    def mark_stopped(self, reason: str = "") -> None:
        """It was stopped, or switched off after it had failed.

        Args:
            reason: Why it is not served although it runs on; empty: it does not.
        """
        self._change_state(Ended("stopped", reason, self._failed_traceback, self._failed_output))

    @property
    def _failed_traceback(self) -> str:
        return self._state.traceback if isinstance(self._state, Ended) else ""

    @property
    def _failed_output(self) -> str:
        return self._state.output if isinstance(self._state, Ended) else ""

    def watch(self, on_change: Callable[["ModuleRecord"], None]) -> None:
        """Call this from now on whenever it becomes something else, or is not reloaded."""
        self._on_change = on_change

    def _change_state(self, state: Loading | Ready | Stopping | Ended) -> None:
        if state.name not in _TRANSITIONS[self.state]:
            raise WrongTransitionError(f"module {self.name!r} is {self.state}, and cannot become {state.name}")
        self._state = state
        self._on_change(self)

    def _require_state(self, *states: ModuleState) -> None:
        if self.state not in states:
            raise WrongTransitionError(f"module {self.name!r} is {self.state}, and not {' or '.join(states)}")

    # -- its start ---------------------------------------------------------------------------------------------

    def replace_former(self, former: "ModuleRecord") -> None:
        """It starts in place of an earlier record of its name, whose leftovers may still be there."""
        self._left_behind = tuple(former.left_behind)

    def begin_preparation(self, period: "RunPeriod") -> None:
        """Its code is about to be searched for and imported: from here on, it may leave something behind."""
        self._require_state("loading")
        self._period = period

    def mark_prepared(self) -> None:
        """Everything before its `init` was done."""
        self._require_state("loading")
        self._state = Loading(is_prepared=True)

    def fail_preparation(self, failure: BaseException) -> None:
        """It could not be prepared beside the running version; if it is started nevertheless, this is why it fails."""
        self._require_state("loading")
        self._state = Loading(failure=failure)

    @property
    def preparation_failure(self) -> BaseException | None:
        """Why it could not be prepared beside the running version; None: it could, or was not tried."""
        return self._state.failure if isinstance(self._state, Loading) else None

    def must_be_prepared(self) -> bool:
        """True unless it was prepared beside the running version.

        Raises:
            BaseException: The reason why that failed.
        """
        self._require_state("loading")
        if self.preparation_failure is not None:
            raise self.preparation_failure
        return not (isinstance(self._state, Loading) and self._state.is_prepared)

    def copy_source(self, *, with_settings: bool = False) -> "ModuleRecord":
        """Create a record that starts again from the code that ran, as it is in memory.

        Args:
            with_settings: True to use the same settings; else they are read again.
        """
        record = ModuleRecord(self.name, source=self._source)
        if with_settings:
            record.use_settings(self.settings)
            record.mask_secrets(self.secrets)
            record.mask_written(self.written_secrets)
        return record

    # -- its source --------------------------------------------------------------------------------------------

    @property
    def found(self) -> "Found | None":
        """Its code on disk; see `ModuleSource`."""
        return self._source.found

    @property
    def loaded(self) -> LoadedCode | None:
        """Its code, imported here; see `ModuleSource`."""
        return self._source.loaded

    @property
    def origin(self) -> Mapping[str, str]:
        """Its origin: distribution, version, file."""
        return self._source.origin

    @property
    def distribution(self) -> str:
        """The distribution that brought it; empty for a local module."""
        return self._source.origin.get("distribution", "")

    @property
    def fingerprint(self) -> str:
        """The digest of its code when it was loaded."""
        return self._source.fingerprint

    @property
    def rivals(self) -> tuple["Found", ...]:
        """The other sources of its name, which were not chosen."""
        return self._source.rivals

    @property
    def source_dirs(self) -> tuple[str, ...]:
        """Folders of its code, to name it when that code blocks the event loop."""
        return () if self._source.loaded is None else self._source.loaded.source_dirs

    def find_source(self, found: "Found", origin: Mapping[str, str]) -> None:
        """Its code was found on the disk."""
        self._require_state("loading")
        self._source = replace(self._source, found=found, origin=origin)

    def identify_code(self, fingerprint: str) -> None:
        """The code on the disk, which its host is to load, has this digest."""
        self._require_state("loading")
        self._source = replace(self._source, fingerprint=fingerprint)

    def find_rivals(self, rivals: tuple["Found", ...]) -> None:
        """There are these other sources of its name."""
        self._source = replace(self._source, rivals=rivals)

    def load_code(self, code: LoadedCode) -> None:
        """Its code was imported in this process."""
        self._require_state("loading")
        self._source = replace(self._source, loaded=code, origin=code.origin, fingerprint=code.fingerprint)

    def load_in_host(self, proxy: "ModuleProxy") -> None:
        """Its code was imported in a host, which may have other code than was found here."""
        self._require_state("loading")
        self._source = replace(self._source, fingerprint=proxy.fingerprint)
        self._live = Live(placed=proxy)

    def use_loaded_version(self, version: str) -> None:
        """It runs with code of its distribution that was loaded before, of this version."""
        self._source = replace(self._source, origin={**self._source.origin, "version": version})

    def notice_change(self) -> bool:
        """The code on disk has changed; True if that was not known."""
        is_new = not self._is_change_known
        self._is_change_known = True
        return is_new

    def reject_reload(self, reason: str, traceback: str, output: str = "") -> None:
        """The code on disk was not loaded, or did not start: this code continues, or has failed as well."""
        self._failed_reload = FailedReload(reason, traceback, output)
        self._on_change(self)

    # -- its declarations and settings -------------------------------------------------------------------------

    @property
    def plugin(self) -> Any:
        """The object that implements its hooks; None before it was created."""
        return self._plugin

    @property
    def manifest(self) -> Manifest:
        """Its declarations; empty before they were read."""
        return self._manifest

    @property
    def has_outside_definitions(self) -> bool:
        """True if its definitions come from outside: from a foreign machine, or a mounted server."""
        return bool(self.host) or self.manifest.definitions_need_review

    @property
    def settings(self) -> Any:
        """Its settings: an object of its model, or a dict; None before they were read."""
        return self._settings.values

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values of the references in its settings."""
        return self._settings.secrets

    @property
    def written_secrets(self) -> tuple[str, ...]:
        """The secrets that its settings contain directly."""
        return self._settings.written_secrets

    @property
    def block_model(self) -> type[BaseModel] | None:
        """The model of a family's block; None: there is none, or it is not known."""
        return self._settings.block_model

    def adopt_plugin(self, plugin: Any) -> None:
        """The object that implements its hooks was created."""
        self._require_state("loading")
        self._plugin = plugin

    def declare(self, manifest: Manifest) -> None:
        """Its declarations were read."""
        self._require_state("loading")
        self._manifest = manifest
        self._live = replace(self._live, hooks=manifest.hooks)

    def use_block_model(self, model: type[BaseModel] | None) -> None:
        """The model of its family's blocks is known."""
        self._settings = replace(self._settings, block_model=model)

    def use_settings(self, values: Any) -> None:
        """Its settings were read, and are valid."""
        self._require_state("loading")
        self._settings = replace(self._settings, values=values)

    def mask_secrets(self, secrets: tuple[str, ...]) -> None:
        """Mask secrets that it was given in its texts, until it stops."""
        self._settings = replace(self._settings, secrets=self.secrets + secrets)
        self.undo.append(register_masked_values(secrets))

    def mask_written(self, secrets: tuple[str, ...]) -> None:
        """Mask secrets that its settings contain directly; `secrets` has only those that are stored elsewhere."""
        self._settings = replace(self._settings, written_secrets=self.written_secrets + secrets)
        self.undo.append(register_masked_values(secrets))

    # -- while it runs -----------------------------------------------------------------------------------------

    @property
    def placed(self) -> "ModuleProxy | None":
        """Its proxy, while it runs in a host; None: it runs in this process."""
        return self._live.placed

    @property
    def hooks(self) -> Mapping[str, Any]:
        """Hook name to implementation, until it is released."""
        return self._live.hooks

    @property
    def runtime(self) -> Any:
        """What its `init` was called with, until it is released."""
        return self._live.runtime

    @property
    def component(self) -> WebComponent | None:
        """Its component in the page, until it is released."""
        return self._live.component

    @property
    def report(self) -> ReadReport | None:
        """Returns its current status; None: it has no report."""
        return self._live.registered.report

    @property
    def login(self) -> ModuleLogin | None:
        """Its login for the user; None: there is none."""
        return self._live.registered.login

    @property
    def waiting(self) -> Waiting | None:
        """Why it cannot work although it runs; None: it works, or does not run."""
        return self._live.registered.waiting

    def begin_init(self, runtime: Any) -> None:
        """Its `init` is about to be called with this."""
        self._require_state("loading")
        self._live = replace(self._live, runtime=runtime)

    def show_component(self, component: WebComponent | None) -> None:
        """Its component was read."""
        self._require_state("loading")
        self._live = replace(self._live, component=component)

    def set_report_reader(self, read: ReadReport) -> None:
        """It reports its status from now on."""
        self._live.registered.report = read

    def offer_login(self, login: ModuleLogin) -> None:
        """The user can log in to what it uses."""
        self._live.registered.login = login

    def set_waiting(self, waiting: Waiting | None) -> None:
        """It cannot work until something else has happened, or works again."""
        if waiting != self.waiting:
            self._live.registered.waiting = waiting
            self._on_change(self)

    def add_note(self, subject: str, finding: str, advice: str) -> None:
        """Set its diagnostic about a subject."""
        self.notes[subject] = (finding, advice)

    def count_blocked(self, seconds: float, tool: str, place: str) -> None:
        """Its code has blocked the event loop; see `LoopBlockages`."""
        self.loop_holds.add(seconds, tool, place)

    def begin_call(self, call_id: str) -> None:
        """It is about to be entered: stopping it from now on ends this call first."""
        self.calls.add(call_id)

    def end_call(self, call_id: str) -> bool:
        """A call has ended; True if it had begun here."""
        has_begun = call_id in self.calls
        self.calls.discard(call_id)
        return has_begun

    # -- what it offers to models ------------------------------------------------------------------------------

    @property
    def tools(self) -> Sequence[RegisteredTool]:
        """Its tools, including those whose name another module has."""
        return self._live.offer.tools

    @property
    def withheld(self) -> Sequence[RegisteredTool]:
        """Those of its tools that wait for the user's review."""
        return self._live.offer.withheld

    @property
    def tool_errors(self) -> Sequence[str]:
        """Definitions that are not valid, one sentence each."""
        return self._live.offer.errors

    @property
    def session_claims(self) -> frozenset[str]:
        """Tools of a foreign module that claim to affect only their session, which is not trusted."""
        return self._live.offer.session_claims

    @property
    def conflicts(self) -> Sequence[str]:
        """Tools left out because another module has the name, one sentence each."""
        return self._conflicts

    @property
    def instructions(self) -> str:
        """The instructions for models, unless they wait for the user's review; see `instructions_for_models`."""
        return self._live.offer.instructions

    @property
    def offered_instructions(self) -> str:
        """Instructions for models that it set while running."""
        return self._live.registered.instructions

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

    @property
    def reviewed_as(self) -> str:
        """The name under which the user reviews its definitions: one for all hosts of a pool."""
        return name_for_people(self.name)

    def offer_instructions(self, text: str) -> None:
        """It has set instructions for models, which count once its offer is read again."""
        self._live.registered.instructions = text

    def set_chat_start(self, start: ChatStart) -> None:
        """It has set what models are told when a chat begins."""
        if start.text or start.untrusted:
            self._live.registered.chat_starts[start.tool] = start
        else:
            self._live.registered.chat_starts.pop(start.tool, None)

    @property
    def chat_starts(self) -> Sequence[ChatStart]:
        """What models are told when a chat begins; nothing of a module whose texts the user would have to review."""
        is_own = not self.host and not self.manifest.definitions_need_review
        return tuple(self._live.registered.chat_starts.values()) if is_own else ()

    def publish_offer(self, offer: Offer) -> None:
        """What it offers was read, and compared with what the user has reviewed."""
        self._require_state("loading", "ready")
        self._live = replace(self._live, offer=offer)

    def leave_out_tools(self, conflicts: Sequence[str]) -> None:
        """These of its tools were left out when the tools of all modules were merged."""
        self._conflicts = tuple(conflicts)

    # -- its end -----------------------------------------------------------------------------------------------

    @property
    def period(self) -> "RunPeriod | None":
        """When it ran, as far as it may have left something; None: it was not prepared yet."""
        return self._period

    @property
    def left_behind(self) -> Sequence[str]:
        """A short description of each object that it had not released when it was last stopped."""
        return self._left_behind

    def undo_registrations(self) -> None:
        """Undo what it was given and has registered, and drop its diagnostics."""
        for undo in self.undo:
            undo()
        self.undo.clear()
        self.notes.clear()

    def end_period(self, after: "Surroundings") -> None:
        """It was shut down, and this is the state of the process."""
        if self._period is not None:
            self._period = replace(self._period, after=after)

    def report_leftovers(self, left: Sequence[str]) -> None:
        """It was shut down, and had not released these."""
        self._left_behind = tuple(left)

    def release(self) -> None:
        """It was shut down: nothing of it can be called any more. Its invalid definitions stay listed."""
        self._require_state("loading", "stopping", "failed")
        self._live = Live(offer=Offer(errors=self.tool_errors))

    # -- its problems ------------------------------------------------------------------------------------------

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


def _ignore_change(record: ModuleRecord) -> None:
    """Do nothing: the record is not listed yet."""


def merged_instructions(declared: str, current: str) -> str:
    """Return the instructions of a module: those of its class, then those that it set while running."""
    return "\n\n".join(filter(None, (declared, current)))
