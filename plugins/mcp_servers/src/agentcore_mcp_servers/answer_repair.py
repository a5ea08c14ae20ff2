"""Repairs a server's answers before the SDK reads them: one invalid tool, schema or part must not cost the others."""

import json
from collections.abc import Callable
from typing import Any

import mcp_types as types
from pydantic import BaseModel, TypeAdapter, ValidationError

Report = Callable[[str], None]

BLOCKS = 1_000
"""Maximum number of content blocks in a result."""

_KINDS: dict[str, type[BaseModel]] = {
    "tools": types.Tool,
    "prompts": types.Prompt,
    "resources": types.Resource,
    "resourceTemplates": types.ResourceTemplate,
}
_ADAPTER: TypeAdapter[types.ContentBlock] = TypeAdapter(types.ContentBlock)
_SAID_CHARS = 300
_PART_CHARS = 1_000
_ENTRIES = 5_000
_REPAIRS = 8
"""Invalid fields of one entry that are left out before the whole entry is."""

_BLOCK_LISTS = ("content", "contents", "messages")
_OF_TOOL_RESULTS = frozenset(("content", "structuredContent", "isError"))


def repair_answer(answer: types.JSONRPCResponse, report: Report) -> None:
    """Make an answer valid for the SDK, which would reject all of it for one invalid part.

    Entries of lists lose the fields that are invalid, and are removed without the necessary ones; the schema of a
    tool's arguments becomes that of an object. Parts of a result that cannot be read are replaced by text. Very long
    lists are cut: the SDK parses them in one step, which blocks the event loop. A missing `resultType` means `complete`
    in the newest protocol version, but the SDK requires it.

    Args:
        answer: Any response; changed in place.
        report: Called with a description of each part that was changed, and the reason.
    """
    result = answer.result
    result.setdefault("resultType", "complete")
    for key in _BLOCK_LISTS:
        blocks = result.get(key)
        if isinstance(blocks, list) and len(blocks) > BLOCKS:
            # Retain one more than the limit, so that `convert_result` can detect that there were too many.
            result[key] = blocks[: BLOCKS + 1]
    for key, kind in _KINDS.items():
        entries = result.get(key)
        if isinstance(entries, list):
            if len(entries) > _ENTRIES:
                report(f"{key} has {len(entries):,} entries; those after the first {_ENTRIES:,} are left out")
            repaired = (_repair_entry(entry, key, kind, report) for entry in entries[:_ENTRIES])
            result[key] = [entry for entry in repaired if entry is not None]
    if not _OF_TOOL_RESULTS.isdisjoint(result):
        _repair_tool_result(result)


# -- lists -----------------------------------------------------------------------------------------------------


def _repair_entry(entry: Any, key: str, kind: type[BaseModel], report: Report) -> Any:
    """Return an entry of a list without its invalid fields; None if what is left is not valid."""
    if isinstance(entry, dict):
        if not entry.get("name"):
            report(f"{key} has an entry without a name; it is left out")
            return None
        if key == "tools":
            entry = _repair_schemas(entry, report)
    for _ in range(_REPAIRS):
        try:
            kind.model_validate(entry, by_name=False)
        except ValidationError as exc:
            first = exc.errors(include_url=False, include_input=False)[0]
            name = entry.get("name") if isinstance(entry, dict) else None
            where = ".".join(str(part) for part in first["loc"])
            field = first["loc"][0] if first["loc"] else None
            message = f"{key} has an entry {str(name)[:80]!r} of which {where or 'all'} is not valid: {first['msg']}"
            report(message[:_SAID_CHARS])
            if not isinstance(entry, dict) or field in ("name", "uri", "uriTemplate") or field not in entry:
                return None
            entry = {name: value for name, value in entry.items() if name != field}
        else:
            return entry
    return None


def _repair_schemas(tool: dict[str, Any], report: Report) -> dict[str, Any]:
    """Return a tool whose schemas describe objects: many servers leave out what says so."""
    given = tool.get("inputSchema")
    name = str(tool.get("name"))[:80]
    schema: dict[str, Any] = {"type": "object"}
    if isinstance(given, dict) and given.get("type", "object") == "object":
        schema = {"type": "object"} | given
        for key, kind in (("properties", dict), ("required", list)):
            if not isinstance(schema.get(key, kind()), kind):
                del schema[key]
                report(f"the tool {name!r} has {key} that are not valid; it is offered without them")
    elif given is not None:
        report(f"the arguments of the tool {name!r} are no object; it is offered without arguments")
    tool = {**tool, "inputSchema": schema}
    output = tool.get("outputSchema")
    if output is not None and not (isinstance(output, dict) and output.get("type") == "object"):
        # the protocol allows objects alone, and results of other forms are not checked
        del tool["outputSchema"]
        report(f"the results of the tool {name!r} are declared as no object; they are not checked")
    return tool


# -- results ---------------------------------------------------------------------------------------------------


def _repair_tool_result(result: dict[str, Any]) -> None:
    """Make the result of a tool call valid; what cannot be read becomes text."""
    content = result.get("content")
    if content is None:
        result["content"] = []
    elif not isinstance(content, list):
        result["content"] = [_text_part(content)]
    else:
        result["content"] = [_repair_part(part) for part in content]
    structured = result.get("structuredContent")
    if structured is not None and not isinstance(structured, dict):
        result["structuredContent"] = {"result": structured}


def _repair_part(part: Any) -> Any:
    """Return a part of a result as it is if it is valid; else the nearest valid one."""
    if not isinstance(part, dict) or "type" not in part:
        return _text_part(part)
    if part.get("type") in ("image", "audio") and isinstance(part.get("data"), str):
        part = {"mimeType": f"{part['type']}/{'png' if part['type'] == 'image' else 'wav'}"} | part
    if part.get("type") == "resource_link" and isinstance(part.get("uri"), str):
        part = {"name": part["uri"]} | part
    try:
        _ADAPTER.validate_python(part, by_name=False)
    except ValidationError:
        return _text_part(part)
    return part


def _text_part(part: Any) -> dict[str, Any]:
    said = part
    if isinstance(part, dict):
        text = part.get("text")
        if isinstance(text, str | int | float):
            said = text
        else:
            shown = json.dumps(part, ensure_ascii=False)
            more = "…" if len(shown) > _PART_CHARS else ""
            said = f"[a part of the result that cannot be read: {shown[:_PART_CHARS]}{more}]"
    return {"type": "text", "text": said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)}
