"""The memory: kept over restarts, found by any word in any language."""

import sqlite3
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from agentcore_agent_tools import memory as memory_file
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcore.api import ToolError
from agentcore.api.tool_context import Principal
from agentcore.testing import HostFactory, RunningHost

pytestmark = pytest.mark.spec("P2")

FIRST_VERSION = """
CREATE TABLE memories (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, content TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL, updated_at_ms INTEGER NOT NULL
) STRICT;
CREATE VIRTUAL TABLE memory_words USING fts5(
    key, content, content='memories', content_rowid='id', tokenize='trigram'
);
CREATE TRIGGER memory_added AFTER INSERT ON memories BEGIN
    INSERT INTO memory_words (rowid, key, content) VALUES (new.id, new.key, new.content);
END;
CREATE TRIGGER memory_changed AFTER UPDATE ON memories BEGIN
    INSERT INTO memory_words (memory_words, rowid, key, content) VALUES ('delete', old.id, old.key, old.content);
    INSERT INTO memory_words (rowid, key, content) VALUES (new.id, new.key, new.content);
END;
"""


async def remember(host: RunningHost, action: str, **arguments: Any) -> Any:
    outcome = await host.outcome("memory", {"action": action, **arguments})
    if outcome.error is not None:
        raise outcome.error
    return outcome.result.data


@pytest.fixture
async def host(agentcore_host: HostFactory) -> RunningHost:
    return await agentcore_host(modules=["agent_tools"])


def keys(found: Any) -> list[str]:
    return [memory["key"] for memory in found["memories"]]


async def test_saved_texts_are_found_by_their_words(host: RunningHost) -> None:
    await remember(host, "save", key="editor", content="The person uses Emacs with dark theme")
    await remember(host, "save", key="城市", content="用户住在上海，喜欢晴朗的天气")
    await remember(host, "save", content="Deploys happen on Fridays. Never on Mondays.")
    for query, found in (
        ("emacs", ["editor"]),
        ("EMACS dark", ["editor"]),
        ("emacs mondays", ["editor", "deploys_happen_on_fridays_never_on"]),
        ("when does it deploy", ["deploys_happen_on_fridays_never_on"]),
        ("what is the theme?", ["editor"]),
        ("天气", ["城市"]),
        ("上海 晴朗的", ["城市"]),
        ("on", ["deploys_happen_on_fridays_never_on"]),
        ("Emac", ["editor"]),
        ("市", ["城市"]),
        ("用户喜欢什么天气", ["城市"]),
        ('"quoted" OR *', []),
        ("100%", []),
    ):
        assert sorted(keys(await remember(host, "search", query=query))) == sorted(found), query
    assert keys(await remember(host, "list", limit=2)) == ["deploys_happen_on_fridays_never_on", "城市"]


async def test_best_match_comes_first(host: RunningHost) -> None:
    await remember(host, "save", key="party", content="The party is on a date in May")
    await remember(host, "save", key="release", content="Release day is Thursday.")
    await remember(host, "save", key="fruit", content="Dates and figs are in the release box")
    assert keys(await remember(host, "search", query="when is the release date"))[0] == "fruit"
    assert "release" in keys(await remember(host, "search", query="when is the release date"))
    assert keys(await remember(host, "search", query="releases on Thursdays")) == ["release", "fruit"]


def test_memories_of_the_first_version_are_found(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(FIRST_VERSION)
        connection.execute("INSERT INTO memories VALUES (7, 'old', 'Boats sail at noon', 1, 1)")
        connection.commit()
    store = memory_file.MemoryStore(path)
    assert [memory.key for memory in store.search("sailing boat", 5)] == ["old"]
    store.save("old", memory_file.Change("Trains run at night"))
    store.close()
    again = memory_file.MemoryStore(path)
    assert [again.search(word, 5) != [] for word in ("boats", "train")] == [False, True]
    again.close()


async def test_saving_again_replaces_and_deleting_forgets(host: RunningHost) -> None:
    await remember(host, "save", key="a", content="first words")
    await remember(host, "save", key="a", content="second words")
    assert keys(await remember(host, "search", query="first")) == []
    assert (await remember(host, "search", query="second"))["memories"][0]["content"] == "second words"
    assert await remember(host, "delete", key="a") == {"deleted": "a"}
    assert (await remember(host, "list"))["total"] == 0
    with pytest.raises(ToolError, match="there is no memory 'a'") as caught:
        await remember(host, "delete", key="a")
    assert caught.value.type == "memory_not_found"


async def test_keys_that_are_made_up_do_not_collide(host: RunningHost) -> None:
    made = [(await remember(host, "save", content="Same words!"))["memory"]["key"] for _ in range(3)]
    assert made == ["same_words", "same_words_2", "same_words_3"]


async def test_actions_say_what_they_need(host: RunningHost) -> None:
    for action, missing in (("save", "content"), ("search", "query"), ("delete", "key")):
        with pytest.raises(ToolError) as caught:
            await remember(host, action)
        assert (caught.value.type, caught.value.context["missing"]) == ("invalid_arguments", missing)


async def test_memory_outlives_a_reload_of_the_module(host: RunningHost) -> None:
    await remember(host, "save", key="a", content="words")
    await host.host.modules.reload("agent_tools")
    assert keys(await remember(host, "list")) == ["a"]


@pytest.mark.in_server("makes a bound of the module's code another one")
async def test_memories_are_bounded(host: RunningHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("agentcore_agent_tools.memory"), "MEMORIES", 2)  # a reload makes it another one
    for key in ("a", "b", "a"):
        await remember(host, "save", key=key, content="words")
    with pytest.raises(ToolError) as caught:
        await remember(host, "save", key="c", content="words")
    assert caught.value.type == "memory_full"


async def test_saving_is_a_write_and_searching_reads(agentcore_host: HostFactory) -> None:
    host = await agentcore_host(modules=["agent_tools"], config={"approvals": {"mode": "ask_writes"}})
    host.answer_approvals(approve=True)
    given = {"key": "a", "content": "words", "query": "words"}
    for action in ("save", "search", "list", "delete"):
        assert (await host.outcome("memory", {"action": action, **given}, principal=Principal("chat"))).ok
    assert [(request.arguments["action"], request.preview.effects) for request in host.asked] == [
        ("save", {"write"}),
        ("delete", {"write"}),
    ]


@pytest.mark.more
@settings(deadline=None)
@given(content=st.text(min_size=1, max_size=200), data=st.data())
def test_every_word_of_a_memory_finds_it(
    tmp_path_factory: pytest.TempPathFactory, content: str, data: st.DataObject
) -> None:
    store = memory_file.MemoryStore(tmp_path_factory.mktemp("memory") / "m.sqlite3")
    words = content.encode("utf-8", "ignore").decode().replace("\0", " ").split()
    if words:
        store.save("key", memory_file.Change(" ".join(words)))
        word = data.draw(st.sampled_from(words))
        assert [memory.key for memory in store.search(word, 5)] == ["key"]
    store.close()
