"""What a module needs on the machine beside its Python packages: a program, a sandbox, a font."""

from collections.abc import Mapping
from typing import Protocol

from agentcore.late_dataclasses import dataclass

LocalizedText = str | Mapping[str, str]
"""A text, or a mapping from language (`en`, `zh`) to that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementInfo:
    """Description of a requirement; read once, when it is declared.

    Args:
        name: snake_case. Modules of one machine that need the same thing declare it under the same name, and it is
            shown and installed once. A `ToolError` with `requirement=NAME` offers to install it.
        title: What is needed, such as "Web browser".
        purpose: What the module needs it for, in a sentence.
        command: The one command that installs it, for a terminal.
        installs: What installing does to the machine, in a sentence; the user reads it before approving.
        download_bytes: Approximate size of the download; 0 if unknown.
        is_required: False if the module works without it, only not as well.
        is_installable: False if only the user can install it; then `command` is shown instead of a button.
    """

    name: str
    title: LocalizedText
    purpose: LocalizedText
    command: str
    installs: LocalizedText = ""
    download_bytes: int = 0
    is_required: bool = True
    is_installable: bool = True


@dataclass(frozen=True, slots=True)
class RequirementStatus:
    """Result of a check.

    Args:
        is_met: True if what is needed was found and works.
        text: What was found, such as the path of a program; otherwise what is missing, and why.
    """

    is_met: bool
    text: LocalizedText


class ReportProgress(Protocol):
    """Reports how far an installation is."""

    def __call__(self, text: LocalizedText, fraction: float | None = None) -> None:
        """Show the current step.

        Args:
            text: The current step, with bytes where they are known.
            fraction: Completed part of the whole installation, from 0 to 1; None if unknown.
        """
        ...


class Requirement(Protocol):
    """A requirement that a module declares with `runtime.declare_requirement`.

    Both methods run outside of calls, and also after the `init` of the module has failed.
    """

    @property
    def info(self) -> RequirementInfo:
        """The description."""
        ...

    async def check(self) -> RequirementStatus:
        """Check the machine, within 30 s and without side effects; called often, so it must be cheap."""
        ...

    async def install(self, report: ReportProgress) -> None:
        """Install what is missing, within an hour. A cancelled installation must leave no process behind.

        Called only after the user has approved it. `check` is called again afterwards.

        Raises:
            ToolError: It failed; the message states the reason and what to do about it.
        """
        ...
