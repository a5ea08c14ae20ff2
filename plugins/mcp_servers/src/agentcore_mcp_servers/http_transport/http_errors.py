"""`Answers`: turns HTTP errors and unreadable responses into MCP error responses."""

import json
from typing import Any

import httpx2
import mcp_types as types

_LEFT_ALONE = (401, 404)
"""Passed on unchanged: they request a login, and report that the session is unknown."""
_FIRST_ERROR = 400
_FIRST_REDIRECT = 300
_SAID_CHARS = 300


class Answers(httpx2.AsyncBaseTransport):
    """A transport that returns a readable response for each MCP request, or an MCP error with the reason.

    Without it, a truncated or oversized response would end the whole session with all of its calls, and the status of
    an HTTP error would be lost.

    Args:
        inner: The transport that sends.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and return a readable response."""
        asked = _request_id(request)
        response = await self._inner.handle_async_request(request)
        is_error = response.status_code >= _FIRST_ERROR
        is_left_alone = response.status_code in _LEFT_ALONE or _FIRST_REDIRECT <= response.status_code < _FIRST_ERROR
        has_json = response.headers.get("content-type", "").lower().startswith("application/json")
        if asked is None or is_left_alone or not (is_error or has_json):
            return response
        try:
            body = await _read_body(response)
        except httpx2.HTTPError as exc:
            body = _encode_error(asked, f"its answer cannot be read: {str(exc) or type(exc).__name__}")
        if is_error and not _is_error(body):
            body = _encode_error(asked, _describe_refusal(response))
        headers = httpx2.Headers(response.headers)
        headers["content-type"] = "application/json"
        headers["content-length"] = str(len(body))
        headers.pop("transfer-encoding", None)
        return httpx2.Response(response.status_code, headers=headers, content=body, extensions=response.extensions)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


def _request_id(request: httpx2.Request) -> Any:
    """Return the JSON-RPC id in the request's body; None if it is not a JSON-RPC request."""
    if request.method != "POST":
        return None
    try:
        message = json.loads(request.content)
    except (httpx2.RequestNotRead, ValueError):
        return None
    return message.get("id") if isinstance(message, dict) and "method" in message else None


async def _read_body(response: httpx2.Response) -> bytes:
    assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 - of an async transport
    try:
        return b"".join([part async for part in response.stream])
    finally:
        await response.stream.aclose()


def _is_error(body: bytes) -> bool:
    try:
        return isinstance(types.jsonrpc_message_adapter.validate_json(body, by_name=False), types.JSONRPCError)
    except ValueError:
        return False


def _describe_refusal(response: httpx2.Response) -> str:
    wait = response.headers.get("retry-after", "")[:_SAID_CHARS]
    said = f"HTTP {response.status_code} {response.reason_phrase}".strip()
    return f"{said}; it asks to wait for {wait} (seconds, or until then)" if wait else said


def _encode_error(asked: Any, said: str) -> bytes:
    error = {"code": types.INTERNAL_ERROR, "message": said}
    return json.dumps({"jsonrpc": "2.0", "id": asked, "error": error}).encode()
