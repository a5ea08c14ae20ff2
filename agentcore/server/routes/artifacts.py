"""Routes for artifacts: their bytes, whole or in part, and searching the lines of a text."""

import dataclasses
import re
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import quote

from aiohttp import hdrs
from pydantic import BaseModel, Field

from agentcore.core.policy.authority import find_reach, owner_of
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.limits import UPLOAD_BYTES
from agentcore.server.body_models import StrictModel
from agentcore.server.exchange import Exchange
from agentcore.server.http.raw_stream import RawStream
from agentcore.server.http.refusal import Refusal
from agentcore.server.http.response import Answer, Sent
from agentcore.server.route_table import OCTETS, ServerRoute
from agentcore.store.artifacts.artifact_rows import Artifact
from agentcore.store.artifacts.artifact_store import MATCHES
from agentcore.store.artifacts.text_search import QUERY_CHARS

# one range, as in RFC 9110, 14.2; a request for several is answered with the whole
_RANGE = re.compile(r"bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))")


_TOO_LARGE = "put a larger file into the workspace, and name its path in the message"


class SearchQuery(StrictModel):
    """What is looked for in a text, literally."""

    q: Annotated[str, Field(min_length=1, max_length=QUERY_CHARS)]
    ignore_case: bool = False
    limit: Annotated[int, Field(ge=1, le=MATCHES)] = 100


class Matches(BaseModel, defer_build=True):
    """Lines that hold the query: `{line, offset, text}`, offset in bytes; `isCut` when there may be more."""

    matches: list[dict[str, Any]]
    isCut: bool  # noqa: N815 - the name on the wire


class UploadQuery(StrictModel):
    """What a file that is sent is called."""

    name: Annotated[str, Field(max_length=1000, description="A file name; parts of a path before it do not count.")] = (
        "file"
    )


class Uploaded(BaseModel, defer_build=True):
    """A file that was kept; its media type is told by what it begins with."""

    artifactId: str  # noqa: N815 - the name on the wire
    mime: str
    bytes: int
    name: str


async def upload_artifact(exchange: Exchange) -> Answer:
    """Store a file that is to be attached to a message; it belongs to the principal that sends it."""
    query: UploadQuery = exchange.query
    chunks = exchange.parts.reader.stream_bytes(exchange.request, UPLOAD_BYTES, _TOO_LARGE)
    link = await exchange.core.store.artifacts.save_stream(chunks, name=query.name, owner=owner_of(exchange.principal))
    document = {"artifactId": link.artifact_id, "mime": link.mime, "bytes": link.size_bytes, "name": link.name}
    return Answer(to_json(document), HTTPStatus.CREATED)


async def send_artifact(exchange: Exchange) -> Answer | Sent:
    """Send the bytes, always as a download: what a tool fetched must not run as a page of the server's origin."""
    artifact = await _find_artifact(exchange)
    start, end = _asked_range(exchange.request.headers.get(hdrs.RANGE), artifact.size_bytes)
    is_part = (start, end) != (0, None)
    try:
        async with exchange.core.store.artifacts.open_range(artifact.artifact_id, start, end) as opened:
            headers = _download_headers(artifact)
            if is_part:
                headers[hdrs.CONTENT_RANGE] = f"bytes {opened.start}-{opened.end - 1}/{artifact.size_bytes}"
            if exchange.request.method == "HEAD":
                return Answer(b"", 200, artifact.mime, headers, length=opened.end - opened.start)
            stream = RawStream(
                exchange.request, artifact.mime, 206 if is_part else 200, headers, opened.end - opened.start
            )
            async for chunk in opened.read_chunks():
                stream.write(chunk)
                await stream.drain()
            return stream.end()
    except ToolError as exc:
        if exc.type != "invalid_range":
            raise
        raise Refusal(
            416,
            exc.type,
            exc.message,
            headers={hdrs.CONTENT_RANGE: f"bytes */{artifact.size_bytes}"},
            size_bytes=artifact.size_bytes,
        ) from exc


async def search_artifact(exchange: Exchange) -> Answer:
    """Send the lines of a text that contain the query."""
    query: SearchQuery = exchange.query
    artifact = await _find_artifact(exchange)
    found = await exchange.core.store.artifacts.search(
        artifact.artifact_id, query.q, ignore_case=query.ignore_case, limit=query.limit
    )
    matches = [dataclasses.asdict(match) for match in found]
    return Answer(to_json({"matches": matches, "isCut": len(matches) == query.limit}))


async def _find_artifact(exchange: Exchange) -> Artifact:
    """Return the artifact in the path; principals that reach only their own do not find those of others."""
    principal = exchange.principal
    owner = owner_of(principal) if find_reach(principal, "follow") == "own" else None
    return await exchange.core.store.artifacts.get_artifact(exchange.path_values["id"], owner)


def _asked_range(header: str | None, size_bytes: int) -> tuple[int, int | None]:
    asked = _RANGE.fullmatch(header.strip()) if header is not None else None
    if asked is None:
        return 0, None
    first, last, tail = asked.groups()
    if tail is not None:
        return (size_bytes - min(int(tail), size_bytes), size_bytes) if int(tail) else (size_bytes, size_bytes)
    if last is not None and int(last) < int(first):
        return 0, None  # not a valid range: it is ignored
    return int(first), None if last is None else int(last) + 1


def _download_headers(artifact: Artifact) -> dict[str, str]:
    plain = re.sub(r"[^A-Za-z0-9._ -]", "_", artifact.name)
    return {
        hdrs.CONTENT_DISPOSITION: f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(artifact.name, safe='')}",
        hdrs.ACCEPT_RANGES: "bytes",
    }


ROUTES = (
    ServerRoute(
        "POST",
        "/api/artifacts",
        upload_artifact,
        "Keep a file of up to 32 MiB that is to be attached to a message: the body is the file, as it is. It makes way "
        "for newer ones as others do, but not while a message holds it.",
        action="converse",
        keeps_to_own=True,
        query=UploadQuery,
        answer=Uploaded,
        takes=OCTETS,
        is_for_extensions=True,
    ),
    ServerRoute(
        "GET",
        "/api/artifacts/{id}",
        send_artifact,
        "The bytes of an artifact; one range can be asked for.",
        action="follow",
        keeps_to_own=True,
        content_type="*/*",
        is_for_extensions=True,
    ),
    ServerRoute(
        "GET",
        "/api/artifacts/{id}/search",
        search_artifact,
        "Lines of a text artifact that hold a text.",
        action="follow",
        keeps_to_own=True,
        query=SearchQuery,
        answer=Matches,
        is_for_extensions=True,
    ),
)
