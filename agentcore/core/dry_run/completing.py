"""Suggestions for an argument of a tool while the user types it; no tool is called."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import structlog

from agentcore.core.module_code.containment import run_contained
from agentcore.core.module_code.module_error import log_failure, type_name
from agentcore.core.module_code.plain_values import plain_text
from agentcore.core.modules.module_record import RegisteredTool
from agentcore.limits import COMPLETION_SECONDS, COMPLETION_VALUE_CHARS, COMPLETION_VALUES, COMPLETIONS_IN_FLIGHT
from agentcore.tool_formats.formats import FORMS

log = structlog.get_logger(__name__)


class Completed(NamedTuple):
    """The suggestions.

    Args:
        values: Values for the argument, the best first.
        total: Their number; None: a module returned them, and may know more.
    """

    values: tuple[str, ...] = ()
    total: int | None = None


class Completion:
    """Completes arguments: by the values that a tool's schema names, else by asking its module."""

    def __init__(self) -> None:
        self._in_flight: dict[str, int] = {}

    async def complete_argument(
        self, tool: RegisteredTool, argument: str, begun: str, given: Mapping[str, str], *, is_off: bool = False
    ) -> Completed:
        """Return suggestions for an argument; none if nothing is known or the module fails.

        Args:
            tool: The tool.
            argument: The name of the argument.
            begun: The text typed so far.
            given: Known values of other arguments.
            is_off: True if modules must not be called.
        """
        schema = tool.schema.lower_to(FORMS["mcp"].dialect).schema.get("properties", {})
        if argument not in schema:
            return Completed()
        choices = _list_choices(schema[argument])
        asked = tool.definition.complete
        if choices or asked is None:
            fitting = [value for value in choices if value.startswith(begun)]
            return Completed(tuple(fitting[:COMPLETION_VALUES]), len(fitting))
        if is_off or not _is_typed(begun, given):
            return Completed()
        return await self._ask_module(tool, asked, (tool.definition.name, argument, begun, dict(given)))

    async def _ask_module(
        self, tool: RegisteredTool, asked: Callable[..., Any], what: tuple[str, str, str, dict[str, str]]
    ) -> Completed:
        module = tool.module.name
        if self._in_flight.get(module, 0) >= COMPLETIONS_IN_FLIGHT:
            return Completed()
        self._in_flight[module] = self._in_flight.get(module, 0) + 1
        try:
            return await run_contained(_call_completer(asked, what), COMPLETION_SECONDS, f"complete:{what[0]}", module)
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            log_failure(log, "completion_failed", exc, tool=what[0])
            return Completed()
        finally:
            self._in_flight[module] -= 1
            if not self._in_flight[module]:
                del self._in_flight[module]


async def _call_completer(asked: Callable[..., Any], what: tuple[str, str, str, dict[str, str]]) -> Completed:
    if asyncio.iscoroutinefunction(asked):
        return _read_values(await asked(*what))
    made = await asyncio.to_thread(asked, *what)
    return _read_values(await made if asyncio.iscoroutine(made) else made)


def _read_values(made: Any) -> Completed:
    """The values as plain texts of one line.

    Raises:
        TypeError: They are none.
    """
    if not isinstance(made, list | tuple):
        raise TypeError(f"values must be a list of texts, not {type_name(made)}")
    values = [plain_text(value) for value in made if isinstance(value, str)]
    usable = [value for value in values if value.isprintable() and 0 < len(value) <= COMPLETION_VALUE_CHARS]
    return Completed(tuple(dict.fromkeys(usable))[:COMPLETION_VALUES])


def _is_typed(begun: str, given: Mapping[str, str]) -> bool:
    """True if these may be values that a user types; larger ones are not passed to a module."""
    texts = (begun, *given, *given.values())
    return len(given) <= COMPLETION_VALUES and all(len(each) <= COMPLETION_VALUE_CHARS for each in texts)


def _list_choices(part: Any) -> list[str]:
    """The texts that a schema names, which is lowered: no reference is left in it."""
    if not isinstance(part, Mapping):
        return []
    if part.get("type") == "boolean":
        return ["true", "false"]
    values = [part["const"]] if "const" in part else part.get("enum")
    if values is not None:
        return [str(value) for value in values if isinstance(value, str | int | float) and not isinstance(value, bool)]
    return [choice for each in part.get("anyOf", ()) for choice in _list_choices(each)]
