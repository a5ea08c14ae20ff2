"""Inline the references in a schema."""

from typing import Any

from agentcore.limits import LOWERED_DEPTH, LOWERED_PARTS
from agentcore.tool_formats.keywords import over_parts

_NOT_FOLLOWED = frozenset(("$ref", "$dynamicRef", "$recursiveRef", "$defs", "definitions"))


def inline_references(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without `$ref` and `$defs`.

    A recursive part is cut where it would repeat, and a schema that would grow too much is cut at `LOWERED_PARTS` parts
    or at depth `LOWERED_DEPTH`: there only type and description remain. An unresolvable reference accepts any value.
    """
    found: dict[str, Any] = _Inliner(schema).inline_part(schema)
    return found


class _Inliner:
    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._open = ["#"]
        self._parts = self._depth = 0

    def inline_part(self, part: Any) -> Any:
        """Inline the references of one schema within the whole."""
        self._parts += 1
        if not isinstance(part, dict):
            return part is not False
        if self._parts > LOWERED_PARTS or self._depth > LOWERED_DEPTH:
            return _make_outline(part)
        self._depth += 1
        try:
            return self._inline_schema(part)
        finally:
            self._depth -= 1

    def _inline_schema(self, part: dict[str, Any]) -> Any:
        changed = over_parts({key: value for key, value in part.items() if key not in _NOT_FOLLOWED}, self.inline_part)
        reference = part.get("$ref")
        if not isinstance(reference, str):
            return changed
        target = self._inline_reference(reference)
        return {**changed, "allOf": [target, *changed.get("allOf", ())]} if changed else target

    def _inline_reference(self, reference: str) -> Any:
        target = _find_target(self._root, reference)
        if not isinstance(target, dict):
            return target is not False
        if reference in self._open:
            return _make_outline(target)
        self._open.append(reference)
        try:
            return self.inline_part(target)
        finally:
            self._open.pop()


def _make_outline(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: schema[key] for key in ("type", "description") if key in schema}


def _find_target(root: dict[str, Any], reference: str) -> Any:
    """Return the target of a reference within the same schema; None if it does not exist or is external."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    part: Any = root
    for step in reference.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(part, list):
            part = part[int(name)] if name.isascii() and name.isdigit() and int(name) < len(part) else None
        else:
            part = part.get(name) if isinstance(part, dict) else None
    return part
