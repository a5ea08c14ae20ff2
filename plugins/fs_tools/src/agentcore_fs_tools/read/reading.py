"""`read_file`: read lines of a text file, or an image."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from agentcore.api import (
    DocumentKind,
    DocumentText,
    Image,
    Text,
    ToolError,
    ToolResult,
    Workspace,
    detect_document,
    read_csv_columns,
)
from agentcore_fs_tools.read.documents import Documents
from agentcore_fs_tools.read.images import IMAGE_LIMIT_BYTES, image_type
from agentcore_fs_tools.text.encoding import SAMPLE_BYTES, UTF8, TextForm, detect_form, detect_line_ends, named_form
from agentcore_fs_tools.text.formatting import LINE_CHARS, cut_line, lines_chars, show_count, show_size

LINES_DEFAULT = 2_000
"""Default number of lines per call."""

TEXT_LIMIT_BYTES = 2_000_000
"""Maximum text returned by one call."""

WHOLE_LIMIT_BYTES = 8 << 20
"""Files up to this size are read at once, larger ones in blocks."""

_STEPS_LIMIT = 20_000  # beyond it, splitting all lines is faster than searching for each line end

_NUMBER_CHARS = 8  # per line number, with the tab and the line end
_CUT_CHARS = 40  # for the mark on a truncated line

_CHUNK_LINES = 1_000  # line numbers formatted at once and cached for the next file

_SPLIT_CHARS = 1 << 15  # numbered at once: with more lines than fit into the processor's cache it takes twice as long

_COUNTED_CHARS = 1 << 16  # from this size on, a library is imported that counts faster

_LONG_LINES = "[Lines are cut here that are very long: `raw` gives more of one, grep the part of it around a match.]"

_AROUND_CHARS = 400  # reserved for the text above and below the lines, without the path

SCAN_LIMIT_BYTES = 256 << 20
"""Lines of a huge file are counted up to this offset."""


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """A request to read a file.

    Args:
        path: Path as given by the caller.
        offset: First line, from 1.
        limit: Number of lines.
        encoding: Name of the codec; None: detected from the content.
        raw: True for lines without numbers and untruncated.
        limit_chars: Maximum length of the text for a model; None: the caller is a program, only `TEXT_LIMIT_BYTES`
            applies.
    """

    path: str
    offset: int = 1
    limit: int = LINES_DEFAULT
    encoding: str | None = None
    raw: bool = False
    limit_chars: int | None = None


@dataclass(frozen=True, slots=True)
class _Window:
    """Some lines of a file: their text, and the number of lines of the file (None: not counted)."""

    text: str
    total_lines: int | None
    is_all: bool = False


def read_file(
    workspace: Workspace, request: ReadRequest, is_cancelled: Callable[[], bool], documents: Documents | None = None
) -> ToolResult:
    """Read lines of a text file or of a document's text, or an image as an image block.

    Args:
        workspace: The workspace of the file.
        request: The request.
        is_cancelled: Checked periodically.
        documents: Extracts the text of documents; None: they are read as they are.
    Raises:
        ToolError: `binary_file`, `file_too_large`, `offset_out_of_range`, `cannot_decode`, `unknown_encoding`, and
            those of opening.
    """
    place = workspace.find_place(request.path)
    shown = workspace.show(place)
    with workspace.open_file(place) as file, workspace.errors(place):
        is_small = file.size_bytes <= WHOLE_LIMIT_BYTES
        content = file.read(WHOLE_LIMIT_BYTES if is_small else SAMPLE_BYTES)
        mime = image_type(content)
        if mime is not None:
            return _read_image(file, content, mime, shown)
        if documents is not None and (kind := _detect_document(content, shown, request)):
            return _build_document_result(
                documents.read(file, shown, is_cancelled), kind, request, shown, file.size_bytes
            )
        form = _choose_form(content, request.encoding, shown, file.size_bytes)
        if is_small:
            window = _select_lines(form.decode(content, shown, errors=_choose_error_mode(request)), request)
        else:
            window = _select_lines_in_blocks(file, form, request, shown, is_cancelled)
    return _build_result(window, request, form, shown, file.size_bytes)


def _read_image(file: Workspace.OpenFile, head: bytes, mime: str, shown: str) -> ToolResult:
    if file.size_bytes > IMAGE_LIMIT_BYTES:
        message = f"The picture {shown!r} has {show_size(file.size_bytes)}, more than {show_size(IMAGE_LIMIT_BYTES)}."
        raise ToolError("file_too_large", message, path=shown, size_bytes=file.size_bytes)
    content = head if len(head) == file.size_bytes else file.read(IMAGE_LIMIT_BYTES)
    note = Text(f"{shown}: {mime}, {show_size(len(content))}")
    return ToolResult([note, Image(content, mime)], {"path": shown, "size_bytes": len(content), "mime": mime})


def _detect_document(head: bytes, shown: str, request: ReadRequest) -> DocumentKind | None:
    """Return the kind of a document, unless its own bytes are requested, which are text in a notebook alone."""
    if request.encoding is not None:
        return None
    kind = detect_document(head, shown)
    return None if kind is not None and kind.is_text_file and request.raw else kind


def _build_document_result(
    found: DocumentText, kind: DocumentKind, request: ReadRequest, shown: str, size_bytes: int
) -> ToolResult:
    result = _build_result(_select_lines(found.text, request), request, UTF8, shown, size_bytes)
    how = "`raw` gives the JSON itself, which `edit` changes." if kind.is_text_file else "`edit` cannot change it."
    notice = Text(f"{found.notice} {how}")
    data = result.data | {"mime": found.mime, "title": found.title}
    return replace(result, content=(notice, *result.blocks()), data=data)


def _choose_form(head: bytes, encoding: str | None, shown: str, size_bytes: int) -> TextForm:
    if encoding is not None:
        return named_form(encoding, head)
    form = detect_form(head, is_whole=len(head) == size_bytes)
    if form is None:
        message = (
            f"{shown!r} is a binary file ({show_size(size_bytes)}, begins with {head[:8].hex(' ')}); "
            "if it is text after all, name its `encoding`."
        )
        raise ToolError("binary_file", message, path=shown, size_bytes=size_bytes)
    return form


def _choose_error_mode(request: ReadRequest) -> str:
    return "strict" if request.encoding is not None else "replace"


def _select_lines(text: str, request: ReadRequest) -> _Window:
    total = _count_lines(text)
    if request.offset > total:
        return _Window("", total)
    if request.offset == 1 and request.limit >= total:
        return _Window(text, total, is_all=True)
    start = _after_line(text, request.offset - 1, 0)
    return _Window(text[start : _after_line(text, request.limit, start)], total)


def _count_lines(text: str) -> int:
    return _count_line_ends(text) + (not text.endswith("\n") and text != "")


def _count_line_ends(text: str) -> int:
    # only where a copy in UTF-8 is not needed
    if len(text) < _COUNTED_CHARS or not text.isascii():
        return text.count("\n")
    import stringzilla  # noqa: PLC0415 - for large files only

    return int(stringzilla.count(text, "\n"))


def _after_line(text: str, count: int, start: int) -> int:
    """Return the position after the next `count` line ends."""
    if count > _STEPS_LIMIT:
        lines = text[start:].split("\n", count)
        return len(text) - len(lines[count]) if len(lines) > count else len(text)
    for _ in range(count):
        found = text.find("\n", start)
        if found < 0:
            return len(text)
        start = found + 1
    return start


def _select_lines_in_blocks(
    file: Workspace.OpenFile, form: TextForm, request: ReadRequest, shown: str, is_cancelled: Callable[[], bool]
) -> _Window:
    """Read lines of a large file, keeping only the requested part in memory."""
    if form.has_wide_units:
        message = (
            f"{shown!r} is {form.label} and {show_size(file.size_bytes)} large; only smaller files of this kind open."
        )
        raise ToolError("file_too_large", message, path=shown, size_bytes=file.size_bytes)
    kept = bytearray()
    passed = 0
    scanned = 0
    last = b"\n"
    is_begun = is_filled = False
    for block in file.blocks():
        if is_cancelled():
            raise ToolError("cancelled", f"Reading {shown!r} was cancelled.")
        newlines = block.count(b"\n")
        if not is_filled and (is_begun or passed + newlines >= request.offset - 1):
            kept += block if is_begun else block[_after_newline(block, request.offset - 1 - passed) :]
            is_begun = True
            is_filled = len(kept) > TEXT_LIMIT_BYTES or kept.count(b"\n") >= request.limit
        passed = passed + newlines
        scanned = scanned + len(block)
        last = block[-1:]
        if scanned >= SCAN_LIMIT_BYTES and file.size_bytes > scanned:
            break
    is_counted = scanned >= file.size_bytes
    if not is_begun and not is_counted:
        message = (
            f"Line {request.offset} of {shown!r} lies beyond the first {show_size(SCAN_LIMIT_BYTES)}; "
            "search it with grep instead."
        )
        raise ToolError("file_too_large", message, path=shown, size_bytes=file.size_bytes)
    end = _after_newline(kept, request.limit)
    text = form.decode(bytes(kept[:end]), shown, errors=_choose_error_mode(request))
    return _Window(text, passed + (last != b"\n") if is_counted else None)


def _after_newline(block: bytes | bytearray, count: int) -> int:
    position = 0
    for _ in range(count):
        found = block.find(b"\n", position)
        if found < 0:
            return len(block)
        position = found + 1
    return position


def _build_result(window: _Window, request: ReadRequest, form: TextForm, shown: str, size_bytes: int) -> ToolResult:
    text = window.text
    total = window.total_lines
    if not text and request.offset > 1:
        message = f"{shown!r} has only {show_count(total or 0, 'line')}; `offset` is {request.offset}."
        raise ToolError("offset_out_of_range", message, path=shown, total_lines=total)
    text = _for_model(_cut_to_limit(text), request, shown)
    is_complete = window.is_all and len(text) == len(window.text)
    count = total if is_complete and total is not None else _count_lines(text)
    last_line = request.offset + count - 1
    facts = {
        "path": shown,
        "size_bytes": size_bytes,
        "total_lines": total,
        "first_line": request.offset if count else 0,
        "last_line": last_line if count else 0,
        "encoding": form.encoding,
        "bom": bool(form.mark),
        "line_ends": detect_line_ends(text),
    }
    columns = _describe_columns(text, request, shown, is_whole=is_complete)
    blocks = [Text(_format_heading(facts, form, shown) + columns)]
    if text:
        blocks.append(Text(text if request.raw else _number_lines(text, request.offset, count)))
    is_cut = not is_complete and (total is None or last_line < total or len(text) < len(window.text))
    if is_cut:
        blocks.append(Text(_describe_continuation(text, window, request, shown, last_line)))
    elif request.limit_chars is not None and not request.raw and max(map(len, text.split("\n"))) > LINE_CHARS:
        blocks.append(Text(_LONG_LINES))
    return ToolResult(blocks, facts, truncated=is_cut)


def _describe_columns(text: str, request: ReadRequest, shown: str, *, is_whole: bool) -> str:
    """Describe the columns of a CSV file for a reader of its beginning; empty for anything else."""
    columns = None if request.raw or request.offset > 1 else read_csv_columns(text, shown, is_whole=is_whole)
    return "" if columns is None else f"\n{columns}"


def _format_heading(facts: dict[str, object], form: TextForm, shown: str) -> str:
    size = show_size(int(str(facts["size_bytes"])))
    total = facts["total_lines"]
    if not facts["last_line"]:
        return f"{shown}: empty file ({size})"
    of = f" of {total:,}" if isinstance(total, int) else " (the file is too large to count all lines)"
    ends = {"crlf": ", CRLF line ends", "mixed": ", mixed line ends"}.get(str(facts["line_ends"]), "")
    return f"{shown}: lines {facts['first_line']:,}-{facts['last_line']:,}{of}, {size}, {form.label}{ends}"


def _cut_to_limit(text: str) -> str:
    """Cut the text after the last line that fits, or within the first line if that alone is too long."""
    if len(text) * (1 if text.isascii() else 4) <= TEXT_LIMIT_BYTES:
        return text
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= TEXT_LIMIT_BYTES:
        return text
    head = encoded[:TEXT_LIMIT_BYTES].decode("utf-8", "ignore")
    end = head.rfind("\n") + 1
    return head[:end] if end else head


def _for_model(text: str, request: ReadRequest, shown: str) -> str:
    """Return the whole lines that fit into a model's limit, or the start of a first line that alone is too long."""
    if request.limit_chars is None:
        return text
    limit_chars = max(lines_chars(request.limit_chars, _AROUND_CHARS + 2 * len(shown)), 1)
    room = limit_chars
    position = 0
    while position < len(text):
        end = text.find("\n", position) + 1 or len(text)
        room -= end - position if request.raw else _NUMBER_CHARS + min(end - position, LINE_CHARS + _CUT_CHARS)
        if room < 0:
            break
        position = end
    return text[: position or limit_chars]


def _number_lines(text: str, first: int, count: int) -> str:
    """Put its number in front of each of the `count` lines of a text."""
    is_cut = "\r" in text or _has_long_line(text)
    numbers = _make_line_numbers(first, count)
    chunks: list[str] = []
    position = done = 0
    while position < len(text):
        end = text.find("\n", position + _SPLIT_CHARS) + 1 or len(text)
        lines = text[position:end].split("\n")
        if not lines[-1]:
            lines.pop()
        if is_cut:
            lines = [cut_line(line) for line in lines]
        numbered = lines + lines
        numbered[0::2] = numbers[done : done + len(lines)]
        numbered[1::2] = lines
        if not done:
            numbered[0] = numbered[0][1:]  # no line end before the first
        chunks.append("".join(numbered))
        position = end
        done += len(lines)
    return "".join(chunks)


def _has_long_line(text: str) -> bool:
    """Return True if a line is cut, searching from one line end to the last one that may follow, not to the next."""
    start = 0
    while len(text) - start > LINE_CHARS:
        found = text.rfind("\n", start, start + LINE_CHARS + 1)
        if found < 0:
            return True
        start = found + 1
    return False


def _make_line_numbers(first: int, count: int) -> list[str]:
    """Return the prefixes of `count` lines from number `first`: the end of the previous line, and the number."""
    chunk, skipped = divmod(first - 1, _CHUNK_LINES)
    numbers: list[str] = []
    while len(numbers) < skipped + count:
        numbers += _make_number_chunk(chunk)
        chunk += 1
    return numbers[skipped : skipped + count]


@lru_cache(maxsize=64)
def _make_number_chunk(index: int) -> tuple[str, ...]:
    start = index * _CHUNK_LINES + 1
    return tuple(f"\n{number:6}\t" for number in range(start, start + _CHUNK_LINES))


def _describe_continuation(text: str, window: _Window, request: ReadRequest, shown: str, last_line: int) -> str:
    said = []
    if len(text) < len(window.text) and not text.endswith("\n"):
        begin = text.rfind("\n") + 1
        end = window.text.find("\n", begin)
        size = (len(window.text) if end < 0 else end) - begin
        more = "" if end >= 0 or window.total_lines is not None else "at least "
        said.append(
            f"Line {last_line} has {more}{size:,} characters, of which {len(text) - begin:,} are here; grep shows the "
            "part of it around a match."
        )
    if window.total_lines is None or last_line < window.total_lines:
        said.append(f"More lines follow; read on with read_file {_next_call(request, shown, last_line + 1)}")
    return f"[{' '.join(said)}]"


def _next_call(request: ReadRequest, shown: str, offset: int) -> str:
    arguments: dict[str, object] = {"path": shown, "offset": offset}
    if request.encoding is not None:
        arguments["encoding"] = request.encoding
    if request.raw:
        arguments["raw"] = True
    return json.dumps(arguments, ensure_ascii=False)
