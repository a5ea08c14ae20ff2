"""Several calls in one answer: reads run at once, and what comes after a failed call that acts is skipped."""

import asyncio
import json

import pytest

from agentcore.api import Module, ToolContext, ToolError, tool
from tests.chat.notes import TOKEN, Notes

ALLOWED = {"approvals": {"mode": "allow"}}


class Reading(Module):
    """Reads that wait for each other, and acts."""

    name = "reading"

    def __init__(self) -> None:
        self.together = asyncio.Barrier(3)
        self.order: list[str] = []
        self.stopped: list[str] = []

    @tool(read_only=True)
    async def look_up(self, ctx: ToolContext, word: str) -> str:
        """Look a word up, together with two others."""
        self.order.append(word)
        async with asyncio.timeout(20):
            await self.together.wait()
        return f"found {word}"

    @tool(read_only=True)
    async def look_alone(self, ctx: ToolContext, word: str) -> str:
        """Look a word up."""
        self.order.append(word)
        if word == "nothing":
            raise ToolError("not_found", "there is no such word")
        return word

    @tool(effects=["write"], parallel=True)
    async def send_helper(self, ctx: ToolContext, word: str) -> str:
        """Send a helper, who waits for two others."""
        self.order.append(word)
        try:
            async with asyncio.timeout(20):
                await self.together.wait()
        except asyncio.CancelledError:
            self.stopped.append(word)
            raise
        return f"helped {word}"

    @tool(effects=["egress"])
    async def press(self, ctx: ToolContext, word: str) -> str:
        """Press a button of a page, which takes a while for the first."""
        await asyncio.sleep(0.2 if word == "first" else 0)
        self.order.append(word)
        if word == "broken":
            raise ToolError("not_found", "there is no such button")
        return word

    @tool(read_only=True, open_world=True)
    async def read_page(self, ctx: ToolContext, word: str) -> str:
        """Read a page."""
        self.order.append(word)
        return word

    @tool(effects=["write"])
    async def write_down(self, ctx: ToolContext, word: str) -> str:
        """Write a word down."""
        self.order.append(word)
        return word


def call(number, name, **arguments):
    return (f"c{number}", name, json.dumps(arguments))


def results_of(events):
    return [event["tool_result"] for event in events if "tool_result" in event]


async def test_calls_that_only_read_run_at_once_and_their_results_keep_the_order(open_talk, provider):
    provider.say("", *(call(number, "look_up", word=f"w{number}") for number in range(3)))
    provider.say("Three words.")
    async with open_talk(Reading(), **ALLOWED) as talk:
        await talk.post("look them up")
    told = [message["content"] for message in provider.requests[-1]["messages"] if message["role"] == "tool"]
    assert told == ["found w0", "found w1", "found w2"]


async def test_read_after_an_action_sees_its_effect(open_talk, provider):
    reading = Reading()
    provider.say(
        "",
        call(1, "look_alone", word="before"),
        call(2, "write_down", word="new"),
        call(3, "look_alone", word="after"),
    )
    provider.say("Done.")
    async with open_talk(reading, **ALLOWED) as talk:
        await talk.post("go")
    assert reading.order == ["before", "new", "after"]


async def test_actions_on_pages_of_the_network_run_in_order_too(open_talk, provider):
    reading = Reading()
    provider.say("", call(1, "press", word="first"), call(2, "press", word="second"), call(3, "read_page", word="page"))
    provider.say("Done.")
    provider.say("", call(4, "press", word="broken"), call(5, "press", word="third"))
    provider.say("Broken.")
    async with open_talk(reading, **ALLOWED) as talk:
        await talk.post("go")
        assert reading.order == ["first", "second", "page"]
        await talk.post("go on")
    assert reading.order[3:] == ["broken"]


@pytest.mark.parametrize(
    "failing",
    [call(1, "note_fail"), call(1, "note_add", text=["a", "list"]), call(1, "note_ad", text="a"), call(1, "note_add")],
)
async def test_actions_after_a_failed_one_are_skipped_and_the_model_is_told(open_talk, provider, failing):
    notes, reading = Notes(), Reading()
    provider.say("", failing, call(2, "look_alone", word="read"), call(3, "note_add", text="b"))
    provider.say("I see.")
    async with open_talk(notes, reading, **ALLOWED) as talk:
        session = await talk.begin()
        await talk.say(session, "go")
        calls = [one for item in await talk.items(session) for one in item.get("calls") or ()]
    assert notes.added == []
    assert reading.order == ["read"]
    assert [one["result"]["error"]["type"] for one in calls if not one["result"]["ok"]][1:] == ["call_skipped"]
    *_, told = provider.requests[-1]["messages"]
    assert told["content"].startswith(f"Error call_skipped: This call did not run, because {failing[1]}")


async def test_failed_read_skips_nothing(open_talk, provider):
    reading = Reading()
    provider.say("", call(1, "look_alone", word="nothing"), call(2, "write_down", word="a"))
    provider.say("Done.")
    async with open_talk(reading, **ALLOWED) as talk:
        await talk.post("go")
    assert reading.order == ["nothing", "a"]


async def test_action_after_a_rejected_one_is_skipped_although_it_was_approved(open_talk, provider, calls_of):
    notes = Notes()
    provider.say("", call(1, "note_add", text="a"), call(2, "note_add", text="b"))
    provider.say("Neither.")
    async with open_talk(notes, **TOKEN) as talk:
        one, two = (each["toolId"] for each in calls_of(await talk.post("add both")))
        await talk.approve(two)
        events = await talk.approve(one, approved=False)
        assert not talk.host.approvals.waiting
    assert notes.added == []
    assert results_of(events)[-1]["error"]["type"] == "call_skipped"


ASKED = {"approvals": {"mode": "allow", "rules": [{"decision": "ask", "tool": "note_*"}], "api_token": True}}


@pytest.mark.parametrize("approved", [True, False])
async def test_no_call_overtakes_one_that_acts_and_waits_for_the_user(open_talk, provider, calls_of, approved):
    notes, reading = Notes(), Reading()
    provider.say(
        "",
        call(1, "look_alone", word="before"),
        call(2, "note_add", text="a"),
        call(3, "write_down", word="after"),
        call(4, "look_alone", word="then"),
    )
    provider.say("Done.")
    async with open_talk(notes, reading, **ASKED) as talk:
        (_, waiting) = (each["toolId"] for each in calls_of(await talk.post("go")))
        assert reading.order == ["before"]
        events = await talk.approve(waiting, approved=approved)
    assert notes.added == (["a"] if approved else [])
    assert reading.order == (["before", "after", "then"] if approved else ["before", "then"])
    assert [each["ok"] for each in results_of(events)] == ([True] * 3 if approved else [False, True])


async def test_calls_that_need_the_user_are_asked_about_together(open_talk, provider, calls_of):
    notes, reading = Notes(), Reading()
    provider.say(
        "", call(1, "note_add", text="a"), call(2, "write_down", word="between"), call(3, "note_add", text="b")
    )
    provider.say("Done.")
    async with open_talk(notes, reading, **ASKED) as talk:
        one, two = (each["toolId"] for each in calls_of(await talk.post("go")))
        await talk.approve(two)
        assert (notes.added, reading.order) == ([], [])
        await talk.approve(one)
    assert (notes.added, reading.order) == (["a", "b"], ["between"])


async def test_new_message_ends_calls_that_come_after_one_that_waits(open_talk, provider, calls_of):
    notes, reading = Notes(), Reading()
    provider.say("", call(1, "note_add", text="a"), call(2, "write_down", word="after"), call(3, "note_add", text="b"))
    provider.say("As you wish.")
    async with open_talk(notes, reading, **ASKED) as talk:
        _, two = (each["toolId"] for each in calls_of(await talk.post("go")))
        await talk.approve(two)
        await talk.post("No, stop that")
        assert not talk.host.approvals.waiting
    assert (notes.added, reading.order) == ([], [])


async def test_calls_of_another_answer_are_not_skipped(open_talk, provider):
    notes = Notes()
    provider.say("", call(1, "note_fail"))
    provider.say("", call(2, "note_add", text="b"))
    provider.say("Done.")
    async with open_talk(notes, **ALLOWED) as talk:
        await talk.post("go")
    assert notes.added == ["b"]


@pytest.mark.parametrize("mode", ["allow", "ask"])
async def test_calls_of_a_parallel_tool_run_at_once_and_their_results_keep_the_order(
    open_talk, provider, calls_of, mode
):
    provider.say("", *(call(number, "send_helper", word=f"w{number}") for number in range(3)))
    provider.say("Three helpers.")
    async with open_talk(Reading(), approvals={"mode": mode, "api_token": True}) as talk:
        events = await talk.post("send them")
        for waiting in [] if mode == "allow" else calls_of(events):
            await talk.approve(waiting["toolId"])
    told = [message["content"] for message in provider.requests[-1]["messages"] if message["role"] == "tool"]
    assert told == ["helped w0", "helped w1", "helped w2"]


async def test_so_many_calls_of_a_parallel_tool_run_at_once_and_stop_ends_all(open_talk, provider):
    reading = Reading()
    reading.together = asyncio.Barrier(100)
    provider.say("", *(call(number, "send_helper", word=f"w{number}") for number in range(6)))
    async with open_talk(reading, **ALLOWED) as talk:
        session_id = await talk.begin()
        async with talk.events(session_id) as events:
            await talk.ask("POST", f"/api/sessions/{session_id}/messages", {"text": "send them"}, status=202)
            while len(reading.order) < 4:
                await events.next()
            await talk.ask("POST", f"/api/sessions/{session_id}/stop", {})
            await events.until("session.finished")
        (_, answer, _) = await talk.items(session_id)
    assert sorted(reading.order) == sorted(reading.stopped) == ["w0", "w1", "w2", "w3"]
    assert {one["state"] for one in answer["calls"]} == {"cancelled"}
