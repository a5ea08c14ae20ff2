"""Changing settings: each change goes to the file that wins, and all are tried out before anything is written."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agentcore.api.errors import ToolError
from agentcore.host.config_edit import without_value
from agentcore.host.config_error import ConfigProblem
from agentcore.host.config_file import ConfigFile
from agentcore.host.config_origins import Origin
from agentcore.host.json_source import JsonPath, JsonSource, JsonSyntaxError
from agentcore.host.settings_document import ELSEWHERE, SettingsDocument
from agentcore.host.settings_shown import holds_secret, label, pointer


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One change.

    Args:
        path: The setting; keys only, a list is replaced as a whole.
        value: The new value.
        is_removal: Whether the setting is taken out of the file that wins instead, so that what is below it counts.
    """

    path: tuple[str, ...]
    value: Any = field(default=None, repr=False)
    is_removal: bool = False


@dataclass(frozen=True)
class SettingsPlan:
    """Changes that can be written.

    Args:
        before: The settings that they were made for.
        after: What the settings will be.
    """

    before: SettingsDocument
    after: SettingsDocument

    def write(self) -> SettingsDocument:
        """Write the files that change, each in one step.

        Raises:
            ConfigChangedError: Another program changed a file since it was read; that file was not written.
            ConfigError: A file cannot be written.
        """
        written = [old.with_text(new.source.text) if _differs(old, new) else old for old, new in self._pairs()]
        return self.after.subject.merge(written[0], written[1] if len(written) > 1 else None)

    def _pairs(self) -> list[tuple[ConfigFile, ConfigFile]]:
        return list(zip(self.before.files, self.after.files, strict=True))


def plan_changes(
    document: SettingsDocument, changes: Sequence[SettingChange], *, may_change_policy: bool
) -> SettingsPlan:
    """Try changes out.

    Args:
        document: The settings as they are.
        changes: What is wanted, carried out in order.
        may_change_policy: Whether secrets, and what says what is allowed, may be changed.
    Raises:
        ToolError: `settings_unknown`, `unknown_setting`, `forbidden`, `setting_read_only`, `setting_overridden`,
            `invalid_settings`.
        ConfigError: A change leads through a value that is no object.
    """
    after = document
    for change in changes:
        _check(after, change, may_change_policy=may_change_policy)
        after = _applied(after, change)
    for change in changes:
        if not change.is_removal and not _is_equal(after.at(change.path), change.value):
            raise _overridden(after, change.path)
    _refuse_new_problems(document, after, changes)
    return SettingsPlan(document, after)


def _check(document: SettingsDocument, change: SettingChange, *, may_change_policy: bool) -> None:
    schema, path = document.subject.schema, change.path
    if schema is None:
        raise ToolError(
            "settings_unknown",
            f"module {document.subject.module!r} was not loaded, so nobody knows what its settings may be; "
            "enable it first, or edit the file",
            module=document.subject.module,
        )
    is_elsewhere = document.subject.module is None and path[0] in ELSEWHERE
    if is_elsewhere or (schema.place(path) == "unknown" and not (change.is_removal and document.has(path))):
        raise _unknown(path, is_elsewhere=is_elsewhere)
    if not may_change_policy and _is_policy(document, change):
        file = _target(document, path)[0].path
        raise ToolError(
            "forbidden",
            f"{label(path)} is a secret or says what is allowed, and cannot be changed from here; edit {file}",
            action="change_policy",
            path=pointer(path),
            file=str(file),
        )


def policy_paths(document: SettingsDocument, changes: Sequence[SettingChange]) -> list[JsonPath]:
    """Those of the changed settings that need the right to change the policy: secrets, and what is allowed."""
    return [change.path for change in changes if _is_policy(document, change)]


def _is_policy(document: SettingsDocument, change: SettingChange) -> bool:
    schema, path = document.subject.schema, change.path
    if schema is None or schema.place(path) == "unknown":
        return False
    values = (change.value, document.at(path))
    return schema.is_policy(path) or any(holds_secret(document.subject, path, value) for value in values)


def _unknown(path: JsonPath, *, is_elsewhere: bool) -> ToolError:
    if is_elsewhere:
        message = f"{path[0]!r} is not changed here: modules and their settings have routes of their own"
    else:
        message = f"there is no setting {label(path)}"
    return ToolError("unknown_setting", message, path=pointer(path))


def _applied(document: SettingsDocument, change: SettingChange) -> SettingsDocument:
    file, path = _target(document, change.path)
    text = without_value(file.source, path) if change.is_removal else file.edited(path, change.value)
    try:
        source = JsonSource(text)
    except JsonSyntaxError as exc:  # such as nesting that no file may have
        errors = [{"path": pointer(change.path), "message": exc.message}]
        raise ToolError("invalid_settings", f"nothing was saved: {exc.message}", errors=errors) from exc
    edited = replace(file, source=source, exists=file.exists or text != file.source.text)
    app, own = (edited, document.own) if file is document.app else (document.app, edited)
    return document.subject.merge(app, own)


def _target(document: SettingsDocument, path: JsonPath) -> tuple[ConfigFile, JsonPath]:
    """The file in which a setting is changed, and its path there."""
    for known, origin in document.origins.items():
        if origin.is_read_only and known[: len(path)] == path:
            raise _read_only(known, origin)
    around, origin = document.origin_around(path)
    if origin.is_read_only and not isinstance(document.at(around), dict):
        raise _read_only(around, origin)
    while origin.is_read_only and around:
        around, origin = document.origin_around(around[:-1])
    if _belongs_to_own(document, origin):
        assert document.own is not None  # noqa: S101 - just asked
        return document.own, (*(origin.path if origin.kind == "module" else ()), *path[len(around) :])
    return document.app, (*document.subject.base, *path)


def _belongs_to_own(document: SettingsDocument, origin: Origin) -> bool:
    """Whether a setting goes to `modules/KEY.json`: it stands there, or app.json says nothing about the module."""
    if document.own is None or origin.kind == "module":
        return document.own is not None
    return document.own.exists and document.subject.base not in document.app.source.spans


def _read_only(path: JsonPath, origin: Origin) -> ToolError:
    return ToolError(
        "setting_read_only",
        f"{label(path)} comes from {origin}, which wins over all files; change it there and restart",
        path=pointer(path),
        variable=origin.variable,
    )


def _overridden(document: SettingsDocument, path: JsonPath) -> ToolError:
    places = sorted({str(origin) for known, origin in document.origins.items() if known[: len(path)] == path})
    return ToolError(
        "setting_overridden",
        f"{label(path)} is put together from {', '.join(places)}; change its parts one by one",
        path=pointer(path),
    )


def _refuse_new_problems(before: SettingsDocument, after: SettingsDocument, changes: Sequence[SettingChange]) -> None:
    """Refuse what makes settings wrong; what was wrong already does not keep the rest from being changed."""
    known = {(problem.path, problem.message) for problem in before.problems}
    touched = [change.path for change in changes if not change.is_removal]
    errors = [
        {"path": pointer(problem.path), "message": problem.message}
        for problem in after.problems
        if (problem.path, problem.message) not in known or _is_touched(problem, touched)
    ]
    if errors:
        said = "; ".join(f"{error['path'] or 'settings'}: {error['message']}" for error in errors[:3])
        raise ToolError("invalid_settings", f"nothing was saved: {said}", errors=errors)


def _is_touched(problem: ConfigProblem, touched: Sequence[JsonPath]) -> bool:
    return any(problem.path[: len(path)] == path for path in touched)


def _is_equal(one: Any, other: Any) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _differs(old: ConfigFile, new: ConfigFile) -> bool:
    return old.source.text != new.source.text
