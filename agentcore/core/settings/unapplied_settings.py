"""Which saved settings are not in effect yet, because a restart or reload is needed."""

from typing import Any

from pydantic import ValidationError

from agentcore.config.app_json import AppDocument
from agentcore.config.json_source import JsonPath
from agentcore.core.module_code.containment import without_exit
from agentcore.core.modules.module_record import ModuleRecord
from agentcore.core.settings.settings_document import ELSEWHERE, SettingsDocument


def waits_for_restart(document: SettingsDocument) -> list[JsonPath]:
    """The settings of app.json that the running server does not have yet; none while they are not valid."""
    try:
        saved = AppDocument.model_validate(_without_blocks(document))
    except ValidationError:
        return []
    running = document.subject.config.model_dump(mode="json", by_alias=True)
    leaves = _list_leaves(saved.model_dump(mode="json", by_alias=True))
    return [path for path, value in leaves if path[0] not in ELSEWHERE and value != _value_at(running, path)]


def waits_for_reload(document: SettingsDocument, record: ModuleRecord) -> bool:
    """True if a running module was started with other settings than the saved ones, or with other secrets."""
    model = document.subject.model
    if record.state != "ready" or record.runtime is None:
        return False
    try:
        values = document.resolve_references()
        if model is None:
            return bool(record.runtime.settings != values)
        return without_exit(lambda: bool(model.model_validate(values) != record.runtime.settings))
    except Exception:  # noqa: BLE001 - they do not hold, or the module's own check or comparison failed
        return True


def _without_blocks(document: SettingsDocument) -> dict[str, Any]:
    """A block of a family counts once its module is reloaded."""
    keys = document.subject.family_keys
    return {key: value for key, value in document.values.items() if key not in keys}


def _list_leaves(value: dict[str, Any], path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    found: list[tuple[tuple[str, ...], Any]] = []
    for key, part in value.items():
        is_group = isinstance(part, dict) and part and not path
        found += _list_leaves(part, (*path, key)) if is_group else [((*path, key), part)]
    return found


def _value_at(value: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value
