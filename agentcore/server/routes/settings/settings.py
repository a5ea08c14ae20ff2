"""Routes for the settings of app.json and of modules: their values and origins, and changing them."""

import asyncio
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from agentcore.chat.settings import ChatDocument
from agentcore.config.app_json import ApprovalsConfig
from agentcore.config.config_errors import ConfigError
from agentcore.core.approvals.policy_changes import Apply
from agentcore.core.policy.authority import authorise
from agentcore.core.settings.display import to_json_pointer
from agentcore.core.settings.settings_change import SettingChange, SettingsPlan, plan_changes
from agentcore.core.settings.settings_confirmation import needs_user_confirmation
from agentcore.core.settings.settings_document import SettingsDocument, SettingsSubject
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass
from agentcore.server.body_models import StrictModel
from agentcore.server.confirmation import needs_confirmation, propose_change
from agentcore.server.exchange import Exchange
from agentcore.server.http.refusal import Refusal
from agentcore.server.http.response import Answer
from agentcore.server.page.settings_view import (
    SettingsView,
    change_view,
    not_written,
    problem_view,
    settings_proposal,
    settings_view,
    subject_name,
    subjects_with_same_key,
)
from agentcore.server.route_table import ServerRoute
from agentcore.store.record.call_row import make_notice_row

_CHANGES = 200
_POINTER = r"^(/([^~/]|~[01])*)+$"


class ChangeEntry(StrictModel):
    """One setting: its new value, or `remove` to go back to what counts without it."""

    path: Annotated[str, Field(pattern=_POINTER, max_length=1000)]
    value: Any = None
    remove: bool = False

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.remove == ("value" in self.model_fields_set):
            raise ValueError("give either a value or remove")
        return self

    def to_setting_change(self) -> SettingChange:
        """Return the change for the core."""
        steps = (step.replace("~1", "/").replace("~0", "~") for step in self.path.split("/")[1:])
        return SettingChange(tuple(steps), self.value, self.remove)


class ChangeBody(StrictModel):
    """Changes to settings; `expected` is the digest of the settings that were looked at."""

    expected: Annotated[str, Field(max_length=64)]
    changes: Annotated[list[ChangeEntry], Field(min_length=1, max_length=_CHANGES)]


class ModuleChangeBody(ChangeBody, defer_build=True):
    """Changes to settings of a module; `reload` has it begin anew with them, as a part of the same change."""

    reload: bool = False


class ChangeQuery(StrictModel):
    """`preview=diff` shows what would change and writes nothing."""

    preview: Literal["diff"] | None = None


async def get_settings(exchange: Exchange) -> Answer:
    """Send the settings of the server, or of the module in the path."""
    return Answer(to_json(await asyncio.to_thread(settings_view, exchange, await _read_settings(exchange))))


async def change_settings(exchange: Exchange) -> Answer:
    """Change settings in the files that take precedence, or preview that."""
    document = await _read_settings(exchange)
    body: ChangeBody = exchange.body
    if body.expected != document.digest:
        raise ToolError(
            "config_changed", "the files changed since they were read; read the settings again", digest=document.digest
        )
    requested = _SettingsRequest(
        [entry.to_setting_change() for entry in body.changes], isinstance(body, ModuleChangeBody) and body.reload
    )
    if requested.reloads:
        authorise(exchange.principal, "manage_modules")
    try:
        plan = await asyncio.to_thread(plan_changes, document, requested.changes)
        must_wait = await _must_wait(exchange, plan, requested)
        if exchange.query.preview is not None:
            return Answer(to_json(await asyncio.to_thread(change_view, plan, needs_confirmation=must_wait)))
        if must_wait:
            proposal = await asyncio.to_thread(settings_proposal, plan, requested.paths, reloads=requested.reloads)

            apply: Apply = partial(_save_changes, exchange, plan, requested)
            if requested.reloads:
                apply = await exchange.parts.switch.only_if_code_unchanged([_module_name(exchange)], apply)
            raise propose_change(exchange.core.policy_changes, exchange.principal, proposal, apply)
    except ConfigError as exc:
        raise not_written(exc) from exc
    await _save_changes(exchange, plan, requested)
    return await get_settings(exchange)


@dataclass(frozen=True, slots=True)
class _SettingsRequest:
    """The changes of one request, which are applied as a whole or not at all."""

    changes: list[SettingChange]
    reloads: bool

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(to_json_pointer(change.path) for change in self.changes)


async def _must_wait(exchange: Exchange, plan: SettingsPlan, wanted: _SettingsRequest) -> bool:
    """True if the user must confirm: one setting that is not harmless, or a reload that changes code, is enough."""
    if not needs_confirmation(exchange.principal):
        return False
    # a setting is harmless only if it is harmless for each module that reads it
    plans = [
        plan.for_subject(subject)
        for subject in subjects_with_same_key(exchange.core.config, exchange.core.modules, plan.before.subject)
    ]
    if await asyncio.to_thread(lambda: any(needs_user_confirmation(one, wanted.changes) for one in plans)):
        return True
    return wanted.reloads and await exchange.parts.switch.must_confirm(
        exchange.principal, _module_name(exchange), "reload"
    )


async def _save_changes(exchange: Exchange, plan: SettingsPlan, wanted: _SettingsRequest) -> None:
    """Write exactly what was planned; a file that another program has changed meanwhile is left untouched."""
    _refuse_other_settings(exchange, plan)
    try:
        saved = await asyncio.to_thread(plan.write)
    except ConfigError as exc:
        raise not_written(exc) from exc
    if saved.subject.module is None and any(change.path[0] == "approvals" for change in wanted.changes):
        await exchange.core.apply_approvals(ApprovalsConfig.model_validate(saved.values.get("approvals", {})))
    if saved.subject.module is None and any(change.path[0] in ("models", "agents") for change in wanted.changes):
        with suppress(ToolError):  # another entry was invalid before: valid ones stay in effect, the page reports it
            exchange.parts.chat.setup.apply_saved_config(saved.values)
    _record_change(exchange, saved, wanted)
    if saved.subject.module is None:
        await exchange.core.modules.reload_changed_blocks([change.path for change in wanted.changes])
    if wanted.reloads:
        await exchange.core.modules.reload(_module_name(exchange))


def _refuse_other_settings(exchange: Exchange, plan: SettingsPlan) -> None:
    """Refuse changes planned for another schema: a module that was reloaded may use the same keys differently."""
    now = _settings_subject(exchange).schema
    then = plan.before.subject.schema
    if (now and now.root) != (then and then.root):
        raise Refusal(
            HTTPStatus.CONFLICT,
            "config_changed",
            f"the settings of {subject_name(plan.before)} are others than when this was asked for; nothing was "
            "written, change them again",
            retryable=True,
        )


async def _read_settings(exchange: Exchange) -> SettingsDocument:
    subject = _settings_subject(exchange)
    try:
        return await asyncio.to_thread(subject.read_document)
    except ConfigError as exc:
        raise Refusal(
            HTTPStatus.CONFLICT,
            "config_invalid",
            f"{exc}; mend the file and try again",
            problems=[problem_view(problem).model_dump() for problem in exc.problems],
        ) from exc


def _settings_subject(exchange: Exchange) -> SettingsSubject:
    if "name" not in exchange.path_values:
        return SettingsSubject.of_app(exchange.core.config, ChatDocument, exchange.core.modules.block_models())
    return SettingsSubject.of_module(exchange.core.config, exchange.core.modules.get_record(_module_name(exchange)))


def _module_name(exchange: Exchange) -> str:
    return exchange.path_values["name"]


def _record_change(exchange: Exchange, saved: SettingsDocument, wanted: _SettingsRequest) -> None:
    """Record who changed which settings, but not the values, and notify open pages."""
    module = saved.subject.module
    paths = list(wanted.paths)
    row = make_notice_row("settings_changed", module=module, paths=paths)
    principal = exchange.principal
    exchange.core.store.record.append(
        row._replace(module=module or "", principal_kind=principal.kind, principal_id=principal.id)
    )
    exchange.core.events.publish("settings.changed", {"module": module, "paths": paths})


def _change_route(path: str, summary: str, body: type[ChangeBody]) -> ServerRoute:
    return ServerRoute(
        "PUT",
        path,
        change_settings,
        f"{summary} With `preview=diff` nothing is written, and the answer is the diff. Unless all that changes is "
        "harmless, it waits as a whole for a person, in the approval view: the answer is `confirmation_required`.",
        action="change_settings",
        query=ChangeQuery,
        body=body,
        answer=SettingsView,
    )


_MODULE = "/api/settings/modules/{name}"

ROUTES = (
    ServerRoute(
        "GET", "/api/settings", get_settings, "What app.json says, with the origin of each value.", answer=SettingsView
    ),
    _change_route(
        "/api/settings",
        "Change settings of app.json; `approvals`, `models`, `agents` and the blocks of running modules count at once, "
        "others from the next start on.",
        ChangeBody,
    ),
    ServerRoute("GET", _MODULE, get_settings, "The settings of a module that is listed.", answer=SettingsView),
    _change_route(_MODULE, "Change settings of a module; they count once it is reloaded.", ModuleChangeBody),
)
