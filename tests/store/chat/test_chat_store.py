"""Chat sessions, messages and calls in the database."""

import asyncio

import pytest

from agentcore.store.chat.chat_rows import ChatCallRow, NewMessage
from agentcore.store.chat.chat_store import ChatStore
from agentcore.store.database.database import Database

pytestmark = pytest.mark.spec("K2")


@pytest.fixture
async def chats(database):
    store = ChatStore(database, now=lambda: 1000.0)
    await store.get_or_create("s1", owner="token")
    return store


def call(tool_id="t1", **fields):
    return ChatCallRow("s1", tool_id, "read_file", "{}", "server")._replace(**fields)


async def test_session_that_exists_keeps_its_owner(chats):
    again = await chats.get_or_create("s1", owner="page")
    assert again.owner == "token"


async def test_messages_and_calls_are_found_after_the_database_was_opened_again(database_path):
    async with Database.open(database_path) as database:
        store = ChatStore(database)
        await store.get_or_create("s1", owner="token")
        await store.append_messages(
            "s1", [NewMessage("m1"), NewMessage("m2")], calls=[call()], title="hello", is_running=1
        )
    async with Database.open(database_path) as database:
        store = ChatStore(database)
        assert [told.message for told in await store.load_context_messages("s1")] == ["m1", "m2"]
        assert await store.load_open_calls("s1") == [call()]
        assert await store.find_interrupted_sessions() == ["s1"]
        assert [row.title for row in await store.list_sessions(text="HELL")] == ["hello"]


async def test_of_two_answers_to_one_call_one_counts(chats):
    await chats.append_messages("s1", calls=[call(state="waiting")])
    moved = await asyncio.gather(
        chats.move_call("s1", "t1", "waiting", "approved"), chats.move_call("s1", "t1", "waiting", "rejected")
    )
    assert sorted(moved) == [False, True]


async def test_settled_call_is_no_longer_open_and_its_result_is_not_kept_twice(chats):
    await chats.append_messages("s1", calls=[call(state="done", result="long")])
    await chats.append_messages("s1", [NewMessage("results")], settles=["t1"])
    assert await chats.load_open_calls("s1") == []
    found = await chats.find_call("s1", "t1")
    assert (found.state, found.result) == ("settled", None)


async def test_waiting_call_is_found_by_the_id_of_the_host(chats):
    await chats.append_messages("s1", calls=[call()])
    await chats.move_call("s1", "t1", "new", "waiting", call_id="call_9")
    assert (await chats.find_waiting_call("call_9")).tool_id == "t1"
    assert await chats.find_waiting_call("call_8") is None


async def test_unknown_session_and_call_are_none(chats):
    assert await chats.find_session("s2") is None
    assert await chats.find_call("s1", "t9") is None


@pytest.mark.parametrize("column", ["owner", "nothing"])
async def test_column_that_does_not_change_is_refused(chats, column):
    with pytest.raises(ValueError, match=column):
        await chats.update_session("s1", **{column: "x"})


SAID = 'He said "NEAR(x)" AND left* for 東京駅'


async def test_any_text_can_be_looked_for(chats):
    await chats.append_messages("s1", [NewMessage("m", said=SAID)])
    for text in (
        '"',
        '""" OR',
        "NEAR(",
        "left*",
        "a\0b",
        "\0\0\0",
        "駅",
        "京駅",
        "AND",
        "-x",
        "^he",
        "%",
        "東京駅 said",
    ):
        found = await chats.list_sessions(text=text)
        assert [row.session_id for row in found] == (["s1"] if all(word in SAID for word in text.split()) else [])


async def test_going_back_forgets_messages_their_calls_and_what_was_found_of_them(chats):
    wanted = '[{"parts": [{"part_kind": "tool-call", "tool_call_id": "t1"}]}]'
    first, _ = await chats.append_messages(
        "s1", [NewMessage("[]", said="first"), NewMessage(wanted, said="second")], calls=[call()]
    )
    await chats.rewind("s1", first + 1)
    assert [row.number for row in await chats.load_history("s1")] == [first]
    assert await chats.find_call("s1", "t1") is None
    assert await chats.list_sessions(text="second") == []
    assert len(await chats.list_sessions(text="first")) == 1
