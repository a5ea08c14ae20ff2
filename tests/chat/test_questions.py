"""Questions of tools to the user: they wait as long as their session, are listed, and survive a restart."""

import asyncio

import pytest

from agentcore.api import Module, Text, ToolContext, ToolResult, tool

pytestmark = pytest.mark.spec("C2", "K2")


class Asker(Module):
    """Asks the user."""

    name = "asker"

    @tool(effects=("session",), idempotent=True)
    async def ask_colour(self, ctx: ToolContext) -> ToolResult:
        """Ask for a colour."""
        answer = await ctx.ask("Which colour?", ["red", "blue"], timeout_s=None)
        return ToolResult([Text(f"It is {answer}.")])

    @tool(effects=("session",))
    async def ask_once(self, ctx: ToolContext) -> ToolResult:
        """Ask for a colour, and never again."""
        return ToolResult([Text(await ctx.ask("Which one?", timeout_s=None))])


class Waiting:
    """Follows what waits in a server."""

    def __init__(self, talk):
        self._talk = talk
        self._changed = asyncio.Event()
        talk.host.events.subscribe("approval.question", lambda _: self._changed.set())

    async def question(self):
        """The question that waits, as `GET /api/approvals` lists it."""
        async with asyncio.timeout(30):
            while not (found := (await self._talk.ask("GET", "/api/approvals"))["questions"]):
                await self._changed.wait()
                self._changed.clear()
        return found[0]


async def send(talk, session_id):
    await talk.ask("POST", f"/api/sessions/{session_id}/messages", {"text": "paint"}, status=202)


async def finished(talk):
    ended = asyncio.Event()
    talk.host.events.subscribe("session.finished", lambda _: ended.set())
    return ended


async def test_question_waits_without_a_limit_and_is_listed_and_counted_until_it_is_answered(open_talk, provider):
    provider.say("", ("a", "ask_colour", "{}"))
    provider.say("Blue it is.")
    async with open_talk(Asker()) as talk:
        waiting = Waiting(talk)
        session_id = await talk.begin()
        ended = await finished(talk)
        await send(talk, session_id)
        question = await waiting.question()
        (session,) = (await talk.ask("GET", "/api/sessions"))["sessions"]
        answer = {"questionId": question["questionId"], "text": "blue"}
        await talk.ask("POST", f"/api/sessions/{session_id}/answer", answer, status=202)
        async with asyncio.timeout(30):
            await ended.wait()
        left = await talk.ask("GET", "/api/approvals")
        (after,) = (await talk.ask("GET", "/api/sessions"))["sessions"]
    assert (question["text"], question["options"]) == ("Which colour?", ["red", "blue"])
    assert question["sessionId"] == session_id
    assert (question["expiresAt"], question["sessionTitle"]) == (None, "paint")
    assert (session["questions"], after["questions"], left["questions"]) == (1, 0, [])
    assert "It is blue." in provider.sent


async def test_question_is_asked_again_after_a_restart_and_its_answer_reaches_the_model(open_talk, provider):
    provider.say("", ("a", "ask_colour", "{}"))
    provider.say("Red it is.")
    async with open_talk(Asker(), limits={"stop_grace": 0.1}) as talk:
        waiting = Waiting(talk)
        session_id = await talk.begin()
        await send(talk, session_id)
        before = await waiting.question()
    async with open_talk(Asker()) as talk:
        waiting, ended = Waiting(talk), await finished(talk)
        await talk.client.server.app.dispatcher.parts.chat.resume_turns()
        question = await waiting.question()
        answer = {"questionId": question["questionId"], "text": "red"}
        await talk.ask("POST", f"/api/sessions/{session_id}/answer", answer, status=202)
        async with asyncio.timeout(30):
            await ended.wait()
    assert (before["text"], question["text"]) == ("Which colour?", "Which colour?")
    assert "It is red." in provider.sent
    assert "interrupted" not in provider.sent


async def test_call_that_may_not_be_repeated_is_not_asked_again(open_talk, provider):
    provider.say("", ("a", "ask_once", "{}"))
    provider.say("I see.")
    async with open_talk(Asker(), limits={"stop_grace": 0.1}) as talk:
        await send(talk, await talk.begin())
        await Waiting(talk).question()
    async with open_talk(Asker()) as talk:
        ended = await finished(talk)
        await talk.client.server.app.dispatcher.parts.chat.resume_turns()
        async with asyncio.timeout(30):
            await ended.wait()
    assert "interrupted" in provider.sent


async def test_stopping_the_turn_takes_the_question_away(open_talk, provider):
    provider.say("", ("a", "ask_colour", "{}"))
    async with open_talk(Asker()) as talk:
        session_id, ended = await talk.begin(), await finished(talk)
        await send(talk, session_id)
        await Waiting(talk).question()
        await talk.ask("POST", f"/api/sessions/{session_id}/stop")
        async with asyncio.timeout(30):
            await ended.wait()
        assert (await talk.ask("GET", "/api/approvals"))["questions"] == []
