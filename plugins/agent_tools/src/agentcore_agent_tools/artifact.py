"""The tool `artifact`: reads, searches and saves content that was too long, or binary, for a result."""

import asyncio
from typing import Any

from agentcore.api import (
    DOCUMENT_HEAD_BYTES,
    ArtifactLines,
    ArtifactLink,
    CallPreview,
    DocumentReader,
    DocumentText,
    Image,
    Text,
    ToolContext,
    ToolError,
    ToolResult,
    Workspace,
    detect_document,
    read_csv_columns,
)

READ_LINES = 2_000
"""Maximum number of lines of one read, which is also the default."""

_READ_CHARS = 1_000_000
"""Maximum size of one read for a program; a model has its own limit."""

_NOTE_CHARS = 400
"""Reserved for the text around the content."""

_MATCHES = 100
_BYTES = 256
_BYTES_MAX = 4_096
_BYTES_PER_LINE = 16
_IMAGE_BYTES = 3_750_000
_SEEN = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))


async def read_artifact(
    ctx: ToolContext, artifact_id: str, offset: int | None, limit: int | None, documents: DocumentReader
) -> ToolResult:
    """Return lines of a text or document, an image as such, and bytes of anything else.

    Raises:
        ToolError: `artifact_not_found`, `invalid_arguments`.
    """
    link = await ctx.artifacts.describe(artifact_id)
    if link.mime in _SEEN and link.size_bytes <= _IMAGE_BYTES and offset is limit is None:
        image = Image(await ctx.artifacts.load(artifact_id), link.mime)
        return ToolResult((Text(_format_link(link)), image), _describe_link(link))
    room = _READ_CHARS if ctx.model_chars is None else ctx.model_chars - _NOTE_CHARS
    first = max(offset or 1, 1)
    lines = min(limit or READ_LINES, READ_LINES)
    document = await _read_document(ctx, link, documents)
    if document is not None:
        if not document.text:
            return ToolResult(f"[{_format_link(link)}: {document.notice}]", _describe_link(link))
        found = await asyncio.to_thread(document.lines, first, limit=lines, chars=room)
        return _build_lines_result(link, found, first, " of its text")
    try:
        found = await ctx.artifacts.lines(artifact_id, first, limit=lines, chars=room)
    except ToolError as exc:
        if exc.type != "artifact_not_text":
            raise
        return await _read_bytes(ctx, link, offset or 0, min(limit or _BYTES, _BYTES_MAX))
    return _build_lines_result(link, found, first, _describe_columns(link, found) if first == 1 else "")


def _describe_columns(link: ArtifactLink, found: ArtifactLines) -> str:
    """Describe the columns of a CSV file by its first lines; empty for anything else."""
    text = "".join(line for _, line in found.lines)
    columns = read_csv_columns(text, link.name, link.mime, is_whole=len(found.lines) == found.total)
    return "" if columns is None else f"; {columns}"


async def _read_document(ctx: ToolContext, link: ArtifactLink, documents: DocumentReader) -> DocumentText | None:
    """Return the text of a document; None if the artifact is none.

    Its bytes decide, because a server may call it anything.
    """

    def read_head() -> bytes:
        with file:
            return file.read(DOCUMENT_HEAD_BYTES, 0)

    file = await ctx.artifacts.open(link.artifact_id)
    if detect_document(await asyncio.to_thread(read_head), link.name) is None:
        return None
    return await documents.read(await ctx.artifacts.load(link.artifact_id), ctx.workspace, link.name)


def _build_lines_result(link: ArtifactLink, found: ArtifactLines, first: int, what: str = "") -> ToolResult:
    if not found.lines and (found.total or first > 1):
        message = f"{link.name} has {found.total:,} lines; offset {first:,} is beyond them"
        raise ToolError("invalid_arguments", message, lines=found.total)
    last = first + len(found.lines) - 1
    rest = f"; go on with offset {last + 1}" if last < found.total else ""
    head = f"[{link.name}: lines {first:,} to {last:,} of {found.total:,}{what}{rest}]"
    facts = {"offset": first, "lines": len(found.lines), "totalLines": found.total}
    return ToolResult(f"{head}\n{''.join(line for _, line in found.lines)}", _describe_link(link) | facts)


async def _read_bytes(ctx: ToolContext, link: ArtifactLink, offset: int, limit: int) -> ToolResult:
    def take() -> bytes:
        with file:
            return file.read(limit, offset)

    file = await ctx.artifacts.open(link.artifact_id)
    data = await asyncio.to_thread(take)
    after = offset + len(data)
    rest = f"; go on with offset {after}" if after < link.size_bytes else ""
    shown = f"no text; bytes {offset:,} to {after:,}{rest}"
    head = f"[{_format_link(link)}: {shown}. `save` puts the whole into the workspace.]"
    return ToolResult(
        f"{head}\n{_format_hex(data, offset)}", _describe_link(link) | {"offset": offset, "bytes": len(data)}
    )


async def search_artifact(
    ctx: ToolContext,
    artifact_id: str,
    query: str | None,
    offset: int | None,
    limit: int | None,
    *,
    documents: DocumentReader,
) -> ToolResult:
    """Return the lines that contain a text; of a document, lines of its text.

    Raises:
        ToolError: `artifact_not_found`, `artifact_not_text`, `invalid_arguments`.
    """
    if query is None or "\n" in query:
        raise ToolError("invalid_arguments", "'search' needs 'query': the literal text that a line holds, on one line")
    link = await ctx.artifacts.describe(artifact_id)
    first = max(offset or 1, 1)
    most = min(limit or _MATCHES, READ_LINES)
    document = await _read_document(ctx, link, documents)
    if document is None:
        found = await ctx.artifacts.find_lines(artifact_id, query, first, limit=most)
    elif document.text:
        found = await asyncio.to_thread(document.find_lines, query, first, limit=most)
    else:
        raise ToolError("artifact_not_text", f"{link.name}: {document.notice}", mime=link.mime)
    shown = []
    left = _READ_CHARS if ctx.model_chars is None else ctx.model_chars - _NOTE_CHARS
    for number, text in found.lines:
        left -= len(text) + len(f"{number}: \n")
        if left < 0:
            break
        shown.append((number, text))
    rest = f"; go on with offset {shown[-1][0] + 1}" if len(shown) < found.total and shown else ""
    where = f" from line {first:,} on" if first > 1 else ""
    if not found.total:
        head = f"[{link.name}: no line holds {query!r}{where}; capitals and small letters count]"
    else:
        head = f"[{link.name}: {found.total:,} lines hold {query!r}{where}, {len(shown):,} are shown{rest}]"
    matches = [{"line": number, "text": text} for number, text in shown]
    lines = [head, *(f"{number}: {text}" for number, text in shown)]
    return ToolResult("\n".join(lines), _describe_link(link) | {"matches": matches, "total": found.total})


async def describe_artifact(ctx: ToolContext, artifact_id: str, documents: DocumentReader) -> ToolResult:
    """Return name, type and size of an artifact, and its number of lines if it is a text or a document with text.

    Raises:
        ToolError: `artifact_not_found`.
    """
    link = await ctx.artifacts.describe(artifact_id)
    document = await _read_document(ctx, link, documents)
    if document is not None:
        if not document.text:
            return ToolResult(f"{_format_link(link)}. {document.notice}", _describe_link(link))
        total = document.lines(limit=0, chars=0).total
        facts = _describe_link(link) | {"totalLines": total}
        return ToolResult(f"{_format_link(link)}, {total:,} lines of text. {document.notice}", facts)
    try:
        found = await ctx.artifacts.lines(artifact_id, limit=0, chars=0)
    except ToolError as exc:
        if exc.type != "artifact_not_text":
            raise
        return ToolResult(_format_link(link), _describe_link(link))
    return ToolResult(
        f"{_format_link(link)}, {found.total:,} lines", _describe_link(link) | {"totalLines": found.total}
    )


async def save_artifact(ctx: ToolContext, artifact_id: str, path: str | None, *, overwrite: bool) -> ToolResult:
    """Save an artifact as a file in the workspace.

    Raises:
        ToolError: `artifact_not_found`, `invalid_arguments`, `file_exists`, and those of writing to the workspace.
    """
    link = await ctx.artifacts.describe(artifact_id)
    target = _require_path(path)

    def write() -> str:
        with file:
            place = ctx.workspace.locate(target)
            ctx.workspace.write_file(place, file.blocks(), create_parents=True, overwrite=overwrite)
        return ctx.workspace.show(place)

    file = await ctx.artifacts.open(artifact_id)
    shown = await asyncio.to_thread(write)
    return ToolResult(f"Saved {_format_link(link)} as {shown}.", _describe_link(link) | {"path": shown})


async def preview_call(ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
    """Preview a call: only `save` writes; it is rejected before approval if it would fail.

    Raises:
        ToolError: `artifact_not_found`, `invalid_arguments`, `file_exists`, and those of workspace paths.
    """
    link = await ctx.artifacts.describe(arguments["id"])
    if arguments["action"] != "save":
        return CallPreview(effects=frozenset(("read",)), words=_describe_reading(link, arguments))
    target = _require_path(arguments["path"])
    return await asyncio.to_thread(_preview_save, ctx.workspace, target, link, overwrite=arguments["overwrite"])


def _preview_save(workspace: Workspace, path: str, link: ArtifactLink, *, overwrite: bool) -> CallPreview:
    place = workspace.locate(path)
    exists = _path_exists(workspace, path)
    if exists and not overwrite:
        message = f"{workspace.show(place)} exists; take another path, or overwrite=true"
        raise ToolError("file_exists", message, path=workspace.show(place), artifact=link.name)
    return CallPreview(
        effects=frozenset(("write",)),
        paths=(workspace.real_path(place),),
        is_protected=workspace.is_protected(place),
        words=f"Save {_format_link(link)} as {path}{', in place of the file there' if exists else ''}",
    )


def _describe_reading(link: ArtifactLink, arguments: dict[str, Any]) -> str:
    """Return what a call that only reads would do, by the artifact's name, which a user knows, instead of its id."""
    query = arguments.get("query")
    does = {"read": "Read", "search": "Search"}.get(arguments["action"], "Look at")
    rest = "" if query is None else f" for {query!r}"
    offset = arguments.get("offset")
    limit = arguments.get("limit")
    rest += "" if offset is None else f", from {offset}"
    rest += "" if limit is None else f", {limit} at most"
    return f"{does} {_format_link(link)}{rest}"


def _path_exists(workspace: Workspace, path: str) -> bool:
    try:
        workspace.stat(workspace.locate(path))
    except ToolError as exc:
        if exc.type == "path_not_found":
            return False
        raise
    return True


def _require_path(path: str | None) -> str:
    if path is None:
        raise ToolError("invalid_arguments", "'save' needs 'path', a file in the workspace", missing="path")
    return path


def _format_link(link: ArtifactLink) -> str:
    return f"{link.name} ({link.mime}, {link.size_bytes:,} bytes)"


def _describe_link(link: ArtifactLink) -> dict[str, Any]:
    return {"artifactId": link.artifact_id, "name": link.name, "mime": link.mime, "sizeBytes": link.size_bytes}


def _format_hex(data: bytes, offset: int) -> str:
    """Format bytes like `hexdump -C`."""
    lines = []
    for start in range(0, len(data), _BYTES_PER_LINE):
        row = data[start : start + _BYTES_PER_LINE]
        shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)  # noqa: PLR2004 - printable ASCII
        lines.append(f"{offset + start:08x}  {row.hex(' '):<47}  |{shown}|")
    return "\n".join(lines)
