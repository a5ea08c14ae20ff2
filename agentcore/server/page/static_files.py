"""Sends files of the page and of modules' components: without leaving their folder, with their type and a hash."""

import asyncio
import os
import re
import stat
from contextlib import ExitStack
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path

from agentcore.server.http.refusal import Refusal
from agentcore.server.http.response import Answer
from agentcore.server.http.server_limits import STATIC_FILE_BYTES

# a fixed table: the system's registry of types differs between machines, and a module script with a wrong type
# does not run
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".gif": "image/gif",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/vnd.microsoft.icon",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}
# comments of JSDoc, and those on a line of their own, in the page's scripts: a test compares the code of each script
# with and without them
_COMMENT = re.compile(rb"[ \t]*/\*\*\s.*?\*/|^[ \t]*//[^\n]*$", re.DOTALL | re.MULTILINE)
# O_NOFOLLOW: links must not lead out of the folder; O_NONBLOCK: opening a FIFO must not block
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


async def answer_file(folder: Path, path: str, known_etag: str | None, *, is_own: bool = False) -> Answer:
    """Return the response with a file.

    Args:
        folder: The folder that is served.
        path: The decoded path below it, with slashes.
        known_etag: The version that the client has (`If-None-Match`).
        is_own: True if it is the page's own: its scripts are sent without comments.
    Raises:
        Refusal: `not_found`; also if it is not a regular file below the folder, such as a link.
    """
    media_type = _TYPES.get(Path(path).suffix.lower())
    data = await asyncio.to_thread(_read_file, folder, path) if media_type is not None else None
    if data is None or media_type is None:
        raise Refusal(HTTPStatus.NOT_FOUND, "not_found", f"there is no file {path[:200]!r} here")
    if is_own and path.endswith(".js") and not path.startswith("vendor/"):
        data = without_comments(data)
    headers = {"ETag": f'"{sha256(data).hexdigest()[:32]}"', "Cache-Control": "no-cache"}
    if known_etag == headers["ETag"]:
        return Answer(b"", HTTPStatus.NOT_MODIFIED, media_type, headers)
    return Answer(data, HTTPStatus.OK, media_type, headers)


def without_comments(script: bytes) -> bytes:
    """Return a script without its comments, which are a sixth of what the page loads; each line keeps its number."""
    return _COMMENT.sub(lambda found: b"\n" * found[0].count(b"\n"), script)


def _read_file(folder: Path, path: str) -> bytes | None:
    segments = path.split("/")
    if any(segment in ("", ".", "..") or segment.startswith(".") or "\0" in segment for segment in segments):
        return None
    with ExitStack() as opened:
        try:
            folder_descriptor = _open_at(opened, folder, _FOLDER_FLAGS & ~os.O_NOFOLLOW, None)
            for segment in segments[:-1]:
                folder_descriptor = _open_at(opened, segment, _FOLDER_FLAGS, folder_descriptor)
            descriptor = _open_at(opened, segments[-1], _FILE_FLAGS, folder_descriptor)
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > STATIC_FILE_BYTES:
                return None
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return file.read(STATIC_FILE_BYTES)
        except (OSError, UnicodeEncodeError):
            return None


def _open_at(opened: ExitStack, name: str | Path, flags: int, folder: int | None) -> int:
    descriptor = os.open(name, flags, dir_fd=folder)
    opened.callback(os.close, descriptor)
    return descriptor
