"""Blocks of families as users see them: with secrets masked, and with differences line by line."""

import json
from collections.abc import Iterable

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from agentcore.config.loading import AppConfig
from agentcore.config.references import has_reference
from agentcore.core.discovery.families import FamilyMember
from agentcore.core.discovery.source_search import Found
from agentcore.core.modules.module_record import ModuleRecord
from agentcore.core.modules.modules import Modules
from agentcore.core.settings.display import masked_part
from agentcore.core.settings.settings_document import SettingsSubject
from agentcore.errors import AgentcoreError

_NOTHING = object()


class BlockView(BaseModel, defer_build=True, alias_generator=to_camel, populate_by_name=True):
    """The block of app.json that a module is made of, as it stands there now."""

    family: str
    """The key of its family."""
    key: str
    file: str = ""
    line: int | None = None
    variable: str = ""
    """The environment variable that it comes from, if it is not from a file."""
    text: str
    """The block as JSON text, secrets masked."""
    is_changed: bool = False
    """True if the module was started with another block, and a reload would use this one."""
    is_secret_changed: bool = False
    """True if a secret that it refers to has changed, and a reload would use the new one."""


def subject_of_blocks(config: AppConfig, modules: Modules, found: Iterable[Found]) -> SettingsSubject:
    """Return the settings that identify secrets in blocks of these modules: by the loaded models of their families."""
    keys = {each.family.key: None for each in found if isinstance(each, FamilyMember)}
    return SettingsSubject.of_app(config, blocks={**keys, **modules.block_models()})


def block_view(
    subject: SettingsSubject, found: Iterable[Found], record: ModuleRecord | None = None
) -> BlockView | None:
    """Return the block that defines a module; None: there is none, or several have its name.

    Args:
        subject: From `subject_of_blocks`.
        found: The current candidates for its name.
        record: The module, if it is listed.
    """
    runs = None if record is None else record.found
    members = [each for each in found if isinstance(each, FamilyMember) and len(each.keys) == 1]
    member = next((each for each in members if runs is None or each.source == runs.source), None)
    if member is None:
        return None
    origin = member.layers.origins[member.path]
    return BlockView(
        family=member.family.key,
        key=member.keys[0],
        file=str(origin.file or ""),
        line=origin.line,
        variable=origin.variable or "",
        text="\n".join(_format_lines(subject, member)),
        is_changed=isinstance(runs, FamilyMember) and runs.block != member.block,
        is_secret_changed=record is not None
        and record.state == "ready"
        and _has_other_secrets(subject, member, record),
    )


def block_diff(config: AppConfig, modules: Modules, name: str, found: Iterable[Found]) -> tuple[tuple[str, str], ...]:
    """Return how enabling or reloading a module would change its block: its path, with a unified diff.

    All lines are new for a module that does not run; empty if the block is unchanged.
    """
    record = modules.records.get(name)
    runs = record.found if record is not None and record.state == "ready" else None
    before = runs if isinstance(runs, FamilyMember) else None
    member = next((each for each in found if isinstance(each, FamilyMember)), None)
    if member is None or (before is not None and before.block == member.block):
        return ()
    subject = subject_of_blocks(config, modules, [member])
    place = " ".join(member.path)
    old = [] if before is None else _format_lines(subject, before)
    new = _format_lines(subject, member, _NOTHING if before is None else before.block)
    import difflib  # noqa: PLC0415 - few processes need it

    lines = difflib.unified_diff(old, new, place if old else "/dev/null", place, lineterm="")
    return ((place, "\n".join(lines)),)


def _has_other_secrets(subject: SettingsSubject, member: FamilyMember, record: ModuleRecord) -> bool:
    if not has_reference(member.block):
        return False
    try:
        found = subject.resolve_references({member.family.key: {member.keys[0]: member.block}}, {})
    except AgentcoreError:  # a reference no longer resolves, and the module continues with the value that it has
        return True
    return not set(found.secrets) <= set(record.secrets)


def _format_lines(subject: SettingsSubject, member: FamilyMember, before: object = _NOTHING) -> list[str]:
    compared = () if before is _NOTHING else (before,)
    shown = masked_part(subject, member.path, member.block, *compared)
    return json.dumps(shown, indent=2, ensure_ascii=False).splitlines()
