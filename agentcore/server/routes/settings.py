"""Settings of app.json and of modules: what they are, where each value comes from, and changing them."""

import asyncio
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from agentcore.api.errors import ToolError
from agentcore.host.config_error import ConfigChangedError, ConfigError, ConfigProblem
from agentcore.host.config_model import ApprovalsConfig
from agentcore.host.config_origins import Origin
from agentcore.host.encoding import to_json
from agentcore.host.json_source import JsonPath
from agentcore.host.policy_changes import Proposal
from agentcore.host.settings_change import SettingChange, SettingsPlan, plan_changes, policy_paths
from agentcore.host.settings_document import SettingsDocument, SettingsSubject
from agentcore.host.settings_effect import waits_for_reload, waits_for_restart
from agentcore.host.settings_shown import diff_of, pointer, shown
from agentcore.server.answer import Answer
from agentcore.server.confirmation import laid_before_person, needs_confirmation
from agentcore.server.exchange import Exchange
from agentcore.server.refusal import Refusal
from agentcore.server.route_table import ServerRoute
from agentcore.store.call_row import notice

_CHANGES = 200
_POINTER = r"^(/([^~/]|~[01])*)+$"


class OriginView(BaseModel, defer_build=True, alias_generator=to_camel, populate_by_name=True):
    """Where a value comes from: a place in a file, or an environment variable, which no file can overrule."""

    kind: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    variable: str | None = None
    is_read_only: bool = False


class ProblemView(BaseModel, defer_build=True):
    """What is wrong with the settings, and where it says so."""

    path: str
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    variable: str | None = None


class DiffView(BaseModel, defer_build=True):
    """What changes in one file: a unified diff in which secrets are masked."""

    file: str
    text: str


class SettingsView(BaseModel, defer_build=True, alias_generator=to_camel, populate_by_name=True):
    """Settings as a form needs them. Places in them are JSON Pointers; what is not in `origins` is a default.

    `withheld` names values that are set and not shown, because they are secrets or might be; `policy` names what says
    what is allowed: who may change it from here may have to have that confirmed in the approval view, as
    `policyIsConfirmed` says, and what is not confirmed yet is in `waitsForConfirmation`. `waitsForRestart` names what
    was saved and does not count until the next start.
    `schema` is null for a module whose code was not loaded.
    """

    module: str | None
    files: list[str]
    digest: str
    schema_: Annotated[dict[str, Any] | None, Field(alias="schema")]
    values: dict[str, Any]
    withheld: list[str]
    origins: dict[str, OriginView]
    problems: list[ProblemView]
    policy: list[str]
    may_change_policy: bool
    policy_is_confirmed: bool
    waits_for_confirmation: list[str]
    waits_for_restart: list[str]
    waits_for_reload: bool


class ChangeView(BaseModel, defer_build=True, alias_generator=to_camel, populate_by_name=True):
    """What would change in the files, and what would be wrong still; and whether a person has to confirm it first."""

    diff: list[DiffView]
    problems: list[ProblemView]
    needs_confirmation: bool


class ChangeEntry(BaseModel, defer_build=True):
    """One setting: its new value, or `remove` to go back to what counts without it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: Annotated[str, Field(pattern=_POINTER, max_length=1000)]
    value: Any = None
    remove: bool = False

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.remove == ("value" in self.model_fields_set):
            raise ValueError("give either a value or remove")
        return self

    def change(self) -> SettingChange:
        """The change for the host."""
        steps = (step.replace("~1", "/").replace("~0", "~") for step in self.path.split("/")[1:])
        return SettingChange(tuple(steps), self.value, self.remove)


class ChangeBody(BaseModel, defer_build=True):
    """Changes to settings; `expected` is the digest of the settings that were looked at."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    expected: Annotated[str, Field(max_length=64)]
    changes: Annotated[list[ChangeEntry], Field(min_length=1, max_length=_CHANGES)]


class ChangeQuery(BaseModel, defer_build=True):
    """`preview=diff` shows what would change and writes nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    preview: Literal["diff"] | None = None


async def get_settings(exchange: Exchange) -> Answer:
    """Send the settings of the server, or of the module in the path."""
    return await _show(exchange, await _read(exchange))


async def change_settings(exchange: Exchange) -> Answer:
    """Change settings in the files that win, or show what that would do."""
    document = await _read(exchange)
    body: ChangeBody = exchange.body
    if body.expected != document.digest:
        raise ToolError(
            "config_changed", "the files changed since they were read; read the settings again", digest=document.digest
        )
    changes = [entry.change() for entry in body.changes]
    policy = policy_paths(document, changes)
    must_wait = bool(policy) and needs_confirmation(exchange)
    try:
        plan = await asyncio.to_thread(plan_changes, document, changes, may_change_policy=True)
        if exchange.query.preview is not None:
            return Answer(to_json(await asyncio.to_thread(_preview, plan, needs_confirmation=must_wait)))
        if must_wait:
            proposal = await asyncio.to_thread(_proposal, plan, changes)
            raise laid_before_person(exchange, proposal, partial(_save, exchange, plan, changes))
    except ConfigError as exc:
        raise _not_written(exc) from exc
    return await _show(exchange, await _save(exchange, plan, changes))


async def _save(exchange: Exchange, plan: SettingsPlan, changes: list[SettingChange]) -> SettingsDocument:
    """Write exactly what was planned; a file that another program changed meanwhile stays as it is."""
    try:
        saved = await asyncio.to_thread(plan.write)
    except ConfigError as exc:
        raise _not_written(exc) from exc
    if saved.subject.module is None and any(change.path[0] == "approvals" for change in changes):
        exchange.host.apply_approvals(ApprovalsConfig.model_validate(saved.values.get("approvals", {})))
    _tell(exchange, saved, changes)
    return saved


def _proposal(plan: SettingsPlan, changes: list[SettingChange]) -> Proposal:
    return Proposal(
        "settings",
        _subject_name(plan.before),
        tuple(pointer(change.path) for change in changes),
        tuple((str(file.path), text) for file, text in diff_of(plan.before, plan.after)),
    )


def _subject_name(document: SettingsDocument) -> str:
    return document.subject.module or document.app.path.name


async def _read(exchange: Exchange) -> SettingsDocument:
    subject = _subject(exchange)
    try:
        return await asyncio.to_thread(subject.read)
    except ConfigError as exc:
        raise Refusal(
            HTTPStatus.CONFLICT,
            "config_invalid",
            f"{exc}; mend the file and try again",
            problems=[_problem(problem).model_dump() for problem in exc.problems],
        ) from exc


def _subject(exchange: Exchange) -> SettingsSubject:
    name = exchange.path_values.get("name")
    if name is None:
        return SettingsSubject.of_app(exchange.host.config)
    return SettingsSubject.of_module(exchange.host.config, exchange.host.modules.get(name))


async def _show(exchange: Exchange, document: SettingsDocument) -> Answer:
    return Answer(to_json(await asyncio.to_thread(_view, exchange, document)))


def _view(exchange: Exchange, document: SettingsDocument) -> SettingsView:
    visible, schema, module = shown(document), document.subject.schema, document.subject.module
    confirms = _confirms_policy(exchange)
    return SettingsView(
        module=module,
        files=[str(file.path) for file in document.files],
        digest=document.digest,
        schema_=None if schema is None else schema.root,
        values=visible.values,
        withheld=[pointer(path) for path in visible.withheld],
        origins={
            pointer(path): _origin(origin)
            for path, origin in document.origins.items()
            if path and not any(path[: len(hidden)] == hidden and path != hidden for hidden in visible.withheld)
        },
        problems=[_problem(problem) for problem in document.problems],
        policy=[] if schema is None else [pointer(path) for path in schema.declared() if schema.is_policy(path)],
        may_change_policy=confirms is not None,
        policy_is_confirmed=confirms is True,
        waits_for_confirmation=[
            path
            for change in exchange.host.policy_changes.waiting
            if (change.proposal.kind, change.proposal.subject) == ("settings", _subject_name(document))
            for path in change.proposal.paths
        ],
        waits_for_restart=[] if module is not None else [pointer(path) for path in waits_for_restart(document)],
        waits_for_reload=module is not None and waits_for_reload(document, exchange.host.modules.get(module)),
    )


def _preview(plan: SettingsPlan, *, needs_confirmation: bool) -> ChangeView:
    return ChangeView(
        diff=[DiffView(file=str(file.path), text=text) for file, text in diff_of(plan.before, plan.after)],
        problems=[_problem(problem) for problem in plan.after.problems],
        needs_confirmation=needs_confirmation,
    )


def _tell(exchange: Exchange, saved: SettingsDocument, changes: list[SettingChange]) -> None:
    """Note who changed what, never to which value, and tell open pages."""
    module, paths = saved.subject.module, [pointer(change.path) for change in changes]
    row = notice("settings_changed", module=module, paths=paths)
    principal = exchange.principal
    exchange.host.store.record.append(
        row._replace(module=module or "", principal_kind=principal.kind, principal_id=principal.id)
    )
    exchange.host.events.publish("settings.changed", {"module": module, "paths": paths})


def _confirms_policy(exchange: Exchange) -> bool | None:
    """Whether who asks has to have changes of the policy confirmed; None: they cannot change it at all."""
    try:
        return needs_confirmation(exchange)
    except ToolError:
        return None


def _not_written(error: ConfigError) -> Refusal:
    kind = "config_changed" if isinstance(error, ConfigChangedError) else "config_not_written"
    return Refusal(HTTPStatus.CONFLICT, kind, str(error), retryable=True)


def _origin(origin: Origin) -> OriginView:
    return OriginView(
        kind=origin.kind,
        file=None if origin.file is None else str(origin.file),
        line=origin.line,
        column=origin.column,
        variable=origin.variable,
        is_read_only=origin.is_read_only,
    )


def _problem(problem: ConfigProblem) -> ProblemView:
    path: JsonPath = problem.path
    return ProblemView(
        path=pointer(path),
        message=problem.message,
        file=None if problem.file is None else str(problem.file),
        line=problem.line,
        column=problem.column,
        variable=problem.variable,
    )


def _change_route(path: str, summary: str) -> ServerRoute:
    return ServerRoute(
        "PUT",
        path,
        change_settings,
        f"{summary} With `preview=diff` nothing is written, and the answer is the diff. What says what "
        "is allowed waits for a person, in the approval view: the answer is `confirmation_required`.",
        action="change_settings",
        query=ChangeQuery,
        body=ChangeBody,
        answer=SettingsView,
    )


_MODULE = "/api/settings/modules/{name}"

ROUTES = (
    ServerRoute(
        "GET", "/api/settings", get_settings, "What app.json says, with the origin of each value.", answer=SettingsView
    ),
    _change_route(
        "/api/settings",
        "Change settings of app.json; those of `approvals` count at once, the others from the next start on.",
    ),
    ServerRoute("GET", _MODULE, get_settings, "The settings of a module that is listed.", answer=SettingsView),
    _change_route(_MODULE, "Change settings of a module; they count once it is reloaded."),
)
