"""A requirement that a module declares, contained and read into plain values."""

import math
import re
from collections.abc import Callable
from typing import Any

from agentcore.api.requirement import LocalizedText, Requirement, RequirementInfo, RequirementStatus
from agentcore.core.module_code.containment import run_contained
from agentcore.core.module_code.module_error import reason_of
from agentcore.core.module_code.tool_errors import plain_error
from agentcore.core.module_code.value_reading import WrongValueError, plain_number, read_flag, read_text, read_title
from agentcore.errors import ToolError
from agentcore.secrets import mask_known_secrets

CHECK_SECONDS = 30.0
"""How long a check may take."""

INSTALL_SECONDS = 3600.0
"""How long an installation may take; a slow connection needs most of it."""

OnProgress = Callable[[LocalizedText, float | None], None]

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_TEXT_CHARS = 2_000
_LARGEST_BYTES = 1 << 50


class ModuleRequirement:
    """A requirement that a module declared with `declare_requirement`.

    Args:
        given: The module's object.
        module: The module's name.
    Raises:
        TypeError: Its description is invalid; the message names the field.
    """

    def __init__(self, given: Requirement, module: str) -> None:
        self._given = given
        self._module = module
        self.info = read_info(given.info, module)

    async def check(self) -> RequirementStatus:
        """Check whether it is met; a check that fails counts as not met, with the reason as its text."""
        name = self.info.name
        try:
            given = await run_contained(self._run_check(), CHECK_SECONDS, f"check:{name}", self._module)
            return read_status(given, f"of requirement {name!r} of module {self._module!r}")
        except ToolError as exc:
            return RequirementStatus(False, plain_error(exc).message)
        except Exception as exc:  # noqa: BLE001 - the border between host and module
            return RequirementStatus(False, f"it could not be checked: {mask_known_secrets(reason_of(exc))}")

    async def install(self, on_progress: OnProgress) -> None:
        """Install it.

        Raises:
            ToolError: The module's own; `install_failed` for any other failure.
        """
        name = self.info.name
        where = f"of the progress of requirement {name!r} of module {self._module!r}"

        def report_progress(text: LocalizedText, fraction: float | None = None) -> None:
            on_progress(_read_localized_text(text, f"text {where}"), read_fraction(fraction, f"fraction {where}"))

        try:
            await run_contained(self._run_install(report_progress), INSTALL_SECONDS, f"install:{name}", self._module)
        except ToolError as exc:
            raise plain_error(exc) from exc
        except Exception as exc:  # the border between core and module
            message = f"installing {name!r} failed: {mask_known_secrets(reason_of(exc))}"
            raise ToolError("install_failed", message, requirement=name) from exc

    async def _run_check(self) -> Any:
        return await self._given.check()

    async def _run_install(self, report: Any) -> None:
        await self._given.install(report)


def read_info(given: Any, module: str) -> RequirementInfo:
    """Read the description of a requirement into plain values.

    Raises:
        TypeError: A field is wrong; the message names it.
    """
    of = f"of a requirement of module {module!r}"
    if not isinstance(given, RequirementInfo):
        raise WrongValueError(f"info {of}", "a RequirementInfo", given)
    size = given.download_bytes
    if type(size) is not int or not 0 <= size <= _LARGEST_BYTES:
        raise WrongValueError(f"download_bytes {of}", "a number of bytes", size)
    return RequirementInfo(
        name=read_text(given.name, f"name {of}", "a word in snake_case", pattern=_NAME),
        title=read_title(given.title, f"title {of}"),
        purpose=read_title(given.purpose, f"purpose {of}"),
        command=read_text(given.command, f"command {of}", is_empty_ok=False),
        installs=_read_localized_text(given.installs, f"installs {of}"),
        download_bytes=size,
        is_required=read_flag(given.is_required, f"is_required {of}"),
        is_installable=read_flag(given.is_installable, f"is_installable {of}"),
    )


def read_status(given: Any, of: str) -> RequirementStatus:
    """Read the result of a check into plain values.

    Raises:
        TypeError: It is no `RequirementStatus`, or a field is wrong.
    """
    if not isinstance(given, RequirementStatus):
        raise WrongValueError(f"the status {of}", "a RequirementStatus", given)
    return RequirementStatus(read_flag(given.is_met, f"is_met {of}"), _read_localized_text(given.text, f"text {of}"))


def read_fraction(given: Any, where: str) -> float | None:
    """Read a fraction from 0 to 1, or None.

    Raises:
        TypeError: It is something else.
    """
    if given is None:
        return None
    if type(given) is bool or not isinstance(given, int | float):
        raise WrongValueError(where, "a number from 0 to 1, or None", given)
    number = plain_number(given)
    return min(max(number, 0.0), 1.0) if math.isfinite(number) else None


def _read_localized_text(given: Any, where: str) -> LocalizedText:
    if isinstance(given, str):
        return _truncate_text(read_text(given, where))
    read = read_title(given, where)
    assert not isinstance(read, str)  # noqa: S101 - a mapping, for it is no text
    return {language: _truncate_text(text) for language, text in read.items()}


def _truncate_text(text: str) -> str:
    return mask_known_secrets(text)[:_TEXT_CHARS]
