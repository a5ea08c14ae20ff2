"""`python -m agentcore.documents.document_program`: extracts the text of a document, from stdin, in its own process.

Parsing an untrusted document can take forever or exhaust the memory; in this process it affects nothing else. Writes
lines of JSON: `{"what", "title", "count"}`, then `[heading, text]` for each part as it is read; `{"problem"}` where
something could not be read.
"""

import lzma
import resource
import sys
import tarfile
import zipfile
import zlib
from typing import IO
from xml.parsers import expat

from agentcore.documents.formats.archive import list_tar, list_zip
from agentcore.documents.formats.book import read_book
from agentcore.documents.formats.notebook import read_notebook
from agentcore.documents.formats.open_document import read_open_document
from agentcore.documents.formats.parser_output import TEXT_CHARS, Output, TextFullError, UnreadableError
from agentcore.documents.formats.pdf import read_pdf
from agentcore.documents.formats.slides import read_slides
from agentcore.documents.formats.word import read_word
from agentcore.documents.formats.workbook import read_workbook
from agentcore.documents.formats.zip_package import Package
from agentcore.documents.kinds import DOCUMENT_HEAD_BYTES, DocumentKind, detect_document

MEMORY_BYTES = 2 << 30

_OPEN_DOCUMENT = b"application/vnd.oasis.opendocument."
_LOCKED_OFFICE = "EncryptedPackage".encode("utf-16-le")


def main() -> None:
    """Extract the text from stdin and write it to stdout."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    output = Output()
    try:
        _read_document(sys.stdin.buffer, sys.argv[1] if sys.argv[1:] else "", output)
    except TextFullError:
        output.write_problem(f"only the first {TEXT_CHARS:,} characters are read")
    except UnreadableError as exc:
        output.write_problem(str(exc))
    except MemoryError:
        output.write_problem("reading it needs too much memory")
    except (
        ArithmeticError,
        AttributeError,
        EOFError,
        LookupError,
        OSError,
        RuntimeError,
        TypeError,
        ValueError,
        expat.ExpatError,
        lzma.LZMAError,
        tarfile.TarError,
        zipfile.BadZipFile,
        zlib.error,
    ):
        # parsers raise many kinds of errors for malformed files
        output.write_problem("it is damaged")


def _read_document(file: IO[bytes], name: str, output: Output) -> None:
    head = file.read(DOCUMENT_HEAD_BYTES)
    file.seek(0)
    match detect_document(head, name):
        case DocumentKind.PDF:
            read_pdf(file, output)
        case DocumentKind.ZIP:
            _read_package(Package(file), output)
        case DocumentKind.TAR:
            list_tar(file, output)
        case DocumentKind.NOTEBOOK:
            read_notebook(file.read(), output)
        case DocumentKind.OLD_OFFICE:
            raise UnreadableError(_describe_old_office(file.read()))
        case None:
            raise UnreadableError("it is of no kind that is read as text")


def _read_package(package: Package, output: Output) -> None:
    if package.has_part("[Content_Types].xml"):
        for kind, name in package.read_relations("").values():
            if kind == "officeDocument":
                return _read_office(package, output, name)
    if package.has_part("mimetype"):
        mime = package.read_part("mimetype").strip()
        if mime == b"application/epub+zip":
            return read_book(package, output)
        if mime.startswith(_OPEN_DOCUMENT):
            kind = mime.removeprefix(_OPEN_DOCUMENT).decode().removesuffix("-template")
            if kind in ("text", "spreadsheet", "presentation"):
                return read_open_document(package, output, kind)
    return list_zip(package, output)


def _read_office(package: Package, output: Output, main: str) -> None:
    match main.lower().partition("/")[0]:
        case "word":
            read_word(package, output, main)
        case "xl" if main.lower().endswith(".bin"):
            raise UnreadableError("it is a binary workbook (XLSB); save or convert it as XLSX")
        case "xl":
            read_workbook(package, output, main)
        case "ppt":
            read_slides(package, output, main)
        case _:
            list_zip(package, output)


def _describe_old_office(body: bytes) -> str:
    if _LOCKED_OFFICE in body:
        return "it is locked with a password"
    return (
        "it is of an old format of Office (DOC, XLS, PPT); convert it, for example with "
        "`soffice --headless --convert-to docx` (or xlsx, pptx)"
    )


if __name__ == "__main__":
    main()
