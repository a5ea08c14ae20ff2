"""Decides which changes of settings the user confirms: all except those that affect only harmless settings."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from agentcore.config.fields import names_of
from agentcore.config.json_source import JsonPath
from agentcore.core.module_code.containment import without_exit
from agentcore.core.settings.settings_change import SettingChange, SettingsPlan
from agentcore.core.settings.settings_document import SettingsDocument


def needs_user_confirmation(plan: SettingsPlan, changes: list[SettingChange]) -> bool:
    """True if changes are policy changes, which they are unless all their effects are harmless.

    The changed settings must be harmless, the values before and after of a type that the schema declares,
    and the validated settings may differ in harmless settings only, because one change can affect others,
    for example if it creates an object. If the settings were invalid before, the effect is unknown.
    """
    schema = plan.before.subject.schema
    if schema is None or not all(schema.is_harmless(change.path) for change in changes):
        return True
    for change in changes:
        for document in (plan.before, plan.after):
            if document.has_value(change.path) and not schema.accepts_value(
                change.path, document.value_at(change.path)
            ):
                return True
    differing = _differing_paths(plan.before, plan.after)
    return differing is None or not all(schema.is_harmless(path) for path in differing)


def _differing_paths(before: SettingsDocument, after: SettingsDocument) -> list[JsonPath] | None:
    """Return the paths at which the validated settings differ; None: unknown."""
    model = before.subject.model
    if model is None:
        return None
    try:
        return without_exit(lambda: _compare_settings(model, before, after))
    except Exception:  # noqa: BLE001 - they do not hold, or the module's own check or comparison failed
        return None


def _compare_settings(model: type[BaseModel], before: SettingsDocument, after: SettingsDocument) -> list[JsonPath]:
    one = model.model_validate(before.resolve_references())
    other = model.model_validate(after.resolve_references())
    return list(_differing_in(one, other, ()))


def _differing_in(one: Any, other: Any, path: JsonPath) -> Iterator[JsonPath]:
    if type(one) is not type(other):
        yield path
    elif isinstance(one, BaseModel):
        for key, name in names_of(type(one)).items():
            yield from _differing_in(getattr(one, name), getattr(other, name), (*path, key))
        if one.model_extra != other.model_extra:
            yield path
    elif one != other:
        yield path
