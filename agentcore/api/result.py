"""The result of a tool call: content blocks for a model, structured data for a program."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import field
from types import GenericAlias
from typing import Any, Generic

from typing_extensions import TypeVar

from agentcore.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """A text block for a model."""

    text: str

    def to_json(self) -> dict[str, Any]:
        """`{"type": "text", "text"}`."""
        return {"type": "text", "text": self.text}


@dataclass(frozen=True, slots=True)
class Image:
    """An image, stored as bytes and encoded once when it is sent.

    Args:
        data: The encoded file (PNG, JPEG, WebP, GIF), not pixels.
        mime: Its media type, such as `image/png`.
    """

    data: bytes = field(repr=False)
    mime: str = "image/png"

    def to_json(self) -> dict[str, Any]:
        """`{"type": "image", "mime", "base64"}`."""
        return {"type": "image", "mime": self.mime, "base64": b64encode(self.data).decode("ascii")}


@dataclass(frozen=True, slots=True)
class Audio:
    """Audio, stored as bytes and encoded once when it is sent. Models only learn that it exists.

    Args:
        data: The encoded file (WAV, MP3, Ogg, WebM).
        mime: Its media type, such as `audio/wav`.
    """

    data: bytes = field(repr=False)
    mime: str = "audio/wav"

    def to_json(self) -> dict[str, Any]:
        """`{"type": "audio", "mime", "base64"}`."""
        return {"type": "audio", "mime": self.mime, "base64": b64encode(self.data).decode("ascii")}


@dataclass(frozen=True, slots=True)
class EmbeddedResource:
    """A document with its own address, whose contents are in the result.

    Args:
        uri: Its identifier, which is not fetched.
        content: A text, or the bytes of anything else.
        mime: Its media type.
    """

    uri: str
    content: str | bytes = field(repr=False)
    mime: str = "text/plain"

    def to_json(self) -> dict[str, Any]:
        """`{"type": "resource", "uri", "mime", "text" | "base64"}`."""
        block = {"type": "resource", "uri": self.uri, "mime": self.mime}
        if isinstance(self.content, str):
            return block | {"text": self.content}
        return block | {"base64": b64encode(self.content).decode("ascii")}


@dataclass(frozen=True, slots=True)
class ArtifactLink:
    """A link to a stored artifact, which is too large or too binary for the result itself.

    Args:
        artifact_id: Opaque; fetch it from `GET /api/artifacts/{id}` (supports ranges and search).
        mime: Media type of the stored bytes.
        size_bytes: Size of the stored bytes.
        name: A file name for display and saving.
        preview: The first part of a text, or nothing.
    """

    artifact_id: str
    mime: str
    size_bytes: int
    name: str
    preview: str = ""

    def to_json(self) -> dict[str, Any]:
        """`{"type": "artifact", "artifactId", "mime", "sizeBytes", "name", "preview"?}`."""
        block = {
            "type": "artifact",
            "artifactId": self.artifact_id,
            "mime": self.mime,
            "sizeBytes": self.size_bytes,
            "name": self.name,
        }
        return block | {"preview": self.preview} if self.preview else block


ContentBlock = Text | Image | Audio | EmbeddedResource | ArtifactLink


Data_co = TypeVar("Data_co", covariant=True, default=Any)


@dataclass(frozen=True, slots=True)
class ToolResult(Generic[Data_co]):
    """The success of one call. `ToolResult[X]` as a tool's return type declares its data: a TypedDict or a model.

    Args:
        content: Blocks for a model, in order; a plain string is one text block.
        data: The structured result for programs: JSON values, or None.
        truncated: True if something was left out; the content says what and how to get it.
        untrusted: True if the content comes from outside (a web page, a download), so that it
            must not be treated as the user's request.
        resource_id: The resource that the call created, if it differs from the given one.
    """

    content: Sequence[ContentBlock] | str = ()
    data: Data_co = None  # type: ignore[assignment]  # None is for results without data, whose type is not declared
    truncated: bool = False
    untrusted: bool = False
    resource_id: str | None = None

    def __class_getitem__(cls, data: Any) -> GenericAlias:
        # that of `Generic` makes a class that cannot be called where instances have slots and are frozen
        return GenericAlias(cls, data)

    def blocks(self) -> list[ContentBlock]:
        """Return the content as blocks, in whichever form it was given."""
        if isinstance(self.content, str):
            return [Text(self.content)] if self.content else []
        return list(self.content)
