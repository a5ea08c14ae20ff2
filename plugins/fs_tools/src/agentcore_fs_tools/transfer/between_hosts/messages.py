"""Requests of the module on the server to the same module on a host, and the answers, all validated strictly."""

from typing import Annotated, Any, Literal, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from agentcore.api import BaseModel, Field, ToolError

PIECE_BYTES = 1 << 20
"""Maximum size of a chunk."""

_TRANSFER = r"^[0-9a-f]{32}$"
_SHA256 = r"^[0-9a-f]{64}$"

Path = Annotated[str, Field(min_length=1, max_length=4096)]
Bytes = Annotated[int, Field(ge=0, lt=2**53)]
Mode = Annotated[int, Field(ge=0, le=0o7777)]
Sha256 = Annotated[str, Field(pattern=_SHA256)]
Transfer = Annotated[str, Field(pattern=_TRANSFER)]
Version = Annotated[str, Field(min_length=1, max_length=200)]


class _Message(BaseModel, defer_build=True):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, alias_generator=to_camel, populate_by_name=True)

    def to_json(self) -> dict[str, Any]:
        """Return the message as JSON data with camelCase keys."""
        return self.model_dump(by_alias=True)


class Nothing(_Message):
    """An answer that says no more than that it was done."""


class AskSource(_Message):
    """What is to be known of a file that would be copied from here."""

    wants: Literal["source"] = "source"
    path: Path


class SourceFacts(_Message):
    """A file that can be copied.

    Args:
        path: Its real path.
        version: Another one as soon as the file is another, or has changed.
        is_protected: Whether it decides what runs, or what is allowed.
    """

    path: Path
    size_bytes: Bytes
    mode: Mode
    version: Version
    is_protected: bool


class AskTarget(_Message):
    """What is to be known of the place that a file would be copied to."""

    wants: Literal["target"] = "target"
    path: Path
    size_bytes: Bytes
    overwrite: bool


class TargetFacts(_Message):
    """A place that a file can be copied to.

    Args:
        path: Its real path.
        replaced_bytes: The size of the file that is there already; None: there is none.
        is_protected: Whether it decides what runs, or what is allowed.
    """

    path: Path
    replaced_bytes: Bytes | None
    is_protected: bool


class ReadChunk(_Message):
    """A piece of the file is wanted."""

    wants: Literal["read"] = "read"
    path: Path
    version: Version
    offset: Bytes
    limit_bytes: Annotated[int, Field(ge=1, le=PIECE_BYTES)]


class ChunkDigest(_Message):
    """The piece comes as bytes; this is their digest."""

    sha256: Sha256


class Receive(_Message):
    """A file arrives. The answer, `Received`, comes once it is in its place; cancelled before, it never gets there.

    Args:
        transfer: What its pieces name.
        path: Where it goes.
        mode: The permissions that it has where it comes from.
    """

    wants: Literal["receive"] = "receive"
    transfer: Transfer
    path: Path
    size_bytes: Bytes
    mode: Mode
    overwrite: bool


class WriteChunk(_Message):
    """The next piece, as bytes."""

    wants: Literal["piece"] = "piece"
    transfer: Transfer
    offset: Bytes


class Finish(_Message):
    """All pieces have come: the file takes its place, if it is whole."""

    wants: Literal["finish"] = "finish"
    transfer: Transfer
    sha256: Sha256


class Received(_Message):
    """The file is in its place."""

    is_new: bool


Question = AskSource | AskTarget | ReadChunk | Receive | WriteChunk | Finish
_QUESTIONS: TypeAdapter[Question] = TypeAdapter(Annotated[Question, Field(discriminator="wants")])

M = TypeVar("M", bound=_Message)


def read_question(request: Any) -> Question:
    """Validate a request of the server.

    Raises:
        ToolError: `not_supported`: the request is unknown, for example from a newer server.
    """
    try:
        return _QUESTIONS.validate_python(request)
    except ValidationError as exc:
        message = "the files of this host are asked for something that its version does not know; update both sides"
        raise ToolError("not_supported", message) from exc


def read_answer(model: type[M], answer: Any, machine: str) -> M:
    """Validate the answer of a machine.

    Args:
        machine: Name of the machine for the message.
    Raises:
        ToolError: `host_failed`: the answer is invalid.
    """
    try:
        found = model.model_validate(answer)
    except ValidationError as exc:
        raise wrong_answer(machine) from exc
    path = getattr(found, "path", "")
    if not path.isprintable():  # file names are escaped to be printable: this one could be mistaken for another
        raise wrong_answer(machine)
    return found


def wrong_answer(machine: str) -> ToolError:
    """Return the error for an invalid answer of a machine."""
    return ToolError("host_failed", f"{machine} gave an answer that cannot be right; nothing of it was used")
