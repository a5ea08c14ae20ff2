"""Calls of a client's tools: whether a person is to be asked, and how results reach a turn that began anywhere."""

import json

import pytest

from agentcore.api import Module, ToolContext, tool
from agentcore.core.approvals.request import Verdict
from tests.chat.notes import Notes
from tests.chat.test_client_tools import ARGUMENTS, CLICK, MORE
from tests.chat.test_clients import paired
from tests.chat.test_conversations import of_type

pytestmark = pytest.mark.spec("C1", "C2")

PRESS = ("a", "page_action", ARGUMENTS)
LOOK = ("b", "request_more_elements", "{}")
LOOKS_ONLY = {**MORE, "readOnly": True}
DONE = 'Browser tool page_action result: {"success": true}'
RULE = {"rules": [{"tool": "page_*", "decision": "deny", "reason": "not in pages"}], "mode": "allow"}


def written(*calls):
    """What a model says that writes its calls."""
    return "\n".join(
        json.dumps({"tool_call": {"tool_name": name, "arguments": arguments}}) for _, name, arguments in calls
    )


def say_calls(provider, tools, *calls):
    provider.say(*([written(*calls)] if tools == "prompted" else ["", *calls]))


def wanted(events):
    """The calls that a turn wants, as its events tell them."""
    return [event["tool_call"] for event in of_type(events, "session.toolCall")]


async def answer(talk, message, session_id, **body):
    return await talk.post(message, session_id=session_id, user_id="", **body)


async def consent(talk, session_id, tool_id, *, approved=True):
    return await talk.approve(tool_id, approved=approved, session_id=session_id, user_id="")


async def leave(talk, message, session_id, **body):
    """Send a result, and go away with the first byte of the answer."""
    document = {"message": message, "session_id": session_id, "user_id": "", **body}
    async with talk.client.post("/api/v1/agent/chat", json=document) as response:
        assert response.status == 200


@pytest.mark.parametrize(
    ("mode", "asked"), [("ask", [True, True]), ("ask_writes", [True, False]), ("allow", [False, False])]
)
async def test_event_says_whether_a_person_is_to_be_asked(open_talk, provider, calls_of, mode, asked):
    provider.say("", PRESS, LOOK)
    async with open_talk(approvals={"mode": mode}) as talk:
        session_id = await talk.begin()
        events = await talk.say(session_id, "click", browserTools=[CLICK, LOOKS_ONLY])
        (message,) = [item for item in await talk.items(session_id) if item["role"] == "assistant"]
    calls = wanted(events)
    assert [call["needsApproval"] for call in calls] == asked
    assert [(call["kind"], call["waits"]) for call in calls] == [("client", True)] * 2
    assert [call["needsApproval"] for call in message["calls"]] == asked


@pytest.mark.parametrize(("approvals", "said"), [({"mode": "deny"}, "calls of a chat"), (RULE, "not in pages")])
async def test_call_that_the_policy_refuses_never_reaches_the_client(open_talk, provider, calls_of, approvals, said):
    provider.say("", PRESS)
    provider.say("Then not.")
    async with open_talk(approvals=approvals) as talk:
        events = await talk.post("click", browser_tools=[CLICK])
    (call,) = calls_of(events)
    (result,) = [event["tool_result"] for event in events if "tool_result" in event]
    assert (call["waits"], call["needsApproval"], result["error"]["type"]) == (False, False, "approval_denied")
    assert said in result["error"]["message"]
    assert events[-1]["waiting"] == []
    assert said in provider.sent


@pytest.mark.parametrize("tools", ["native", "prompted"])
async def test_turn_begun_by_a_message_goes_on_with_the_result_of_a_client_that_goes_away(open_talk, provider, tools):
    say_calls(provider, tools, PRESS)
    provider.say("Clicked.")
    async with open_talk(model={"tools": tools}) as talk:
        session_id = await talk.begin()
        async with talk.events(session_id) as events:
            sent = {"text": "click", "browserTools": [CLICK]}
            await talk.ask("POST", f"/api/sessions/{session_id}/messages", sent, status=202)
            first = await events.until("session.finished")
            (call,) = wanted(first)
            told = await consent(talk, session_id, call["toolId"])
            consented = await events.until("session.finished")
            (shown,) = (await talk.items(session_id))[-1]["calls"]
            await leave(talk, DONE, session_id, toolId=call["toolId"])
            rest = await events.until("session.finished")
        items = await talk.items(session_id)
    assert (first[-1]["waiting"], told[-1]["waiting"], rest[-1]["waiting"]) == ([call["toolId"]], [call["toolId"]], [])
    (state,) = of_type(consented, "session.toolState")
    assert (state["state"], state["needsApproval"], state["answeredBy"]) == ("waiting", False, "token")
    assert (shown["state"], shown["needsApproval"], shown["answeredBy"]) == ("waiting", False, "token")
    (result,) = of_type(rest, "session.toolResult")
    assert (result["tool_result"]["toolId"], result["tool_result"]["ok"]) == (call["toolId"], True)
    assert "".join(event["content"] for event in of_type(rest, "session.content")) == "Clicked."
    assert items[-1]["text"] == "Clicked."
    assert '{\\"success\\": true}' in provider.sent


@pytest.mark.parametrize("tools", ["native", "prompted"])
async def test_calls_of_client_and_server_in_one_answer_each_go_their_way(open_talk, provider, tools):
    notes = Notes()
    add = ("c", "note_add", '{"text": "milk"}')
    say_calls(provider, tools, add, PRESS, LOOK)
    provider.say("All done.")
    async with open_talk(notes, model={"tools": tools}) as talk:
        session_id = await talk.begin()
        first = await talk.say(session_id, "go", browserTools=[CLICK, MORE])
        added, pressed, looked = wanted(first)
        async with talk.events(session_id) as events:
            more = await answer(talk, '浏览器工具 request_more_elements 执行结果: {"elements": []}', session_id)
            rejected = await consent(talk, session_id, pressed["toolId"], approved=False)
            (request,) = talk.host.approvals.waiting
            await talk.host.approvals.decide_call(request.call_id, Verdict(approved=True, by="test"))
            while (seen := await events.until("session.finished"))[-1]["waiting"]:
                pass
    assert [call["kind"] for call in (added, pressed, looked)] == ["server", "client", "client"]
    assert "needsApproval" not in added
    assert more[-1]["waiting"] == [added["toolId"], pressed["toolId"]]
    assert rejected[-1]["waiting"] == [added["toolId"]]
    assert (notes.added, "".join(each["content"] for each in of_type(seen, "session.content"))) == (
        ["milk"],
        "All done.",
    )
    assert "A person rejected this call" in provider.sent


async def test_result_counts_once_for_the_call_of_its_session_and_not_after_a_stop(open_talk, provider):
    provider.say("", PRESS)
    provider.say("Clicked.")
    provider.say("", PRESS)
    async with open_talk() as talk:
        session_id, other = await talk.begin(), await talk.begin()
        (call,) = wanted(await talk.say(session_id, "click", browserTools=[CLICK]))
        foreign = await answer(talk, DONE, other, toolId=call["toolId"])
        await answer(talk, DONE, session_id, toolId=call["toolId"])
        twice = await answer(talk, DONE, session_id, toolId=call["toolId"])
        (stopped,) = wanted(await talk.say(session_id, "again", browserTools=[CLICK]))
        await talk.ask("POST", f"/api/sessions/{session_id}/stop")
        late = await answer(talk, DONE, session_id, toolId=stopped["toolId"])
        late_consent = await consent(talk, session_id, stopped["toolId"])
        items = await talk.items(session_id)
    said = [events[0]["error"]["type"] for events in (foreign, twice, late, late_consent)]
    assert said == ["tool_call_not_found", "tool_call_answered", "tool_call_answered", "tool_call_answered"]
    assert [call["state"] for item in items for call in item.get("calls", ())] == ["done", "cancelled"]
    assert len(provider.requests) == 3


async def test_call_that_waits_for_its_client_survives_a_restart_with_the_person_s_word(open_talk, provider, text_of):
    provider.say("", PRESS, LOOK)
    provider.say("Clicked.")
    async with open_talk() as talk:
        session_id = await talk.begin()
        pressed, looked = wanted(await talk.say(session_id, "click", browserTools=[CLICK, MORE]))
        await consent(talk, session_id, pressed["toolId"])
    async with open_talk() as talk:
        calls = (await talk.items(session_id))[-1]["calls"]
        half = await answer(talk, DONE, session_id, toolId=pressed["toolId"])
    async with open_talk() as talk:
        rest = await answer(talk, 'Browser tool request_more_elements result: {"elements": []}', session_id)
    assert [(call["state"], call["needsApproval"]) for call in calls] == [("waiting", False), ("waiting", True)]
    assert half[-1]["waiting"] == [looked["toolId"]]
    assert (text_of(rest), rest[-1]["waiting"]) == ("Clicked.", [])
    # its tools count for the rest of the turn
    assert [each["function"]["name"] for each in provider.requests[-1]["tools"]] == [
        "page_action",
        "request_more_elements",
    ]


@pytest.mark.parametrize("end", ["stop", "steer", "reject"])
async def test_model_is_told_that_a_call_may_have_begun_that_the_client_was_free_to_run(open_talk, provider, end):
    provider.say("", PRESS, LOOK)
    for _ in range(2):
        provider.say("I look.")
    async with open_talk() as talk:
        session_id = await talk.begin()
        pressed, looked = wanted(await talk.say(session_id, "click", browserTools=[CLICK, MORE]))
        await consent(talk, session_id, pressed["toolId"])
        if end == "reject":
            for call in (pressed, looked):
                await consent(talk, session_id, call["toolId"], approved=False)
        else:
            if end == "stop":
                await talk.ask("POST", f"/api/sessions/{session_id}/stop")
            await talk.say(session_id, "wait", when="steer")
    told = {
        each["tool_call_id"]: each["content"] for each in provider.requests[-1]["messages"] if each["role"] == "tool"
    }
    assert "it may have taken effect or not" in told[pressed["toolId"]]
    assert "did not run" in told[looked["toolId"]]


class Tabs(Module):
    """A module with a tool that clients bring, too."""

    name = "tabs"

    def __init__(self) -> None:
        self.calls = 0

    @tool(effects=["read", "egress"])
    async def page_action(self, ctx: ToolContext) -> str:
        """Act in a shared tab."""
        self.calls += 1
        return "acted in a shared tab"


async def test_client_s_tool_counts_for_its_turn_where_a_module_has_one_of_its_name(open_talk, provider):
    tabs = Tabs()
    provider.say("", PRESS)
    provider.say("Clicked.")
    provider.say("", ("b", "page_action", "{}"))
    provider.say("Acted.")
    async with open_talk(tabs, approvals={"mode": "allow"}) as talk:
        session_id = await talk.begin()
        (own,) = wanted(await talk.say(session_id, "click", browserTools=[CLICK]))
        assert tabs.calls == 0
        await answer(talk, DONE, session_id, toolId=own["toolId"])
        (theirs,) = wanted(await talk.say(session_id, "now in the tab"))
    offered = [
        [tool["function"] for tool in request["tools"] if tool["function"]["name"] == "page_action"]
        for request in provider.requests
    ]
    said = [[each["description"] for each in tools] for tools in offered]
    assert said == [["Act on the page."]] * 2 + [["Act in a shared tab."]] * 2
    assert (own["kind"], theirs["kind"], tabs.calls) == ("client", "server", 1)


async def test_call_names_the_paired_client_that_is_to_run_it(open_talk, provider):
    provider.say("", PRESS)
    async with open_talk() as talk:
        client = await paired(talk, "my-browser")
        session_id = await client.begin()
        async with talk.events(session_id) as events:
            sent = {"text": "click", "browserTools": [CLICK]}
            assert (await client.ask("POST", f"/api/sessions/{session_id}/messages", sent))[0] == 202
            (call,) = wanted(await events.until("session.finished"))
        (shown,) = (await talk.items(session_id))[-1]["calls"]
        refused = await talk.ask("POST", f"/api/sessions/{session_id}/messages", sent, status=403)
    assert (call["client"], shown["client"]) == ("my-browser", "my-browser")
    assert refused["error"]["type"] == "forbidden"
