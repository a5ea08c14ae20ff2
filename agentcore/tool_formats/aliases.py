"""Map names of arguments that models know from other products to those of the tool, as the tool's schema declares."""

from collections.abc import Iterator, Mapping
from typing import Any

from agentcore.schema_extension_keys import ALIASES, FLAT, IGNORED
from agentcore.tool_formats.merging import merge_all_of


def rename_arguments(value: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object whose unknown names are replaced by the properties that declare them as aliases, or left out.

    A name is left as it is, to be rejected, if its property is given too.

    Args:
        value: The object from the model; it is not modified.
        schema: Its schema, with references inlined.
    """
    properties = schema.get("properties", {})
    if properties.keys() >= value.keys():
        return value
    names = _aliases_of(properties)
    ignored = _list_names(properties, IGNORED)
    renamed: dict[str, Any] = {}
    for name, each in value.items():
        if name in ignored:
            continue
        own = names.get(name, name)
        if own != name and (_is_given(value, own) or _is_given(renamed, own)):
            own = name
        if each is not None or own not in renamed:
            renamed[own] = each
    for name, part in properties.items():
        if isinstance(part, dict) and part.get(FLAT) is True and not _is_given(renamed, name):
            renamed = _gather_item(renamed, name, _item_schema(part), properties)
    return renamed


def list_renamed(value: dict[str, Any], schema: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the names of a model's arguments that `rename_arguments` replaces, each with the right one."""
    properties = schema.get("properties", {})
    if properties.keys() >= value.keys():
        return []
    names = _aliases_of(properties)
    renamed = rename_arguments(value, schema)
    found = [(name, names[name]) for name in value if name not in renamed and name in names]
    for list_name, part in properties.items():
        if not isinstance(part, dict) or part.get(FLAT) is not True or _is_given(value, list_name):
            continue
        item = _item_schema(part)
        inner = _aliases_of(item.get("properties", {})) | {each: each for each in item.get("properties", {})}
        found += [
            (name, f"{list_name}[0].{inner[name]}")
            for name in value
            if name in inner and name not in renamed and name not in names
        ]
    return found


def _aliases_of(properties: Mapping[str, Any]) -> dict[str, str]:
    """Return the aliases of properties; none that is the name of a property."""
    return _list_names(properties, ALIASES)


def _list_names(properties: Mapping[str, Any], key: str) -> dict[str, str]:
    """Return the names that properties list under a key, each with its property; none that is itself one."""
    return {
        listed: name
        for name, part in properties.items()
        if isinstance(part, dict) and isinstance(part.get(key), list)
        for listed in part[key]
        if listed not in properties
    }


def _is_given(value: Mapping[str, Any], name: str) -> bool:
    return value.get(name) is not None


def _gather_item(
    value: dict[str, Any], name: str, item: Mapping[str, Any], properties: Mapping[str, Any]
) -> dict[str, Any]:
    """Return an object in which the properties of a single item, given beside the list, are in the list."""
    inner = item.get("properties", {})
    known = inner.keys() | _aliases_of(inner).keys()
    given = {key: each for key, each in value.items() if key in known and key not in properties}
    if not given or not rename_arguments(given, item).keys() >= set(item.get("required", ())):
        return value
    rest = {key: each for key, each in value.items() if key not in given}
    return rest | {name: [rename_arguments(given, item)]}


def _item_schema(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of the items of a list, or of the alternative that is a list."""
    for each in _alternatives(part):
        items = each.get("items")
        if isinstance(items, dict):
            return merge_all_of(items)
    return {}


def _alternatives(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield part
    for each in part.get("anyOf", ()):
        if isinstance(each, dict):
            yield each
