"""Operations on the wire: requests and answers, derived from the methods that `agentcore.api.operation` describes."""

import functools
import os
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, NotRequired, Union, get_args, get_origin

from pydantic import ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from agentcore.api.operation import AtMost, Matches, Operation
from agentcore.api.result import ArtifactLink, ToolResult
from agentcore.documents.text_lines import ArtifactLines
from agentcore.errors import ToolError
from agentcore.files.open_file import OpenFile
from agentcore.hosts.wire.peer import BLOBS_BYTES
from agentcore.hosts.wire.values import Number, SendBlob, TakeBlob, result_of, result_to_wire
from agentcore.late_dataclasses import dataclass
from agentcore.valid_text import with_valid_text

_Duration = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_BLOB = "blob"


def encode_request(operation: Operation, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], bytes | None]:
    """Return the fields of a request, and the bytes that are sent before it."""
    fields = {}
    data = None
    for name, value in arguments.items():
        if operation.signature.parameters[name].annotation is bytes:
            data = bytes(value)
        else:
            fields[operation.wire_name(name)] = with_valid_text(_to_json_value(value))
    return fields, data


def decode_request(operation: Operation, message: Mapping[str, Any]) -> dict[str, Any]:
    """Validate a request strictly, and return its arguments by the names of the parameters; bytes as their blob.

    Raises:
        ValidationError: It is invalid. A newer host may send more fields.
    """
    arguments: dict[str, Any] = _request_adapter(operation).validate_python(message)
    return arguments


def blob_parameter(operation: Operation) -> str | None:
    """Return the parameter that is sent as a blob, if there is one."""
    parameters = operation.signature.parameters.values()
    return next((each.name for each in parameters if each.annotation is bytes), None)


async def encode_answer(operation: Operation, answer: Any, send_blob: SendBlob) -> Any:
    """Return an answer as JSON values."""
    codec = _CODECS.get(operation.signature.return_annotation)
    return answer if codec is None else await codec.encode(answer, send_blob)


def decode_answer(operation: Operation, answer: Any, take_blob: TakeBlob) -> Any:
    """Return an answer as the method returns it."""
    codec = _CODECS.get(operation.signature.return_annotation)
    return answer if codec is None else codec.decode(answer, take_blob)


def answers_with_bytes(operation: Operation) -> bool:
    """True if the answer is sent as a blob."""
    return operation.signature.return_annotation in (bytes, OpenFile)


def check_blob_size(size_bytes: int) -> None:
    """Check that bytes fit into a blob.

    Raises:
        ToolError: `message_too_large`.
    """
    if size_bytes > BLOBS_BYTES:
        raise ToolError(
            "message_too_large",
            f"the artifact has {size_bytes:,} bytes; what passes between a host and its server may have "
            f"{BLOBS_BYTES:,}: read it in parts",
            limit_bytes=BLOBS_BYTES,
        )


# -- requests --------------------------------------------------------------------------------------------------------


@functools.cache
def _request_adapter(operation: Operation) -> TypeAdapter[Any]:
    fields: dict[str, Any] = {}
    for parameter in operation.signature.parameters.values():
        alias = _BLOB if parameter.annotation is bytes else operation.wire_name(parameter.name)
        kind: Any = Annotated[_wire_type(parameter.annotation), Field(alias=alias)]
        fields[parameter.name] = kind if parameter.default is parameter.empty else NotRequired[kind]
    make_type: Any = TypedDict  # mypy knows only those that are written down
    request = make_type(operation.name, fields)
    return TypeAdapter(with_config(ConfigDict(strict=True, extra="ignore"))(request))


def _wire_type(annotation: Any) -> Any:
    """Return the type of the JSON value that stands for a parameter's type."""
    origin = get_origin(annotation)
    if origin is Annotated:
        limits = [each for each in annotation.__metadata__ if not isinstance(each, Matches | AtMost)]
        return Annotated[(_wire_type(annotation.__origin__), *limits)] if limits else annotation.__origin__
    if origin in (UnionType, Union):
        return Union[tuple(_wire_type(each) for each in get_args(annotation))]  # noqa: UP007 - made at run time
    if origin is not None and issubclass(origin, Mapping):
        return dict[get_args(annotation)]  # type: ignore[misc]  # made at run time
    if origin is not None and issubclass(origin, Sequence):
        return list[_wire_type(get_args(annotation)[0])]  # type: ignore[misc]  # as above
    return {int: Number, float: _Duration, bytes: Number}.get(annotation, annotation)


def _to_json_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _to_json_value(part) for name, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_to_json_value(part) for part in value]
    return value


# -- answers ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Codec:
    encode: Callable[[Any, SendBlob], Awaitable[Any]]
    decode: Callable[[Any, TakeBlob], Any]


async def _encode_result(result: ToolResult, send_blob: SendBlob) -> Any:
    wire = await result_to_wire(result, send_blob)
    return wire if result.data is None else wire | {"data": result.data}


async def _encode_link(link: ArtifactLink, _: SendBlob) -> Any:
    return link.to_json()


def _decode_link(wire: Any, _: TakeBlob) -> ArtifactLink:
    return ArtifactLink(wire["artifactId"], wire["mime"], wire["sizeBytes"], wire["name"], wire.get("preview", ""))


async def _encode_lines(lines: ArtifactLines, _: SendBlob) -> Any:
    return {"lines": lines.lines, "total": lines.total}


def _decode_lines(wire: Any, _: TakeBlob) -> ArtifactLines:
    return ArtifactLines(tuple((number, text) for number, text in wire["lines"]), wire["total"])


async def _encode_bytes(data: bytes | None, send_blob: SendBlob) -> Any:
    return None if data is None else await send_blob(data)


def _decode_bytes(wire: Any, take_blob: TakeBlob) -> bytes | None:
    return None if wire is None else take_blob(wire)


def _decode_file(wire: Any, take_blob: TakeBlob) -> OpenFile:
    with tempfile.TemporaryFile() as file:  # it has no name, and is gone when it is closed
        file.write(take_blob(wire))
        file.flush()
        fd = os.dup(file.fileno())
    return OpenFile(fd, os.fstat(fd))


async def _encode_pair(pair: tuple[Any, ...], _: SendBlob) -> Any:
    return list(pair)


def _decode_pair(wire: Any, _: TakeBlob) -> tuple[Any, ...]:
    return tuple(wire)


_BYTES_CODEC = _Codec(_encode_bytes, _decode_bytes)
_CODECS: Mapping[Any, _Codec] = {
    ToolResult: _Codec(_encode_result, result_of),
    ArtifactLink: _Codec(_encode_link, _decode_link),
    ArtifactLines: _Codec(_encode_lines, _decode_lines),
    bytes: _BYTES_CODEC,
    bytes | None: _BYTES_CODEC,
    OpenFile: _Codec(_encode_bytes, _decode_file),
    tuple[int, str]: _Codec(_encode_pair, _decode_pair),
}
"""How answers are encoded that are no JSON values, by the return annotation of the method."""
