"""Builds the result of `web_fetch` from a response."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from email.message import Message
from typing import Any, Literal, NotRequired, TypedDict

from agentcore.api import ArtifactLink, Image, Text, ToolContext, ToolError, ToolResult, read_csv_columns
from agentcore_web_tools.body_text import decode_body, parse_charset
from agentcore_web_tools.client import Reply, status_phrase
from agentcore_web_tools.media import Media, detect_media
from agentcore_web_tools.reading.section_search import find_parts

Format = Literal["markdown", "text", "html", "raw"]

PAGE_CHARS = 2_000_000
"""Only this much of a page is read, because the time to find its main content grows with its size."""

ERROR_PAGE_CHARS = 2_000
"""How much of the answer to a failed request is given at once; the rest follows by `offset`."""

_SHELL_CHARS = 200
_RETRYABLE = frozenset((408, 425, 429, 500, 502, 503, 504))
_SHOWN_REDIRECTS = 3


class Redirect(TypedDict):
    """One address that sent on, and its status."""

    status: int
    url: str


class FetchedPage(TypedDict):
    """A page or a part of it, or what is known of a file. `next_offset` is None at the end."""

    url: str
    status: int
    redirects: list[Redirect]
    content_type: str
    charset: NotRequired[str | None]
    size_bytes: NotRequired[int]
    artifact_id: NotRequired[str]
    text_artifact_id: NotRequired[str]
    title: NotRequired[str]
    format: NotRequired[str]
    text: NotRequired[str]
    chars_total: NotRequired[int]
    chars_left_out: NotRequired[int]
    next_offset: NotRequired[int | None]
    parts_found: NotRequired[int]


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """The options of one call of `web_fetch`.

    Args:
        format: The format of the returned text.
        offset: First character to return, counted from 0.
        max_chars: Maximum number of characters to return.
        full: True to include menus, headers and footers.
        find: Words; only parts of the document that contain them are returned.
    """

    format: Format
    offset: int
    max_chars: int
    full: bool = False
    find: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """The text extracted from a document.

    Args:
        text: The complete text in the requested format.
        title: The document's title; may be empty.
        notices: Notes about the document for the reader.
        chars_left_out: Size of the omitted menus and the like, in characters without spaces.
    """

    text: str
    title: str = ""
    notices: tuple[str, ...] = ()
    chars_left_out: int = 0


Read = Callable[[str, str, FetchOptions], Reading]
"""Converts a page's HTML, address and options to a `Reading`; slow, so it runs in a thread."""


def check_status(reply: Reply, options: FetchOptions) -> None:
    """Reject a response with an error status; the format `raw` accepts any status.

    Raises:
        ToolError: `http_error`. It contains no text of the server: content of pages is returned only as a result.
    """
    if reply.status < 400 or options.format == "raw":  # noqa: PLR2004 - the first status that is an error
        return
    hint = (
        "try again later"
        if reply.status in _RETRYABLE
        else 'check the address, or ask for format "raw" to see the answer'
    )
    message = f"{reply.url!r} answered {status_phrase(reply.status)}; {hint}."
    raise ToolError("http_error", message, retryable=reply.status in _RETRYABLE, url=reply.url, status=reply.status)


async def build_file_result(ctx: ToolContext, reply: Reply, media: Media, mime: str) -> ToolResult:
    """Build the result for a document that is not text: an image to view, or a file stored as an artifact.

    Raises:
        ToolError: `file_too_large`.
    """
    about = _describe_reply(reply) | {"content_type": mime, "size_bytes": len(reply.body)}
    if reply.cut:
        size = f" of {reply.size_bytes:,} bytes" if reply.size_bytes else ""
        message = f"{reply.url!r} is a file{size} ({mime}) that is too large to take: {reply.cut}."
        raise ToolError("file_too_large", message, url=reply.url, content_type=mime)
    head = _format_head(
        reply,
        "",
        [f"This is no text but {'a picture' if media == 'image' else 'a file'} ({mime}) of {len(reply.body):,} bytes."],
    )
    if media == "image":
        return ToolResult([Text(head), Image(reply.body, mime)], data=about, untrusted=True)
    link = await _save_artifact(ctx, reply, mime)
    text = Text(f"{head}\n\nIt is kept as an artifact.")
    return ToolResult([text, link], data=about | {"artifact_id": link.artifact_id}, untrusted=True)


async def build_document_result(
    ctx: ToolContext, reply: Reply, options: FetchOptions, reading: Reading, mime: str
) -> ToolResult:
    """Build the result for a document: a part of its text.

    With the first part, the file is stored as an artifact, and so is the complete text if it is longer.

    Raises:
        ToolError: `offset_out_of_range`.
    """
    result = _build_reading_result(reply, options, reading, {"content_type": mime})
    if options.offset or options.find:
        return result
    kept = {"artifact_id": await _save_artifact(ctx, reply, mime)}
    if result.truncated:
        name = f"{file_name(reply)}.txt"
        kept["text_artifact_id"] = await ctx.artifacts.save(reading.text.encode(), mime="text/plain", name=name)
    data = result.data | {name: link.artifact_id for name, link in kept.items()}
    return replace(result, content=[*result.blocks(), *kept.values()], data=data)


async def _save_artifact(ctx: ToolContext, reply: Reply, mime: str) -> ArtifactLink:
    return await ctx.artifacts.save(reply.body, mime=mime, name=file_name(reply))


def file_name(reply: Reply) -> str:
    """Return the file name that the server gives, or that in the address; a notebook's ends in `.ipynb`."""
    header = Message()
    header["Content-Disposition"] = reply.headers.get("content-disposition", "")
    named = header.get_filename("").replace("\\", "/").rpartition("/")[2]
    name = named[-100:] or reply.url.split("?")[0].rstrip("/").rpartition("/")[2][:100] or "download"
    is_notebook = reply.headers.get("content-type", "").startswith("application/x-ipynb+json")
    return f"{name}.ipynb" if is_notebook and not name.lower().endswith(".ipynb") else name


def build_text_result(reply: Reply, mime: str, options: FetchOptions, read: Read) -> ToolResult:
    """Build the result for a page or another text; CPU-intensive, so it runs in a thread.

    Raises:
        ToolError: `offset_out_of_range`.
    """
    if reply.status >= 400:  # noqa: PLR2004 - the first status that is an error
        options = replace(options, max_chars=min(options.max_chars, ERROR_PAGE_CHARS))
    text, charset = decode_body(reply.body, parse_charset(reply.headers.get("content-type", "")))
    is_page = mime in ("text/html", "application/xhtml+xml")
    notices = [f"This is not the whole document: {reply.cut}."] if reply.cut else []
    if is_page and len(text) > PAGE_CHARS and options.format != "raw":
        text = text[:PAGE_CHARS]
        notices.append(f"Only the first {PAGE_CHARS:,} characters of the page's HTML were read.")
    reading = read(text, reply.url, options) if is_page and options.format != "raw" else Reading(text)
    if not options.offset and (columns := read_csv_columns(text, file_name(reply), mime, is_whole=not reply.cut)):
        notices.append(f"This is {columns}.")
    reading = replace(reading, notices=(*notices, *reading.notices))
    return _build_reading_result(reply, options, reading, {"content_type": mime, "charset": charset})


def _build_reading_result(reply: Reply, options: FetchOptions, reading: Reading, about: dict[str, Any]) -> ToolResult:
    give = _build_found_result if options.find else _build_part_result
    return give(reply, options, reading, about)


def _build_part_result(reply: Reply, options: FetchOptions, reading: Reading, about: dict[str, Any]) -> ToolResult:
    notices = list(reading.notices)
    part, following = _select_part(reading.text, options)
    if options.offset and not part:
        size = f"{len(reading.text):,} characters in this format"
        message = f"{reply.url!r} has {size}; offset {options.offset:,} is beyond them."
        raise ToolError("offset_out_of_range", message, url=reply.url, chars_total=len(reading.text))
    if following is not None:
        notices.append(
            f"Characters {options.offset:,} to {following:,} of {len(reading.text):,}; go on with offset {following}, "
            "or give words to `find` in it."
        )
    data = _describe_reply(reply) | {
        **about,
        "title": reading.title,
        "format": options.format,
        "text": part,
        "chars_total": len(reading.text),
        "chars_left_out": reading.chars_left_out,
        "next_offset": following,
    }
    # Separate blocks: the notes are not part of the page's Markdown.
    blocks = [Text(_format_head(reply, reading.title, notices)), *([Text(part)] if part else [])]
    return ToolResult(blocks, data=data, truncated=bool(reply.cut or following is not None), untrusted=True)


def _build_found_result(reply: Reply, options: FetchOptions, reading: Reading, about: dict[str, Any]) -> ToolResult:
    found = find_parts(reading.text, options.find, options.max_chars, options.offset)
    where = f"the {len(reading.text):,} characters of it" if not options.offset else f"it from {options.offset:,} on"
    notice = f"{found.in_all} {'part holds' if found.in_all == 1 else 'parts hold'} {options.find!r} in {where}"
    if not found.in_all:
        notice = f"Nothing in {where} holds {options.find!r}; try fewer or other words"
    elif found.shown < found.in_all:
        notice += f", of which the first {found.shown} follow; look for more words, or give a larger maxChars"
    data = _describe_reply(reply) | {
        **about,
        "title": reading.title,
        "format": options.format,
        "text": found.text,
        "parts_found": found.in_all,
        "chars_total": len(reading.text),
    }
    notices = [*reading.notices, f"{notice}."]
    blocks = [Text(_format_head(reply, reading.title, notices)), *([Text(found.text)] if found.text else [])]
    return ToolResult(blocks, data=data, truncated=found.shown < found.in_all, untrusted=True)


def shell_notice(chars: int, *, has_scripts: bool, sends_on_to: str | None) -> tuple[str, ...]:
    """Return notes for a page that has hardly any text or redirects browsers by itself."""
    if sends_on_to is not None:
        return (f"The page sends browsers on to {sends_on_to}",)
    if has_scripts and chars < _SHELL_CHARS:
        return ("The page holds hardly any text of its own: scripts make it, which only a browser runs.",)
    return () if chars else ('No text was found in the page; format "raw" gives its HTML.',)


def detect_kind(reply: Reply) -> tuple[Media, str]:
    """Return the kind of a response and its media type."""
    return detect_media(reply.body, reply.headers.get("content-type", ""), file_name(reply))


def _select_part(text: str, options: FetchOptions) -> tuple[str, int | None]:
    """Return the requested characters, up to a line end if one is near, and the next offset (None at the end)."""
    end = options.offset + options.max_chars
    if end >= len(text):
        return text[options.offset :], None
    line = text.rfind("\n", end - options.max_chars // 10, end)
    if line > options.offset:
        end = line + 1
    return text[options.offset : end], end


def _describe_reply(reply: Reply) -> dict[str, Any]:
    redirects = [{"status": step.status, "url": step.url} for step in reply.redirects]
    return {"url": reply.url, "status": reply.status, "redirects": redirects}


def _format_head(reply: Reply, title: str, notices: list[str]) -> str:
    lines = [f"Title: {title}"] if title else []
    lines.append(f"URL: {reply.url}")
    if reply.redirects:
        shown = [step.url for step in reply.redirects[:_SHOWN_REDIRECTS]]
        more = len(reply.redirects) - len(shown)
        lines.append(f"Redirected from: {' → '.join(shown)}{f' → {more} more' if more else ''}")
    if reply.status != 200:  # noqa: PLR2004 - the usual one goes without saying
        lines.append(f"Status: {status_phrase(reply.status)}")
    return "\n".join([*lines, *(f"Note: {notice}" for notice in notices)])
