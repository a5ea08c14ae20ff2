"""Settings as forms and the approval view show them: values and their origins, and the effect of a change."""

from dataclasses import asdict, replace
from http import HTTPStatus
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from agentcore.config.config_errors import ConfigChangedError, ConfigError, ConfigProblem
from agentcore.config.loading import AppConfig
from agentcore.core.approvals.policy_changes import Proposal
from agentcore.core.modules.modules import Modules
from agentcore.core.settings.display import diff_of, redact_settings, to_json_pointer
from agentcore.core.settings.settings_change import SettingsPlan
from agentcore.core.settings.settings_document import SettingsDocument, SettingsSubject
from agentcore.core.settings.unapplied_settings import waits_for_reload, waits_for_restart
from agentcore.errors import ToolError
from agentcore.server.body_models import WireModel
from agentcore.server.confirmation import needs_confirmation
from agentcore.server.exchange import Exchange
from agentcore.server.http.refusal import Refusal

_KINDS = ("settings", "settings_reload")

FileText = Annotated[str | None, BeforeValidator(lambda path: None if path is None else str(path))]
"""The path of a file, if there is one."""


class OriginView(WireModel, from_attributes=True):
    """Where a value comes from: a place in a file, or an environment variable, which no file can overrule."""

    kind: str
    file: FileText = None
    line: int | None = None
    column: int | None = None
    variable: str | None = None
    is_read_only: bool = False


class ProblemView(BaseModel, defer_build=True):
    """What is wrong with the settings, and where it says so."""

    path: str
    message: str
    file: FileText = None
    line: int | None = None
    column: int | None = None
    variable: str | None = None


class DiffView(BaseModel, defer_build=True):
    """What changes in one file: a unified diff in which secrets are masked."""

    file: str
    text: str


class SettingsView(WireModel):
    """Settings as a form needs them. Places in them are JSON Pointers; what is not in `origins` is a default.

    `withheld` names values that are set and not shown, because they are secrets or might be. `policy` names all that is
    not harmless: whoever changes it from here may have to have that confirmed in the approval view, as
    `policyIsConfirmed` says, and what is not confirmed yet is in `waitsForConfirmation`. `overApp` names what a
    module's own file sets and app.json too, whose value shows again where the other one is removed. `waitsForRestart`
    names what was saved and does not count until the next start.
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
    over_app: list[str]
    waits_for_restart: list[str]
    waits_for_reload: bool


class ChangeView(WireModel):
    """What would change in the files, and what would be wrong still; and whether a person has to confirm it first."""

    diff: list[DiffView]
    problems: list[ProblemView]
    needs_confirmation: bool


def settings_view(exchange: Exchange, document: SettingsDocument) -> SettingsView:
    """Return the settings for the principal of a request; reads no file."""
    visible = redact_settings(document)
    schema = document.subject.schema
    module = document.subject.module
    confirms = _confirms_policy(exchange)
    names = {
        subject_name(replace(document, subject=subject))
        for subject in subjects_with_same_key(exchange.core.config, exchange.core.modules, document.subject)
    }
    return SettingsView(
        module=module,
        files=[str(file.path) for file in document.files],
        digest=document.digest,
        schema_=None if schema is None else schema.root,
        values=visible.values,
        withheld=[to_json_pointer(path) for path in visible.withheld],
        origins={
            to_json_pointer(path): OriginView.model_validate(origin)
            for path, origin in document.origins.items()
            if path and not any(path[: len(hidden)] == hidden and path != hidden for hidden in visible.withheld)
        },
        problems=[problem_view(problem) for problem in document.problems],
        policy=[]
        if schema is None
        else [to_json_pointer(path) for path in schema.declared_paths() if not schema.is_harmless(path)],
        may_change_policy=confirms is not None,
        policy_is_confirmed=confirms is True,
        waits_for_confirmation=[
            path
            for change in exchange.core.policy_changes.waiting
            if change.proposal.kind in _KINDS and change.proposal.subject in names
            for path in change.proposal.paths
        ],
        over_app=[to_json_pointer(path) for path in document.over_app],
        waits_for_restart=[] if module is not None else _waiting_for_restart(exchange, document),
        waits_for_reload=module is not None and waits_for_reload(document, exchange.core.modules.get_record(module)),
    )


def _waiting_for_restart(exchange: Exchange, document: SettingsDocument) -> list[str]:
    setup = exchange.parts.chat.setup
    at_once = {path for path in document.values if setup.is_current_value(path, document.values[path])}
    return [to_json_pointer(path) for path in waits_for_restart(document) if path[0] not in at_once]


def change_view(plan: SettingsPlan, *, needs_confirmation: bool) -> ChangeView:
    """Return the effect of a plan."""
    return ChangeView(
        diff=[DiffView(file=file, text=text) for file, text in diff_of(plan.before, plan.after)],
        problems=[problem_view(problem) for problem in plan.after.problems],
        needs_confirmation=needs_confirmation,
    )


def settings_proposal(plan: SettingsPlan, paths: tuple[str, ...], *, reloads: bool = False) -> Proposal:
    """Return what the user is shown of changes to settings."""
    return Proposal(
        "settings_reload" if reloads else "settings",
        subject_name(plan.before),
        paths,
        diff_of(plan.before, plan.after),
    )


def subject_name(document: SettingsDocument) -> str:
    """Return the owner of the settings, for display: the module, or the file."""
    return document.subject.module or document.app.path.name


def subjects_with_same_key(config: AppConfig, modules: Modules, subject: SettingsSubject) -> list[SettingsSubject]:
    """Return a subject, and those of further modules whose settings are under the same key."""
    if subject.module is None:
        return [subject]
    records = (record for record in modules.records.values() if record.name != subject.module)
    others = [SettingsSubject.of_module(config, record) for record in records]
    return [subject, *(other for other in others if other.key == subject.key)]


def not_written(error: ConfigError) -> Refusal:
    """Return the error for files that could not be written."""
    kind = "config_changed" if isinstance(error, ConfigChangedError) else "config_not_written"
    return Refusal(HTTPStatus.CONFLICT, kind, str(error), retryable=True)


def _confirms_policy(exchange: Exchange) -> bool | None:
    """True if the principal's policy changes need confirmation; None: it cannot change the policy at all."""
    try:
        return needs_confirmation(exchange.principal)
    except ToolError:
        return None


def problem_view(problem: ConfigProblem) -> ProblemView:
    """Return a problem in the form that the API sends."""
    return ProblemView.model_validate({**asdict(problem), "path": to_json_pointer(problem.path)})
