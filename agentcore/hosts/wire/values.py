"""Encoding of errors, results and resources, each validated strictly by its receiver."""

import builtins
import functools
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import MISSING, fields
from typing import Annotated, Any, NotRequired

import pydantic_core
from pydantic import ConfigDict, Field, TypeAdapter, with_config
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from agentcore.api.resource import Resource
from agentcore.api.result import ArtifactLink, Audio, ContentBlock, EmbeddedResource, Image, Text, ToolResult
from agentcore.api.tool_context import Principal
from agentcore.core.module_code.module_error import is_of_module, text_of, traceback_of, type_name
from agentcore.core.module_code.tool_errors import WrongToolError, plain_error
from agentcore.core.module_code.value_reading import read_mapping, read_text
from agentcore.errors import ToolError
from agentcore.limits import TEXT_READ_CHARS
from agentcore.secrets import mask_known_secrets_inside

Wire = dict[str, Any]
SendBlob = Callable[[bytes], Awaitable[int]]
TakeBlob = Callable[[Any], bytes]

_NAME_CHARS = 200
_TEXT_CHARS = 64 * 1024
_NOT_SIMPLE = (UnicodeError, BaseExceptionGroup, StopIteration, StopAsyncIteration)
"""Exceptions that cannot be created from a text alone, or that a future cannot contain."""

_TRACEBACK_CHARS = 32_000
_SAFE_INTEGER = 2**53
Number = Annotated[int, Field(ge=0, lt=_SAFE_INTEGER)]
"""A count, a time or the number of something, as any program reads it."""

_UNSENT = frozenset(("icon", "icon_id", "reopening"))
"""Fields of a resource that its messages do not contain, or contain beside it."""

_Text = Annotated[str, Field(max_length=TEXT_READ_CHARS)]
_Id = Annotated[str, Field(min_length=1, max_length=1_000)]
_LIMITED: Mapping[str, Any] = {
    "resource_id": _Id,
    "resource_type": Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")],
    "session_id": Annotated[str, Field(max_length=1_000)],
    "keys": Annotated[dict[_Id, _Text], Field(max_length=100)],
}
"""Types of fields of a resource that are narrower on the wire than in general."""

_NARROWED: Mapping[Any, Any] = {int: Number, str: _Text, str | None: _Text | None}


class RemoteFailure(Exception):  # noqa: N818 - it says what happened
    """An exception of a module in another process that is not a `ToolError`: a separate class for each name."""


def error_to_wire(exc: BaseException) -> Wire:
    """Encode an exception, with masked secrets: a `ToolError`, or any other as a defect with its traceback."""
    if isinstance(exc, ToolError):
        assert isinstance(exc, ToolError)  # noqa: S101 - as its type says
        try:
            plain = plain_error(exc)
        except WrongToolError as wrong:
            wrong.__cause__ = exc
            exc = wrong
        else:
            return {**mask_known_secrets_inside(plain.to_json()), "untrusted": plain.untrusted}
    return {
        "defect": type_name(exc)[:_NAME_CHARS],
        "kind": next(kind.__name__ for kind in type(exc).__mro__ if vars(builtins).get(kind.__name__) is kind),
        "message": text_of(exc),
        "traceback": traceback_of(exc, is_of_module)[-_TRACEBACK_CHARS:],
    }


def error_of(wire: Any) -> Exception:
    """The error that was sent.

    Raises:
        TypeError: It is none.
    """
    error = read_mapping(wire, "an error of a host", mends_text=True)
    message = read_text(error.get("message"), "the message of an error of a host")
    if "defect" in error:
        name = read_text(error["defect"], "the name of a defect of a host")
        return _make_failure(name, error.get("kind", name), message, error.get("traceback"))
    kind = read_text(error.get("type"), "the type of an error of a host")
    found = ToolError(
        kind, message, retryable=error.get("retryable") is True, untrusted=error.get("untrusted") is not False
    )
    found.context = read_mapping(error.get("context", {}), "the context of an error of a host")
    return plain_error(found)


def _make_failure(name: str, known: Any, message: str, traceback: Any) -> Exception:
    base = getattr(builtins, known, None) if type(known) is str else None
    is_simple = isinstance(base, type) and issubclass(base, Exception) and not issubclass(base, _NOT_SIMPLE)
    if is_simple and name == known:
        kind: Any = base
    else:
        # caught here by what it is there, as far as both sides know that
        bases: tuple[Any, ...] = (RemoteFailure, base) if is_simple else (RemoteFailure,)
        kind = type(name[:_NAME_CHARS].replace("\0", "") or "Exception", bases, {"__module__": "builtins"})
    failure: Exception = kind(message)
    if type(traceback) is str and traceback:
        failure.add_note(f"in the process of its host:\n{traceback[-_TRACEBACK_CHARS:]}")
    return failure


# -- arguments ---------------------------------------------------------------------------------------------------


def arguments_to_wire(arguments: dict[str, Any]) -> Wire:
    """Encode the arguments of a call, as part of its message.

    JSON in UTF-8 has no lone surrogates, and no infinite numbers or NaN, which a tool may get nevertheless:
    arguments with such values are sent as a text, with escapes and Python's names for these numbers.
    """
    try:
        text = pydantic_core.to_json(arguments, by_alias=True, inf_nan_mode="constants", serialize_unknown=True)
        if b"NaN" not in text and b"Infinity" not in text:
            return {"args": arguments}
    except pydantic_core.PydanticSerializationError:
        pass
    try:
        return {"args": {}, "argsText": json.dumps(arguments)}
    except (TypeError, ValueError):  # there is more in them that is no JSON: they go as `to_json` makes them
        return {"args": arguments}


def arguments_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """Decode the arguments of a call."""
    arguments: dict[str, Any] = json.loads(message["argsText"]) if "argsText" in message else message["args"]
    return arguments


_RESULT_PROPERTIES = {each.name: to_camel(each.name) for each in fields(ToolResult)[2:]}
"""The properties of a result beside its content and data, with their names on the wire; only those set are sent."""


# -- results -----------------------------------------------------------------------------------------------------


async def result_to_wire(result: ToolResult, send_blob: SendBlob) -> Wire:
    """Encode a result except its data, which are JSON text already; its bytes are sent before as blobs."""
    blocks = result.blocks()
    if all([type(block) is Text and len(block.text) <= _TEXT_CHARS for block in blocks]):  # noqa: C419 - quicker
        wire: Wire = {"content": [block.to_json() for block in blocks]}
    else:
        wire = {"content": [await _block_to_wire(block, send_blob) for block in blocks]}
    for name, wire_name in _RESULT_PROPERTIES.items():
        if value := getattr(result, name):
            wire[wire_name] = value
    return wire


def result_of(wire: Any, take_blob: TakeBlob) -> ToolResult:
    """Decode a result; its values are validated as strictly as a module's own.

    Raises:
        TypeError, KeyError, LinkError: It is invalid.
    """
    if type(wire) is not dict or type(wire["content"]) is not list:
        raise TypeError("a result that is no object with a list as content")
    properties = {name: wire[wire_name] for name, wire_name in _RESULT_PROPERTIES.items() if wire_name in wire}
    return ToolResult(tuple([_block_of(block, take_blob) for block in wire["content"]]), wire.get("data"), **properties)


async def _block_to_wire(block: ContentBlock, send_blob: SendBlob) -> Wire:
    if isinstance(block, Text):
        if len(block.text) <= _TEXT_CHARS:
            return {"type": "text", "text": block.text}
        return {"type": "text", "blob": await send_blob(block.text.encode("utf-8", "backslashreplace"))}
    if isinstance(block, ArtifactLink):
        return block.to_json()
    if isinstance(block, EmbeddedResource):
        wire: Wire = {"type": "resource", "uri": block.uri, "mime": block.mime}
        if isinstance(block.content, str):
            return wire | {"text": block.content}
        return wire | {"blob": await send_blob(block.content)}
    kind = "image" if isinstance(block, Image) else "audio"
    return {"type": kind, "mime": block.mime, "blob": await send_blob(block.data)}


def _block_of(wire: Any, take_blob: TakeBlob) -> ContentBlock:
    if type(wire) is not dict:
        raise TypeError("a block of a result that is no object")
    kind = wire["type"]
    if kind == "text":
        return Text(take_blob(wire["blob"]).decode() if "blob" in wire else wire["text"])
    if kind == "artifact":
        return ArtifactLink(wire["artifactId"], wire["mime"], wire["sizeBytes"], wire["name"], wire.get("preview", ""))
    if kind == "resource":
        content = wire["text"] if "text" in wire else take_blob(wire["blob"])
        return EmbeddedResource(wire["uri"], content, wire["mime"])
    if kind in ("image", "audio"):
        make = Image if kind == "image" else Audio
        return make(take_blob(wire["blob"]), wire["mime"])
    raise TypeError(f"a block of a result of type {kind!r:.100}")


# -- resources and who asks --------------------------------------------------------------------------------------


def resource_to_wire(resource: Resource) -> Wire:
    """A resource without its icon, which travels beside it."""
    wire = {each.name: getattr(resource, each.name) for each in fields(Resource) if each.name not in _UNSENT}
    if not resource.lost_by:
        del wire["lost_by"]  # it is in no message of a program that knows none
    return wire | {"keys": dict(resource.keys)}


def resource_of(wire: Any) -> Resource:
    """The resource that was sent, as an object of its own; a newer program may send more fields.

    Raises:
        ValidationError: It is none.
    """
    return Resource(**_resource_adapter().validate_python(wire))


@functools.cache
def _resource_adapter() -> TypeAdapter[Any]:
    types: dict[str, Any] = {}
    for each in fields(Resource):
        if each.name not in _UNSENT:
            kind = _LIMITED.get(each.name) or _NARROWED.get(each.type, each.type)
            is_required = each.default is MISSING and each.default_factory is MISSING
            types[each.name] = kind if is_required else NotRequired[kind]
    make_type: Any = TypedDict  # mypy knows only those that are written down
    return TypeAdapter(with_config(ConfigDict(strict=True, extra="ignore"))(make_type("ResourceOnWire", types)))


def principal_to_wire(principal: Principal) -> Wire:
    """Encode the principal of a call."""
    return {"kind": principal.kind, "id": principal.id, "scopes": sorted(principal.scopes)}


def principal_of(wire: Mapping[str, Any]) -> Principal:
    """Decode the principal of a call; a host trusts its server."""
    return Principal(wire["kind"], wire["id"], frozenset(wire["scopes"]))
