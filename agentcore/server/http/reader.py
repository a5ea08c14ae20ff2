"""Reads request bodies, in one place: limited in size and time, JSON only, validated by a model."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from aiohttp import hdrs, web
from pydantic import BaseModel, ValidationError

from agentcore.server.http.json_text import JsonTextError, parse_json
from agentcore.server.http.refusal import Refusal
from agentcore.server.http.response import JSON
from agentcore.server.http.server_limits import BODY_BYTES, BODY_IN_THREAD_BYTES, QUERY_FIELDS, Hits, TimeLimits

Model = TypeVar("Model", bound=BaseModel)
_ERRORS_SHOWN = 20


class BodyReader:
    """Reads bodies within the server's limits; every error is a `Refusal` with a 4xx status."""

    def __init__(self, limits: TimeLimits, hits: Hits) -> None:
        self._limits = limits
        self._hits = hits

    async def read_json(self, request: web.BaseRequest, limit_bytes: int = BODY_BYTES) -> Any:
        """Return the JSON document in a request's body.

        Raises:
            Refusal: `unsupported_media_type`, `body_too_large`, `request_timeout`, `incomplete_body`, `invalid_json`.
        """
        _require_json(request)
        data = await self.read_bytes(request, limit_bytes)
        try:
            if len(data) > BODY_IN_THREAD_BYTES:
                return await asyncio.to_thread(parse_json, data)
            return parse_json(data)
        except JsonTextError as exc:
            where = f" (line {exc.line}, column {exc.column})" if exc.line is not None else ""
            raise Refusal(
                HTTPStatus.BAD_REQUEST,
                "invalid_json",
                f"the body is not JSON: {exc.message}{where}",
                line=exc.line,
                column=exc.column,
                offset=exc.offset,
            ) from exc

    async def read_bytes(self, request: web.BaseRequest, limit_bytes: int = BODY_BYTES) -> bytes:
        """Return the bytes of a request's body.

        Raises:
            Refusal: `unsupported_media_type` (it is compressed), `body_too_large`, `request_timeout`,
                `incomplete_body`.
        """
        self._check_head(request, limit_bytes, "send less")
        content = request.content
        if content.is_eof():
            data = content.read_nowait(-1)
            if len(data) > limit_bytes:
                raise self._too_large(limit_bytes)
            return data
        with self._convert_errors(self._limits.body):
            async with asyncio.timeout(self._limits.body):
                _ask_to_go_on(request)
                return await self._collect(content, limit_bytes)

    async def stream_bytes(
        self, request: web.BaseRequest, limit_bytes: int, advice: str = "send less"
    ) -> AsyncIterator[bytes]:
        """Yield the bytes of a request's body as they arrive, without collecting them in memory.

        Args:
            request: The request.
            limit_bytes: Maximum size of the body.
            advice: What to do about a larger body, for the error message.
        Raises:
            Refusal: As `read_bytes`.
        """
        self._check_head(request, limit_bytes, advice)
        _ask_to_go_on(request)
        content = request.content
        size = 0
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + self._limits.upload
        while True:
            left = min(self._limits.body, ends_at - loop.time())
            with self._convert_errors(left):
                async with asyncio.timeout(left):
                    part = await content.readany()
            if not part:
                return
            size += len(part)
            if size > limit_bytes:
                raise self._too_large(limit_bytes, advice)
            yield part

    def _check_head(self, request: web.BaseRequest, limit_bytes: int, advice: str) -> None:
        if hdrs.CONTENT_ENCODING in request.headers:
            raise Refusal(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                "unsupported_media_type",
                "compressed bodies are not taken; send it as it is, without Content-Encoding",
            )
        declared = request.content_length
        if declared is not None and declared > limit_bytes:
            raise self._too_large(limit_bytes, advice)

    @contextmanager
    def _convert_errors(self, limit_s: float) -> Iterator[None]:
        try:
            yield
        except TimeoutError as exc:
            self._hits.add("body_timeout")
            raise Refusal(
                HTTPStatus.REQUEST_TIMEOUT,
                "request_timeout",
                f"the body was not complete within {limit_s:g} s",
                retryable=True,
                closes=True,
            ) from exc
        except (web.RequestPayloadError, web.PayloadAccessError) as exc:
            raise Refusal(
                HTTPStatus.BAD_REQUEST, "incomplete_body", "the body ended early or is malformed", closes=True
            ) from exc

    async def _collect(self, content: Any, limit_bytes: int) -> bytes:
        parts: list[bytes] = []
        size = 0
        while part := await content.readany():
            size += len(part)
            if size > limit_bytes:
                raise self._too_large(limit_bytes)
            parts.append(part)
        return b"".join(parts)

    def _too_large(self, limit_bytes: int, advice: str = "send less") -> Refusal:
        self._hits.add("body_too_large")
        return Refusal(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "body_too_large",
            f"the body has more than {limit_bytes:,} bytes; {advice}",
            closes=True,
            limit_bytes=limit_bytes,
        )


def _ask_to_go_on(request: web.BaseRequest) -> None:
    """Send `100 Continue` to a client that waits for it before it sends the body (RFC 9110, 10.1.1)."""
    if request.headers.get(hdrs.EXPECT, "").lower() == "100-continue" and request.transport is not None:
        request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")


def validate_body(model: type[Model], value: Any) -> Model:
    """Return the body as an instance of its model.

    Raises:
        Refusal: `invalid_body` with one entry for each wrong field.
    """
    body: Model = _validate(model.__pydantic_validator__.validate_python, value, "invalid_body", "the body")
    return body


def validate_query(model: type[Model], raw_query: str) -> Model:
    """Return the query of a URL as an instance of its model.

    Raises:
        Refusal: `invalid_query` with one entry for each wrong field.
    """
    values = parse_query(raw_query)
    query: Model = _validate(model.__pydantic_validator__.validate_strings, values, "invalid_query", "the query")
    return query


def parse_query(raw_query: str) -> dict[str, str]:
    """Return the fields of a URL's query.

    Raises:
        Refusal: `invalid_query`: it is malformed, too long, or repeats a field.
    """
    if not raw_query:
        return {}
    try:
        pairs = parse_qsl(
            raw_query, keep_blank_values=True, max_num_fields=QUERY_FIELDS, encoding="utf-8", errors="strict"
        )
    except ValueError as exc:
        raise Refusal(HTTPStatus.BAD_REQUEST, "invalid_query", f"the query cannot be read: {exc}") from exc
    values = dict(pairs)
    if len(values) != len(pairs):
        raise Refusal(HTTPStatus.BAD_REQUEST, "invalid_query", "a field stands twice in the query; give it once")
    return values


def _validate(validate: Callable[[Any], Any], value: Any, error_type: str, what: str) -> Any:
    try:
        return validate(value)
    except ValidationError as exc:
        errors = [
            {"path": _format_path(error["loc"]), "message": _format_message(error["type"], error["msg"])}
            for error in exc.errors(include_url=False, include_context=False, include_input=False)
        ]
        message = "; ".join(f"{error['path'] or what}: {error['message']}" for error in errors[:3])
        raise Refusal(
            HTTPStatus.BAD_REQUEST, error_type, f"{what} is not as expected: {message}", errors=errors[:_ERRORS_SHOWN]
        ) from None


def _format_path(parts: tuple[int | str, ...]) -> str:
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _format_message(kind: str, message: str) -> str:
    if kind == "missing":
        return "is required"
    if kind == "extra_forbidden":
        return "is not known here"
    if kind == "value_error":
        message = message.removeprefix("Value error, ")
    return f"{message[:1].lower()}{message[1:]}"


def _require_json(request: web.BaseRequest) -> None:
    said = request.headers.get(hdrs.CONTENT_TYPE, "")
    if said == JSON:
        return
    media_type, _, parameters = said.partition(";")
    charset = parameters.strip().lower().replace('"', "").replace(" ", "")
    if media_type.strip().lower() == JSON and charset in ("", "charset=utf-8"):
        return
    raise Refusal(
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        "unsupported_media_type",
        f"the body must be application/json in UTF-8, and its Content-Type is {said[:100]!r}",
        headers={"Accept-Post": JSON},
    )
