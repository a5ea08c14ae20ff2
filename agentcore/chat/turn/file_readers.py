"""Readers of attached files. Needs no model library, because files are read before a model is asked."""

from agentcore.api import DocumentReader, DocumentText, Workspace
from agentcore.documents.image_fitting import FittedImage, ImageFitter


class FileReaders:
    """Reads the content of files, each in its own process.

    Args:
        workspace: The workspace in which these processes run.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._documents = DocumentReader()
        self._pictures = ImageFitter()

    async def read_document(self, body: bytes, name: str) -> DocumentText:
        """Extract the text of a document."""
        return await self._documents.read(body, self._workspace, name)

    async def read_image(self, body: bytes) -> FittedImage | str:
        """Return an image in a form that models accept, or the reason why there is none."""
        return await self._pictures.fit(body, self._workspace)

    async def close(self) -> None:
        """Stop running readers. Safe to call twice."""
        await self._documents.close()
        await self._pictures.close()
