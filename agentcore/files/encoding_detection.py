"""Guess the encoding of text that is not UTF-8 and has no byte order mark, by the letters that it would contain."""

import codecs
import re
import unicodedata

ENCODINGS = (
    "cp1252",
    "iso8859-15",
    "cp1250",
    "iso8859-2",
    "cp1251",
    "koi8-r",
    "koi8-u",
    "iso8859-5",
    "cp1253",
    "iso8859-7",
    "cp1254",
    "cp1255",
    "iso8859-8",
    "cp1256",
    "iso8859-6",
    "cp1257",
    "iso8859-13",
    "cp1258",
    "cp874",
    "gb18030",
    "big5hkscs",
    "cp932",
    "euc_jis_2004",
    "cp949",
)
"""Candidate encodings: those of the web. Adding rare ones would cause more wrong guesses than right ones."""

_USUAL = "cp1252"  # nearly all files from Western Europe and America, including Latin-1
_WORD = re.compile(r"[^\W\d_]+")
_ALPHABETS = frozenset(("LATIN", "GREEK", "CYRILLIC", "HEBREW", "ARABIC", "THAI"))  # Chinese and Latin letters do mix
_MIXED_SHARE = 0.1
_FEW_BYTES = 24  # too few to recognise a language
_NEAR = 0.85  # share of the best score that counts as equal, since the usual encoding is more frequent
_LIKE_USUAL = frozenset(("cp1250", "iso8859-2", "cp1254", "cp1257", "iso8859-13", "cp1258"))
"""Other encodings of Latin letters: they, too, decode any bytes to letters."""

_WESTERN = re.compile(
    r"[ñÑ][aeiouáéíóúAEIOUÁÉÍÓÚ]"  # would be ń, which is never followed by a vowel
    r"|[aouAOU][ïÏ][vfqVFQ]"
    r"|[àÀ](?!\w)"  # would be ŕ, which never ends a word
    r"|(?<!\w)[èÈ](?!\w)"
    r"|¿[A-ZÁÉÍÓÚ]|¡[A-ZÁÉÍÓÚ][a-záéíóú]"
)
"""Sequences of Western European languages that languages in other Latin encodings do not appear to contain."""

_SIGN_IN_WORD = re.compile(r"[^\W\d_][¢£¤¥¦§¨©¬¯±´¶¸¹¼¾¿¡]|[ªº¹³²£§][^\W\d_]|[^\W\d_][ªº³²][^\W\d_]")
"""Signs in places of letters: `m¹ka` for `mąka`."""

_SIGNS = frozenset("°±µ©®«»·–—‘’“”„…€£§½×÷†‡•™\N{NO-BREAK SPACE}")


_SAMPLE_BYTES = 1 << 16
_LEAD_BYTES = 1 << 6  # before the first letter beyond ASCII; much more ASCII text would hide the letters
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_NOT_ASCII = bytes(range(0x80, 0x100))
_REPLACED = "\N{REPLACEMENT CHARACTER}"
_CONTROLS = re.compile(r"[\x80-\x9f]")
_LATIN_1 = "\xff"
_THREE_BYTES = "\u0800"


def guess_encoding(sample: bytes) -> str | None:
    """Return the most probable codec of a text; None if it is not text.

    Args:
        sample: A text with non-ASCII bytes, or its start; it may end within a character.
    """
    return "utf-8" if is_nearly_utf8(sample) else _guess_by_letters(_around_letters(sample))


def is_nearly_utf8(content: bytes) -> bool:
    """Return True if a text is UTF-8 except for stray bytes and cut characters.

    In other encodings, bytes hardly ever form characters of UTF-8: if more do than do not, the text is UTF-8. One of
    each is decided by the characters: `fÃ¼r` is a misread `für`.

    Args:
        content: A text, or its start; it may end within a character.
    """
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(content)
    wrong = text.count(_REPLACED) - content.count(_REPLACED.encode()) + len(_CONTROLS.findall(text))
    valid = len(text) - len(content.translate(None, _NOT_ASCII)) - wrong
    if valid != wrong:
        return valid > wrong
    characters = {each for each in text if not each.isascii() and each != _REPLACED}
    return wrong > 0 and all(each <= _LATIN_1 or each >= _THREE_BYTES for each in characters)


def _around_letters(content: bytes) -> bytes:
    """Return the part of a text from shortly before its first letter beyond ASCII, as much as a guess needs."""
    first = _BEYOND_ASCII.search(content)
    start = 0 if first is None else max(first.start() - _LEAD_BYTES, 0)
    return content[start : start + _SAMPLE_BYTES]


def _guess_by_letters(sample: bytes) -> str | None:
    import chardet  # noqa: PLC0415 - 60 ms, for texts that are not UTF-8

    found = chardet.detect_all(sample, include_encodings=ENCODINGS, compat_names=False, ignore_threshold=True)
    names = [one["encoding"] for one in found if one["encoding"] is not None]
    if not names:
        return None
    likely = next((name for name in names if _is_plausible_text(sample.decode(name, "replace"))), names[0])
    scores: dict[str | None, float] = {one["encoding"]: one["confidence"] for one in found}
    is_near = scores.get(_USUAL, 0.0) >= _NEAR * scores[likely]
    return _USUAL if _could_be_usual(sample, likely, is_near=is_near) else likely


def _is_plausible_text(text: str) -> bool:
    """Return True if few words contain signs or mix scripts, as in `dйjа`, a misread `déjà`."""
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    wrong = sum(len(_ALPHABETS & set(map(_script_name, word))) > 1 for word in words) + len(_SIGN_IN_WORD.findall(text))
    return wrong <= len(words) * _MIXED_SHARE


def _script_name(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def _could_be_usual(sample: bytes, likely: str, *, is_near: bool) -> bool:
    """Return True if nothing indicates an encoding other than the usual one, except one letter of a very short text."""
    try:
        text = sample.decode(_USUAL)
    except UnicodeDecodeError:
        return False
    if text == sample.decode(likely, "replace"):
        return True
    beyond = {letter for letter in text if not letter.isascii()}
    if likely in _LIKE_USUAL and not _SIGN_IN_WORD.search(text) and (is_near or _WESTERN.search(text)):
        return True
    if beyond <= _SIGNS:
        return not _SIGN_IN_WORD.search(text)
    return len(sample) <= _FEW_BYTES and len(beyond) == 1 and all(map(str.isalpha, beyond))
