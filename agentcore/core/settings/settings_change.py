"""Changing settings: all changes of one Save are validated before anything is written, and written to one file.

Settings of a module are written to `modules/KEY.json`, which overrides app.json; those of the server are in app.json.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from pydantic import BaseModel

from agentcore.config.config_errors import ConfigChangedError, ConfigError
from agentcore.config.json_edit import without_value
from agentcore.config.json_source import JsonPath, JsonSource, JsonSyntaxError
from agentcore.config.layers import Origin
from agentcore.config.loading import AppConfig
from agentcore.core.settings.display import format_setting_path, to_json_pointer
from agentcore.core.settings.settings_document import ELSEWHERE, SettingsDocument, SettingsSubject
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One change.

    Args:
        path: The setting; keys only, a list is replaced as a whole.
        value: The new value.
        is_removal: True to remove the setting from its file, so that the underlying value applies.
    """

    path: tuple[str, ...]
    value: Any = field(default=None, repr=False)
    is_removal: bool = False


@dataclass(frozen=True)
class SettingsPlan:
    """Changes that can be written."""

    before: SettingsDocument
    after: SettingsDocument

    def for_subject(self, subject: SettingsSubject) -> "SettingsPlan":
        """The same change as another module sees it that has its settings under the same key."""
        return SettingsPlan(replace(self.before, subject=subject), replace(self.after, subject=subject))

    def write(self) -> SettingsDocument:
        """Write the file that changes, in one step.

        Raises:
            ConfigChangedError: Another program changed it since it was read; it was not written.
            ConfigError: It cannot be written.
        """
        old = self.before.file
        text = self.after.file.source.text
        if text != old.source.text:
            old.with_text(text, makes_folder=self.before.own is not None)
        return self.after


def plan_changes(document: SettingsDocument, changes: Sequence[SettingChange]) -> SettingsPlan:
    """Try changes out.

    Raises:
        ToolError: `settings_unknown`, `unknown_setting`, `setting_read_only`, `setting_overridden`, `invalid_settings`.
        ConfigError: A change leads through a value that is no object.
    """
    after = document
    for change in changes:
        _check_change(after, change)
        after = _apply_change(after, change)
    _refuse_new_problems(document, after, changes)
    for change in changes:
        if not change.is_removal and not _is_equal(after.value_at(change.path), change.value):
            raise _overridden_error(after, change.path)
    return SettingsPlan(document, after)


def save_block_settings(
    config: AppConfig, models: Mapping[str, type[BaseModel] | None], changes: Sequence[SettingChange]
) -> None:
    """Write settings of blocks to app.json, all of them or none; reads and writes files.

    Args:
        config: As the server started with it.
        models: The models of the blocks of families, by key, as far as their code is loaded.
        changes: The settings, by their paths in app.json.

    Raises:
        ToolError: `config_changed`, `config_not_written`, and those of `plan_changes`.
    """
    try:
        plan_changes(SettingsSubject.of_app(config, blocks=models).read_document(), changes).write()
    except ConfigError as exc:
        kind = "config_changed" if isinstance(exc, ConfigChangedError) else "config_not_written"
        raise ToolError(kind, f"{exc}; nothing was changed", retryable=True) from exc


def _check_change(document: SettingsDocument, change: SettingChange) -> None:
    schema = document.subject.schema
    path = change.path
    if schema is None:
        raise ToolError(
            "settings_unknown",
            f"module {document.subject.module!r} was not loaded, so nobody knows what its settings may be; "
            "enable it first, or edit the file",
            module=document.subject.module,
        )
    is_elsewhere = document.subject.module is None and path[0] in ELSEWHERE
    if is_elsewhere or (
        schema.classify_path(path) == "unknown" and not (change.is_removal and document.has_value(path))
    ):
        raise _unknown_setting_error(path, is_elsewhere=is_elsewhere)


def _unknown_setting_error(path: JsonPath, *, is_elsewhere: bool) -> ToolError:
    if is_elsewhere:
        message = f"{path[0]!r} is not changed here: modules and their settings have routes of their own"
    else:
        message = f"there is no setting {format_setting_path(path)}"
    return ToolError("unknown_setting", message, path=to_json_pointer(path))


def _apply_change(document: SettingsDocument, change: SettingChange) -> SettingsDocument:
    file = document.file
    path = change.path
    _refuse_read_only(document, path)
    if change.is_removal and path not in file.source.spans and document.has_value(path):
        raise _overridden_error(document, path)
    text = without_value(file.source, path) if change.is_removal else file.edit_text(path, change.value)
    try:
        source = JsonSource(text)
    except JsonSyntaxError as exc:  # such as nesting that no file may have
        errors = [{"path": to_json_pointer(path), "message": exc.message}]
        raise ToolError("invalid_settings", f"nothing was saved: {exc.message}", errors=errors) from exc
    return document.with_file(replace(file, source=source, exists=file.exists or text != file.source.text))


def _refuse_read_only(document: SettingsDocument, path: JsonPath) -> None:
    for known, origin in document.origins.items():
        if origin.is_read_only and known[: len(path)] == path:
            raise _read_only(known, origin)
    around, origin = document.origin_around(path)
    if origin.is_read_only and not isinstance(document.value_at(around), dict):
        raise _read_only(around, origin)


def _read_only(path: JsonPath, origin: Origin) -> ToolError:
    return ToolError(
        "setting_read_only",
        f"{format_setting_path(path)} comes from {origin}, which wins over all files; change it there and restart",
        path=to_json_pointer(path),
        variable=origin.variable,
    )


def _overridden_error(document: SettingsDocument, path: JsonPath) -> ToolError:
    """Return the error of a change that one file cannot express, because objects are merged by key; or of a
    contradiction."""
    set_here = (origin for known, origin in document.origins.items() if known[: len(path)] == path)
    others = sorted({str(origin) for origin in set_here if origin.file != document.file.path})
    message = f"{format_setting_path(path)} is changed twice, and not to the same; change it once"
    if others:
        places = ", ".join(others)
        message = f"{format_setting_path(path)} is set in {places}, which is not changed from here; remove it there"
    where = to_json_pointer(path)
    return ToolError("setting_overridden", message, path=where, errors=[{"path": where, "message": message}])


def _refuse_new_problems(before: SettingsDocument, after: SettingsDocument, changes: Sequence[SettingChange]) -> None:
    """Refuse changes that make settings invalid; existing problems do not prevent other changes."""
    known = {(problem.path, problem.message) for problem in before.problems}
    touched = [change.path for change in changes if not change.is_removal]
    errors = [
        {"path": to_json_pointer(problem.path), "message": problem.message}
        for problem in after.problems
        if (problem.path, problem.message) not in known or any(problem.path[: len(path)] == path for path in touched)
    ]
    if errors:
        message = "; ".join(f"{error['path'] or 'settings'}: {error['message']}" for error in errors[:3])
        raise ToolError("invalid_settings", f"nothing was saved: {message}", errors=errors)


def _is_equal(one: Any, other: Any) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)
