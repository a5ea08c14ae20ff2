"""Which files are documents, by their first bytes."""

import enum

DOCUMENT_HEAD_BYTES = 1024
"""Number of bytes that are inspected."""

_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00")
_TAR_MARK = slice(257, 262)


class DocumentKind(enum.Enum):
    """How a document is stored. Which of the ZIP files are Office documents or books depends on their content."""

    PDF = "pdf"
    ZIP = "zip"
    TAR = "tar"
    NOTEBOOK = "notebook"
    OLD_OFFICE = "old_office"

    @property
    def is_text_file(self) -> bool:
        """True if the file itself is text, which can be edited."""
        return self is DocumentKind.NOTEBOOK


def detect_document(head: bytes, name: str) -> DocumentKind | None:
    """Return the kind of a document; None: it is read as it is, or not at all.

    Args:
        head: Its first bytes, at least `DOCUMENT_HEAD_BYTES`.
        name: Its name, which matters for notebooks alone: their content is JSON like any other.
    """
    if head[:DOCUMENT_HEAD_BYTES].lstrip().startswith(b"%PDF-"):
        return DocumentKind.PDF
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return DocumentKind.ZIP
    if head.startswith(_COMPRESSED) or head[_TAR_MARK] == b"ustar":
        return DocumentKind.TAR
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return DocumentKind.OLD_OFFICE
    if name.lower().endswith(".ipynb") and head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return DocumentKind.NOTEBOOK
    return None
