"""Sessions as the page uses them, over real HTTP and the stream of events."""

import asyncio

import pytest

from agentcore.api import Image, Module, ToolContext, ToolError, ToolResult, tool
from agentcore.core.approvals.approval_queue import Verdict
from tests.support.pictures import picture
from tests.support.provider import spoken

pytestmark = pytest.mark.spec("K8")


class Shelf(Module):
    """Tools whose calls end in different ways."""

    name = "shelf"

    def __init__(self) -> None:
        self.added: list[str] = []
        self.closed: list[str] = []
        self.entered, self.released = asyncio.Event(), asyncio.Event()

    @tool(effects=["write"])
    async def shelf_add(self, ctx: ToolContext, text: str) -> dict[str, str]:
        """Put something on the shelf.

        Args:
            text: What.
        """
        self.added.append(text)
        return {"added": text}

    @tool(effects=["write"])
    async def shelf_open(self, ctx: ToolContext) -> str:
        """Open a drawer."""
        drawer = self.runtime.resources.create("drawer", ctx.session_id, on_release=self._on_release)
        return drawer.resource_id

    async def _on_release(self, resource) -> None:
        self.closed.append(resource.resource_id)

    @tool(effects=["write"])
    async def shelf_drop(self, ctx: ToolContext) -> str:
        """Fail as foreseen."""
        raise ToolError("dropped", "it fell down")

    @tool(effects=["write"])
    async def shelf_photo(self, ctx: ToolContext) -> ToolResult:
        """Give a large picture."""
        return ToolResult((Image(picture(size=(256, 256), noise=True)),))

    @tool(effects=["write"])
    async def shelf_wait(self, ctx: ToolContext) -> str:
        """Wait until it is let go."""
        self.entered.set()
        await self.released.wait()
        return "let go"


def of_type(events, event_type):
    return [event for event in events if event["type"] == event_type]


async def decide(talk, *, approved):
    (request,) = talk.host.approvals.waiting
    await talk.host.approvals.decide_call(request.call_id, Verdict(approved=approved, by="test"))


async def test_message_is_answered_by_events_and_kept(open_talk, provider):
    provider.say("Hello, 世界!")
    async with open_talk() as talk:
        session_id = await talk.begin()
        events = await talk.say(session_id, "hi")
        first, second = await talk.items(session_id)
        session = await talk.ask("GET", f"/api/sessions/{session_id}")
    assert "".join(event["content"] for event in of_type(events, "session.content")) == "Hello, 世界!"
    (told,) = of_type(events, "session.message")
    assert (told["number"], told["role"], told["text"]) == (first["number"], "user", "hi")
    assert (first["role"], first["text"], second["role"], second["text"]) == ("user", "hi", "assistant", "Hello, 世界!")
    assert (session["title"], session["isRunning"], session["waiting"]) == ("hi", False, [])
    assert session["usage"] == {"inputTokens": 10, "outputTokens": 5, "requests": 1, "cachedTokens": 0}


async def test_call_goes_from_waiting_to_running_to_its_result(open_talk, provider):
    provider.say("I add. ", ("a", "shelf_add", '{"text": "milk"}'))
    provider.say("Added.")
    async with open_talk(Shelf()) as talk:
        session_id = await talk.begin()
        asked = await talk.say(session_id, "add milk")
        (waiting,) = (await talk.items(session_id))[1]["calls"]
        listed = await talk.ask("GET", "/api/sessions")
        async with talk.events(session_id) as events:
            await decide(talk, approved=True)
            ran = await events.until("session.finished")
        (done,) = (await talk.items(session_id))[1]["calls"]
    assert of_type(asked, "session.toolState")[-1]["state"] == "waiting"
    assert (waiting["state"], waiting["toolName"], waiting["arguments"]) == ("waiting", "shelf_add", {"text": "milk"})
    assert listed["sessions"][0]["waiting"] == [waiting["toolId"]]
    assert [event["state"] for event in of_type(ran, "session.toolState")] == ["running"]
    assert of_type(ran, "session.toolResult")[0]["tool_result"]["toolId"] == done["toolId"]
    assert (done["state"], done["result"]["data"], done["answeredBy"]) == ("done", {"added": "milk"}, "test")


async def test_page_rejects_a_call_and_the_model_goes_on(open_talk, provider):
    shelf = Shelf()
    provider.say("", ("a", "shelf_add", '{"text": "milk"}'))
    provider.say("Then not.")
    async with open_talk(shelf) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "add milk")
        (call,) = (await talk.items(session_id))[1]["calls"]
        async with talk.events(session_id) as events:
            path, body = f"/api/sessions/{session_id}/reject", {"toolId": call["toolId"]}
            await talk.ask("POST", path, body, status=202)
            await events.until("session.finished")
        twice = await talk.ask("POST", path, body, status=409)
        nothing = await talk.ask("POST", path, {"toolId": "tc_0"}, status=404)
        items = await talk.items(session_id)
    assert items[1]["calls"][0]["state"] == "rejected"
    assert items[2]["text"] == "Then not."
    assert shelf.added == []
    assert (twice["error"]["type"], nothing["error"]["type"]) == ("tool_call_answered", "tool_call_not_found")


async def test_failed_and_unknown_calls_are_shown_with_their_errors(open_talk, provider):
    provider.say("", ("a", "shelf_drop", "{}"), ("b", "shelf_nothing", "{}"))
    provider.say("Sorry.")
    async with open_talk(Shelf(), approvals={"mode": "allow"}) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "drop")
        dropped, unknown = (await talk.items(session_id))[1]["calls"]
    assert (dropped["state"], dropped["result"]["error"]["type"]) == ("failed", "dropped")
    assert (unknown["state"], unknown["result"]["error"]["type"]) == ("failed", "unknown_tool")


@pytest.mark.more
async def test_large_picture_is_listed_as_an_artifact(open_talk, provider):
    provider.say("", ("a", "shelf_photo", "{}"))
    provider.say("Seen.")
    async with open_talk(Shelf(), approvals={"mode": "allow"}) as talk:
        session_id = await talk.begin()
        events = await talk.say(session_id, "look")
        (block,) = (await talk.items(session_id))[1]["calls"][0]["result"]["content"]
        async with talk.client.get(f"/api/artifacts/{block['artifactId']}") as response:
            shown = await response.read()
    assert of_type(events, "session.toolResult")[0]["tool_result"]["content"][0]["type"] == "image"
    assert (block["type"], block["mime"], shown[:4], len(shown) > 64 * 1024) == (
        "artifact",
        "image/png",
        b"\x89PNG",
        True,
    )


async def test_page_that_opens_while_the_answer_comes_sees_what_is_there_and_misses_nothing(open_talk, provider):
    gate = asyncio.Event()
    provider.say("One two three four five.", gate=gate, split=4096)
    async with open_talk() as talk:
        session_id = await talk.begin()
        async with talk.events(session_id) as events:
            await talk.ask("POST", f"/api/sessions/{session_id}/messages", {"text": "count"}, status=202)
            await events.until("session.content")
            page = await talk.ask("GET", f"/api/sessions/{session_id}/messages")
            gate.set()
            await events.until("session.finished")
        missed = talk.host.events.events_since(page["eventId"])
    assert [item["text"] for item in page["items"]] == ["count"]
    rest = "".join(event.data["content"] for event in missed if event.type == "session.content")
    assert page["streaming"]["text"] + rest == "One two three four five."


async def test_retry_forgets_the_last_answer_and_asks_again(open_talk, provider):
    provider.say("One.")
    provider.say("Two.")
    provider.say("Three.")
    async with open_talk() as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "a")
        await talk.say(session_id, "b")
        async with talk.events(session_id) as events:
            await talk.ask("POST", f"/api/sessions/{session_id}/retry", status=202)
            again = await events.until("session.finished")
        items = await talk.items(session_id)
    assert [item["text"] for item in items] == ["a", "One.", "b", "Three."]
    assert [message["content"] for message in spoken(provider.requests[-1])] == ["a", "One.", "b"]
    assert of_type(again, "session.rewound")[0]["number"] > items[2]["number"]


async def test_retry_after_a_provider_s_error_goes_on_with_the_same_message(open_talk, provider):
    provider.say(status=500, error={"error": {"message": "oops"}})
    provider.say("Here.")
    async with open_talk() as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "a")
        failed = await talk.items(session_id)
        async with talk.events(session_id) as events:
            await talk.ask("POST", f"/api/sessions/{session_id}/retry", status=202)
            await events.until("session.finished")
        items = await talk.items(session_id)
    assert failed[-1]["error"]["type"] == "provider_failed"
    assert [item["text"] for item in items] == ["a", "Here."]


async def test_edited_message_takes_the_place_of_the_old_one_and_of_what_came_after(open_talk, provider):
    provider.say("One.")
    provider.say("", ("a", "shelf_add", '{"text": "milk"}'))
    provider.say("Better.")
    async with open_talk(Shelf()) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "a")
        await talk.say(session_id, "add")
        number = (await talk.items(session_id))[2]["number"]
        async with talk.events(session_id) as events:
            body = {"number": number, "text": "do not"}
            await talk.ask("POST", f"/api/sessions/{session_id}/edit", body, status=202)
            await events.until("session.finished")
        items = await talk.items(session_id)
        assert talk.host.approvals.waiting == []
    assert [item["text"] for item in items] == ["a", "One.", "do not", "Better."]
    assert [message["content"] for message in spoken(provider.requests[-1])] == ["a", "One.", "do not"]


async def test_message_that_superseded_a_call_is_edited_and_the_model_keeps_the_call_s_result(open_talk, provider):
    provider.say("", ("a", "shelf_add", '{"text": "milk"}'))
    provider.say("Fine.")
    provider.say("Good.")
    async with open_talk(Shelf()) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "add")
        await talk.say(session_id, "no", when="steer")
        number = (await talk.items(session_id))[2]["number"]
        async with talk.events(session_id) as events:
            body = {"number": number, "text": "never"}
            await talk.ask("POST", f"/api/sessions/{session_id}/edit", body, status=202)
            await events.until("session.finished")
        items = await talk.items(session_id)
    roles = [message["role"] for message in spoken(provider.requests[-1])]
    assert roles == ["user", "assistant", "tool", "user"]
    assert [item["text"] for item in items] == ["add", "", "never", "Good."]


async def test_message_that_is_none_of_a_person_s_is_not_edited(open_talk, provider):
    provider.say("One.")
    async with open_talk() as talk:
        session_id = await talk.begin()
        empty = await talk.ask("POST", f"/api/sessions/{session_id}/retry", status=404)
        await talk.say(session_id, "a")
        answer = (await talk.items(session_id))[1]["number"]
        body = {"number": answer, "text": "x"}
        wrong = await talk.ask("POST", f"/api/sessions/{session_id}/edit", body, status=404)
    assert {empty["error"]["type"], wrong["error"]["type"]} == {"message_not_found"}


async def test_command_runs_without_a_model_and_stays_in_the_session(open_talk):
    shelf = Shelf()
    async with open_talk(shelf, models={}) as talk:
        session_id = await talk.begin()
        async with talk.events(session_id) as events:
            body = {"tool": "shelf_add", "arguments": {"text": "milk"}}
            taken = await talk.ask("POST", f"/api/sessions/{session_id}/command", body, status=202)
            seen = await events.until("session.toolResult")
        (item,) = await talk.items(session_id)
    assert shelf.added == ["milk"]
    assert of_type(seen, "session.message")[0]["calls"][0]["toolId"] == taken["toolId"]
    assert (item["role"], item["calls"][0]["state"], item["calls"][0]["result"]["ok"]) == ("notice", "done", True)


async def test_command_is_not_told_to_the_model(open_talk, provider):
    provider.say("Hi.")
    async with open_talk(Shelf()) as talk:
        session_id = await talk.begin()
        async with talk.events(session_id) as events:
            body = {"tool": "shelf_add", "arguments": {"text": "milk"}}
            await talk.ask("POST", f"/api/sessions/{session_id}/command", body, status=202)
            await events.until("session.toolResult")
        await talk.say(session_id, "hello")
    assert [message["content"] for message in spoken(provider.requests[-1])] == ["hello"]


@pytest.mark.parametrize("query", ["buttermilk", "TERMI", "牛奶", "奶", "milk 牛"])
async def test_sessions_are_found_by_what_was_said_in_any_language(open_talk, provider, query):
    provider.say("Buttermilk, in Chinese 牛奶类。")
    provider.say("Nothing.")
    async with open_talk() as talk:
        wanted = await talk.begin()
        await talk.say(wanted, "what is it")
        await talk.say(await talk.begin(), "something else")
        found = await talk.ask("GET", f"/api/sessions?q={query}")
    assert [session["sessionId"] for session in found["sessions"]] == [wanted]


async def test_list_is_read_in_pages(open_talk):
    async with open_talk() as talk:
        made = [await talk.begin() for _ in range(5)]
        first = await talk.ask("GET", "/api/sessions?limit=3")
        last = first["sessions"][-1]["sessionId"]
        second = await talk.ask("GET", f"/api/sessions?limit=3&before={last}")
    assert (first["hasMore"], second["hasMore"]) == (True, False)
    listed = [session["sessionId"] for session in first["sessions"] + second["sessions"]]
    assert sorted(listed) == sorted(made)


async def test_messages_are_read_in_pages(open_talk, provider):
    for number in range(3):
        provider.say(f"answer {number}")
    async with open_talk() as talk:
        session_id = await talk.begin()
        for number in range(3):
            await talk.say(session_id, f"question {number}")
        newest = await talk.ask("GET", f"/api/sessions/{session_id}/messages?limit=4")
        before = newest["items"][0]["number"]
        older = await talk.ask("GET", f"/api/sessions/{session_id}/messages?limit=4&before={before}")
    texts = [item["text"] for item in older["items"] + newest["items"]]
    assert texts == [f"{kind} {number}" for number in range(3) for kind in ("question", "answer")]
    assert (newest["hasMore"], older["hasMore"]) == (True, False)


async def test_session_is_renamed_given_another_agent_and_forgotten(open_talk, provider):
    provider.say("Hi.")
    async with open_talk(agents={"pirate": {}}) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "hello")
        path = f"/api/sessions/{session_id}"
        changed = await talk.ask("PATCH", path, {"title": " My \n talk ", "agentId": "pirate", "model": "m"})
        nobody = await talk.ask("PATCH", path, {"agentId": "nobody"}, status=400)
        await talk.ask("DELETE", path)
        gone = await talk.ask("GET", path, status=404)
        messages = await talk.ask("GET", f"{path}/messages", status=404)
        found = await talk.ask("GET", "/api/sessions?q=hello")
    assert (changed["title"], changed["agentId"], changed["model"]) == ("My talk", "pirate", "m")
    assert nobody["error"]["type"] == "agent_not_found"
    assert {gone["error"]["type"], messages["error"]["type"]} == {"session_not_found"}
    assert found["sessions"] == []


async def test_session_that_is_forgotten_ends_its_turn_and_withdraws_what_waits(open_talk, provider):
    provider.say("", ("a", "shelf_add", '{"text": "milk"}'))
    async with open_talk(Shelf()) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "add")
        await talk.ask("DELETE", f"/api/sessions/{session_id}")
        assert talk.host.approvals.waiting == []


async def test_session_that_is_forgotten_closes_what_it_has_open_but_for_pinned_tabs(open_talk):
    shelf = Shelf()
    async with open_talk(shelf, approvals={"mode": "allow"}) as talk:
        session_id = await talk.begin()
        other_id = await talk.begin()
        for owner in (session_id, session_id, session_id, other_id):
            await talk.ask("POST", "/api/tools/shelf_open/call", {"arguments": {}, "session_id": owner})
        _, hidden, pinned, _ = (await talk.ask("GET", "/api/tabs"))["tabs"]
        for tab in (hidden, pinned):
            await talk.ask("PATCH", f"/api/tabs/{tab['tabId']}", {"pinned": True})
        await talk.ask("DELETE", f"/api/tabs/{hidden['tabId']}")  # its drawer stays open, out of sight
        assert shelf.closed == []
        await talk.ask("DELETE", f"/api/sessions/{session_id}")
        closed = list(shelf.closed)
        kept = [tab["resourceId"] for tab in (await talk.ask("GET", "/api/tabs"))["tabs"]]
    assert closed == [f"drawer_{session_id}_0", f"drawer_{session_id}_1"]
    assert kept == [f"drawer_{session_id}_2", f"drawer_{other_id}_0"]


@pytest.mark.spec("K3")
async def test_mode_that_asks_less_counts_once_a_person_has_confirmed_it(open_talk):
    async with open_talk() as talk:
        session_id = await talk.begin()
        path = f"/api/sessions/{session_id}"
        looser = await talk.ask("PATCH", path, {"mode": "allow"}, status=403)
        before = await talk.ask("GET", path)
        (change,) = talk.host.policy_changes.waiting
        await talk.host.policy_changes.decide_change(change.change_id, approved=True, by="test")
        after = await talk.ask("GET", path)
        stricter = await talk.ask("PATCH", path, {"mode": "deny"})
        made = await talk.ask("POST", "/api/sessions", {"mode": "ask_writes"}, status=403)
    assert (looser["error"]["type"], looser["error"]["context"]["changeId"]) == (
        "confirmation_required",
        change.change_id,
    )
    assert (before["mode"], after["mode"], after["ownMode"], stricter["mode"]) == ("ask", "allow", "allow", "deny")
    assert made["error"]["type"] == "confirmation_required"
    assert "make the session without a mode and change it then" in made["error"]["message"]


@pytest.mark.spec("K3")
async def test_mode_that_was_confirmed_is_the_one_that_was_shown(open_talk):
    """While it waits, another agent is chosen, whose own mode nobody was shown."""
    agents = {"reader": {"mode": "ask_writes"}, "doer": {"mode": "allow"}}
    async with open_talk(agents=agents) as talk:
        made = await talk.ask("POST", "/api/sessions", {"agentId": "reader", "mode": "ask"}, status=201)
        path = f"/api/sessions/{made['sessionId']}"
        await talk.ask("PATCH", path, {"mode": None}, status=403)
        await talk.ask("PATCH", path, {"agentId": "doer"})
        (change,) = talk.host.policy_changes.waiting
        assert "+mode: ask_writes" in change.proposal.diff[0][1]
        await talk.host.policy_changes.decide_change(change.change_id, approved=True, by="test")
        assert (await talk.ask("GET", path))["mode"] == "ask_writes"


async def test_without_a_model_a_message_is_refused_with_what_is_missing(open_talk):
    async with open_talk(models={}) as talk:
        session_id = await talk.begin()
        refused = await talk.ask("POST", f"/api/sessions/{session_id}/messages", {"text": "hi"}, status=400)
        assert await talk.items(session_id) == []
    assert refused["error"]["type"] == "model_not_configured"


@pytest.mark.more
@pytest.mark.spec("K2")
async def test_of_two_clients_that_answer_one_call_at_once_one_counts(open_talk, provider):
    """A program approves while a page rejects, many times over: the call runs once, or not at all."""
    shelf = Shelf()
    rounds = 6
    for number in range(rounds):
        provider.say("", (f"c{number}", "shelf_add", f'{{"text": "{number}"}}'))
        provider.say("So be it.")
    ran = []
    async with open_talk(shelf, approvals={"api_token": True}) as talk:
        for number in range(rounds):
            asked = await talk.post(f"add {number}")
            tool_id = asked[-1]["waiting"][0]
            async with talk.events("s1") as events:
                answers = [talk.approve(tool_id), talk.client.post("/api/sessions/s1/reject", json={"toolId": tool_id})]
                if number % 2:
                    answers.reverse()
                await asyncio.gather(*answers)
                seen = await events.next()
                while not (seen["type"] == "session.finished" and not seen["waiting"] and seen["usage"]["requests"]):
                    seen = await events.next()
            state = (await talk.items("s1"))[-2]["calls"][0]["state"]
            assert state in {"done", "rejected"}
            ran += [str(number)] if state == "done" else []
    assert shelf.added == ran
