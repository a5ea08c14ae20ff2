"""Text of PDFs."""

import logging
from typing import IO

from agentcore.documents.formats.parser_output import Output, UnreadableError


def read_pdf(file: IO[bytes], output: Output) -> None:
    """Write the text of each page.

    Raises:
        UnreadableError: It is locked or damaged, or pypdf is missing.
    """
    try:
        import pypdf  # noqa: PLC0415 - an extra, and slow to import for the other formats
        from pypdf.errors import FileNotDecryptedError, PyPdfError  # noqa: PLC0415
    except ImportError as exc:
        raise UnreadableError("reading its text needs the package pypdf: `pip install pypdf`") from exc
    logging.disable()  # pypdf's warnings about the file are of no use here
    try:
        reader = pypdf.PdfReader(file)
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableError("it is locked with a password")
        title = str((reader.metadata.title if reader.metadata is not None else None) or "")
        count = len(reader.pages)
        output.write_head("pages of a PDF", "application/pdf", title=title, count=count)
        for number, page in enumerate(reader.pages, 1):
            output.write_part(f"page {number} of {count}", page.extract_text())
    except FileNotDecryptedError as exc:
        raise UnreadableError("it is locked with a password") from exc
    except PyPdfError as exc:
        raise UnreadableError("it is damaged") from exc
