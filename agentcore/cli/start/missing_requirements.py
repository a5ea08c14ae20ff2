"""Lists what is missing on this machine or wrong with the modules of a running server, with a fix for each."""

from collections.abc import Iterator

from agentcore.core.core import Core
from agentcore.core.modules.module_record import ModuleRecord
from agentcore.core.requirements import RequirementView, in_language
from agentcore.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Need:
    """Something that the user has to do before everything works.

    Args:
        subject: What it concerns, such as a module or a program.
        problem: What is missing or wrong.
        fix: The command or the step that fixes it.
    """

    subject: str
    problem: str
    fix: str


def find_needs(core: Core) -> list[Need]:
    """List each need once: missing requirements, modules that do not run, and diagnostics with advice."""
    if not core.modules.records:
        return [Need("Modules", "none is enabled, so there are no tools", "agentcore modules list")]
    needs = [_need_of(view, core.config.locale) for view in core.requirements.list_missing()]
    needs += [need for record in core.modules.records.values() for need in _needs_of(record)]
    return list(dict.fromkeys(needs))


def _need_of(view: RequirementView, locale: str) -> Need:
    title = in_language(view.info.title, locale)
    purpose = in_language(view.info.purpose, locale)
    return Need(title, f"not installed. {purpose}", view.info.command)


def _needs_of(record: ModuleRecord) -> Iterator[Need]:
    if record.state in ("failed", "missing"):
        yield Need(f"Module {record.name}", record.reason, f"agentcore modules info {record.name}")
    for subject, (found, advice) in record.notes.items():
        if advice:
            yield Need(f"{record.name} ({subject})", found, advice)
