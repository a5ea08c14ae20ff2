"""What is missing on this machine or wrong with the modules of a running server, each with the fix."""

from collections.abc import Iterator
from dataclasses import dataclass

from agentcore.host import Host
from agentcore.host.modules import ModuleRecord


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


def find_needs(host: Host) -> list[Need]:
    """List what the modules of a host lack, each need once: modules that do not run, and notes with advice."""
    if not host.modules.records:
        return [Need("Modules", "none is enabled, so there are no tools", "agentcore modules list")]
    return list(dict.fromkeys(need for record in host.modules.records.values() for need in _needs_of(record)))


def _needs_of(record: ModuleRecord) -> Iterator[Need]:
    if record.state in ("failed", "missing"):
        yield Need(f"Module {record.name}", record.reason, f"agentcore modules info {record.name}")
    for subject, (found, advice) in record.notes.items():
        if advice:
            yield Need(f"{record.name} ({subject})", found, advice)
