import os
from datetime import datetime
from pathlib import Path

from agentcore_fs_tools.read.status import COUNT_LIMIT_BYTES

HOST = {"modules": ["fs_tools"]}


async def test_text_file_is_described(call, text, root: Path) -> None:
    (root / "a.txt").write_bytes("grün\r\nzwei".encode("utf-8-sig"))
    (root / "a.txt").chmod(0o444)
    os.utime(root / "a.txt", (0, 86_400))
    result = await call("file_stat", path="a.txt")
    assert result.data == {
        "path": "a.txt", "type": "file", "size_bytes": 14, "modified": "1970-01-02T00:00:00+00:00",
        "permissions": "-r--r--r--", "mode": "0444", "read_only": True, "binary": False, "encoding": "utf-8",
        "bom": True, "lines": 2,
    }  # fmt: skip
    assert text(result) == (
        "a.txt: file, 14 B; modified 1970-01-02T00:00:00+00:00; -r--r--r-- (0444), read-only; "
        "text: utf-8 with BOM, 2 lines"
    )
    assert datetime.fromisoformat(result.data["modified"]).timestamp() == 86_400


async def test_folder_and_binary_file_are_described(call, text, root: Path) -> None:
    (root / "a.bin").write_bytes(b"\0\1")
    assert (await call("file_stat", path=".")).data["type"] == "directory"
    result = await call("file_stat", path="a.bin")
    assert result.data["binary"] is True
    assert text(result).endswith("; binary")


async def test_link_is_described_itself(call, text, root: Path) -> None:
    (root / "a.txt").write_text("12345")
    (root / "link").symlink_to("a.txt")
    result = await call("file_stat", path="link")
    assert (result.data["type"], result.data["target"], result.data["target_type"]) == (
        "symlink",
        str(root / "a.txt"),
        "file",
    )
    assert text(result).endswith(f"leads to {root}/a.txt (file)")


async def test_link_that_leads_out_tells_nothing_of_the_outside(call, text, root: Path) -> None:
    (root / "out").symlink_to("/etc/passwd")
    (root / "gone").symlink_to("nowhere")
    result = await call("file_stat", path="out")
    assert (result.data["target"], result.data["target_problem"]) == (None, "path_outside_workspace")
    assert "passwd" not in text(result)
    assert (await call("file_stat", path="gone")).data["target_problem"] == "path_not_found"


async def test_special_file_is_described_without_opening_it(call, root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert (await call("file_stat", path="pipe")).data["type"] == "fifo"


async def test_lines_of_utf16_are_counted(call, root: Path) -> None:
    (root / "a.txt").write_text("a\nb\nc", "utf-16")
    assert (await call("file_stat", path="a.txt")).data["lines"] == 3


async def test_lines_of_a_huge_file_are_not_counted(call, text, root: Path) -> None:
    with (root / "a.txt").open("wb") as file:
        file.write(b"x\n" * 50_000)
        file.truncate(COUNT_LIMIT_BYTES + 1)
    result = await call("file_stat", path="a.txt")
    assert result.data["lines"] is None
    assert text(result).endswith("too many lines to count")


async def test_missing_and_outside_paths_are_errors(failure, root: Path) -> None:
    assert (await failure("file_stat", path="gone")).type == "path_not_found"
    assert (await failure("file_stat", path="../x")).type == "path_outside_workspace"
