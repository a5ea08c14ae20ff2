"""Which calls wait for an answer, as a client of the chat is told, and answers to calls inside of other calls."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agentcore.api import Module, ToolContext, tool
from tests.chat.turn.test_toolbox import Many
from tests.support.provider import Events

pytestmark = pytest.mark.spec("C2")

RULES = {"rules": [{"tool": "team_delegate", "decision": "allow"}], "api_token": True}
NOTE = ("b", "team_note", '{"text": "milk"}')
MARK = {"name": "page_mark", "parameters": {"type": "object"}}


class Team(Module):
    """Has others work."""

    name = "team"

    def __init__(self) -> None:
        self.noted: list[str] = []

    @tool(effects=["write"], timeout_s=600)
    async def team_delegate(self, ctx: ToolContext, prompt: str) -> str:
        """Have a sub-agent do it."""
        return await ctx.run_agent(prompt)

    @tool(effects=["write"], timeout_s=600)
    async def team_pass_on(self, ctx: ToolContext, text: str) -> str:
        """Have another tool do it."""
        return str((await ctx.call("team_note", {"text": text})).content)

    @tool(effects=["write"])
    async def team_note(self, ctx: ToolContext, text: str) -> str:
        """Note something."""
        self.noted.append(text)
        return "noted"


@asynccontextmanager
async def posted(talk: Any, message: str, **body: Any) -> AsyncIterator[Events]:
    """The events that answer a message, one after another."""
    document = {"message": message, "session_id": "s1", "user_id": "u1", **body}
    async with talk.client.post("/api/v1/agent/chat", json=document) as response:
        assert response.status == 200
        yield Events(response)


async def event_with(events: Events, key: str) -> dict[str, Any]:
    """The next event of a kind."""
    while key not in (event := await events.next()):
        pass
    return event


def delegate(provider: Any) -> None:
    provider.say("", ("a", "team_delegate", '{"prompt": "Note milk."}'))
    provider.say("", NOTE)
    provider.say("It is over.")
    provider.say("All done.")


@pytest.mark.parametrize("approved", [True, False])
async def test_call_of_a_sub_agent_that_waits_is_told_and_answered_on_the_wire(open_talk, provider, text_of, approved):
    """The answer ends at once; what comes of it arrives in the stream of the turn, which is still open."""
    delegate(provider)
    team = Team()
    async with open_talk(team, approvals=RULES) as talk:
        ends = []
        talk.host.events.subscribe("session.finished", ends.append)
        async with posted(talk, "delegate") as events:
            outer = (await event_with(events, "tool_call"))["tool_call"]
            assert (outer["tool_name"], outer["waits"]) == ("team_delegate", False)
            told = await event_with(events, "tool_call")
            inner = told["tool_call"]
            assert (inner["tool_name"], inner["kind"], inner["waits"]) == ("team_note", "server", True)
            assert json.loads(inner["arguments"]) == {"text": "milk"}
            assert told["thread"] == {"parentToolId": outer["toolId"], "depth": 1}
            assert (await talk.ask("GET", "/api/sessions/s1"))["waiting"] == [inner["toolId"]]
            assert (await talk.ask("GET", "/api/sessions"))["sessions"][0]["waiting"] == [inner["toolId"]]
            answer = await talk.approve(inner["toolId"], approved=approved)
            assert [next(iter(event)) for event in answer] == ([] if approved else ["content"]) + ["message"]
            assert answer[-1]["waiting"] == []
            result = await event_with(events, "tool_result")
            assert result["tool_result"]["toolId"] == inner["toolId"]
            assert (result["tool_result"]["ok"], result["thread"]) == (approved, told["thread"])
            assert (await event_with(events, "tool_result"))["tool_result"]["toolId"] == outer["toolId"]
            last = await event_with(events, "message")
        assert team.noted == (["milk"] if approved else [])
        assert last["waiting"] == []
        assert len(ends) == 1
        (error,) = [event["error"] for event in await talk.approve(inner["toolId"]) if "error" in event]
        assert error["type"] == "tool_call_not_found"


async def test_who_may_not_approve_is_told_so_and_the_turn_goes_on_undisturbed(open_talk, provider):
    delegate(provider)
    team = Team()
    async with open_talk(team, approvals={**RULES, "api_token": False}) as talk:
        told = []
        talk.host.events.subscribe("session.*", told.append)
        async with posted(talk, "delegate") as events:
            await event_with(events, "tool_call")
            inner = (await event_with(events, "tool_call"))["tool_call"]
            answer = await talk.approve(inner["toolId"])
            assert answer[0]["error"]["type"] == "approval_denied"
            assert answer[-1]["waiting"] == [inner["toolId"]]
            assert not [event for event in told if event.type in {"session.error", "session.finished"}]
            assert (await talk.host.store.chats.find_session("s1")).is_running
            await talk.approve(inner["toolId"], approved=False)
            await event_with(events, "message")
        assert team.noted == []


async def test_two_answers_to_one_inner_call_count_once(open_talk, provider):
    delegate(provider)
    team = Team()
    async with open_talk(team, approvals=RULES) as talk, posted(talk, "delegate") as events:
        await event_with(events, "tool_call")
        inner = (await event_with(events, "tool_call"))["tool_call"]
        answers = await asyncio.gather(*(talk.approve(inner["toolId"]) for _ in range(3)))
        errors = [event["error"]["type"] for answer in answers for event in answer if "error" in event]
        assert len(errors) == 2
        assert set(errors) <= {"tool_call_answered", "tool_call_not_found"}
        await event_with(events, "message")
        assert team.noted == ["milk"]


async def test_call_that_a_tool_makes_in_turn_is_told_when_it_waits(open_talk, provider, calls_of):
    provider.say("", ("a", "team_pass_on", '{"text": "milk"}'))
    provider.say("Noted.")
    team = Team()
    async with open_talk(team, approvals=RULES) as talk:
        (outer,) = calls_of(await talk.post("note"))
        approval = json.dumps({"toolId": outer["toolId"], "approved": True})
        async with posted(talk, approval, role="function") as events:
            told = await event_with(events, "tool_call")
            assert told["tool_call"]["tool_name"] == "team_note"
            assert (told["tool_call"]["waits"], told["thread"]) == (True, {"parentToolId": outer["toolId"], "depth": 1})
            await talk.approve(told["tool_call"]["toolId"])
            assert (await event_with(events, "tool_result"))["tool_result"]["toolId"] == outer["toolId"]
        assert team.noted == ["milk"]


async def test_each_call_says_whether_it_needs_an_answer(open_talk, provider, calls_of):
    provider.say(
        "",
        ("a", "team_note", '{"text": "milk"}'),
        ("b", "page_mark", "{}"),
        ("c", "team_pass_on", '{"text": "eggs"}'),
    )
    rules = [{"tool": "team_note", "decision": "allow"}]
    async with open_talk(Team(), approvals={"rules": rules}) as talk:
        events = await talk.post("x", browser_tools=[MARK])
        waits = [(call["tool_name"], call["waits"]) for call in calls_of(events)]
        provider.say("", ("d", "team_note", '{"wrong": 1}'))
        provider.say("It failed.")
        (failed,) = calls_of(await talk.post("y", session_id="s2"))
    assert waits == [("team_note", False), ("page_mark", True), ("team_pass_on", True)]
    assert (failed["tool_name"], failed["waits"]) == ("team_note", False)
    waiting = [call["toolId"] for call in calls_of(events) if call["waits"]]
    assert events[-1]["waiting"] == waiting


async def test_search_for_tools_needs_nobody_s_answer(open_talk, provider, calls_of):
    provider.say("", ("a", "find_tools", '{"query": "note"}'), ("b", "find_tools", "{}"))
    provider.say("Found.")
    async with open_talk(Team(), Many("many", 50)) as talk:
        events = await talk.post("x")
    assert [(call["tool_name"], call["waits"]) for call in calls_of(events)] == [("find_tools", False)] * 2
    assert [event["tool_result"]["ok"] for event in events if "tool_result" in event] == [True, False]


async def test_message_that_is_refused_does_not_end_the_turn_of_another_client(open_talk, provider):
    gate = asyncio.Event()
    provider.say("Slowly.", gate=gate)
    async with open_talk() as talk:
        told = []
        talk.host.events.subscribe("session.*", told.append)
        async with posted(talk, "first") as events:
            await event_with(events, "content")
            refused = await talk.post("second")
            assert refused[0]["error"]["type"] == "session_busy"
            assert not [event for event in told if event.type in {"session.error", "session.finished"}]
            gate.set()
            await event_with(events, "message")
        assert [event.type for event in told][-1] == "session.finished"
