"""Files that are UTF-8 except for a few bytes: they are never read or written in another encoding."""

from pathlib import Path

import pytest
from agentcore_fs_tools.text.encoding import detect_form

from agentcore.api import guess_encoding

HOST = {"modules": ["fs_tools"]}

GERMAN = "# Grüße aus Köln\nversion = 1\n# Maße: größer\n".encode()
CHINESE = "# 读取配置文件\nversion = 1\n# 权限不足\n".encode()
RUSSIAN = "# Прочитать настройки\nversion = 1\n".encode()
BROKEN = (
    (GERMAN, b"# caf\xe9\n"),
    (GERMAN, b"# \xe2\x82\n"),
    (CHINESE, b"# \xe4\xb8\n"),
    (CHINESE, b"# \xd6\xd0\n"),
    (RUSSIAN, b"# \xcf\xf0\n"),
    ("version = 1\n# für\n".encode(), b"# caf\xe9\n"),
)


@pytest.mark.parametrize(("text", "broken"), BROKEN)
@pytest.mark.parametrize("at_start", [True, False])
async def test_edit_beside_a_stray_byte_writes_utf_8_and_changes_nothing_else(
    call, text: bytes, broken: bytes, *, at_start: bool, root: Path
) -> None:
    content = broken + text if at_start else text + broken
    (root / "a.txt").write_bytes(content)
    result = await call("edit", path="a.txt", edits=[{"old": "version = 1", "new": "version = 2 (für später)"}])
    assert (root / "a.txt").read_bytes() == content.replace(b"version = 1", "version = 2 (für später)".encode())
    assert result.data["encoding"] == "utf-8"


async def test_diff_beside_a_stray_byte_writes_utf_8(call, root: Path) -> None:
    (root / "a.txt").write_bytes(GERMAN + b"# caf\xe9\n")
    await call("edit", path="a.txt", diff="@@ -2,2 +2,2 @@\n-version = 1\n+version = 2 ü\n # Maße: größer\n")
    assert (root / "a.txt").read_bytes() == GERMAN.replace(b"1", "2 ü".encode()) + b"# caf\xe9\n"


async def test_reading_shows_the_letters_and_says_that_some_bytes_are_none(call, text, root: Path) -> None:
    (root / "a.txt").write_bytes(GERMAN + b"# caf\xe9\n")
    shown = text(await call("read_file", path="a.txt"))
    assert "Grüße aus Köln" in shown
    assert "caf\N{REPLACEMENT CHARACTER}" in shown
    assert "utf-8 with some bytes that are not" in shown
    assert "Grüße" in text(await call("read_file", path="a.txt", encoding="utf-8"))


async def test_stray_byte_far_behind_the_start_changes_nothing(call, root: Path) -> None:
    content = b"# plain\n" * 20_000 + GERMAN + b"# caf\xe9\n"
    (root / "a.txt").write_bytes(content)
    await call("edit", path="a.txt", edits=[{"old": "version = 1", "new": "ü"}])
    assert (root / "a.txt").read_bytes() == content.replace(b"version = 1", "ü".encode())


async def test_old_encoding_far_behind_the_start_is_recognised(call, root: Path) -> None:
    line = "Не удалось открыть файл: доступ запрещён.\n".encode("koi8-r")
    (root / "a.txt").write_bytes(b"# plain\n" * 20_000 + line)
    assert (await call("read_file", path="a.txt", offset=20_001)).data["encoding"] == "koi8-r"


async def test_marked_file_with_a_stray_byte_is_edited(call, root: Path) -> None:
    content = b"\xef\xbb\xbfversion = 1\ncaf\xe9\n\xff\n"
    (root / "a.txt").write_bytes(content)
    await call("edit", path="a.txt", edits=[{"old": "1", "new": "ü"}])
    assert (root / "a.txt").read_bytes() == content.replace(b"1", "ü".encode())


async def test_overwriting_writes_utf_8(call, root: Path) -> None:
    (root / "a.txt").write_bytes(GERMAN + b"# caf\xe9\n")
    await call("write_file", path="a.txt", content="schön\n", overwrite=True)
    assert (root / "a.txt").read_bytes() == "schön\n".encode()


async def test_line_with_the_stray_byte_is_shown_where_an_old_text_is_not_found(failure, root: Path) -> None:
    (root / "a.txt").write_bytes(GERMAN + b"# ein caf\xe9 in Wien\n")
    error = await failure("edit", path="a.txt", edits=[{"old": "# ein cafe in Wien", "new": "x"}])
    assert "# ein caf\N{REPLACEMENT CHARACTER} in Wien" in error.message


def test_texts_of_old_encodings_are_not_taken_for_utf_8() -> None:
    for text, encoding in (("陇西", "gbk"), ("„Ä“", "cp1252"), ("Größe « É»", "cp1252"), ("ВЂ Привет", "cp1251")):
        assert guess_encoding(text.encode(encoding)) != "utf-8", text
        form = detect_form(text.encode(encoding), is_whole=True)
        assert form is not None
        assert not form.has_stray_bytes
