"""A module's report on itself, requested when the user opens it."""

from collections.abc import Mapping
from typing import Any

from agentcore.api.report import ReadReport, Report
from agentcore.core.module_code.containment import run_contained
from agentcore.core.module_code.module_error import reason_of
from agentcore.core.module_code.value_reading import WrongValueError, read_mapping, read_text
from agentcore.errors import ToolError
from agentcore.limits import HOOK_SECONDS
from agentcore.secrets import mask_known_secrets

_FACTS = 50
_NAMES = 5_000


async def read_report(read: ReadReport | None, name: str) -> Report:
    """Read a module's report on its current status; empty for one that reports nothing.

    Args:
        read: The module's function.
        name: The module's name.
    Raises:
        ToolError: `report_failed`: it returned none in time, or something else.
    """
    if read is None:
        return Report()
    try:
        return _validate_report(await run_contained(_await_report(read), HOOK_SECONDS, f"report:{name}", name), name)
    except Exception as exc:  # the border between core and module
        message = f"module {name!r} could not say how it is: {reason_of(exc)}"
        raise ToolError("report_failed", message, retryable=True, module=name) from exc


async def _await_report(read: ReadReport) -> Report:
    return await read()


def _validate_report(given: Any, name: str) -> Report:
    of = f"of the report of module {name!r}"
    if not isinstance(given, Report):
        raise WrongValueError(f"the report of module {name!r}", "a Report", given)
    log = mask_known_secrets(read_text(given.log, f"log {of}"))
    return Report(
        _read_text_mapping(given.facts, f"facts {of}", _FACTS),
        log,
        _read_text_mapping(given.original_names, f"original_names {of}", _NAMES),
    )


def _read_text_mapping(given: Any, where: str, bound: int) -> Mapping[str, str]:
    read = read_mapping(given, where)
    if len(read) > bound:
        raise WrongValueError(where, f"at most {bound} entries", given)
    return {name: mask_known_secrets(read_text(value, f"each of {where}")) for name, value in read.items()}
