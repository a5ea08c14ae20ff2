import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.files.names import read_name, show_name

names = st.lists(
    st.sampled_from([b"\\", b"x", b"5C", b"E9", b"\xe9", b"\n", b"\x7f", "é中".encode(), b"a", b"\xed\xa0\x80"])
).map(b"".join)


@given(names | st.binary().filter(lambda name: b"\0" not in name))
def test_every_name_has_a_spelling_that_reads_back(name: bytes) -> None:
    shown = show_name(name)
    assert shown.encode("utf-8").decode("utf-8") == shown
    assert read_name(shown) == name
    assert not any(ord(character) < 32 for character in shown)


def test_readable_names_are_shown_as_they_are() -> None:
    assert show_name("ein Bär\\n 文件.txt".encode()) == "ein Bär\\n 文件.txt"


def test_bytes_that_are_not_utf8_are_spelled_with_two_digits() -> None:
    assert show_name(b"caf\xe9\n") == "caf\\xE9\\x0A"
    assert show_name(b"caf\\xE9") == "caf\\x5CxE9"


@given(st.text())
def test_no_spelling_makes_a_separator_or_nul(text: str) -> None:
    try:
        name = read_name(text)
    except ValueError:
        return
    assert name.count(b"/") == text.count("/")
    assert name.count(b"\0") == text.count("\0")


def test_surrogate_that_is_no_byte_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        read_name("\ud800")
