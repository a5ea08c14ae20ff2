"""Halves of surrogate pairs from providers, modules and pages: told, stored, recorded and shown as valid text."""

import json
from typing import Any

import pytest

from agentcore.api import Image, Module, Text, ToolContext, ToolError, ToolResult, tool
from tests.chat.notes import Notes

pytestmark = pytest.mark.spec("S1")
ALLOW: dict[str, Any] = {"approvals": {"mode": "allow"}}
HALF = "\ud800"


class Halves(Module):
    """Gives half of a pair wherever a module can give text."""

    name = "halves"

    @tool(read_only=True)
    async def half_text(self, ctx: ToolContext) -> str:
        """Give a text."""
        ctx.progress(None, f"working {HALF}")
        return f"text {HALF}"

    @tool(read_only=True)
    async def half_blocks(self, ctx: ToolContext) -> ToolResult:
        """Give blocks and data."""
        blocks = (Text(f"block {HALF}"), Image(b"x", f"image/{HALF}"))
        return ToolResult(blocks, {f"key {HALF}": [HALF]}, untrusted=True)

    @tool(read_only=True)
    async def half_error(self, ctx: ToolContext) -> str:
        """Fail."""
        raise ToolError("half_error", f"message {HALF}", **{"key": HALF, f"more {HALF}": {HALF: 1}})

    @tool(read_only=True)
    async def half_todos(self, ctx: ToolContext) -> str:
        """Keep a list, and a summary."""
        await ctx.session.set_todos([{"text": HALF}])
        await ctx.session.replace_with_summary(f"summary {HALF}", keep_turns=0)
        return "kept"

    @tool(read_only=True)
    async def half_agent(self, ctx: ToolContext) -> str:
        """Have a sub-agent work."""
        return await ctx.run_agent(f"prompt {HALF}")

    @tool(read_only=True)
    async def half_call(self, ctx: ToolContext) -> str:
        """Call another tool."""
        await ctx.call("half_text", {HALF: 1})
        return "unreachable"


def is_valid(value: Any) -> bool:
    """Whether JSON values can be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


async def shown(talk: Any) -> list[Any]:
    """All that a person can look at of the session."""
    paths = ("/api/sessions/s1/messages", "/api/sessions/s1", "/api/sessions", "/api/calls?limit=50")
    seen = [await talk.ask("GET", path) for path in paths]
    assert all(is_valid(document) for document in seen)
    return seen


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_answer_with_half_of_a_pair_is_told_and_kept_and_the_session_goes_on(open_talk, provider, text_of, kind):
    provider.say(f"one {HALF} two")
    provider.say("More.")
    async with open_talk(model={"provider": kind}) as talk:
        events = await talk.post("x")
        assert not [event for event in events if "error" in event]
        assert text_of(events) == "one \\ud800 two"
        assert (await shown(talk))[0]["items"][-1]["text"] == "one \\ud800 two"
        assert text_of(await talk.post("y")) == "More."


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_pair_that_the_provider_cuts_through_is_put_together(open_talk, provider, text_of, kind):
    provider.say("ab\ud83d\ude00cd")  # the provider of these tests sends three characters at a time
    async with open_talk(model={"provider": kind}) as talk:
        assert text_of(await talk.post("x")) == "ab😀cd"
        assert (await shown(talk))[0]["items"][-1]["text"] == "ab😀cd"


@pytest.mark.parametrize("tools", ["native", "prompted"])
async def test_arguments_and_names_with_half_of_a_pair_are_valid_where_they_run_and_are_shown(
    open_talk, provider, calls_of, tools
):
    arguments = '{"text": "\\ud800 and \\ud83d\\ude00"}'
    if tools == "native":
        provider.say("", ("a", "note_add", arguments), ("b", f"no {HALF}", "{}"))
    else:
        provider.say(
            f'{{"tool_call": {{"tool_name": "note_add", "arguments": {arguments}}}}}'
            '{"tool_call": {"tool_name": "no \\ud800", "arguments": {}}}'
        )
    provider.say("Done.")
    notes = Notes()
    async with open_talk(notes, model={"tools": tools}, **ALLOW) as talk:
        events = await talk.post("x")
        assert notes.added == ["\\ud800 and 😀"]
        assert not [event for event in events if "error" in event]
        assert is_valid(events)
        called = (await shown(talk))[0]["items"][1]["calls"]
        assert [call["toolName"] for call in called] == ["note_add", "no_ud800"]


@pytest.mark.parametrize("name", ["half_text", "half_blocks", "half_error", "half_todos", "half_agent", "half_call"])
async def test_what_a_module_says_is_valid_text_for_model_client_and_record(open_talk, provider, text_of, name):
    provider.say("", ("a", name, "{}"))
    if name == "half_agent":
        provider.say("Report.")
    provider.say("Done.")
    provider.say("Again.")
    async with open_talk(Halves(), **ALLOW) as talk:
        events = await talk.post("x")
        assert not [event for event in events if "error" in event]
        assert text_of(events) == "Done."
        assert is_valid(events)
        assert is_valid(provider.requests)
        await shown(talk)
        assert text_of(await talk.post("y")) == "Again."


async def test_refusal_of_a_provider_with_half_of_a_pair_is_an_error_that_can_be_kept(open_talk, provider, text_of):
    provider.say(status=400, error={"error": {"message": f"no {HALF}", "type": "x"}})
    provider.say("Fine.")
    async with open_talk() as talk:
        events = await talk.post("x")
        assert "no \\ud800" in next(event["error"]["message"] for event in events if "error" in event)
        await shown(talk)
        assert text_of(await talk.post("y")) == "Fine."


async def test_half_of_a_pair_in_a_body_is_refused_at_the_door(open_talk):
    async with open_talk() as talk:
        body = b'{"message": "\\ud800", "session_id": "s1"}'
        headers = {"Content-Type": "application/json"}
        async with talk.client.post("/api/v1/agent/chat", data=body, headers=headers) as response:
            assert response.status == 400
            assert (await response.json())["error"]["type"] == "invalid_json"
