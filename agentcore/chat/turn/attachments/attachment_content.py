"""Converts attached artifacts to message content: texts and documents are read, images are referenced."""

import asyncio
from collections.abc import Sequence
from typing import Any

from pydantic_ai.messages import ImageUrl, TextContent, UserContent, UserPromptPart

from agentcore.api import ArtifactLink
from agentcore.chat.chat_limits import ATTACHED_CHARS
from agentcore.chat.session.session_view import AttachmentView
from agentcore.chat.texts import result_text
from agentcore.chat.turn.file_readers import FileReaders
from agentcore.chat.untrusted_text import mark_untrusted
from agentcore.core.calls.result_shortening import ArtifactReading, truncate_text
from agentcore.core.core import Core
from agentcore.documents.csv_columns import read_csv_columns
from agentcore.documents.image_fitting import FittedImage
from agentcore.documents.kinds import DOCUMENT_HEAD_BYTES, detect_document
from agentcore.documents.media_type import PICTURES
from agentcore.errors import ToolError
from agentcore.limits import MODEL_CHARS
from agentcore.store.artifacts.artifact_rows import Artifact

PICTURE_SCHEME = "artifact:"
"""Scheme of the address by which a message refers to an image; replaced by the bytes when it is sent."""

_LINES = 1_000_000


class AttachedFiles:
    """Builds the contents of a message for its attachments.

    Args:
        core: Provides the artifacts.
        session_id: The session of the message.
        readers: Read documents and images.
        reading: Describes how the model reads what is left out.

    Attributes:
        kept: Ids of the artifacts that the message needs, including those created for it.
    """

    def __init__(self, core: Core, session_id: str, readers: FileReaders, reading: ArtifactReading) -> None:
        self._core = core
        self._session_id = session_id
        self._readers = readers
        self._reading = reading
        self._artifacts = core.store.artifacts
        self.kept: list[str] = []

    async def read_contents(self, artifact_ids: Sequence[str]) -> list[UserContent]:
        """Return the files' contents for the model, in order; what is read from them is recorded as untrusted."""
        limit = min(self._reading.reader.result_chars or MODEL_CHARS, ATTACHED_CHARS // max(len(artifact_ids), 1))
        contents: list[UserContent] = []
        for artifact_id in artifact_ids:
            try:
                artifact = await self._artifacts.get_artifact(artifact_id)
            except ToolError:  # it was deleted since it was sent
                contents.append(result_text("attached_gone", name=artifact_id))
                continue
            contents += await self._contents_of(artifact, limit)
            self.kept.append(artifact_id)
        return contents

    async def _contents_of(self, artifact: Artifact, limit_chars: int) -> list[UserContent]:
        link = ArtifactLink(artifact.artifact_id, artifact.mime, artifact.size_bytes, artifact.name)
        said = [f"{result_text('attached')} {self._reading.describe_artifact(link)}"]
        shown: list[UserContent] = []
        try:
            if artifact.mime in PICTURES:
                notice, shown = await self._read_image(artifact)
                text = ""
            elif await self._is_document(artifact):
                notice, text = await self._read_document(artifact, limit_chars)
            else:
                notice, text = "", await self._read_text(artifact, limit_chars)
        except ToolError as exc:  # no room for the converted file: the message is sent anyway
            notice = f"[{exc.message}]"
            text = ""
        if notice:
            said.append(notice)
        if text.strip():
            said.append(mark_untrusted(text, artifact.name))
        if shown or text.strip():
            await self._core.policy.record_untrusted_source(self._session_id, artifact.name)
        return [tag_attachment("\n".join(said), _to_attachment_view(link)), *shown]

    async def _read_text(self, artifact: Artifact, limit_chars: int) -> str:
        """Return the beginning of a text file; empty if it is not text."""
        try:
            found = await self._artifacts.read_lines(artifact, 1, _LINES, limit_chars)
        except ToolError as exc:
            if exc.type != "artifact_not_text":
                raise
            return ""
        text = "".join(line for _, line in found.lines)
        is_whole = len(found.lines) == found.total
        columns = read_csv_columns(text, artifact.name, artifact.mime, is_whole=is_whole)
        text = text if columns is None else f"[{columns}]\n{text}"
        if is_whole:
            return text
        first = len(found.lines) + 1
        call = self._reading.describe_call(artifact.artifact_id, first)
        how = result_text("attached_read_on", call=call) if call else result_text("attached_unread")
        rest = result_text("attached_rest", first=f"{first:,}", total=f"{found.total:,}", how=how)
        return f"{text.removesuffix(chr(10))}\n{rest}"

    async def _is_document(self, artifact: Artifact) -> bool:
        with await self._artifacts.open_file(artifact.artifact_id) as file:
            head = await asyncio.to_thread(file.read, DOCUMENT_HEAD_BYTES, 0)
        return detect_document(head, artifact.name) is not None

    async def _read_document(self, artifact: Artifact, limit_chars: int) -> tuple[str, str]:
        """Return a notice about a document, and its text."""
        body = await self._artifacts.load(artifact.artifact_id)
        read = await self._readers.read_document(body, artifact.name)
        if len(read.text) <= limit_chars:
            return read.notice, read.text
        link = await self._save_artifact(read.text.encode(), "text/plain; charset=utf-8", f"{artifact.name}.txt")
        return read.notice, truncate_text(read.text, limit_chars, "head", link, self._reading)

    async def _read_image(self, artifact: Artifact) -> tuple[str, list[UserContent]]:
        """Return a notice about an image, and the reference to it; no reference if it cannot be shown."""
        fitted = await self._readers.read_image(await self._artifacts.load(artifact.artifact_id))
        if not isinstance(fitted, FittedImage):
            return result_text("not_shown", reason=fitted), []
        if fitted.smaller is None:
            return "", [_to_image_reference(artifact.artifact_id, fitted.mime)]
        ending = fitted.mime.rpartition("/")[2]
        link = await self._save_artifact(fitted.smaller, fitted.mime, f"{artifact.name}.{ending}")
        said = result_text("made_smaller", width=fitted.width, height=fitted.height)
        return said, [_to_image_reference(link.artifact_id, fitted.mime)]

    async def _save_artifact(self, data: bytes, mime: str, name: str) -> ArtifactLink:
        link = await self._artifacts.save(data, mime=mime, name=name, session_id=self._session_id)
        self.kept.append(link.artifact_id)
        return link


def tag_attachment(text: str, attachment: AttachmentView) -> TextContent:
    """Create the text that a model gets about an attachment, tagged with the attachment."""
    return TextContent(text, metadata={"attachment": attachment.to_json()})


def attachment_of(content: Any) -> AttachmentView | None:
    """Return the attachment that a content is tagged with; None if there is none."""
    told = content.metadata if isinstance(content, TextContent) else None
    return AttachmentView.model_validate(told["attachment"]) if told and "attachment" in told else None


def attachments_of(part: UserPromptPart) -> list[AttachmentView]:
    """Return the attachments of a message."""
    return [each for content in part.content if (each := attachment_of(content)) is not None]


def user_text_of(part: UserPromptPart) -> str:
    """Return the user's own text, and the names of the attachments."""
    if isinstance(part.content, str):
        return part.content
    words = [content for content in part.content if isinstance(content, str)]
    named = (f"[{each.name}, artifact {each.artifact_id}]" for each in attachments_of(part))
    return "\n".join([*words, *named])


def _to_attachment_view(link: ArtifactLink) -> AttachmentView:
    return AttachmentView(artifact_id=link.artifact_id, name=link.name, mime=link.mime, bytes=link.size_bytes)


def _to_image_reference(artifact_id: str, mime: str) -> ImageUrl:
    return ImageUrl(f"{PICTURE_SCHEME}{artifact_id}", media_type=mime)
