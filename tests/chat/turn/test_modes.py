"""The mode of a chat, changed while calls wait there: it decides those too, and those of no other chat."""

import asyncio
import json

import pytest

from agentcore.api import CallPreview, Module, ToolContext, tool
from agentcore.api.tool_context import Principal
from agentcore.core.approvals.approval_queue import Verdict
from agentcore.core.calls.call import CallRequest
from tests.support.provider import Reply
from tests.support.waiting import wait_until

pytestmark = pytest.mark.spec("S2")

MODES = ("ask", "accept_edits", "ask_writes", "plan", "allow", "deny")
READ, EDIT, RUN, RING = "shelf_look", "shelf_edit", "shelf_run", "shelf_ring"
RUNS = {
    "ask": set(),
    "accept_edits": {READ, EDIT},
    "ask_writes": {READ},
    "plan": {READ},
    "allow": {READ, EDIT, RUN},
    "deny": set(),
}
REFUSED = {"plan": {EDIT, RUN}, "deny": {READ, EDIT, RUN}}


class Shelf(Module):
    """A tool of each kind that modes tell apart."""

    name = "shelf"

    def __init__(self) -> None:
        self.done: list[tuple[str, str]] = []
        self.is_free = asyncio.Event()
        self.is_free.set()

    def _look(self, ctx: ToolContext, arguments: dict[str, str]) -> CallPreview:
        root = ctx.workspace.roots[0]
        return CallPreview(frozenset(("write",)), paths=(f"{root}/{arguments['what']}",))

    @tool(read_only=True)
    async def shelf_look(self, ctx: ToolContext, what: str) -> str:
        """Look at something."""
        self.done.append((READ, what))
        return "seen"

    @tool(effects=["write"], preview=_look)
    async def shelf_edit(self, ctx: ToolContext, what: str) -> str:
        """Change a file of the workspace."""
        self.done.append((EDIT, what))
        return "changed"

    def _ring(self, ctx: ToolContext, arguments: dict[str, str]) -> CallPreview:
        return CallPreview(frozenset(("read", "egress")), urls=(f"https://example.com/{arguments['what']}",))

    @tool(effects=["read", "egress"], preview=_ring)
    async def shelf_ring(self, ctx: ToolContext, what: str) -> str:
        """Read from the network."""
        self.done.append((RING, what))
        return "heard"

    @tool(effects=["execute"])
    async def shelf_run(self, ctx: ToolContext, what: str) -> str:
        """Run something."""
        self.done.append((RUN, what))
        await self.is_free.wait()
        return "ran"


def call_all(request):
    """A model that calls every tool once, about what it was asked for, and then is done."""
    messages = [message for message in request["messages"] if message["role"] != "system"]
    asked = [message for message in messages if message["role"] == "user"][-1]["content"]
    return Reply("Done.") if messages[-1]["role"] == "tool" else Reply("", calls_about(asked))


def calls_about(what):
    tools = what.split(" ")[1:] or [READ, EDIT, RUN]
    return [(f"{what}_{tool_name}".replace(" ", "_"), tool_name, json.dumps({"what": what})) for tool_name in tools]


def waiting(talk, session):
    return {call.definition.name for call in talk.host.approvals.waiting if call.session_id == session}


async def choose(talk, session, mode):
    """Choose a mode as the page does; a looser one is confirmed by the user."""
    async with talk.client.patch(f"/api/sessions/{session}", json={"mode": mode}) as response:
        document = await response.json()
    if response.status == 200:
        return
    assert document["error"]["type"] == "confirmation_required", document
    (change,) = talk.host.policy_changes.waiting
    await talk.host.policy_changes.decide_change(change.change_id, approved=True, by="test")


async def is_idle(talk, session):
    return not (await talk.ask("GET", f"/api/sessions/{session}"))["isRunning"]


async def begin_both(talk):
    """Two chats, each with a call of each tool that waits."""
    sessions = [await talk.begin(), await talk.begin()]
    for number, session in enumerate(sessions):
        await talk.ask("POST", f"/api/sessions/{session}/messages", {"text": f"chat{number}"}, status=202)
        await wait_until(lambda session=session: len(waiting(talk, session)) == 3)
    return sessions


@pytest.mark.parametrize("mode", MODES)
async def test_mode_that_is_chosen_decides_what_waits_in_this_chat_and_in_no_other(open_talk, provider, mode):
    shelf = Shelf()
    provider.script = call_all
    async with open_talk(shelf) as talk:
        one, other = await begin_both(talk)
        await choose(talk, one, mode)
        left = {READ, EDIT, RUN} - RUNS[mode] - REFUSED.get(mode, set())
        assert waiting(talk, one) == left
        for call in talk.host.approvals.waiting:
            if call.session_id == one:
                assert (call.mode, call.rule) == (mode, f"mode:{mode}")
                await talk.host.approvals.decide_call(call.call_id, Verdict(False, "test"))
        await wait_until(lambda: is_idle(talk, one))
        assert {name for name, what in shelf.done} == RUNS[mode]
        assert {what for _, what in shelf.done} <= {"chat0"}
        assert waiting(talk, other) == {READ, EDIT, RUN}


@pytest.mark.parametrize("mode", ["plan", "deny"])
async def test_model_is_told_that_the_mode_refused_what_waited_and_not_the_user(open_talk, provider, mode):
    provider.script = call_all
    async with open_talk(Shelf()) as talk:
        session = await talk.begin()
        said = {"text": f"go {RUN}"}
        await talk.ask("POST", f"/api/sessions/{session}/messages", said, status=202)
        await wait_until(lambda: waiting(talk, session) == {RUN})
        await choose(talk, session, mode)
        await wait_until(lambda: is_idle(talk, session))
    (told,) = [message["content"] for message in provider.requests[-1]["messages"] if message["role"] == "tool"]
    assert "the policy refuses this call" in told
    assert "person rejected" not in told


async def test_call_that_a_looser_mode_allowed_does_not_start_once_the_mode_is_stricter(open_talk, provider):
    shelf = Shelf()
    provider.script = call_all
    async with open_talk(shelf) as talk:
        session = await talk.begin()
        await talk.ask("POST", f"/api/sessions/{session}/messages", {"text": "go"}, status=202)
        await wait_until(lambda: len(waiting(talk, session)) == 3)
        # the edit is allowed, but its turn goes on only when all its calls are decided
        await choose(talk, session, "accept_edits")
        assert waiting(talk, session) == {RUN}
        await choose(talk, session, "ask")
        (left,) = talk.host.approvals.waiting
        await talk.host.approvals.decide_call(left.call_id, Verdict(True, "test"))
        await wait_until(lambda: is_idle(talk, session))
    assert shelf.done == []  # what comes after a call that fails is skipped


async def test_call_in_the_queue_of_its_tool_does_not_start_once_the_mode_is_stricter(open_talk, provider):
    provider.script = call_all
    shelf = Shelf()
    async with open_talk(shelf) as talk:
        session = await talk.begin()
        await choose(talk, session, "allow")
        shelf.is_free.clear()
        await talk.ask("POST", f"/api/sessions/{session}/messages", {"text": f"go {RUN} {EDIT}"}, status=202)
        await wait_until(lambda: (RUN, f"go {RUN} {EDIT}") in shelf.done)
        await choose(talk, session, "ask")
        shelf.is_free.set()
        await wait_until(lambda: waiting(talk, session) == {EDIT})
    assert [name for name, _ in shelf.done] == [RUN]


async def test_mode_chosen_after_a_restart_decides_what_waits_since_before(open_talk, provider):
    shelf = Shelf()
    provider.script = call_all
    async with open_talk(shelf) as talk:
        session, _ = await begin_both(talk)
    again = Shelf()
    async with open_talk(again) as talk:
        await wait_until(lambda: len(waiting(talk, session)) == 3)
        await choose(talk, session, "allow")
        await wait_until(lambda: len(again.done) == 3)
        assert waiting(talk, session) == set()
    assert {what for _, what in again.done} == {"chat0"}


async def test_mode_of_all_chats_decides_what_waits_in_those_without_one_of_their_own(open_talk, provider):
    shelf = Shelf()
    provider.script = call_all
    async with open_talk(shelf) as talk:
        one, other = await begin_both(talk)
        await choose(talk, other, "deny")
        await choose(talk, one, None)
        approvals = talk.host.config.approvals
        await talk.host.apply_approvals(approvals.model_copy(update={"mode": "allow"}))
        await wait_until(lambda: is_idle(talk, one))
    assert {what for _, what in shelf.done} == {"chat0"}
    assert len(shelf.done) == 3


async def test_mode_that_let_a_call_run_leaves_nothing_allowed_behind(open_talk, provider):
    shelf = Shelf()
    provider.script = call_all
    async with open_talk(shelf, approvals={"mode": "ask_writes"}) as talk:
        session = await talk.begin()
        await talk.host.policy.record_untrusted_source(session, "example.org")
        await talk.ask("POST", f"/api/sessions/{session}/messages", {"text": f"one {RING}"}, status=202)
        await wait_until(lambda: waiting(talk, session) == {RING})
        await choose(talk, session, "allow")
        await wait_until(lambda: is_idle(talk, session))
        assert shelf.done == [(RING, f"one {RING}")]
        assert list(talk.host.policy.grants) == []
        assert [row.source for row in talk.host.policy.sources.open_ones(session)] == ["example.org"]
        await choose(talk, session, "ask_writes")
        await talk.ask("POST", f"/api/sessions/{session}/messages", {"text": f"two {RING}"}, status=202)
        await wait_until(lambda: waiting(talk, session) == {RING})


async def test_client_that_names_a_chat_does_not_get_its_mode(open_talk):
    shelf = Shelf()
    async with open_talk(shelf) as talk:
        session = await talk.begin()
        await choose(talk, session, "allow")
        for caller in ("mcp", "module"):
            request = CallRequest(RUN, {"what": caller}, Principal(caller, "x"), session_id=session)
            outcome = await talk.host.run_call(request)
            assert outcome.error is not None, caller
            assert outcome.error.type == "approval_required", caller
    assert shelf.done == []


async def test_other_agent_does_not_decide_what_waits_because_nobody_confirms_its_mode(open_talk, provider):
    shelf = Shelf()
    provider.script = call_all
    async with open_talk(shelf, agents={"bold": {"mode": "allow"}}) as talk:
        session = await talk.begin()
        await talk.ask("POST", f"/api/sessions/{session}/messages", {"text": "go"}, status=202)
        await wait_until(lambda: len(waiting(talk, session)) == 3)
        await talk.ask("PATCH", f"/api/sessions/{session}", {"agentId": "bold"})
        assert waiting(talk, session) == {READ, EDIT, RUN}
    assert shelf.done == []


async def test_model_is_asked_for_a_plan_while_the_mode_is_plan_and_no_longer_afterwards(open_talk, provider):
    provider.say("First I would look.")
    provider.say("Done.")
    async with open_talk(Shelf()) as talk:
        session = await talk.begin()
        await choose(talk, session, "plan")
        parts = {part["id"]: part for part in (await talk.ask("GET", f"/api/sessions/{session}/system"))["parts"]}
        await talk.say(session, "tidy up")
        await choose(talk, session, "ask")
        later = {part["id"] for part in (await talk.ask("GET", f"/api/sessions/{session}/system"))["parts"]}
        await talk.say(session, "go on")
    planned, acted = (json.dumps(request["messages"]) for request in provider.requests)
    assert "wants a plan first" in planned
    assert "wants a plan first" not in acted
    assert (parts["mode"]["canLeaveOut"], parts["mode"]["lasts"], "mode" in later) == (False, False, False)


async def test_user_edits_the_list_of_things_to_do(open_talk, provider):
    async with open_talk(Shelf()) as talk:
        session = await talk.begin()
        todos = [{"content": "look"}, {"content": "tidy", "status": "in_progress"}]
        async with talk.events(session) as events:
            changed = await talk.ask("PATCH", f"/api/sessions/{session}", {"todos": todos})
            event = (await events.until("session.todos"))[-1]
        expected = [
            {"id": "1", "content": "look", "status": "pending"},
            {"id": "2", "content": "tidy", "status": "in_progress"},
        ]
        assert (changed["todos"], event["todos"]) == (expected, expected)
        for wrong in ([{"content": ""}], [{"content": "a", "status": "maybe"}], [{"content": "a"}] * 201):
            error = await talk.ask("PATCH", f"/api/sessions/{session}", {"todos": wrong}, status=400)
            assert error["error"]["type"] == "invalid_body"
        kept = await talk.ask("PATCH", f"/api/sessions/{session}", {"title": "Shelves"})
        assert kept["todos"] == expected
        assert (await talk.ask("PATCH", f"/api/sessions/{session}", {"todos": []}))["todos"] == []
