import json
import os
import socket
import stat
import tracemalloc
from pathlib import Path

import pytest
from agentcore_fs_tools.read.images import IMAGE_LIMIT_BYTES
from agentcore_fs_tools.read.reading import LINES_DEFAULT, SCAN_LIMIT_BYTES, TEXT_LIMIT_BYTES, WHOLE_LIMIT_BYTES

from agentcore.api import Image

HOST = {"modules": ["fs_tools"]}


async def test_lines_come_with_numbers_size_and_count(call, text, root: Path) -> None:
    (root / "a.txt").write_text("one\ntwo\n")
    result = await call("read_file", path="a.txt")
    assert text(result) == "a.txt: lines 1-2 of 2, 8 B, utf-8\n     1\tone\n     2\ttwo"
    assert result.data == {
        "path": "a.txt", "size_bytes": 8, "total_lines": 2, "first_line": 1, "last_line": 2, "encoding": "utf-8",
        "bom": False, "line_ends": "lf",
    }  # fmt: skip


async def test_raw_text_is_a_block_of_its_own_and_exact(call, root: Path) -> None:
    content = "a\r\nb\n\tc" + "x" * 5_000
    (root / "a.txt").write_bytes(content.encode())
    result = await call("read_file", path="a.txt", raw=True)
    assert [block.text for block in result.blocks()][1] == content
    assert result.data["line_ends"] == "mixed"
    assert not result.truncated


async def test_offset_and_limit_choose_lines_and_say_how_to_go_on(call, text, root: Path) -> None:
    (root / "a.txt").write_text("".join(f"line {number}\n" for number in range(1, 5_001)))
    result = await call("read_file", path="a.txt", offset=1_500, limit=1_200)
    lines = text(result).split("\n")
    assert lines[0].startswith("a.txt: lines 1,500-2,699 of 5,000")
    assert (lines[1], lines[1_200]) == ("  1500\tline 1500", "  2699\tline 2699")
    assert lines[-1] == '[More lines follow; read on with read_file {"path": "a.txt", "offset": 2700}]'
    assert result.truncated
    rest = await call("read_file", path="a.txt", offset=4_999)
    assert not rest.truncated
    assert (rest.data["first_line"], rest.data["last_line"]) == (4_999, 5_000)


async def test_long_file_comes_in_parts_of_a_default_length(call, root: Path) -> None:
    (root / "a.txt").write_text("x\n" * (LINES_DEFAULT + 1))
    result = await call("read_file", path="a.txt")
    assert (result.data["last_line"], result.truncated) == (LINES_DEFAULT, True)


async def test_offset_behind_the_end_is_an_error(failure, root: Path) -> None:
    (root / "a.txt").write_text("one\n")
    error = await failure("read_file", path="a.txt", offset=2)
    assert (error.type, error.context["total_lines"]) == ("offset_out_of_range", 1)


async def test_empty_file_says_so(call, text, root: Path) -> None:
    (root / "a.txt").touch()
    assert text(await call("read_file", path="a.txt")) == "a.txt: empty file (0 B)"


async def test_last_line_without_an_end_counts(call, root: Path) -> None:
    (root / "a.txt").write_text("one\ntwo")
    assert (await call("read_file", path="a.txt", offset=2)).data["total_lines"] == 2


async def test_very_long_line_is_cut_where_numbers_are_shown(call, text, root: Path) -> None:
    (root / "a.txt").write_text("x" * 3_000 + "\n")
    assert text(await call("read_file", path="a.txt")).endswith("x… (1,000 more characters)")


@pytest.mark.parametrize("unusual", ["", "ünïcödé", "a\rb", "x" * 2_001], ids=["plain", "wide", "return", "long"])
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
async def test_each_line_of_a_large_file_has_its_own_number(call, root: Path, unusual: str, end: str) -> None:
    lines = [f"{'line ' * (number % 30)}{number}" for number in range(1, 8_001)]
    lines[6_000] = unusual
    lines[6_001] = ""
    (root / "a.txt").write_bytes(((end or "\n").join(lines) + end).encode())
    for offset in (1, 998):
        result = await call("read_file", path="a.txt", offset=offset, limit=10_000)
        shown = [line if len(line) <= 2_000 else f"{line[:2_000]}… (1 more characters)" for line in lines]
        expected = [f"{number:6}\t{line}" for number, line in enumerate(shown, 1)][offset - 1 :]
        assert result.blocks()[1].text.split("\n") == expected
        assert (result.data["total_lines"], result.data["last_line"]) == (8_000, 8_000)


async def test_text_beyond_the_bound_is_cut_at_a_line(call, root: Path) -> None:
    (root / "a.txt").write_text("é" * 999 + "\n", encoding="utf-8")
    (root / "b.txt").write_text(("é" * 999 + "\n") * 2_000, encoding="utf-8")
    result = await call("read_file", path="b.txt", raw=True)
    body = result.blocks()[1].text
    assert len(body.encode()) <= TEXT_LIMIT_BYTES
    assert body.endswith("\n")
    assert result.truncated
    follow = await call("read_file", path="b.txt", raw=True, offset=result.data["last_line"] + 1)
    assert body + follow.blocks()[1].text == ("é" * 999 + "\n") * 2_000


async def test_single_line_beyond_the_bound_is_cut_inside(call, text, root: Path) -> None:
    (root / "a.txt").write_text("x" * (TEXT_LIMIT_BYTES + 5))
    result = await call("read_file", path="a.txt", raw=True)
    assert len(result.blocks()[1].text) == TEXT_LIMIT_BYTES
    assert "Line 1 has 2,000,005 characters, of which 2,000,000 are here; grep shows" in text(result)


@pytest.mark.parametrize(
    ("content", "encoding", "bom", "expected"),
    [
        ("grün\n".encode("utf-8-sig"), "utf-8", True, "grün\n"),
        ("grün\n".encode("utf-16"), "utf-16-le", True, "grün\n"),
        (b"\xfe\xff" + "grün\n".encode("utf-16-be"), "utf-16-be", True, "grün\n"),
        ("grün\n".encode("utf-32"), "utf-32-le", True, "grün\n"),
        (
            ("中文字符编码的检测需要足够长的文本，否则统计没有意义。" * 8 + "\n").encode("gb18030"),
            "gb18030",
            False,
            None,
        ),
    ],
)
async def test_encoding_is_told_from_the_content(
    call, root: Path, content: bytes, encoding: str, bom: bool, expected: str | None
) -> None:
    (root / "a.txt").write_bytes(content)
    result = await call("read_file", path="a.txt", raw=True)
    assert (result.data["encoding"], result.data["bom"]) == (encoding, bom)
    assert result.blocks()[1].text == (expected or content.decode(encoding))


async def test_named_encoding_is_obeyed_or_refused(call, failure, root: Path) -> None:
    (root / "a.txt").write_bytes("naïve\n".encode("cp1252"))
    assert (await call("read_file", path="a.txt", encoding="cp1252", raw=True)).blocks()[1].text == "naïve\n"
    assert (await failure("read_file", path="a.txt", encoding="utf-8")).type == "cannot_decode"
    assert (await failure("read_file", path="a.txt", encoding="klingon")).type == "unknown_encoding"
    assert (await failure("read_file", path="a.txt", encoding="rot13")).type == "unknown_encoding"


async def test_codec_that_makes_halves_of_characters_is_refused(failure, root: Path) -> None:
    (root / "a.txt").write_bytes(b"\\ud800")
    assert (await failure("read_file", path="a.txt", encoding="unicode_escape")).type == "cannot_decode"


async def test_utf16_can_be_named_without_a_mark(call, root: Path) -> None:
    (root / "a.txt").write_bytes("hello\n".encode("utf-16-le"))
    assert (await call("read_file", path="a.txt", encoding="utf-16", raw=True)).blocks()[1].text == "hello\n"


async def test_binary_file_is_an_error_that_says_so(failure, root: Path) -> None:
    (root / "a.bin").write_bytes(b"\x7fELF\0\0\0\1" * 100)
    error = await failure("read_file", path="a.bin")
    assert error.type == "binary_file"
    assert "800 B, begins with 7f 45 4c 46" in error.message


@pytest.mark.parametrize(
    ("head", "mime"),
    [(b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff\xe0", "image/jpeg"), (b"GIF89a", "image/gif"),
     (b"RIFF\0\0\0\0WEBP", "image/webp")],
)  # fmt: skip
async def test_picture_comes_as_an_image_block(call, root: Path, head: bytes, mime: str) -> None:
    (root / "picture").write_bytes(head + b"\0" * 100)
    result = await call("read_file", path="picture")
    image = result.blocks()[1]
    assert isinstance(image, Image)
    assert (image.mime, image.data) == (mime, head + b"\0" * 100)
    assert result.data["mime"] == mime


async def test_picture_beyond_the_bound_is_refused(failure, root: Path) -> None:
    with (root / "big.png").open("wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        file.truncate(IMAGE_LIMIT_BYTES + 1)
    assert (await failure("read_file", path="big.png")).type == "file_too_large"


@pytest.mark.more
async def test_large_file_is_read_in_part(call, text, root: Path) -> None:
    with (root / "big.txt").open("w") as file:
        for start in range(0, 1_200_000, 1_000):
            file.write("".join(f"{number:07}\n" for number in range(start, start + 1_000)))
    assert (root / "big.txt").stat().st_size > WHOLE_LIMIT_BYTES
    result = await call("read_file", path="big.txt", offset=700_001, limit=2)
    assert text(result).split("\n")[1:3] == ["700001\t0700000", "700002\t0700001"]
    assert (result.data["total_lines"], result.truncated) == (1_200_000, True)
    last = await call("read_file", path="big.txt", offset=1_200_000)
    assert (last.data["last_line"], last.truncated) == (1_200_000, False)


@pytest.mark.more
async def test_sparse_file_of_five_gigabytes_is_never_loaded(call, failure, text, root: Path) -> None:
    with (root / "huge.txt").open("wb") as file:
        file.write(b"first line\n" * 10_000)
        file.truncate(5 << 30)
    tracemalloc.start()
    try:
        result = await call("read_file", path="huge.txt", limit=2)
        error = await failure("read_file", path="huge.txt", offset=20_000)
        assert tracemalloc.get_traced_memory()[1] < SCAN_LIMIT_BYTES / 4
    finally:
        tracemalloc.stop()
    assert text(result).split("\n")[1] == "     1\tfirst line"
    assert result.data["total_lines"] is None
    assert error.type == "file_too_large"
    (root / "empty").touch()
    os.truncate(root / "empty", 5 << 30)
    assert (await failure("read_file", path="empty")).type == "binary_file"


async def test_large_utf16_file_is_refused(failure, root: Path) -> None:
    (root / "big.txt").write_bytes(("x" * 99 + "\n").encode("utf-16") * 45_000)
    assert (await failure("read_file", path="big.txt")).type == "file_too_large"


async def test_special_files_are_refused_at_once(failure, root: Path) -> None:
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "socket"))
        assert (await failure("read_file", path="socket")).type == "not_a_file"
    assert (await failure("read_file", path="fifo")).type == "not_a_file"
    assert (await failure("read_file", path=".")).type == "is_a_directory"
    if os.geteuid() == 0:
        os.mknod(root / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
        assert (await failure("read_file", path="zero")).type == "not_a_file"


async def test_paths_that_lead_nowhere_or_out_are_errors(failure, root: Path) -> None:
    (root / "loop").symlink_to("loop")
    (root / "out").symlink_to("/etc/passwd")
    assert (await failure("read_file", path="gone.txt")).type == "path_not_found"
    assert (await failure("read_file", path="loop")).type == "too_many_links"
    assert (await failure("read_file", path="out")).type == "path_outside_workspace"
    assert (await failure("read_file", path="/etc/passwd")).type == "path_outside_workspace"
    assert (await failure("read_file", path="a\0b")).type == "invalid_path"


async def test_name_that_is_not_utf8_is_read_by_its_spelling(call, text, root: Path) -> None:
    (root / os.fsdecode(b"caf\xe9.txt")).write_text("hello\n")
    assert text(await call("read_file", path="caf\\xE9.txt")).startswith("caf\\xE9.txt: lines 1-1 of 1")


@pytest.mark.spec("T1", "S7")
async def test_model_gets_whole_lines_within_its_bound_and_the_call_that_gives_the_next_ones(
    start, text, root: Path
) -> None:
    lines = [f"line {number} of a file that is longer than a model is given at once" for number in range(1, 3_001)]
    (root / "a b.txt").write_text("\n".join(lines))
    host = await start()
    shown, parts = [], 0
    arguments: dict = {"path": "a b.txt", "limit": 1_000_000}
    while arguments:
        result = await host.told("read_file", **arguments)
        heading, *body = text(result).split("\n")
        assert len(text(result)) <= 25_000
        first, last = len(shown) + 1, result.data["last_line"]
        assert heading.startswith(f"a b.txt: lines {first:,}-{last:,} of 3,000, ")
        rest = body.pop() if result.truncated else ""
        shown += [line.partition("\t")[2] for line in body]
        arguments = json.loads(rest.partition("read_file ")[2].removesuffix("]")) if rest else {}
        parts += 1
    assert shown == lines
    assert parts == 9


async def test_programs_get_as_much_as_before(call, root: Path) -> None:
    (root / "a.txt").write_text("line\n" * 50_000)
    assert (await call("read_file", path="a.txt", limit=100_000)).data["last_line"] == 50_000


async def test_line_that_is_longer_than_a_model_is_given_is_cut_and_said(start, text, root: Path) -> None:
    (root / "a.json").write_text("x" * 100_000 + "\nsecond\n")
    result = await (await start()).told("read_file", path="a.json", raw=True)
    heading, line, rest = text(result).split("\n")
    assert heading.startswith("a.json: lines 1-1 of 2")
    assert 20_000 < len(line) < 25_000
    assert rest.startswith(f"[Line 1 has 100,000 characters, of which {len(line):,} are here; grep shows")
    assert rest.endswith('read on with read_file {"path": "a.json", "offset": 2, "raw": true}]')
    numbered = text(await (await start()).told("read_file", path="a.json"))
    assert "x… (98,000 more characters)\n     2\tsecond" in numbered
    assert numbered.endswith(
        "\n[Lines are cut here that are very long: `raw` gives more of one, grep the part of it around a match.]"
    )
