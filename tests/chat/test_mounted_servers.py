"""What a mounted MCP server asks while it works on a call: the person of the chat answers, in either revision."""

import json
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "plugins/mcp_servers/tests"
PROGRAM = (FOLDER / "asking_server.py").read_text(encoding="utf-8")
pytestmark = pytest.mark.processes

REVISIONS = pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])


def of_type(events, event_type):
    return [event for event in events if event["type"] == event_type]


def answered(events):
    """What the server was answered."""
    result = of_type(events, "session.toolResult")[-1]["tool_result"]
    return json.loads(result["content"][0]["text"]) if "error" not in result or not result["error"] else result["error"]


@pytest.fixture
def calling(open_talk, provider):
    """A chat whose model calls a tool of the server: the question that the person sees, and what answers it."""

    @asynccontextmanager
    async def opened(tool, revision="2025-11-25", says=("Done.",), **ours):
        block = {
            "command": sys.executable,
            "args": ["-c", PROGRAM, revision],
            "agentcore": ours,
        }
        provider.say("", ("a", f"asking_{tool}", "{}"))
        for said in says:
            provider.say(said)
        app = {"mcpServers": {"asking": block}, "approvals": {"mode": "allow"}}
        async with open_talk("mcp_asking", **app) as talk:
            session_id = await talk.begin()
            async with talk.events(session_id) as events:
                await talk.ask("POST", f"/api/sessions/{session_id}/messages", {"text": "go"}, status=202)
                yield Asking(talk, session_id, events)

    return opened


class Asking:
    """One chat in which a server asks."""

    def __init__(self, talk, session_id, events):
        self.talk, self.session_id, self.events = talk, session_id, events
        self.question = None

    async def is_asked(self):
        """The next question."""
        self.question = None
        while self.question is None:
            self.question = (await self.events.until("session.question"))[-1]["question"]
        return self.question

    async def says(self, **answer):
        """Answer the question."""
        body = {"questionId": self.question["questionId"], **answer}
        await self.talk.ask("POST", f"/api/sessions/{self.session_id}/answer", body, status=202)

    async def ends(self):
        """What the server was answered, at the end of the turn."""
        return answered(await self.events.until("session.finished"))


@REVISIONS
async def test_form_of_a_server_is_filled_in_by_the_person(calling, revision):
    async with calling("form", revision) as asking:
        question = await asking.is_asked()
        await asking.says(content={"name": "Ada", "guests": "3"})
        assert await asking.ends() == {"action": "accept", "content": {"name": "Ada", "guests": 3}}
    assert question["kind"] == "form"
    assert question["text"] == "The MCP server asking wants to know: Who comes?"
    assert question["form"]["properties"]["name"] == {"type": "string", "title": "Your name"}


@REVISIONS
async def test_server_hears_that_the_person_declined(calling, revision):
    async with calling("form", revision) as asking:
        await asking.is_asked()
        await asking.says(isDeclined=True)
        assert (await asking.ends())["action"] == "decline"


@REVISIONS
async def test_address_of_a_server_is_opened_by_the_person(calling, revision):
    async with calling("address", revision) as asking:
        question = await asking.is_asked()
        await asking.says()
        assert (await asking.ends())["action"] == "accept"
    assert (question["kind"], question["url"]) == ("address", "https://pay.example/7")


@pytest.mark.parametrize(("tool", "said"), [("script", "cancel"), ("nested", "with 1 to 40 properties")])
async def test_question_that_cannot_be_shown_is_refused(calling, tool, said):
    async with calling(tool) as asking:
        assert said in str(await asking.ends())


async def test_call_that_wants_an_address_opened_first_is_sent_again(calling):
    async with calling("paid") as asking:
        question = await asking.is_asked()
        await asking.says()
        assert await asking.ends() == "here you are"
    assert question["url"] == "https://pay.example/7"


@REVISIONS
async def test_server_gets_a_text_once_the_person_has_seen_what_the_model_is_told(calling, provider, revision):
    async with calling("text", revision, says=("Hello Ada!", "Done."), sampling=True) as asking:
        question = await asking.is_asked()
        before = len(provider.requests)
        await asking.says()
        reply = await asking.ends()
    assert (before, question["kind"]) == (1, "sample")
    assert question["text"] == "Be short.\n\nGreet Ada."
    assert reply["content"] == {"type": "text", "text": "Hello Ada!"}


async def test_server_gets_no_text_where_the_block_does_not_say_so(calling, provider):
    async with calling("text") as asking:
        assert "not supported" in (await asking.ends())["message"]
    assert len(provider.requests) == 2


@REVISIONS
async def test_server_knows_the_folders_of_the_workspace(calling, revision):
    async with calling("folders", revision) as asking:
        (root,) = (await asking.ends())["roots"]
        assert root["uri"] == asking.talk.client.running.workspace.as_uri()


@pytest.mark.more
async def test_flood_of_questions_is_bounded_and_harms_no_other_call(calling):
    async with calling("flood") as asking:
        await asking.is_asked()
        assert await asking.ends() == 68


async def test_question_under_an_id_that_waits_is_left_out(calling):
    async with calling("again") as asking:
        await asking.is_asked()
        await asking.says(content={"name": "Ada"})
        assert await asking.ends() == {"action": "accept", "content": {"name": "Ada"}}


@pytest.mark.more
async def test_models_are_told_a_server_s_instructions_where_the_block_says_so(calling, provider):
    for is_on in (False, True):
        async with calling("folders", instructions=is_on) as asking:
            await asking.ends()
        assert ("Pay late." in str(provider.requests[-1]["messages"])) is is_on
