"""Removes invalid entries from a server's lists, so that one of them does not invalidate the others."""

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
"""Maximum number of content blocks in a result."""


def drop_unreadable(answer: types.JSONRPCResponse, report: Callable[[str], None]) -> None:
    """Remove invalid entries from a response's lists, for which the SDK would reject the whole list.

    Very long lists are truncated: the SDK parses them in one step, which blocks the event loop. A missing `resultType`
    means `complete` in the newest protocol version, but the SDK requires it.

    Args:
        answer: Any response; changed in place.
        report: Called with a description of each removed part and the reason.
    """
    answer.result.setdefault("resultType", "complete")
    for key in _BLOCK_LISTS:
        blocks = answer.result.get(key)
        if isinstance(blocks, list) and len(blocks) > BLOCKS:
            # Retain one more than the limit, so that `convert_result` can detect that there were too many.
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
