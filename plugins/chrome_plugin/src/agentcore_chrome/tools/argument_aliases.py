"""Aliases of arguments: names that models know from widely used browser tool servers are accepted as well.

The definition that models get has one name per argument; the aliases are accepted because models write from memory.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, create_model, model_validator

from agentcore.api import ToolDefinition

_ELEMENT = {"ref": "selector", "target": "selector"}
_LEFT_OUT = frozenset(("element", "elementDescription"))
"""Descriptions for users that those servers require; they are ignored."""

SPELLINGS: Mapping[str, Mapping[str, str]] = {
    "browser_click": _ELEMENT,
    "browser_hover": _ELEMENT,
    "browser_type": _ELEMENT,
    "browser_select_option": _ELEMENT,
    "browser_screenshot": {**_ELEMENT, "filename": "path", "fullPage": "full_page"},
    "browser_evaluate": {**_ELEMENT, "function": "script", "expression": "script"},
    "browser_snapshot": _ELEMENT,
    "browser_get_dom": {**_ELEMENT, "maxDepth": "max_depth"},
    "browser_launch": {"newPage": "new_page"},
    "browser_drag": {
        "startRef": "source",
        "endRef": "destination",
        "startSelector": "source",
        "endSelector": "destination",
        "startTarget": "source",
        "endTarget": "destination",
    },
    "browser_handle_dialog": {"promptText": "text"},
    "browser_wait_for": {**_ELEMENT, "timeoutMs": "timeout", "function": "condition"},
    "browser_pdf": {"filename": "path"},
}
_LEFT_OUT_TOO = {
    "browser_drag": frozenset(("startElement", "endElement")),
    "browser_screenshot": frozenset(("type",)),
    "browser_type": frozenset(("slowly",)),
}


def with_spellings(definition: ToolDefinition) -> ToolDefinition:
    """Return the definition with arguments that also accept the aliases; what models get is unchanged."""
    spellings = SPELLINGS.get(definition.name)
    if spellings is None or definition.arguments is None:
        return definition
    left_out = _LEFT_OUT | _LEFT_OUT_TOO.get(definition.name, frozenset())

    def respell(cls: type[BaseModel], given: Any) -> Any:
        return normalize_arguments(given, spellings, left_out)

    arguments = create_model(
        "Arguments",
        __base__=definition.arguments,
        __validators__={"respell": model_validator(mode="before")(classmethod(respell))},  # type: ignore[dict-item, arg-type]
    )
    return replace(definition, arguments=arguments)


def normalize_arguments(given: Any, spellings: Mapping[str, str], left_out: frozenset[str]) -> Any:
    """Return the arguments under their defined names, which win if an alias is given too."""
    if not isinstance(given, Mapping):
        return given
    ours = {name: value for name, value in given.items() if name not in spellings and name not in left_out}
    for name, value in given.items():
        if name in spellings:
            ours.setdefault(spellings[name], value)
    return ours
