"""The programs that read attached files. Needs no model library: it is there before a model is asked."""

from agentcore.api import PdfReader, PdfText, Workspace
from agentcore.documents import FittedImage, ImageFitter


class FileReaders:
    """Reads what files hold, each in a process of its own.

    Args:
        workspace: Where these processes stand.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._pdfs = PdfReader()
        self._pictures = ImageFitter()

    async def read_pdf(self, body: bytes) -> PdfText:
        """The text of a PDF."""
        return await self._pdfs.read(body, self._workspace)

    async def read_image(self, body: bytes) -> FittedImage | str:
        """A picture as models can be shown it, or why there is none."""
        return await self._pictures.fit(body, self._workspace)

    async def close(self) -> None:
        """End what still reads. May be called twice."""
        await self._pdfs.close()
        await self._pictures.close()
