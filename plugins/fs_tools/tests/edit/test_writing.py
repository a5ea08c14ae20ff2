import asyncio
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from agentcore_fs_tools.edit.changes import plan_edit, plan_write
from agentcore_fs_tools.edit.editing import Edit
from agentcore_fs_tools.edit.limits import never_cancelled
from agentcore_fs_tools.edit.writing import edit_change, write_change

from agentcore.api import ToolError, Workspace
from agentcore.api.tool_context import Principal
from agentcore.core.approvals.approval_queue import ApprovalRequest

HOST = {"modules": ["fs_tools"]}


async def test_new_file_is_written_and_counted(call, text, root: Path) -> None:
    result = await call("write_file", path="a.txt", content="grün\nzwei")
    assert (root / "a.txt").read_text("utf-8") == "grün\nzwei"
    assert text(result) == "Created a.txt (2 lines, 10 B, utf-8)."
    assert result.data["created"] is True


async def test_overwriting_keeps_mode_encoding_mark_and_line_ends(call, root: Path) -> None:
    (root / "a.txt").write_bytes("alt\r\n".encode("utf-16"))
    (root / "a.txt").chmod(0o640)
    result = await call("write_file", path="a.txt", content="neu\nzwei\n")
    assert (root / "a.txt").read_bytes() == "neu\r\nzwei\r\n".encode("utf-16")
    assert stat.S_IMODE((root / "a.txt").stat().st_mode) == 0o640
    assert (result.data["created"], result.data["line_ends"], result.data["bom"]) == (False, "crlf", True)


async def test_line_ends_of_a_unix_file_stay(call, root: Path) -> None:
    (root / "a.txt").write_bytes(b"old\n")
    await call("write_file", path="a.txt", content="new\r\ntwo\r\n")
    assert (root / "a.txt").read_bytes() == b"new\ntwo\n"


async def test_file_of_mixed_line_ends_gets_what_is_given(call, root: Path) -> None:
    (root / "a.txt").write_bytes(b"a\nb\r\n")
    await call("write_file", path="a.txt", content="c\r\nd\n")
    assert (root / "a.txt").read_bytes() == b"c\r\nd\n"


async def test_named_encoding_replaces_the_old_one(call, failure, root: Path) -> None:
    (root / "a.txt").write_bytes("naïve\n".encode("cp1252"))
    await call("write_file", path="a.txt", content="中文\n", encoding="utf-8")
    assert (root / "a.txt").read_text("utf-8") == "中文\n"
    error = await failure("write_file", path="a.txt", content="中文\n", encoding="cp1252")
    assert error.type == "cannot_encode"
    assert (root / "a.txt").read_text("utf-8") == "中文\n"
    assert (await failure("write_file", path="a.txt", content="x", encoding="klingon")).type == "unknown_encoding"


async def test_binary_file_may_be_replaced_by_text(call, root: Path) -> None:
    (root / "a.bin").write_bytes(b"\0\1\2")
    (root / "a.bin").chmod(0o600)
    await call("write_file", path="a.bin", content="text")
    assert (root / "a.bin").read_text() == "text"
    assert stat.S_IMODE((root / "a.bin").stat().st_mode) == 0o600


async def test_missing_folders_are_made_unless_that_is_excluded(call, failure, root: Path) -> None:
    error = await failure("write_file", path="x/y/a.txt", content="a", create_dirs=False)
    assert error.type == "path_not_found"
    assert "`create_dirs`" in error.message
    assert not (root / "x").exists()
    await call("write_file", path="x/y/a.txt", content="a")
    assert (root / "x/y/a.txt").read_text() == "a"


async def test_answer_says_how_much_was_replaced_and_which_line_ends_were_kept(call, text, root: Path) -> None:
    (root / "a.txt").write_bytes(b"1\r\n2\r\n3\r\n")
    result = await call("write_file", path="a.txt", content="one\ntwo\n")
    assert text(result) == "Overwrote a.txt (2 lines, 10 B, utf-8); it had 3 lines. Its CRLF line ends were kept."
    assert result.data["replaced_lines"] == 3
    assert text(await call("write_file", path="a.txt", content="x\r\n")).endswith("it had 2 lines.")
    (root / "a.bin").write_bytes(b"\0" * 2048)
    assert "it had 2.0 KB." in text(await call("write_file", path="a.bin", content="x\n"))


@pytest.mark.parametrize("kind", ["chat", "mcp"])
async def test_model_replaces_only_files_that_its_session_knows(agentcore_host, root: Path, kind: str) -> None:
    host = await agentcore_host(modules=["fs_tools"], config={"approvals": {"mode": "allow"}}, roots=[root])
    model = Principal(kind, "s1")
    (root / "a.txt").write_text("1\n2\n")

    async def call(tool: str, session: str = "s1", **arguments: object) -> Any:
        return await host.outcome(tool, arguments, principal=model, session_id=session)

    refused = await call("write_file", path="a.txt", content="x\n")
    assert refused.error.type == "file_exists"
    assert "2 lines" in refused.error.message
    assert "`overwrite: true`" in refused.error.message
    assert (root / "a.txt").read_text() == "1\n2\n"
    assert (await call("read_file", path="./a.txt")).error is None
    assert (await call("write_file", "s2", path="a.txt", content="y\n")).error.type == "file_exists"
    assert (await call("write_file", path="a.txt", content="x\n")).error is None
    assert (await call("write_file", path="a.txt", content="z\n")).error is None
    assert (await call("write_file", "s2", path="a.txt", content="y\n", overwrite=True)).error is None
    assert (await call("file_move", source="a.txt", destination="moved.txt")).error is None
    assert (await call("write_file", path="moved.txt", content="x\n")).error is None
    (root / "empty.txt").touch()
    assert (await call("write_file", path="empty.txt", content="x\n")).error is None
    (root / "b.txt").write_text("old\n")
    assert (await call("edit", path="b.txt", edits=[{"old": "old", "new": "new"}])).error is None
    assert (await call("write_file", path="b.txt", content="x\n")).error is None


async def test_user_replaces_files_as_before(call, root: Path) -> None:
    (root / "a.txt").write_text("old\n")
    await call("write_file", path="a.txt", content="new\n")
    assert (root / "a.txt").read_text() == "new\n"


@pytest.mark.spec("T2")
async def test_read_only_file_is_not_replaced(call, failure, root: Path) -> None:
    (root / "a.txt").write_text("kept\n")
    (root / "b.txt").write_text("new\n")
    (root / "a.txt").chmod(0o444)
    for tool, arguments in (
        ("write_file", {"path": "a.txt", "content": "x"}),
        ("edit", {"path": "a.txt", "edits": [{"old": "kept", "new": "x"}]}),
        ("file_move", {"source": "b.txt", "destination": "a.txt", "overwrite": True}),
        ("file_copy", {"source": "b.txt", "destination": "a.txt", "overwrite": True}),
    ):
        error = await failure(tool, **arguments)
        assert error.type == "permission_denied", tool
        assert "read-only" in error.message
        assert "chmod u+w" in error.message
    assert (root / "a.txt").read_text() == "kept\n"
    shown = await call("edit", path="a.txt", edits=[{"old": "kept", "new": "x"}], dry_run=True)
    assert shown.data["changed"] is False


@pytest.mark.skipif(os.geteuid() != 0, reason="changing owners needs root")
async def test_root_changes_files_of_another_user_and_their_owner_stays(call, root: Path) -> None:
    (root / "a.txt").write_text("one\n")
    os.chown(root / "a.txt", 1000, 1000)
    assert (await call("file_stat", path="a.txt")).data["read_only"] is False
    await call("edit", path="a.txt", edits=[{"old": "one", "new": "two"}])
    assert ((root / "a.txt").read_text(), (root / "a.txt").stat().st_uid) == ("two\n", 1000)


async def test_places_that_no_text_can_be_written_to_are_refused(failure, root: Path) -> None:
    (root / "folder").mkdir()
    os.mkfifo(root / "fifo")
    (root / "out").symlink_to("/etc/passwd")
    assert (await failure("write_file", path="folder", content="a")).type == "is_a_directory"
    assert (await failure("write_file", path="fifo", content="a")).type == "not_a_file"
    assert (await failure("write_file", path="out", content="a")).type == "path_outside_workspace"
    assert (await failure("write_file", path="../a.txt", content="a")).type == "path_outside_workspace"
    assert (await failure("write_file", path="folder/" + "n" * 300, content="a")).type == "name_too_long"


async def test_character_that_no_encoding_holds_is_refused(start, root: Path) -> None:
    host = await start()
    outcome = await host.outcome("write_file", {"path": "a.txt", "content": "\ud800"})
    assert outcome.error is not None
    assert not (root / "a.txt").exists()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write_file", {"path": "a.txt", "content": "x"}),
        ("edit", {"path": "a.txt", "edits": [{"old": "a", "new": "b"}]}),
        ("file_delete", {"path": "a.txt"}),
        ("file_move", {"source": "a.txt", "destination": "b.txt"}),
        ("file_copy", {"source": "a.txt", "destination": "b.txt"}),
    ],
)
async def test_setting_writable_off_refuses_every_change(start, root: Path, tool: str, arguments: dict) -> None:
    (root / "a.txt").write_text("a")
    host = await start(writable=False)
    outcome = await host.outcome(tool, arguments)
    assert outcome.error is not None
    assert outcome.error.type == "workspace_read_only"
    assert os.listdir(root) == ["a.txt"]
    assert (await host.call("edit", path="a.txt", edits=[{"old": "a", "new": "b"}], dry_run=True)).data[
        "changed"
    ] is False


async def asked_about(host, tool: str, arguments: dict) -> ApprovalRequest:
    """What a person sees of a model's call."""
    host.answer_approvals(approve=False)
    outcome = await host.outcome(tool, arguments, principal=Principal("chat", "x"))
    assert outcome.error is not None
    assert outcome.error.type == "approval_denied", outcome.error
    return host.asked[-1]


@pytest.mark.spec("K2", "S2")
async def test_person_sees_path_and_difference_before_a_write(start, root: Path) -> None:
    (root / "a.txt").write_text("old\n")
    request = await asked_about(await start(), "write_file", {"path": "a.txt", "content": "new\n", "overwrite": True})
    assert request.preview.paths == (str(root / "a.txt"),)
    assert request.preview.diff == "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n"
    assert request.preview.is_protected is False
    assert (root / "a.txt").read_text() == "old\n"


@pytest.mark.spec("S2")
async def test_person_is_told_of_protected_files_also_behind_links(start, root: Path) -> None:
    (root / ".git/hooks").mkdir(parents=True)
    (root / "innocent").symlink_to(".git")
    (root / "evil/.vscode").mkdir(parents=True)
    host = await start()
    calls = [
        ("write_file", {"path": "innocent/hooks/post-commit", "content": "x"}),
        ("file_move", {"source": "evil", "destination": "good"}),
        ("file_copy", {"source": "evil", "destination": "good"}),
        ("file_delete", {"path": "evil", "recursive": True}),
    ]
    assert [(await asked_about(host, *call)).preview.is_protected for call in calls] == [True] * 4


async def test_call_that_cannot_run_is_not_asked_about(start, root: Path) -> None:
    (root / "a.txt").write_text("a")
    (root / "fixed.txt").write_text("a")
    (root / "fixed.txt").chmod(0o444)
    host = await start()
    host.answer_approvals(approve=True)
    for tool, arguments in [
        ("write_file", {"path": "fixed.txt", "content": "b"}),
        ("write_file", {"path": "gone/b.txt", "content": "b", "create_dirs": False}),
        ("edit", {"path": "a.txt", "edits": [{"old": "zzz", "new": "b"}]}),
        ("file_delete", {"path": "."}),
        ("file_move", {"source": "gone", "destination": "b"}),
    ]:
        outcome = await host.outcome(tool, arguments, principal=Principal("chat", "x"))
        assert outcome.error is not None
        assert outcome.error.type in ("edit_not_found", "path_is_root", "path_not_found", "permission_denied")
    assert host.asked == []


async def test_dry_run_of_an_edit_only_reads(start, root: Path) -> None:
    (root / "a.txt").write_text("a")
    host = await start()
    arguments = {"path": "a.txt", "edits": [{"old": "a", "new": "b"}], "dry_run": True}
    request = await asked_about(host, "edit", arguments)
    assert request.preview.effects == frozenset(("read",))


async def test_file_that_appears_meanwhile_is_not_replaced(root: Path) -> None:
    with Workspace([root]) as workspace:
        change = plan_write(workspace, "a.txt", "ours", None)
        (root / "a.txt").write_text("theirs")
        with pytest.raises(ToolError) as caught:
            write_change(workspace, change, never_cancelled, create_dirs=False)
    assert caught.value.type == "file_exists"
    assert (root / "a.txt").read_text() == "theirs"


async def test_file_that_changes_meanwhile_is_not_replaced(root: Path) -> None:
    (root / "a.txt").write_text("a")
    with Workspace([root]) as workspace:
        change = plan_edit(workspace, "a.txt", [Edit(old="a", new="b")], None, None, is_cancelled=never_cancelled)
        (root / "a.txt").write_text("theirs a")
        with pytest.raises(ToolError) as caught:
            edit_change(workspace, change, never_cancelled, dry_run=False)
    assert (caught.value.type, caught.value.retryable) == ("file_changed", True)
    assert (root / "a.txt").read_text() == "theirs a"


async def test_of_edits_at_the_same_time_none_is_lost_silently(start, root: Path) -> None:
    (root / "a.txt").write_text("".join(f"<{number}>\n" for number in range(30)))
    host = await start()
    edits = [{"path": "a.txt", "edits": [{"old": f"<{number}>", "new": f"[{number}]"}]} for number in range(30)]
    outcomes = await asyncio.gather(*(host.outcome("edit", arguments) for arguments in edits))
    text = (root / "a.txt").read_text()
    for number, outcome in enumerate(outcomes):
        if outcome.error is None:
            assert f"[{number}]" in text
        else:
            assert (outcome.error.type, outcome.error.retryable) == ("file_changed", True)
