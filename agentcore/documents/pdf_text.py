"""`python -m agentcore.documents.pdf_text`: the text of a PDF, from stdin to stdout, in a process of its own.

A PDF comes from anybody, and reading one can take for ever or more memory than there is: here it takes nothing else
along. Writes lines of JSON: `{"title", "page_count"}`, then the text of each page as it is read; or `{"problem"}`.
"""

import json
import logging
import resource
import sys

from pypdf import PdfReader
from pypdf.errors import FileNotDecryptedError, PyPdfError

MEMORY_BYTES = 2 << 30
TEXT_CHARS = 2_000_000
"""Of a longer document only the pages at its head are read."""


def main() -> None:
    """Read, and write what was found."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    logging.disable()  # what pypdf finds odd about the file is of no use to anybody here
    try:
        _read_pdf()
    except FileNotDecryptedError:
        _write_line({"problem": "it is locked with a password"})
    except (
        PyPdfError,
        MemoryError,
        RecursionError,
        ArithmeticError,
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
    ):
        # pypdf gives many kinds of errors for files that are not as they should be
        _write_line({"problem": "it is damaged"})


def _read_pdf() -> None:
    reader = PdfReader(sys.stdin.buffer)
    if reader.is_encrypted and not reader.decrypt(""):
        raise FileNotDecryptedError
    _write_line({"title": _read_title(reader), "page_count": len(reader.pages)})
    room = TEXT_CHARS
    for page in reader.pages:
        text = page.extract_text().encode("utf-8", "replace").decode()[:room]
        room -= len(text)
        _write_line(text)
        if room <= 0:
            return


def _write_line(line: object) -> None:
    sys.stdout.write(f"{json.dumps(line)}\n")
    sys.stdout.flush()  # what was read counts, whatever comes of the rest


def _read_title(reader: PdfReader) -> str:
    title = reader.metadata.title if reader.metadata is not None else None
    return " ".join(str(title or "").encode("utf-8", "replace").decode().split())


if __name__ == "__main__":
    main()
