"""`python -m agentcore.documents.pdf_text`: extracts the text of a PDF, from stdin to stdout, in its own process.

Parsing an untrusted PDF can take forever or exhaust the memory; in this process it affects nothing else. Writes lines
of JSON: `{"title", "page_count"}`, then the text of each page as it is read; or `{"problem"}`.
"""

import json
import logging
import resource
import sys

from pypdf import PdfReader
from pypdf.errors import FileNotDecryptedError, PyPdfError

MEMORY_BYTES = 2 << 30
TEXT_CHARS = 2_000_000
"""Maximum length of the text; further pages are not read."""


def main() -> None:
    """Extract the text from stdin and write it to stdout."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    logging.disable()  # pypdf's warnings about the file are of no use here
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
        # pypdf raises many kinds of errors for malformed files
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
    sys.stdout.flush()  # what was read so far counts, even if the rest fails


def _read_title(reader: PdfReader) -> str:
    title = reader.metadata.title if reader.metadata is not None else None
    return " ".join(str(title or "").encode("utf-8", "replace").decode().split())


if __name__ == "__main__":
    main()
