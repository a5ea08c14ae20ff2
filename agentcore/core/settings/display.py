"""Settings for display: secrets are masked, also in diffs."""

import re
from collections.abc import Callable
from dataclasses import field
from typing import Any

from agentcore.config.family_keys import SECRET_PARTS
from agentcore.config.json_source import JsonPath, JsonSource, format_path
from agentcore.core.settings.settings_document import SettingsDocument, SettingsSubject
from agentcore.late_dataclasses import dataclass
from agentcore.secrets import (
    MASK,
    SECRET_NAME,
    is_secret_argument,
    is_secret_name,
    is_secret_value,
    spans_of_value,
)

CONTEXT_LINES = 3
"""Unchanged lines around a change in a diff."""

_AS_IT_IS = object()
_REFERENCE = re.compile(rf"\$\{{secret:{SECRET_NAME}\}}")
_NEW_SECRET = f"{MASK} (new)"
_PLAIN: tuple[JsonPath, ...] = (("$schema",), ("modules",))


@dataclass
class ShownSettings:
    """The displayable part of settings.

    Args:
        withheld: Paths whose values are withheld: secrets, and values that might be secrets.
    """

    values: dict[str, Any] = field(default_factory=dict)
    withheld: list[JsonPath] = field(default_factory=list)


def redact_settings(document: SettingsDocument) -> ShownSettings:
    """The settings without secrets."""
    result = ShownSettings()
    result.values = _without_secrets(document.subject, document.values, (), result.withheld)
    return result


def masked_part(subject: SettingsSubject, path: JsonPath, value: Any, before: Any = _AS_IT_IS) -> Any:
    """Return a part of the settings with a mask for each secret, and for each value that might be one.

    Args:
        path: The location of the part.
        before: The previous value, if a changed secret is to be shown as changed.
    """
    if path and is_withheld(subject, path, value) and not _names_a_secret(subject, path, value):
        return _mask_of(value, before)
    if isinstance(value, dict):
        return {key: masked_part(subject, (*path, key), part, _child_of(before, key)) for key, part in value.items()}
    if isinstance(value, list):
        return [
            _mask_of(part, _child_of(before, at))
            if _is_secret_item(value, at)
            else masked_part(subject, (*path, at), part, _child_of(before, at))
            for at, part in enumerate(value)
        ]
    return value


def _mask_of(value: Any, before: Any) -> str:
    return MASK if before is _AS_IT_IS or before == value else _NEW_SECRET


def _is_secret_item(items: list[Any], at: int) -> bool:
    """True if an item is an argument of a command that contains a secret, possibly because of the option before it."""
    text = items[at]
    before = items[at - 1] if at else ""
    return isinstance(text, str) and is_secret_argument(text, before if isinstance(before, str) else "")


def _child_of(before: Any, step: str | int) -> Any:
    if before is _AS_IT_IS:
        return before
    try:
        return before[step]
    except (KeyError, IndexError, TypeError):
        return None


def is_withheld(subject: SettingsSubject, path: JsonPath, value: Any) -> bool:
    """True if a value must not be shown: it is a secret, or its type is unknown."""
    is_unknown = subject.schema is not None and subject.schema.classify_path(path) == "unknown"
    return is_secret(subject, path, value) or (is_unknown and bool(path))


def is_secret(subject: SettingsSubject, path: JsonPath, value: Any) -> bool:
    """True if a value is declared as a secret, is named like one, or may be anything."""
    schema = subject.schema
    if schema is None:
        return bool(path) and not _is_plain(path, value)
    if schema.is_secret(path) or _is_handed_on(subject, path):
        return True
    # a text where a list of secrets should be is most likely one of them
    is_instead = value is not None and not isinstance(value, dict | list) and schema.may_contain_secret(path)
    if is_instead:
        return not schema.accepts_value(path, value)
    if isinstance(value, str) and spans_of_value("", value):
        return True  # a key in an address, in a header or in JSON
    is_named = bool(path) and isinstance(path[-1], str) and is_secret_value(path[-1], value)
    return is_named and schema.classify_path(path) == "open"


def _is_handed_on(subject: SettingsSubject, path: JsonPath) -> bool:
    """True if a value is in a block whose values are passed to programs and servers, and may be confidential."""
    return path[:1] != () and path[0] in subject.family_keys and not set(path[2:-1]).isdisjoint(SECRET_PARTS)


def _names_a_secret(subject: SettingsSubject, path: JsonPath, value: Any) -> bool:
    """True if a value in a block names the location of a secret, but does not contain it."""
    return isinstance(value, str) and _is_handed_on(subject, path) and _REFERENCE.fullmatch(value) is not None


def _is_plain(path: JsonPath, value: Any) -> bool:
    """True if a value of unknown type can be shown: a boolean, or a number that is not named like a secret. In a list
    below such a name a number may be one of the secrets."""
    names = [step for step in path if isinstance(step, str)]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return isinstance(value, bool)
    is_listed = isinstance(path[-1], int)
    return not any(is_secret_name(name) if is_listed else is_secret_value(name, value) for name in names)


def diff_of(before: SettingsDocument, after: SettingsDocument) -> tuple[tuple[str, str], ...]:
    """Return what changes in the file: its path with a unified diff in which secrets are masked; none: nothing
    changes."""
    old = before.file
    new = after.file
    if old.source.text == new.source.text:
        return ()
    hides = _hides_in(before.subject)
    import difflib  # noqa: PLC0415 - few processes need it

    lines = difflib.unified_diff(
        _masked_lines(old.source, hides, {}) if old.exists else [],
        _masked_lines(new.source, hides, _changed_secrets(old.source, new.source, hides)),
        fromfile=str(old.path) if old.exists else "/dev/null",
        tofile=str(new.path),
        lineterm="",
        n=CONTEXT_LINES,
    )
    return ((str(new.path), "\n".join(lines)),)


Hides = Callable[[JsonPath, Any], bool]


def _without_secrets(subject: SettingsSubject, value: Any, path: JsonPath, withheld: list[JsonPath]) -> Any:
    if isinstance(value, dict):
        kept = {}
        for key, part in value.items():
            if is_withheld(subject, (*path, key), part):
                withheld.append((*path, key))
            else:
                kept[key] = _without_secrets(subject, part, (*path, key), withheld)
        return kept
    if isinstance(value, list):
        return [
            MASK
            if _is_secret_item(value, index) or is_withheld(subject, (*path, index), part)
            else _without_secrets(subject, part, (*path, index), withheld)
            for index, part in enumerate(value)
        ]
    return value


def _hides_in(subject: SettingsSubject) -> Hides:
    """Return what must not be shown of the changed file."""

    def hides(path: JsonPath, value: Any) -> bool:
        if subject.module is None and path[:1] == ("config",):
            # of a module whose secrets are unknown here
            is_part = len(path) > len(("config", "NAME")) and not isinstance(value, dict | list)
            return is_part and not _is_plain(path, value)
        is_plain = path == () or (subject.module is None and path[:1] in _PLAIN)
        return not is_plain and is_withheld(subject, path, value) and not _names_a_secret(subject, path, value)

    return hides


def _masked_lines(source: JsonSource, hides: Hides, instead: dict[JsonPath, str]) -> list[str]:
    text = source.text
    at = 0
    parts = []
    for path in _hidden_paths(source, hides):
        span = source.spans[path]
        parts += [text[at : span.start], f'"{instead.get(path, MASK)}"']
        at = span.end
    return "".join([*parts, text[at:]]).splitlines()


def _hidden_paths(source: JsonSource, hides: Hides) -> list[JsonPath]:
    """The outermost hidden values, in the order of the text."""
    found: list[JsonPath] = []
    for path in sorted(source.spans, key=lambda path: (source.spans[path].start, len(path))):
        if found and path[: len(found[-1])] == found[-1]:
            continue
        if hides(path, source.get_value(path)) or (
            path and isinstance(path[-1], int) and _is_secret_item(source.get_value(path[:-1]), path[-1])
        ):
            found.append(path)
    return found


def _changed_secrets(old: JsonSource, new: JsonSource, hides: Hides) -> dict[JsonPath, str]:
    changed = (
        path
        for path in _hidden_paths(new, hides)
        if path not in old.spans or old.get_value(path) != new.get_value(path)
    )
    return dict.fromkeys(changed, _NEW_SECRET)


def to_json_pointer(path: JsonPath) -> str:
    """A path as a JSON Pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def format_setting_path(path: JsonPath) -> str:
    """A path in a sentence."""
    return format_path(path) or "the settings"
