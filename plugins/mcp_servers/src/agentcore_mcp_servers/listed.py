"""What a server lists, entry by entry: one that cannot be read takes none of the others with it."""

from collections.abc import Callable
from typing import Any

import mcp_types as types
from pydantic import BaseModel, ValidationError

_KINDS: dict[str, type[BaseModel]] = {
    "tools": types.Tool,
    "prompts": types.Prompt,
    "resources": types.Resource,
    "resourceTemplates": types.ResourceTemplate,
}
_SAID_CHARS = 300
_ENTRIES = 5_000
_BLOCK_LISTS = ("content", "contents", "messages")
BLOCKS = 1_000
"""As many content blocks as a result may have."""


def drop_unreadable(answer: types.JSONRPCResponse, report: Callable[[str], None]) -> None:
    """Take out of an answer that lists something what is none of it, for the SDK would refuse the whole list.

    Of very long lists the end is taken out as well: the SDK reads all of them in one go, in which nobody is answered.
    An answer that does not say what it is is whole, as the newest revision has it; the SDK wants it said.

    Args:
        answer: Any answer.
        report: Is told what was left out, and why.
    """
    answer.result.setdefault("resultType", "complete")
    for key in _BLOCK_LISTS:
        blocks = answer.result.get(key)
        if isinstance(blocks, list) and len(blocks) > BLOCKS:
            # one more than may be, by which whoever reads the result knows that it is too long
            answer.result[key] = blocks[: BLOCKS + 1]
    for key, kind in _KINDS.items():
        entries = answer.result.get(key)
        if isinstance(entries, list):
            if len(entries) > _ENTRIES:
                report(f"{key} has {len(entries):,} entries; those after the first {_ENTRIES:,} are left out")
            answer.result[key] = [entry for entry in entries[:_ENTRIES] if _is_readable(entry, key, kind, report)]


def _is_readable(entry: Any, key: str, kind: type[BaseModel], report: Callable[[str], None]) -> bool:
    try:
        kind.model_validate(entry, by_name=False)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
        name = entry.get("name") if isinstance(entry, dict) else None
        where = ".".join(str(part) for part in first["loc"])
        report(f"{key} has an entry {str(name)[:80]!r} that is none: {where}: {first['msg']}"[:_SAID_CHARS])
        return False
    return True
