"""Artifacts: kept whole, found by range and by text, within a quota."""

import sqlite3
from pathlib import Path

import pytest

from agentcore.api import ToolError
from agentcore.store.artifacts.artifact_store import ArtifactStore
from agentcore.store.database.database import Database

KIB = 1024


@pytest.fixture
async def artifacts(database: Database, tmp_path: Path) -> ArtifactStore:
    return await ArtifactStore.open(database, tmp_path / "artifacts", quota_bytes=64 * KIB)


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_saved_bytes_come_back(artifacts: ArtifactStore, tmp_path: Path) -> None:
    data = bytes(range(256)) * 40
    link = await artifacts.save(data, mime="image/png", name="shot.png", session_id="s1", call_id="c1")
    assert (link.size_bytes, link.mime, link.name, link.preview) == (len(data), "image/png", "shot.png", "")
    assert await artifacts.load(link.artifact_id) == data
    described = await artifacts.get_artifact(link.artifact_id)
    assert (described.session_id, described.call_id, described.size_bytes) == ("s1", "c1", len(data))
    assert files_in(tmp_path / "artifacts") == [link.artifact_id]
    assert (tmp_path / "artifacts" / link.artifact_id).stat().st_mode & 0o777 == 0o600


async def test_text_has_a_preview_of_its_first_characters(artifacts: ArtifactStore) -> None:
    link = await artifacts.save("日本".encode() * 2000, mime="text/plain; charset=utf-8", name="a.txt")
    assert link.preview == "日本" * 250


async def test_empty_artifact_can_be_kept(artifacts: ArtifactStore) -> None:
    link = await artifacts.save(b"", mime="text/plain", name="empty.txt")
    assert await artifacts.load(link.artifact_id) == b""


@pytest.mark.parametrize(
    ("name", "shown"),
    [("../../etc/passwd", "passwd"), ("C:\\x\\y.txt", "y.txt"), ("a\r\nb\x00\u202e.txt", "ab.txt"), ("/", "artifact")],
)
async def test_name_is_no_path_and_fit_to_show(artifacts: ArtifactStore, name: str, shown: str) -> None:
    assert (await artifacts.save(b"x", mime="text/plain", name=name)).name == shown


async def test_media_type_that_no_header_can_carry_is_replaced(artifacts: ArtifactStore) -> None:
    link = await artifacts.save(b"x", mime="text/plain\r\nSet-Cookie: a=b", name="a")
    assert link.mime == "application/octet-stream"


@pytest.mark.parametrize("artifact_id", ["art_" + "0" * 32, "../state.sqlite3", "", "\ud800", "x" * 10_000])
async def test_unknown_id_is_artifact_not_found_everywhere(artifacts: ArtifactStore, artifact_id: str) -> None:
    for use in (artifacts.load, artifacts.get_artifact, artifacts.delete, lambda each: artifacts.search(each, "x")):
        with pytest.raises(ToolError) as caught:
            await use(artifact_id)
        assert caught.value.type == "artifact_not_found"


async def test_deleted_artifact_is_gone_with_its_file(artifacts: ArtifactStore, tmp_path: Path) -> None:
    link = await artifacts.save(b"x", mime="text/plain", name="a")
    await artifacts.delete(link.artifact_id)
    assert files_in(tmp_path / "artifacts") == []
    assert await artifacts.used_bytes() == 0
    with pytest.raises(ToolError) as caught:
        await artifacts.load(link.artifact_id)
    assert caught.value.type == "artifact_not_found"


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [(0, 3, b"012"), (7, None, b"789"), (7, 100, b"789"), (-2, None, b"89"), (-50, 2, b"01"), (9, 10, b"9")],
)
async def test_range_gives_just_these_bytes(
    artifacts: ArtifactStore, start: int, end: int | None, expected: bytes
) -> None:
    link = await artifacts.save(b"0123456789", mime="text/plain", name="a")
    async with artifacts.open_range(link.artifact_id, start, end) as part:
        assert b"".join([chunk async for chunk in part.read_chunks()]) == expected
        assert part.end - part.start == len(expected)


@pytest.mark.parametrize(("start", "end"), [(10, None), (5, 5), (6, 2), (0, 0)])
async def test_range_without_a_byte_is_invalid(artifacts: ArtifactStore, start: int, end: int | None) -> None:
    link = await artifacts.save(b"0123456789", mime="text/plain", name="a")
    with pytest.raises(ToolError) as caught:
        async with artifacts.open_range(link.artifact_id, start, end):
            pass
    assert caught.value.type == "invalid_range"
    assert caught.value.context["size_bytes"] == 10


async def test_open_range_can_be_read_to_its_end_after_the_artifact_was_deleted(
    database: Database, tmp_path: Path
) -> None:
    artifacts = await ArtifactStore.open(database, tmp_path / "artifacts")
    data = bytes(1000) * 1000
    link = await artifacts.save(data, mime="text/plain", name="a")
    async with artifacts.open_range(link.artifact_id) as part:
        await artifacts.delete(link.artifact_id)
        assert b"".join([chunk async for chunk in part.read_chunks()]) == data


@pytest.mark.spec("S7")
async def test_oldest_artifacts_make_way_for_a_new_one(artifacts: ArtifactStore, tmp_path: Path) -> None:
    first, second, third = [await artifacts.save(bytes(20 * KIB), mime="a/b", name=f"{n}") for n in range(3)]
    new = await artifacts.save(bytes(40 * KIB), mime="a/b", name="new")
    assert files_in(tmp_path / "artifacts") == sorted([third.artifact_id, new.artifact_id])
    assert await artifacts.used_bytes() == 60 * KIB
    assert artifacts.counts == {"saved": 4, "evicted": 2}
    for gone in (first, second):
        with pytest.raises(ToolError) as caught:
            await artifacts.load(gone.artifact_id)
        assert caught.value.type == "artifact_not_found"


@pytest.mark.spec("S7")
async def test_many_tiny_artifacts_stay_within_the_quota_too(artifacts: ArtifactStore, tmp_path: Path) -> None:
    for _ in range(40):
        await artifacts.save(b"x", mime="a/b", name="tiny")
    assert len(files_in(tmp_path / "artifacts")) == 16


@pytest.mark.spec("S7")
async def test_artifact_beyond_the_whole_quota_is_result_too_large_and_evicts_nothing(
    artifacts: ArtifactStore,
) -> None:
    kept = await artifacts.save(bytes(10 * KIB), mime="a/b", name="kept")
    with pytest.raises(ToolError) as caught:
        await artifacts.save(bytes(64 * KIB + 1), mime="a/b", name="large")
    assert caught.value.type == "result_too_large"
    assert caught.value.context == {"size_bytes": 64 * KIB + 1, "limit_bytes": 64 * KIB}
    assert len(await artifacts.load(kept.artifact_id)) == 10 * KIB


@pytest.mark.spec("S7")
async def test_full_disk_is_said_and_leaves_nothing_behind(database: Database, small_disk: Path) -> None:
    artifacts = await ArtifactStore.open(database, small_disk / "artifacts")
    kept = await artifacts.save(bytes(500 * KIB), mime="a/b", name="kept")
    with pytest.raises(ToolError) as caught:
        await artifacts.save(bytes(700 * KIB), mime="a/b", name="too much")
    assert (caught.value.type, caught.value.retryable) == ("disk_full", True)
    assert files_in(small_disk / "artifacts") == [kept.artifact_id]
    assert len(await artifacts.load(kept.artifact_id)) == 500 * KIB


async def test_row_that_the_database_has_no_room_for_leaves_no_file(
    artifacts: ArtifactStore, database: Database, tmp_path: Path
) -> None:
    await database.write(lambda c: c.execute("PRAGMA max_page_count = 1") and None)

    async def save_many() -> None:
        for _ in range(100):
            await artifacts.save(b"x", mime="a/b", name="n" * 200)

    with pytest.raises(ToolError) as caught:
        await save_many()
    assert caught.value.type == "disk_full"
    rows = await database.read(lambda c: [each for (each,) in c.execute("SELECT artifact_id FROM artifacts")])
    assert files_in(tmp_path / "artifacts") == sorted(rows)


async def test_file_that_no_row_knows_and_row_without_its_file_are_cleared_away(
    artifacts: ArtifactStore, database: Database, tmp_path: Path
) -> None:
    folder = tmp_path / "artifacts"
    whole, missing, cut = [await artifacts.save(b"0123456789", mime="a/b", name="a") for _ in range(3)]
    (folder / missing.artifact_id).unlink()
    (folder / cut.artifact_id).write_bytes(b"0123")
    (folder / f"art_{'1' * 32}").write_bytes(b"written, but never entered")
    again = await ArtifactStore.open(database, folder)
    assert files_in(folder) == [whole.artifact_id]
    assert await again.used_bytes() == 4096
    assert await again.load(whole.artifact_id) == b"0123456789"


async def test_search_gives_lines_with_number_and_offset(artifacts: ArtifactStore) -> None:
    link = await artifacts.save(b"one\ntwo .*\r\nTWO .*\n\ntwo", mime="application/json", name="a")
    found = await artifacts.search(link.artifact_id, "two .*")
    assert [(match.line, match.offset, match.text) for match in found] == [(2, 4, "two .*")]
    found = await artifacts.search(link.artifact_id, "TWO", ignore_case=True, limit=2)
    assert [(match.line, match.offset) for match in found] == [(2, 4), (3, 12)]


async def test_search_in_a_picture_is_artifact_not_text(artifacts: ArtifactStore) -> None:
    link = await artifacts.save(b"x", mime="image/png", name="a")
    with pytest.raises(ToolError) as caught:
        await artifacts.search(link.artifact_id, "x")
    assert caught.value.type == "artifact_not_text"


@pytest.mark.parametrize("query", ["", "a\nb", "x" * 1001])
async def test_query_that_no_line_can_hold_is_invalid(artifacts: ArtifactStore, query: str) -> None:
    link = await artifacts.save(b"x", mime="text/plain", name="a")
    with pytest.raises(ToolError) as caught:
        await artifacts.search(link.artifact_id, query)
    assert caught.value.type == "invalid_query"


async def sent(*chunks: bytes):
    for chunk in chunks:
        yield chunk


async def test_what_somebody_sends_is_kept_as_what_it_is(artifacts: ArtifactStore, tmp_path: Path) -> None:
    link = await artifacts.save_stream(sent(b"\x89PNG\r\n", b"\x1a\n rest"), name="C:\\notes.txt", owner="page")
    assert (link.mime, link.name, link.size_bytes) == ("image/png", "notes.txt", 13)
    assert await artifacts.load(link.artifact_id) == b"\x89PNG\r\n\x1a\n rest"
    assert files_in(tmp_path / "artifacts") == [link.artifact_id]


async def test_what_breaks_off_leaves_nothing_behind(artifacts: ArtifactStore, tmp_path: Path) -> None:
    async def broken():
        yield b"begun"
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await artifacts.save_stream(broken(), name="a.txt", owner="page")
    assert files_in(tmp_path / "artifacts") == []


async def test_what_a_message_holds_is_not_evicted(artifacts: ArtifactStore) -> None:
    kept = await artifacts.save_stream(sent(b"a" * 8 * KIB), name="kept.txt", owner="page")
    passing = await artifacts.save_stream(sent(b"b" * 8 * KIB), name="passing.txt", owner="page")
    await artifacts.pin_artifacts([kept.artifact_id], "s1", "page")
    for _ in range(8):
        await artifacts.save(b"c" * 8 * KIB, mime="text/plain", name="c.txt")
    assert await artifacts.load(kept.artifact_id) == b"a" * 8 * KIB
    with pytest.raises(ToolError, match="there is no artifact"):
        await artifacts.load(passing.artifact_id)
    await artifacts.unpin_artifacts([kept.artifact_id], "s1")
    assert not await artifacts.is_pinned(kept.artifact_id, "s1")


async def test_messages_hold_half_of_the_quota_at_most(artifacts: ArtifactStore) -> None:
    links = [await artifacts.save_stream(sent(b"a" * 20 * KIB), name="a.txt", owner="page") for _ in range(2)]
    with pytest.raises(ToolError) as caught:
        await artifacts.pin_artifacts([link.artifact_id for link in links], "s1", "page")
    assert caught.value.type == "attachments_full"
    assert not await artifacts.is_pinned(links[0].artifact_id, "s1")
    await artifacts.pin_artifacts([links[0].artifact_id], "s1", "page")


async def test_artifact_of_another_is_as_if_it_were_not_there(artifacts: ArtifactStore) -> None:
    link = await artifacts.save_stream(sent(b"a"), name="a.txt", owner="client:one")
    with pytest.raises(ToolError) as caught:
        await artifacts.pin_artifacts([link.artifact_id], "s1", "client:two")
    assert caught.value.type == "artifact_not_found"
    assert await artifacts.pin_artifacts([link.artifact_id], "s1", None)


async def store(artifacts: ArtifactStore, account: str, count: int = 1) -> list[str]:
    """Store artifacts of 4 KiB; gives their ids."""
    return [
        (await artifacts.save(b"x" * 4 * KIB, mime="text/plain", name="a", account=account)).artifact_id
        for _ in range(count)
    ]


async def are_there(artifacts: ArtifactStore, ids: list[str]) -> list[bool]:
    """Whether each artifact is still stored."""
    there = []
    for artifact_id in ids:
        try:
            await artifacts.load(artifact_id)
            there.append(True)
        except ToolError:
            there.append(False)
    return there


@pytest.mark.spec("S7")
async def test_others_never_evict_what_is_the_users(artifacts: ArtifactStore) -> None:
    """The user's quota is 64 KiB here, that of each other an eighth, and of all others a half of it."""
    own = await store(artifacts, "", 16)
    greedy = await store(artifacts, "mcp:greedy", 20)
    assert await are_there(artifacts, own) == [True] * 16
    assert await are_there(artifacts, greedy) == [False] * 18 + [True] * 2
    # the user's own do
    own += await store(artifacts, "", 1)
    assert await are_there(artifacts, own) == [False] + [True] * 16
    assert await are_there(artifacts, greedy[-2:]) == [True] * 2


@pytest.mark.spec("S7")
async def test_others_share_what_all_of_them_may_take(artifacts: ArtifactStore) -> None:
    own = await store(artifacts, "", 16)
    first = [await store(artifacts, f"module:server{number}", 2) for number in range(4)]
    assert [await are_there(artifacts, ids) for ids in first] == [[True] * 2] * 4
    late = await store(artifacts, "host:laptop", 1)
    assert await are_there(artifacts, late) == [True]
    left = [await are_there(artifacts, ids) for ids in first]
    assert sum(map(sum, left)) == 7
    assert await are_there(artifacts, own) == [True] * 16
    assert await artifacts.used_bytes() == (16 + 8) * 4 * KIB


@pytest.mark.spec("S7")
async def test_artifact_larger_than_the_quota_of_its_account_is_refused(artifacts: ArtifactStore) -> None:
    data = b"x" * 9 * KIB
    with pytest.raises(ToolError) as refused:
        await artifacts.save(data, mime="text/plain", name="a", account="mcp:greedy")
    assert (refused.value.type, refused.value.context["limit_bytes"]) == ("result_too_large", 8 * KIB)
    await artifacts.save(data, mime="text/plain", name="a")


@pytest.mark.spec("S7")
async def test_artifacts_of_a_paired_clients_chat_take_its_quota(artifacts: ArtifactStore, database: Database) -> None:
    def make_session(connection: sqlite3.Connection) -> None:
        required = [row for row in connection.execute("PRAGMA table_info(chat_sessions)") if row[3] and row[4] is None]
        values = {row[1]: 0 if row[2] == "INTEGER" else "" for row in required}
        values |= {"session_id": "s1", "owner": "client:panel"}
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        connection.execute(f"INSERT INTO chat_sessions ({names}) VALUES ({marks})", tuple(values.values()))

    await database.write(make_session)
    link = await artifacts.save(b"x", mime="text/plain", name="a", session_id="s1")
    assert (await artifacts.get_artifact(link.artifact_id)).account == "client:panel"
    other = await artifacts.save(b"x", mime="text/plain", name="a", session_id="s2")
    assert (await artifacts.get_artifact(other.artifact_id)).account == ""
