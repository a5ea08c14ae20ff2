"""Encoding, byte order mark and line ends of text files."""

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from agentcore.api import ToolError, guess_encoding

LineEnds = Literal["lf", "crlf", "mixed", "none"]

SAMPLE_BYTES = 1 << 16
"""How much of a file is read to detect its encoding."""

_MARKS: Sequence[tuple[bytes, str]] = (  # UTF-32 first: one of its marks starts with that of UTF-16
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_ESCAPING = "surrogateescape"
_ESCAPED = re.compile(r"[\ud800-\udfff]")

_NAMES_OF_HOSTS = ("punycode", "idna")
"""Codecs for host names, not for files: their time grows with the square of the length."""


@dataclass(frozen=True, slots=True)
class TextForm:
    """Encoding and byte order mark of a text.

    Args:
        encoding: Name of the codec.
        mark: The byte order mark at the start, or empty.
        is_guess: True if the encoding was guessed by statistics, not known from a mark or from being valid UTF-8.
        has_stray_bytes: True if the text is UTF-8 except for some bytes. They are shown as U+FFFD, and an edit
            preserves them.
    """

    encoding: str = "utf-8"
    mark: bytes = b""
    is_guess: bool = False
    has_stray_bytes: bool = False

    @property
    def has_wide_units(self) -> bool:
        """True if a line end takes more than one byte."""
        return self.encoding.startswith(("utf-16", "utf-32", "utf_16", "utf_32"))

    @property
    def label(self) -> str:
        """Return the encoding for display: `utf-8`, `utf-8 with BOM`, `gb18030 (guessed)`."""
        label = self.encoding + (" with BOM" if self.mark else "") + (" (guessed)" if self.is_guess else "")
        return f"{label} with some bytes that are not (shown as U+FFFD)" if self.has_stray_bytes else label

    def decode_reversibly(self, content: bytes, shown: str) -> str:
        """Decode bytes so that `encode` restores them: a stray byte becomes a lone surrogate.

        Raises:
            ToolError: `cannot_decode`: the bytes are not valid text in this encoding, or would not be restored.
        """
        if self.has_stray_bytes:
            return content.removeprefix(self.mark).decode(self.encoding, _ESCAPING)
        text = self.decode(content, shown)
        if self.mark + text.encode(self.encoding, "replace") != content:
            message = f"{shown!r} read as {self.encoding} would not be written back as it is. Give another `encoding`."
            raise ToolError("cannot_decode", message, path=shown)
        return text

    def decode(self, content: bytes, shown: str, *, errors: str = "strict") -> str:
        """Decode bytes, with or without the mark, to text; line ends are preserved, stray bytes replaced.

        Raises:
            ToolError: `cannot_decode`: the bytes are not valid text in this encoding.
        """
        start = len(self.mark) if content.startswith(self.mark) else 0
        try:
            text = content[start:].decode(self.encoding, "replace" if self.has_stray_bytes else errors)
            if not self.encoding.startswith("utf-8"):
                text.encode("utf-8")  # some codecs produce lone surrogates, which no result may contain
        except UnicodeError as exc:
            raise ToolError(
                "cannot_decode",
                f"{shown!r} is not {self.encoding} text: it holds bytes that do not fit. Give another `encoding`.",
                path=shown,
            ) from exc
        return text

    def encode(self, text: str, shown: str) -> bytes:
        """Encode text to bytes, with the mark.

        Raises:
            ToolError: `cannot_encode`: the encoding cannot represent a character.
        """
        try:
            return self.mark + text.encode(self.encoding, _ESCAPING if self.has_stray_bytes else "strict")
        except UnicodeEncodeError as exc:
            message = (
                f"{shown!r} is {self.encoding}, which cannot hold {text[exc.start]!r}; leave this character out, "
                "or write the whole file with `encoding` utf-8."
            )
            raise ToolError("cannot_encode", message, path=shown) from exc


UTF8 = TextForm()


def named_form(encoding: str, head: bytes = b"") -> TextForm:
    """Return the form of an encoding named by the caller, with the mark that the file has.

    Args:
        head: The first bytes of the file, if there is one.

    Raises:
        ToolError: `unknown_encoding`.
    """
    try:
        "".encode(encoding)
        name = _codec_name(encoding)
    except (LookupError, ValueError) as exc:
        message = f"There is no encoding {encoding!r}; common ones are utf-8, utf-16, gb18030, shift_jis, cp1252."
        raise ToolError("unknown_encoding", message, encoding=encoding) from exc
    if name == "utf-8-sig":
        return TextForm("utf-8", codecs.BOM_UTF8)
    if name in ("utf-16", "utf-32"):  # these codecs consume and write a mark themselves
        marked = _marked_form(head)
        return marked if marked and marked.encoding.startswith(name) else TextForm(*_little_endian(name))
    found = _marked_form(head)
    form = found if found is not None and found.encoding == name else TextForm(name)
    if name != UTF8.encoding or _is_utf8(head, is_whole=True):
        return form
    return replace(form, has_stray_bytes=bool(form.mark) or guess_encoding(head) == UTF8.encoding)


def _is_utf8(head: bytes, *, is_whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=is_whole)
    except UnicodeDecodeError:
        return False
    return True


def _codec_name(encoding: str) -> str:
    """Return the canonical name of a text codec.

    Raises:
        LookupError: There is no such codec, or it is for host names.
    """
    name = codecs.lookup(encoding).name
    if name in _NAMES_OF_HOSTS:
        raise LookupError(name)
    return name


def detect_form(head: bytes, *, is_whole: bool) -> TextForm | None:
    """Detect encoding and mark of a file from its first bytes: by its mark, as valid UTF-8, else by statistics.

    Args:
        head: At least `SAMPLE_BYTES`, or the whole file.
        is_whole: True if `head` is the whole file, so that its last character is complete.
    Returns:
        The form; None: the file is not text.
    """
    marked = _marked_form(head)
    if marked is not None:
        is_valid = marked.encoding != UTF8.encoding or _is_utf8(head, is_whole=is_whole)
        return marked if is_valid else replace(marked, has_stray_bytes=True)
    if b"\0" in head:
        return None
    if head.isascii() or _is_utf8(head, is_whole=is_whole):
        return UTF8
    return _guess_form(head)


def show_stray_bytes(text: str) -> str:
    """Return a text from `TextForm.decode_reversibly` for display, with U+FFFD for each stray byte."""
    return _ESCAPED.sub("\N{REPLACEMENT CHARACTER}", text) if not text.isascii() else text


def detect_line_ends(text: str) -> LineEnds:
    """Return the kind of line ends in a text."""
    if "\r" not in text:
        return "lf" if "\n" in text else "none"
    both = text.count("\r\n")
    alone = text.count("\n") - both
    if both and alone:
        return "mixed"
    return "crlf" if both else "lf" if alone else "none"


def is_binary(content: bytes) -> bool:
    """Return True if bytes count as binary, similar to ripgrep: they contain a NUL and have no byte order mark."""
    return b"\0" in content and _marked_form(content) is None


def _marked_form(head: bytes) -> TextForm | None:
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return TextForm(encoding, mark)
    return None


def _little_endian(name: str) -> tuple[str, bytes]:
    return f"{name}-le", codecs.BOM_UTF16_LE if name == "utf-16" else codecs.BOM_UTF32_LE


def _guess_form(sample: bytes) -> TextForm | None:
    encoding = guess_encoding(sample)
    if encoding == UTF8.encoding:
        return replace(UTF8, has_stray_bytes=True)
    return None if encoding is None else replace(named_form(encoding), is_guess=True)
