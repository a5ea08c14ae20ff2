"""Telling the encoding of a text that is neither marked nor UTF-8, by what its letters would be."""

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
"""What files are written in: those of the web; seldom ones besides cost more right answers than they give."""

_USUAL = "cp1252"  # what nearly all files of Western Europe and America are, Latin-1 among them
_WORD = re.compile(r"[^\W\d_]+")
_ALPHABETS = frozenset(("LATIN", "GREEK", "CYRILLIC", "HEBREW", "ARABIC", "THAI"))  # Chinese and Latin do mix
_MIXED_SHARE = 0.1
_FEW_BYTES = 24  # too few to tell a language by
_NEAR = 0.85  # of the best score: as good as the best, for the usual one is written more often
_LIKE_USUAL = frozenset(("cp1250", "iso8859-2", "cp1254", "cp1257", "iso8859-13", "cp1258"))
"""Other encodings of Latin letters: each gives letters, too, whatever the bytes are."""

_WESTERN = re.compile(
    r"[ñÑ][aeiouáéíóúAEIOUÁÉÍÓÚ]"  # read as ń, which no vowel follows
    r"|[aouAOU][ïÏ][vfqVFQ]"
    r"|[àÀ](?!\w)"  # read as ŕ, with which no word ends
    r"|(?<!\w)[èÈ](?!\w)"
    r"|¿[A-ZÁÉÍÓÚ]|¡[A-ZÁÉÍÓÚ][a-záéíóú]"
)
"""What languages of Western Europe have, and those written in another encoding of Latin letters never seem to."""

_SIGN_IN_WORD = re.compile(r"[^\W\d_][¢£¤¥¦§¨©¬¯±´¶¸¹¼¾¿¡]|[ªº¹³²£§][^\W\d_]|[^\W\d_][ªº³²][^\W\d_]")
"""Signs where letters belong: `m¹ka` for `mąka`."""

_SIGNS = frozenset("°±µ©®«»·–—‘’“”„…€£§½×÷†‡•™\N{NO-BREAK SPACE}")


def guess_encoding(sample: bytes) -> str | None:
    """The codec that a text is most probably written in; None: it is no text.

    Args:
        sample: The beginning of a text with bytes beyond ASCII; it may end within a character.
    """
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
    """Whether hardly a word holds signs, or letters of several scripts, as where `dйjа` is read for `déjà`."""
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    wrong = sum(len(_ALPHABETS & set(map(_script_name, word))) > 1 for word in words) + len(_SIGN_IN_WORD.findall(text))
    return wrong <= len(words) * _MIXED_SHARE


def _script_name(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def _could_be_usual(sample: bytes, likely: str, *, is_near: bool) -> bool:
    """Whether nothing speaks for another encoding than the usual one, or only one letter of a very short text."""
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
