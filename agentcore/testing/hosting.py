"""The real core for tests of modules: real files, a real store, the one path of a call."""

import json
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, Protocol

import pydantic_core

from agentcore.api import Module, Principal, ToolDefinition, ToolResult
from agentcore.config.loading import AppConfig
from agentcore.config.workspace_roots import prepare_roots
from agentcore.core.approvals.request import ApprovalRequest, Verdict
from agentcore.core.calls.call import CallOutcome, CallRequest, ModelReader
from agentcore.core.core import Core
from agentcore.core.discovery.families import load_config
from agentcore.core.discovery.installed import installed_entries
from agentcore.core.modules.schema_compiling import Validate, compile_schema
from agentcore.hosts.hosts import Hosts
from agentcore.late_dataclasses import dataclass
from agentcore.store.state.state_dir import STATE_DIR_VARIABLE, StateDir
from agentcore.testing.events import EventLog

ModuleLike = Module | type[Module] | str
"""A module for a test: an object, its class, or the name of an installed one."""

Isolation = Literal["process", "server"]
"""Where the modules of a test run: in a process host, or in the server process, which is that of the test."""

ISOLATION_VARIABLE = "AGENTCORE_TEST_ISOLATION"
"""If set to `process`, all tests without an explicit isolation run their modules in a process host."""

_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
PERSON = Principal("cli")
"""The default caller: the user, whose own calls need no approval."""


class HostFactory(Protocol):
    """Starts cores; the value of the fixture `agentcore_host`."""

    async def __call__(
        self,
        modules: Sequence[ModuleLike] = (),
        *,
        config: Mapping[str, Any] | None = None,
        roots: Sequence[Path] = (),
        environ: Mapping[str, str] | None = None,
        is_failure_expected: bool = False,
        isolation: Isolation | None = None,
    ) -> "RunningHost":
        """Start a core, and stop it when the test ends.

        Args:
            modules: The modules to load.
            config: Further content of app.json, such as `{"config": {"weather": {"api_key": "x"}}}`.
            roots: Workspace roots; none: a new folder.
            environ: Environment variables that are settings.
            is_failure_expected: True if the test expects a module that fails to start.
            isolation: `process`: the modules run in a process host, as with app.json's `hosts`, which reveals wrong
                assumptions of a module. The class of a module that is not installed must be importable by its name.
                `hosts` in `config` overrides this. `server`: they run in this process. None: as set by
                `AGENTCORE_TEST_ISOLATION`, else in this process.
        Raises:
            ModuleNotReadyError: A module failed to start, with its traceback.
            ConfigError: `config` is not valid.
        """
        ...


class ModuleNotReadyError(AssertionError):
    """A module of a test failed to start; the message contains the reason and the traceback."""


@dataclass(frozen=True)
class HostPlan:
    """The configuration of a core for a test.

    Args:
        modules: The modules to load.
        config: Further content of app.json.
        roots: Workspace roots; none: a new folder.
        environ: Environment variables that are settings.
        is_failure_expected: True if the test expects a module that fails to start.
        accepts_definitions: True to accept definitions that need the user's review.
        isolation: Where the modules run.
    """

    modules: Sequence[ModuleLike] = ()
    config: Mapping[str, Any] | None = None
    roots: Sequence[Path] = ()
    environ: Mapping[str, str] | None = None
    is_failure_expected: bool = False
    accepts_definitions: bool = True
    isolation: Isolation | None = None

    @property
    def is_isolated(self) -> bool:
        """True if the modules run in a process host."""
        return (self.isolation or os.environ.get(ISOLATION_VARIABLE)) == "process"

    def create_local_modules(self) -> list[Module]:
        """The modules that are handed over as objects, each with its name; none where they run elsewhere."""
        return [] if self.is_isolated else self._create_modules()

    def _create_modules(self) -> list[Module]:
        return [_create_module(module) for module in self.modules if not isinstance(module, str)]

    def write_config(self, folder: Path) -> tuple[AppConfig, dict[str, str]]:
        """Write app.json into a folder, and load it.

        Returns:
            The configuration, and the environment with the path of the state folder.
        """
        listed = [module for module in self.modules if isinstance(module, str)]
        document: dict[str, Any] = {"modules": listed, **(self.config or {})}
        if self.roots:
            document["workspace"] = {**document.get("workspace", {}), "roots": [str(root) for root in self.roots]}
        if self.is_isolated:
            document["modules"] = listed = [
                *listed,
                *(_make_importable(module, folder) for module in self._create_modules()),
            ]
            if listed and "hosts" not in document:
                document["hosts"] = {"isolated": {"kind": "process", "modules": listed}}
        path = folder / "app.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        environ = {STATE_DIR_VARIABLE: str(folder / "state"), **(self.environ or {})}
        return load_config(path, environ), environ


class RunningHost:
    """A core with its modules started, and short methods for common tasks of tests.

    The result of a call is validated against the output schema of its tool, as clients see both; if it is invalid, the
    test fails.

    Attributes:
        host: The core itself.
        events: The events that it published since it started.
        workspace: The first workspace root.
        asked: Calls that needed approval, once `answer_approvals` was called.
    """

    def __init__(self, core: Core, workspace: Path) -> None:
        self.host = core
        self.workspace = workspace
        self.events = EventLog(core.events)
        self.asked: list[ApprovalRequest] = []
        self._schemas: dict[int, tuple[ToolDefinition, Validate]] = {}

    async def call(self, tool: str, /, **arguments: Any) -> ToolResult:
        """Call a tool as the user does.

        Raises:
            ToolError: The error that ended the call.
        """
        return (await self.outcome(tool, arguments)).unwrap()

    async def told(self, tool: str, /, **arguments: Any) -> ToolResult:
        """Call a tool, and return the part of its result that a model gets: no more text than its limit.

        Raises:
            ToolError: The error that ended the call.
        """
        request = CallRequest(tool, arguments, PERSON, reader=ModelReader())
        return (await self._carry_out(request)).unwrap()

    async def outcome(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        principal: Principal = PERSON,
        session_id: str | None = None,
        resource_id: str | None = None,
        timeout_ms: int | None = None,
    ) -> CallOutcome:
        """Call a tool as any principal; the outcome contains the result or the error, and returns the wire envelope."""
        request = CallRequest(tool, dict(arguments or {}), principal, session_id, resource_id, timeout_ms)
        return await self._carry_out(request)

    async def _carry_out(self, request: CallRequest) -> CallOutcome:
        outcome = await self.host.run_call(request)
        tool = self.host.registry.tools.get(request.tool)
        if outcome.ok and tool is not None and tool.definition.output_schema is not None:
            data = pydantic_core.from_json(outcome.encoded_data)
            if errors := self._get_validator(tool.definition)(data):
                raise AssertionError(f"data of {request.tool} are not as its output schema says: {errors}")
        return outcome

    def _get_validator(self, definition: ToolDefinition) -> Validate:
        if id(definition) not in self._schemas:
            assert definition.output_schema is not None  # noqa: S101 - the caller has looked
            # kept together: the id of a definition that is gone could be another's
            self._schemas[id(definition)] = (definition, compile_schema(definition.output_schema))
        return self._schemas[id(definition)][1]

    async def accept_definitions(self) -> None:
        """Accept, as the user does, all definitions that need a review; done once when the core starts."""
        changes = self.host.policy_changes
        while waiting := [change for change in changes.waiting if change.proposal.kind == "definitions"]:
            for change in waiting:
                await changes.decide_change(change.change_id, approved=True, by="test")

    def answer_approvals(self, *, approve: bool) -> None:
        """Approve or reject every call that needs approval from now on; `asked` stores them."""

        async def answer(request: ApprovalRequest) -> Verdict:
            self.asked.append(request)
            return Verdict(approve, "test")

        self.host.approvals.ask_at_terminal(answer)

    def problems(self) -> list[str]:
        """List what is wrong with modules and their definitions, one text each."""
        found: list[str] = []
        for record in self.host.modules.records.values():
            if record.state != "ready":
                found.append(f"module {record.name} is {record.state}: {record.reason}\n{record.traceback}".rstrip())
            elif record.waiting is not None and record.waiting.reason != "login":
                found.append(f"module {record.name} cannot work yet: {record.waiting.said}\n{record.output}".rstrip())
            found += [f"module {record.name}: {text}" for text in (*record.tool_errors, *record.conflicts)]
        return found


@asynccontextmanager
async def running_host(plan: HostPlan, folder: Path) -> AsyncIterator[RunningHost]:
    """Run a core whose app.json and state are in a folder.

    Raises:
        ModuleNotReadyError: A module failed to start, and that was not expected.
    """
    config, environ = plan.write_config(folder)
    roots = prepare_roots(config)
    with StateDir.open(config.file, roots, environ=environ) as state:
        async with Core.open(config, state, plan.create_local_modules(), places=Hosts(config)) as core:
            running = RunningHost(core, roots[0])
            if plan.accepts_definitions:
                await running.accept_definitions()
            if not plan.is_failure_expected and (problems := running.problems()):
                raise ModuleNotReadyError("\n".join(problems))
            yield running


def _create_module(module: Module | type[Module]) -> Module:
    """The module as an object that knows its name: its own, its entry point's, else its class's in snake_case."""
    made = module() if isinstance(module, type) else module
    if made.name is None:
        # the instance's, for the class may be registered under several names
        cls = type(made)
        in_snake_case = _CAPITAL.sub("_", cls.__name__.removesuffix("Module") or cls.__name__).lower()
        vars(made)["name"] = _entry_point_name(cls) or in_snake_case
    return made


def _make_importable(module: Module, folder: Path) -> str:
    """Return the name by which another process finds a module: its entry point's, else that of a local module created
    here."""
    cls = type(module)
    name = str(module.name)
    if _entry_point_name(cls) == name:
        return name
    local = folder / "modules" / f"{name}.py"
    local.parent.mkdir(exist_ok=True)
    local.write_text(
        f"import sys\nsys.path += [each for each in {sys.path!r} if each not in sys.path]\n"
        f"from {cls.__module__} import {cls.__name__} as Given\n\n\n"
        f"class {cls.__name__}(Given):\n    __doc__ = Given.__doc__\n    name = {name!r}\n",
        encoding="utf-8",
    )
    return name


def _entry_point_name(cls: type[Module]) -> str | None:
    """Return the name under which a class is installed; None: it is not."""
    package = cls.__module__.partition(".")[0]
    for name, entries in installed_entries().items():
        for entry in entries:
            module, _, attribute = entry.value.partition(":")
            if attribute.strip() == cls.__qualname__ and module.partition(".")[0] == package:
                return name
    return None
