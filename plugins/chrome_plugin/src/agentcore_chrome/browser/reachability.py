"""Probing whether an external browser can be reached, without opening anything in it, for `doctor` and at start."""

import asyncio
import base64
import json
import os
import re
import ssl
from dataclasses import dataclass
from importlib.metadata import version
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from agentcore_chrome.endpoint import Endpoint

PROBE_SECONDS = 3.0
_HEAD_BYTES = 8192
_SWITCHING = 101
_OK = 200
_UNAUTHORIZED = 401
_FORBIDDEN = 403
_OTHER_VERSION = 428
_VERSIONS = re.compile(r"(server|client) version: v(\d+\.\d+)")
_FIRST_LINE = re.compile(rb"HTTP/1\.[01] (\d{3})")


@dataclass(frozen=True, slots=True)
class Answer:
    """An endpoint's answer to a probe.

    Args:
        state: `answers`, `refused` (it requires other credentials, or another version), or `unreachable`.
        said: The state as text.
        advice: What to do about it; empty: there is no problem.
        version: The browser's version, if it reports one.
    """

    state: Literal["answers", "refused", "unreachable"]
    said: str
    advice: str = ""
    version: str = ""


def versions_in(text: str) -> tuple[str, str] | None:
    """Return the server's and our Playwright version from the message of a version mismatch."""
    found = dict(_VERSIONS.findall(text))
    return (found["server"], found["client"]) if {"server", "client"} <= found.keys() else None


async def probe_endpoint(endpoint: Endpoint) -> Answer:
    """Check that an endpoint answers and accepts the credentials, and a Playwright server also the version."""
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            status, body = await _send_request(endpoint)
    except TimeoutError:
        return Answer("unreachable", f"no answer within {PROBE_SECONDS:g} s", "start it, or correct the address")
    except ssl.SSLError as exc:
        why = getattr(exc, "verify_message", "") or exc.reason or "no TLS"
        return Answer("unreachable", f"the TLS connection fails: {why}", "look at its certificate and at the port")
    except (OSError, UnicodeError) as exc:
        return Answer(
            "unreachable", endpoint.mask_secrets(str(exc)) or type(exc).__name__, "start it, or correct the address"
        )
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        return Answer("unreachable", "what answers there speaks no HTTP", "correct the port")
    return _interpret_response(endpoint, status, body)


def _interpret_response(endpoint: Endpoint, status: int, body: str) -> Answer:
    if status == _SWITCHING:
        return Answer("answers", "it answers")
    if status == _OK and endpoint.kind == "cdp":
        return Answer("answers", "it answers", version=_parse_browser_version(body))
    if status == _OTHER_VERSION and (versions := versions_in(body)) is not None:
        theirs, ours = versions
        return Answer("refused", f"it has Playwright {theirs}, and here is {ours}", advice_for(theirs))
    if status in (_UNAUTHORIZED, _FORBIDDEN):
        return Answer("refused", f"it wants other credentials (HTTP {status})", "correct the token in the address")
    return Answer("refused", f"it answers with HTTP {status}", "correct the address, its path too")


def advice_for(theirs: str) -> str:
    """Return advice on a version mismatch of Playwright, which never suggests a downgrade of this machine."""
    there = f"start it there with `npx playwright@{local_playwright_version()} run-server`"
    is_newer = _parse_version(theirs) > _parse_version(local_playwright_version())
    return f"{there}, or install `playwright=={theirs}.*` here" if is_newer else there


def _parse_version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def local_playwright_version() -> str:
    """Return the major and minor version of the installed Playwright, which a server has to match."""
    return ".".join(version("playwright").split(".")[:2])


def _parse_browser_version(body: str) -> str:
    try:
        return str(json.loads(body)["Browser"])[:100]
    except (ValueError, LookupError, TypeError):
        return ""


async def debugger_address(endpoint: Endpoint) -> str:
    """Return the WebSocket address for CDP, requested from the endpoint if that is an HTTP one.

    Only the path of its answer is used: behind a proxy that terminates TLS, a browser returns an address without TLS.

    Raises:
        OSError: Nothing answers.
        ValueError: What answers is not a browser, or denies access.
    """
    if endpoint.scheme.startswith("ws"):
        return endpoint.url
    status, body = await _send_request(endpoint)
    try:
        path = urlsplit(str(json.loads(body)["webSocketDebuggerUrl"])).path
    except (ValueError, LookupError, TypeError) as exc:
        raise ValueError(f"it answers with HTTP {status}, and is no browser's debugging port") from exc
    place = urlsplit(endpoint.url)
    return urlunsplit(("wss" if endpoint.is_encrypted else "ws", place.netloc, path, place.query, ""))


async def _send_request(endpoint: Endpoint) -> tuple[int, str]:
    tls = await asyncio.to_thread(ssl.create_default_context) if endpoint.is_encrypted else None
    reader, writer = await asyncio.open_connection(endpoint.host, endpoint.port, ssl=tls, limit=_HEAD_BYTES)
    try:
        writer.write(_build_request(endpoint))
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        first = _FIRST_LINE.match(head)
        if first is None:
            raise ValueError(head[:20])
        status = int(first[1])
        return status, "" if status == _SWITCHING else await _read_body(reader, head)
    finally:
        writer.close()


async def _read_body(reader: asyncio.StreamReader, head: bytes) -> str:
    length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
    if length is None:
        return (await reader.read(_HEAD_BYTES)).decode("utf-8", "replace")
    return (await reader.readexactly(min(int(length[1]), _HEAD_BYTES))).decode("utf-8", "replace")


def _build_request(endpoint: Endpoint) -> bytes:
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    lines = [f"Host: {host}:{endpoint.port}", f"User-Agent: Playwright/{version('playwright')}"]
    lines += [f"{name}: {value}" for name, value in endpoint.headers.items()]
    target = endpoint.target
    if endpoint.scheme.startswith("http"):
        target = f"{endpoint.target.partition('?')[0].rstrip('/')}/json/version"
        lines.append("Connection: close")
    else:
        key = base64.b64encode(os.urandom(16)).decode()
        lines += ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}"]
    return "\r\n".join([f"GET {target} HTTP/1.1", *lines, "", ""]).encode()
