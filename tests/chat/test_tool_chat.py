"""What modules may use of a chat: the session, its person, agents that work for them. Through the real server."""

import asyncio
import json
from typing import Any

import pytest

from agentcore.api import Module, ToolContext, tool
from agentcore.core.approvals.approval_queue import Verdict
from tests.support.provider import spoken

pytestmark = pytest.mark.spec("K1")


class Helper(Module):
    """A small module that uses all of it."""

    name = "helper"

    def __init__(self) -> None:
        self.noted: list[str] = []
        self.history: list[Any] = []
        self.ended = asyncio.Event()

    @tool(effects=["read"])
    async def helper_plan(self, ctx: ToolContext, steps: list[str]) -> int:
        """Lay down what is to do."""
        await ctx.session.set_todos([{"text": step, "status": "pending"} for step in steps])
        return len(ctx.session.todos)

    @tool(effects=["read"])
    async def helper_look_back(self, ctx: ToolContext) -> int:
        """Count the messages so far."""
        self.history = list(await ctx.session.history())
        return len(self.history)

    @tool(effects=["read"])
    async def helper_compact(self, ctx: ToolContext, summary: str, keep_turns: int) -> int:
        """Put a summary in place of old messages."""
        return await ctx.session.replace_with_summary(summary, keep_turns=keep_turns)

    @tool(effects=["read"], timeout_s=60)
    async def helper_ask(self, ctx: ToolContext, question: str, timeout_s: float = 60) -> str:
        """Ask the person."""
        return await ctx.ask(question, ["red", "blue"], timeout_s=timeout_s)

    @tool(effects=["write"])
    async def helper_note(self, ctx: ToolContext, text: str) -> str:
        """Note something."""
        self.noted.append(text)
        return "noted"

    @tool(effects=["read"])
    async def helper_wait(self, ctx: ToolContext) -> str:
        """Wait for ever."""
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()
        return "never"

    @tool(effects=["execute"], timeout_s=600, parallel=True)
    async def helper_delegate(
        self,
        ctx: ToolContext,
        prompt: str,
        tools: list[str] | None = None,
        model: str | None = None,
        steps: int | None = None,
    ) -> str:
        """Have a sub-agent do it."""
        return await ctx.run_agent(prompt, tools, model, None if steps is None else {"steps": steps})


ALLOW = {"approvals": {"mode": "allow"}}


def of_type(events, event_type):
    return [event for event in events if event["type"] == event_type]


async def test_things_to_do_are_told_live_and_kept(open_talk, provider):
    provider.say("", ("a", "helper_plan", '{"steps": ["one", "two"]}'))
    provider.say("Planned.")
    async with open_talk(Helper(), **ALLOW) as talk:
        session_id = await talk.begin()
        events = await talk.say(session_id, "plan")
        session = await talk.ask("GET", f"/api/sessions/{session_id}")
    assert [todo["text"] for todo in of_type(events, "session.todos")[0]["todos"]] == ["one", "two"]
    assert [todo["text"] for todo in session["todos"]] == ["one", "two"]


async def test_too_many_things_to_do_are_refused(open_talk, provider):
    provider.say("", ("a", "helper_plan", '{"steps": [' + ", ".join(['"x"'] * 201) + "]}"), split=4096)
    provider.say("Sorry.")
    async with open_talk(Helper(), **ALLOW) as talk:
        session_id = await talk.begin()
        events = await talk.say(session_id, "plan")
    assert of_type(events, "session.toolResult")[0]["tool_result"]["error"]["type"] == "invalid_arguments"


async def test_tool_reads_what_was_said(open_talk, provider):
    helper = Helper()
    provider.say("Hi Ann.")
    provider.say("", ("a", "helper_look_back", "{}"))
    provider.say("Done.")
    async with open_talk(helper, **ALLOW) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "I am Ann")
        await talk.say(session_id, "look back")
    assert [(each["role"], each["text"]) for each in helper.history] == [
        ("user", "I am Ann"),
        ("assistant", "Hi Ann."),
        ("user", "look back"),
        ("assistant", ""),
    ]


@pytest.mark.parametrize(
    ("keep_turns", "told"),
    [(1, ["SUMMARY", None, "3"]), (0, ["SUMMARY", None, "5"]), (9, None)],
)
async def test_summary_takes_the_place_of_old_turns_for_the_model_alone(open_talk, provider, keep_turns, told):
    provider.say("Hi.")
    provider.say("More.")
    arguments = json.dumps({"summary": "We met.", "keep_turns": keep_turns})
    provider.say("", ("a", "helper_compact", arguments))
    provider.say("Shorter.")
    async with open_talk(Helper(), **ALLOW) as talk:
        session_id = await talk.begin()
        for text in ("hello", "more", "compact"):
            await talk.say(session_id, text)
        items = await talk.items(session_id)
    sent = [message.get("content") for message in spoken(provider.requests[-1])]
    shown = ["SUMMARY" if content and "We met." in content else content for content in sent]
    if told is None:
        assert shown[0] == "hello"
    else:
        assert shown[: len(told) - 1] == told[:-1]
        assert len(shown) == len(told)
    if keep_turns == 1:
        assert sent[0].endswith("compact")  # it is sent in one message with the summary
    notices = [item["compaction"]["summary"] for item in items if "compaction" in item]
    assert notices == ([] if told is None else ["We met."])
    said = [item["text"] for item in items if "compaction" not in item]
    assert said == ["hello", "Hi.", "more", "More.", "compact", "", "Shorter."]


async def test_going_back_behind_a_summary_brings_the_messages_back(open_talk, provider):
    provider.say("Hi.")
    provider.say("", ("a", "helper_compact", '{"summary": "We met.", "keep_turns": 1}'))
    provider.say("Shorter.")
    provider.say("Again.")
    async with open_talk(Helper(), **ALLOW) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "hello")
        await talk.say(session_id, "compact")
        first = (await talk.items(session_id))[0]["number"]
        async with talk.events(session_id) as events:
            await talk.ask("POST", f"/api/sessions/{session_id}/edit", {"number": first, "text": "hey"}, status=202)
            await events.until("session.finished")
    assert [message["content"] for message in spoken(provider.requests[-1])] == ["hey"]


async def test_person_answers_a_question_and_the_call_s_clock_stands_meanwhile(open_talk, provider):
    provider.say("", ("a", "helper_ask", '{"question": "Which colour?"}'))
    provider.say("Blue it is.")
    async with open_talk(Helper(), **ALLOW) as talk:
        session_id = await talk.begin()
        async with talk.events(session_id) as events:
            await talk.ask("POST", f"/api/sessions/{session_id}/messages", {"text": "paint"}, status=202)
            question = (await events.until("session.question"))[-1]["question"]
            session = await talk.ask("GET", f"/api/sessions/{session_id}")
            call = next(iter(talk.host.calls.in_flight.values()))
            assert call.work._timer is None
            path = f"/api/sessions/{session_id}/answer"
            body = {"questionId": question["questionId"], "text": "blue"}
            await talk.ask("POST", path, body, status=202)
            rest = await events.until("session.finished")
        again = await talk.ask("POST", path, body, status=404)
    assert (question["text"], question["options"]) == ("Which colour?", ["red", "blue"])
    assert session["question"]["questionId"] == question["questionId"]
    assert of_type(rest, "session.question")[-1]["question"] is None
    assert "blue" in provider.sent
    assert again["error"]["type"] == "question_not_found"


async def test_question_that_nobody_answers_ends_as_no_person(open_talk, provider):
    provider.say("", ("a", "helper_ask", '{"question": "Anybody?", "timeout_s": 0.05}'))
    provider.say("Nobody.")
    async with open_talk(Helper(), **ALLOW) as talk:
        events = await talk.say(await talk.begin(), "ask")
    assert of_type(events, "session.toolResult")[0]["tool_result"]["error"]["type"] == "no_person"


async def test_call_without_a_chat_has_no_session_and_no_person(open_talk):
    async with open_talk(Helper()) as talk:
        said = []
        for name, arguments in (("plan", {"steps": []}), ("ask", {"question": "?"}), ("delegate", {"prompt": "x"})):
            envelope = await talk.ask("POST", f"/api/tools/helper_{name}/call", {"arguments": arguments})
            said.append(envelope["error"]["type"])
    assert said == ["no_session", "no_person", "no_session"]


async def test_command_of_a_person_in_a_chat_has_its_session(open_talk):
    async with open_talk(Helper(), models={}) as talk:
        session_id = await talk.begin()
        async with talk.events(session_id) as events:
            body = {"tool": "helper_plan", "arguments": {"steps": ["one"]}}
            await talk.ask("POST", f"/api/sessions/{session_id}/command", body, status=202)
            seen = await events.until("session.toolResult")
    assert seen[-1]["tool_result"]["ok"] is True


async def test_sub_agent_works_in_a_thread_of_its_own_and_gives_its_report(open_talk, provider):
    """The sub-agent calls a tool that a person approves; the session's own model gets the report alone."""
    helper = Helper()
    delegate = '{"prompt": "Note milk.", "tools": ["helper_note", "nothing_*"]}'
    provider.say("", ("a", "helper_delegate", delegate))
    provider.say("I note. ", ("b", "helper_note", '{"text": "milk"}'))
    provider.say("It is noted.")
    provider.say("All done.")
    async with open_talk(helper) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "delegate")
        async with talk.events(session_id) as events:
            (outer,) = talk.host.approvals.waiting
            await talk.host.approvals.decide_call(outer.call_id, Verdict(approved=True, by="test"))
            seen = await events.until("approval.requested")
            (inner,) = talk.host.approvals.waiting
            assert (inner.principal.kind, helper.noted) == ("chat", [])
            await talk.host.approvals.decide_call(inner.call_id, Verdict(approved=True, by="test"))
            seen += await events.until("session.finished")
        items = await talk.items(session_id)
    main, worker, last, end = provider.requests
    assert [tool["function"]["name"] for tool in worker["tools"]] == ["helper_note"]
    assert [message["content"] for message in spoken(worker)] == ["Note milk."]
    assert "Working folder: " in worker["messages"][0]["content"]
    assert "I note." not in str(end["messages"])
    assert "It is noted." in str(end["messages"])
    assert (helper.noted, len(spoken(last)), len(main["tools"])) == (["milk"], 3, 7)
    parent = items[1]["calls"][0]["toolId"]
    threads = [event["thread"] for event in seen if "thread" in event]
    assert threads
    assert all(thread == {"parentToolId": parent, "depth": 1} for thread in threads)
    inner_items = [item for item in items if "thread" in item]
    assert [item["text"] for item in inner_items] == ["I note. ", "It is noted."]
    assert inner_items[0]["calls"][0]["parentToolId"] == parent
    assert inner_items[0]["calls"][0]["state"] == "done"


@pytest.mark.spec("K2")
async def test_sub_agent_has_no_more_rights_than_the_session(open_talk, provider):
    """app.json lets every call pass, and the session's agent asks: so do the calls of its sub-agent."""
    helper = Helper()
    provider.say("", ("a", "helper_delegate", '{"prompt": "Note milk.", "tools": ["helper_note"]}'))
    provider.say("", ("b", "helper_note", '{"text": "milk"}'))
    async with open_talk(helper, agents={"default": {"mode": "ask"}}, **ALLOW) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "delegate")
        async with talk.events(session_id) as events:
            (outer,) = talk.host.approvals.waiting
            await talk.host.approvals.decide_call(outer.call_id, Verdict(approved=True, by="test"))
            await events.until("approval.requested")
            (inner,) = talk.host.approvals.waiting
    assert (inner.definition.name, helper.noted) == ("helper_note", [])


@pytest.mark.spec("K3")
async def test_mode_that_is_made_stricter_binds_the_turn_that_goes_on(open_talk, provider):
    helper = Helper()
    provider.say("", ("a", "helper_ask", '{"question": "Go on?"}'))
    provider.say("", ("b", "helper_note", '{"text": "milk"}'))
    provider.say("Refused.")
    async with open_talk(helper, **ALLOW) as talk:
        session_id = await talk.begin()
        path = f"/api/sessions/{session_id}"
        async with talk.events(session_id) as events:
            await talk.ask("POST", f"{path}/messages", {"text": "note"}, status=202)
            question = (await events.until("session.question"))[-1]["question"]
            await talk.ask("PATCH", path, {"mode": "deny"})
            body = {"questionId": question["questionId"], "text": "yes"}
            await talk.ask("POST", f"{path}/answer", body, status=202)
            await events.until("session.finished")
    assert helper.noted == []
    assert "approval_denied" in provider.sent


async def test_page_rejects_a_call_of_a_sub_agent(open_talk, provider):
    helper = Helper()
    provider.say("", ("a", "helper_delegate", '{"prompt": "Note milk."}'))
    provider.say("", ("b", "helper_note", '{"text": "milk"}'))
    provider.say("I may not.")
    provider.say("Pity.")
    async with open_talk(helper) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "delegate")
        async with talk.events(session_id) as events:
            (outer,) = talk.host.approvals.waiting
            await talk.host.approvals.decide_call(outer.call_id, Verdict(approved=True, by="test"))
            seen = await events.until("approval.requested")
            while seen[-1].get("state") != "waiting":
                seen.append(await events.next())
            body = {"toolId": seen[-1]["toolId"]}
            await talk.ask("POST", f"/api/sessions/{session_id}/reject", body, status=202)
            await events.until("session.finished")
    assert helper.noted == []
    assert "approval_denied" in str(provider.requests[2]["messages"])


async def test_sub_agent_ends_when_the_turn_is_stopped(open_talk, provider):
    helper = Helper()
    provider.say("", ("a", "helper_delegate", '{"prompt": "Wait."}'))
    provider.say("", ("b", "helper_wait", "{}"))
    async with open_talk(helper, **ALLOW) as talk:
        session_id = await talk.begin()
        async with talk.events(session_id) as events:
            await talk.ask("POST", f"/api/sessions/{session_id}/messages", {"text": "go"}, status=202)
            seen = [await events.next()]
            while not (seen[-1].get("thread") and seen[-1].get("state") == "running"):
                seen.append(await events.next())
            await talk.ask("POST", f"/api/sessions/{session_id}/stop")
            await events.until("session.finished")
        async with asyncio.timeout(30):
            await helper.ended.wait()
        assert talk.host.calls.in_flight == {}


async def test_what_a_sub_agent_had_said_and_done_is_kept_when_the_turn_is_stopped(open_talk, provider):
    """In the middle of an answer, and in the middle of a call."""
    provider.say("", ("a", "helper_delegate", '{"prompt": "Tell."}'))
    provider.say("One two three four.", gate=asyncio.Event())
    provider.say("", ("b", "helper_delegate", '{"prompt": "Wait."}'))
    provider.say("I wait.", ("c", "helper_wait", "{}"), ("d", "helper_wait", "{}"))
    async with open_talk(Helper(), **ALLOW) as talk:
        session_id = await talk.begin()
        for is_there in (
            lambda event: event["type"] == "session.content" and event.get("thread"),
            lambda event: event.get("thread") and event.get("state") == "running",
        ):
            async with talk.events(session_id) as events:
                await talk.ask("POST", f"/api/sessions/{session_id}/messages", {"text": "go"}, status=202)
                while not is_there(await events.next()):
                    pass
                await talk.ask("POST", f"/api/sessions/{session_id}/stop")
                await events.until("session.finished")
        kept = [item for item in await talk.items(session_id) if "thread" in item]
    assert [item["stopped"] for item in kept] == [True, True]
    assert kept[0]["text"]
    assert "One two three four.".startswith(kept[0]["text"])
    assert kept[1]["text"] == "I wait."
    assert [call["state"] for call in kept[1]["calls"]] == ["cancelled", "cancelled"]


async def test_call_of_a_sub_agent_that_waits_gives_way_to_what_the_person_says_and_is_told_so(open_talk, provider):
    provider.say("", ("a", "helper_delegate", '{"prompt": "Note milk."}'))
    provider.say("", ("b", "helper_note", '{"text": "milk"}'))
    provider.say("I stop here.")
    provider.say("No milk, then.")
    async with open_talk(Helper()) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "delegate")
        async with talk.events(session_id) as events:
            (outer,) = talk.host.approvals.waiting
            await talk.host.approvals.decide_call(outer.call_id, Verdict(approved=True, by="test"))
            while (await events.next()).get("state") != "waiting":
                pass
            body = {"text": "no milk", "when": "steer"}
            await talk.ask("POST", f"/api/sessions/{session_id}/messages", body, status=202)
            await events.until("session.finished")
    told = str(provider.requests[2]["messages"])
    assert "The person sent a new message instead of an answer" in told
    assert "nobody answered in time" not in told


async def test_budget_of_a_sub_agent_ends_it(open_talk, provider):
    provider.say("", ("a", "helper_delegate", '{"prompt": "Look.", "steps": 1}'))
    provider.say("", ("b", "helper_look_back", "{}"))
    provider.say("Too long.")
    async with open_talk(Helper(), **ALLOW) as talk:
        events = await talk.say(await talk.begin(), "go")
    error = of_type(events, "session.toolResult")[-1]["tool_result"]["error"]
    assert (error["type"], error["context"]["steps"]) == ("budget_exceeded", 1)


async def test_what_a_sub_agent_wrote_before_its_limit_is_its_report_marked_as_unfinished(open_talk, provider):
    provider.say("", ("a", "helper_delegate", '{"prompt": "Look.", "steps": 3}'))
    provider.say("First I look.", ("b", "helper_look_back", "{}"))
    provider.say("Found two.", ("b", "helper_look_back", "{}"))
    provider.say("", ("b", "helper_look_back", "{}"))
    provider.say("So far.")
    async with open_talk(Helper(), **ALLOW) as talk:
        events = await talk.say(await talk.begin(), "go")
    result = of_type(events, "session.toolResult")[-1]["tool_result"]
    assert result["ok"] is True
    (told,) = [message["content"] for message in provider.requests[-1]["messages"] if message["role"] == "tool"]
    assert "Unfinished: the sub-agent has used its 3 steps" in told
    assert "First I look.\n\nFound two." in told


async def test_agents_that_run_agents_are_bounded_in_depth(open_talk, provider):
    for _ in range(4):
        provider.say("", ("a", "helper_delegate", '{"prompt": "Deeper."}'))
    for _ in range(4):
        provider.say("Enough.")
    async with open_talk(Helper(), **ALLOW) as talk:
        events = await talk.say(await talk.begin(), "go")
    errors = [event["tool_result"].get("error", {}).get("type") for event in of_type(events, "session.toolResult")]
    assert errors == ["nesting_too_deep", None, None, None]


async def test_tokens_of_a_sub_agent_count_for_the_turn_and_the_session(open_talk, provider):
    provider.say("", ("a", "helper_delegate", '{"prompt": "Say hi."}'))
    provider.say("Hi.")
    async with open_talk(Helper(), agents={"default": {"max_tokens": 30}}, **ALLOW) as talk:
        session_id = await talk.begin()
        events = await talk.say(session_id, "go")
        session = await talk.ask("GET", f"/api/sessions/{session_id}")
    assert of_type(events, "session.error")[0]["error"]["type"] == "budget_exceeded"
    assert session["usage"] == {"inputTokens": 20, "outputTokens": 10, "requests": 2, "cachedTokens": 0}
