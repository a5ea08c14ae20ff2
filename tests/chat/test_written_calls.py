"""Chats with models that write their calls: what they are taught, and what becomes of what they write."""

import json

import pytest

from agentcore.api import Module, tool

pytestmark = pytest.mark.spec("C3")


class Drawer(Module):
    """Keeps notes."""

    name = "drawer"

    def __init__(self) -> None:
        self.put_in: list[str] = []

    @tool(rank=0, effects=["session"])
    async def put(self, text: str, color: str = "yellow", tags: list[str] | None = None) -> str:
        """Put a note in.

        It stays there.

        Args:
            text: What it says.
            color: Its color.
            tags: Words to find it by.
        """
        self.put_in.append(text)
        return f"{text} is in"

    @tool(effects=["session"])
    async def count(self) -> int:
        """Count the notes."""
        return len(self.put_in)


SMALL = {"tools": "prompted"}
PUT = '<tool_call>{"name": "put", "arguments": {"text": "milk"}}</tool_call>'


def messages_of(request):
    return [(message["role"], message["content"]) for message in request["messages"]]


async def test_small_model_is_taught_the_easy_form_with_a_line_for_each_tool(open_talk, provider):
    provider.say("Hi.")
    async with open_talk(Drawer(), model=SMALL) as talk:
        await talk.say(await talk.begin(), "hello")
    system = provider.requests[0]["messages"][0]["content"]
    assert '<tool_call>{"name": "NAME", "arguments": {"ARGUMENT": "VALUE"}}</tool_call>' in system
    assert (
        "\n- put(text: string, color?: string, tags?: string[]): Put a note in.\n- count(): Count the notes.\n"
        in system
    )
    assert system.count('<tool_call>{"name": "put", "arguments": {"text": "TEXT"}}</tool_call>') == 1
    assert "It stays there" not in system
    assert "tool_name" not in system


async def test_call_in_tags_runs_once_and_stays_in_the_form_that_the_model_wrote(open_talk, provider):
    provider.say(f"I put it in.\n{PUT}", split=3)
    provider.say("It is in.")
    drawer = Drawer()
    async with open_talk(drawer, model=SMALL) as talk:
        session_id = await talk.begin()
        events = await talk.say(session_id, "Remember the milk")
        items = await talk.items(session_id)
    assert drawer.put_in == ["milk"]
    shown = "".join(event["content"] for event in events if event["type"] == "session.content")
    assert "tool_call" not in shown
    assert len(items[1]["calls"]) == 1
    (_, _), user, answer, result = messages_of(provider.requests[1])
    assert user == ("user", "Remember the milk")
    assert answer == ("assistant", f"I put it in.\n\n{PUT}")
    assert result[0] == "user"
    assert result[1].endswith("\n\nmilk is in")


async def test_repaired_answer_runs_once_and_roles_alternate(open_talk, provider):
    provider.say(f'{PUT}\n<tool_call>{{"name": "put", "arguments": {{"text": "eggs"</tool_call>')
    provider.say(f"{PUT}\n{PUT.replace('milk', 'eggs')}")
    provider.say("Both are in.")
    provider.say("You are welcome.")
    drawer = Drawer()
    async with open_talk(drawer, model=SMALL) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "Milk and eggs")
        await talk.say(session_id, "Thanks")
    assert drawer.put_in == ["milk", "eggs"]
    for request in provider.requests:
        roles = [role for role, _ in messages_of(request)]
        assert roles == ["system", *["user", "assistant"] * (len(roles) // 2)][: len(roles)]
        assert roles[-1] == "user"
    assert "could not be read" in provider.requests[1]["messages"][-1]["content"]


async def test_what_the_model_says_of_calls_stays_text(open_talk, provider):
    said = f"Write `{PUT}` to put it in, between <tool_call> and </tool_call>."
    provider.say(said, split=3)
    drawer = Drawer()
    async with open_talk(drawer, model=SMALL) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "How do you remember?")
        items = await talk.items(session_id)
    assert (items[1]["text"], drawer.put_in) == (said, [])


async def test_endpoint_for_clients_keeps_its_own_form_and_reads_the_easy_one(open_talk, provider):
    provider.say(PUT)
    provider.say("It is in.")
    drawer = Drawer()
    async with open_talk(drawer, model=SMALL) as talk:
        await talk.post("Remember the milk")
    assert drawer.put_in == ["milk"]
    assert (
        '{"tool_call": {"tool_name": "NAME", "arguments": "ARGUMENTS AS JSON TEXT"}}'
        in provider.requests[0]["messages"][0]["content"]
    )
    written = json.dumps({"tool_call": {"tool_name": "put", "arguments": '{"text": "milk"}'}})
    assert messages_of(provider.requests[1])[2] == ("assistant", written)


async def test_prompt_for_small_models_is_chinese_where_the_locale_is(open_talk, provider):
    provider.say("好。")
    async with open_talk(Drawer(), model=SMALL, locale="zh") as talk:
        await talk.say(await talk.begin(), "你好")
    system = provider.requests[0]["messages"][0]["content"]
    assert "你可以调用工具" in system
    assert '<tool_call>{"name": "工具名"' in system
