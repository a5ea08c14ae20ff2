"""Forms, addresses and texts that tools ask for in a chat: the person answers, the session's model writes."""

import json
from contextlib import asynccontextmanager

import pytest

from agentcore.api import Module, ToolContext, ToolError, tool

ALLOW = {"approvals": {"mode": "allow"}}
PARTY = {
    "type": "object",
    "properties": {
        "guests": {"type": "integer", "title": "How many guests", "minimum": 1},
        "drink": {"type": "string", "enum": ["tea", "coffee"]},
        "outside": {"type": "boolean", "description": "weather permitting"},
    },
    "required": ["guests"],
}


def of_type(events, event_type):
    return [event for event in events if event["type"] == event_type]


def result_of(events):
    return of_type(events, "session.toolResult")[0]["tool_result"]


@asynccontextmanager
async def asked(talk, text):
    """A chat in which a tool has just asked something: the question, what answers it, and its events."""
    session_id = await talk.begin()
    async with talk.events(session_id) as events:
        await talk.ask("POST", f"/api/sessions/{session_id}/messages", {"text": text}, status=202)
        question = (await events.until("session.question"))[-1]["question"]

        async def answer(status, **said):
            body = {"questionId": question["questionId"], **said}
            return await talk.ask("POST", f"/api/sessions/{session_id}/answer", body, status=status)

        yield question, answer, events


class Planner(Module):
    """Plans a party."""

    @tool(effects=["session"])
    async def planner_plan(self, ctx: ToolContext) -> dict:
        """Ask what it should be like."""
        return await ctx.ask("The party?", schema=PARTY)

    @tool(effects=["session"])
    async def planner_invite(self, ctx: ToolContext) -> str:
        """Have an invitation written."""
        return await ctx.sample("Invite Ann.", system="Be short.")

    @tool(effects=["session"])
    async def planner_pay(self, ctx: ToolContext, url: str) -> str:
        """Have it paid for."""
        try:
            await ctx.ask("Pay for the party.", url=url)
        except ValueError as exc:
            raise ToolError("no_address", str(exc)) from exc
        return "paid"

    @tool(effects=["session"])
    async def planner_repeat(self, ctx: ToolContext) -> str:
        """Have a text of somebody else's written."""
        return await ctx.sample("Say all that you know.", is_shown_first=True)


async def test_form_is_shown_whole_and_what_is_wrong_is_said_at_once(open_talk, provider):
    provider.say("", ("a", "planner_plan", "{}"))
    provider.say("Planned.")
    async with open_talk(Planner(), **ALLOW) as talk, asked(talk, "plan") as (question, answer, events):
        few = await answer(400, content={"guests": 0})
        wordy = await answer(400, text="many people")
        await answer(202, content={"guests": "12", "drink": "tea", "outside": True})
        rest = await events.until("session.finished")
    assert (question["kind"], question["text"], question["askedBy"]) == ("form", "The party?", "planner")
    assert question["form"] == {
        "type": "object",
        "properties": {
            "guests": {"type": "integer", "title": "How many guests", "minimum": 1},
            "drink": {
                "type": "string",
                "oneOf": [{"const": "tea", "title": "tea"}, {"const": "coffee", "title": "coffee"}],
            },
            "outside": {"type": "boolean", "description": "weather permitting"},
        },
        "required": ["guests"],
    }
    assert few["error"]["type"] == wordy["error"]["type"] == "invalid_answer"
    assert few["error"]["message"] == "guests must be at least 1"
    assert result_of(rest)["data"] == {"guests": 12, "drink": "tea", "outside": True}


async def test_person_declines_and_the_tool_is_told_so(open_talk, provider):
    provider.say("", ("a", "planner_plan", "{}"))
    provider.say("Then not.")
    async with open_talk(Planner(), **ALLOW) as talk, asked(talk, "plan") as (_, answer, events):
        await answer(202, isDeclined=True)
        rest = await events.until("session.finished")
    assert result_of(rest)["error"]["type"] == "declined"


async def test_address_is_shown_whole_and_the_call_waits_until_the_person_is_done(open_talk, provider):
    provider.say("", ("a", "planner_pay", '{"url": "https://pay.example/party?id=7"}'))
    provider.say("Paid.")
    async with open_talk(Planner(), **ALLOW) as talk, asked(talk, "pay") as (question, answer, events):
        await answer(202)
        rest = await events.until("session.finished")
    assert (question["kind"], question["url"]) == ("address", "https://pay.example/party?id=7")
    assert result_of(rest)["content"][0]["text"] == "paid"


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "https://you@pay.example", "https://pаy.example", "pay.example"]
)
async def test_address_that_is_none_of_a_page_is_never_shown(open_talk, provider, url):
    provider.say("", ("a", "planner_pay", json.dumps({"url": url})))
    provider.say("No.")
    async with open_talk(Planner(), **ALLOW) as talk:
        events = await talk.say(await talk.begin(), "pay")
    assert "must be a plain http or https address" in result_of(events)["error"]["message"]
    assert not of_type(events, "session.question")


async def test_text_is_written_by_the_session_s_model_without_tools(open_talk, provider):
    provider.say("", ("a", "planner_invite", "{}"))
    provider.say("Dear Ann, come!")
    provider.say("Sent.")
    async with open_talk(Planner(), **ALLOW) as talk:
        events = await talk.say(await talk.begin(), "invite")
    assert of_type(events, "session.toolResult")[0]["tool_result"]["content"][0]["text"] == "Dear Ann, come!"
    _, written, _ = provider.requests
    assert "tools" not in written
    assert "Invite Ann." in str(written["messages"])


async def test_foreign_prompt_is_shown_to_the_person_before_a_model_is_told(open_talk, provider):
    provider.say("", ("a", "planner_repeat", "{}"))
    provider.say("Everything.")
    provider.say("Done.")
    async with open_talk(Planner(), **ALLOW) as talk, asked(talk, "repeat") as (question, answer, events):
        before = len(provider.requests)
        await answer(202)
        rest = await events.until("session.finished")
    assert (before, question["kind"], question["text"]) == (1, "sample", "Say all that you know.")
    assert result_of(rest)["content"][0]["text"] == "Everything."


async def test_foreign_prompt_that_the_person_declines_reaches_no_model(open_talk, provider):
    provider.say("", ("a", "planner_repeat", "{}"))
    provider.say("Not.")
    async with open_talk(Planner(), **ALLOW) as talk, asked(talk, "repeat") as (_, answer, events):
        await answer(202, isDeclined=True)
        rest = await events.until("session.finished")
    assert result_of(rest)["error"]["type"] == "declined"
    assert len(provider.requests) == 2


async def test_call_without_a_chat_has_no_model(open_talk):
    async with open_talk(Planner()) as talk:
        envelope = await talk.ask("POST", "/api/tools/planner_invite/call", {"arguments": {}})
    assert envelope["error"]["type"] == "no_model"
