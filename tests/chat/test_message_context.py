"""The page and the client's tools that come with a message: they wait with it, and hold for its turn."""

import asyncio

import pytest

from agentcore.chat.chat_limits import QUEUED_CHARS
from tests.chat.test_client_tools import CLICK, MORE, PAGE
from tests.chat.test_conversations import of_type
from tests.chat.test_message_queue import open_busy  # noqa: F401 - a fixture

pytestmark = pytest.mark.spec("C2", "K13")

OTHER_PAGE = {"url": "https://example.com/b?q=1", "title": "Two\nlines", "elements": []}
SHOWN = {"url": "https://example.org/a", "title": "例子", "elements": 1, "selectedChars": 12}
WITH_PAGE = {"browserTools": [CLICK], "currentPageInfo": PAGE}


def told(request):
    """What a model was told of pages and tools."""
    system = request["messages"][0]["content"]
    pages = [page for page in ("example.org/a", "example.com/b") if page in system]
    return pages, [each["function"]["name"] for each in request.get("tools", ())]


async def test_message_brings_page_and_tools_for_its_turn_and_says_so_later(open_talk, provider):
    provider.say("Seen.")
    provider.say("Hello.")
    async with open_talk() as talk:
        session_id = await talk.begin()
        first = await talk.say(session_id, "look", **WITH_PAGE)
        await talk.say(session_id, "hello")
        items = await talk.items(session_id)
    assert told(provider.requests[0]) == (["example.org/a"], ["page_action"])
    assert told(provider.requests[1]) == ([], [])
    (message,) = of_type(first, "session.message")
    assert message["page"] == SHOWN
    assert [item.get("page") for item in items if item["role"] == "user"] == [SHOWN, None]


async def test_message_that_waits_keeps_them_over_a_restart(open_talk, provider):
    gate = asyncio.Event()
    provider.say("One two three four.", gate=gate)
    async with open_talk() as talk:
        session_id = await talk.begin()
        async with talk.events(session_id) as events:
            await talk.ask("POST", f"/api/sessions/{session_id}/messages", {"text": "first"}, status=202)
            await events.until("session.content")
            sent = {"text": "second", **WITH_PAGE}
            await talk.ask("POST", f"/api/sessions/{session_id}/messages", sent, status=202)
            queue = await talk.ask("GET", f"/api/sessions/{session_id}/queue")
            await talk.ask("POST", f"/api/sessions/{session_id}/stop")
    provider.say("Two.")
    async with open_talk() as talk, talk.events(session_id) as events:
        await talk.ask("PATCH", f"/api/sessions/{session_id}/queue", {"isPaused": False})
        await events.until("session.finished")
    assert [message["page"] for message in queue["messages"]] == [SHOWN]
    assert told(provider.requests[0]) == ([], [])
    assert told(provider.requests[-1]) == (["example.org/a"], ["page_action"])


async def test_message_that_steers_replaces_what_it_brings_and_keeps_the_rest(open_busy, provider):  # noqa: F811
    async with open_busy() as chat:
        provider.say("", ("a", "page_action", '{"actions": []}'))
        provider.say("Three.")
        await chat.send("second", when="steer", **WITH_PAGE)
        chat.gate.set()
        await chat.finished()
        # the turn rests for the client's call
        await chat.send("third", when="steer", currentPageInfo=OTHER_PAGE)
        await chat.finished()
        items = await chat.talk.items(chat.session_id)
    assert [told(request) for request in provider.requests] == [
        ([], []),
        (["example.org/a"], ["page_action"]),
        (["example.com/b"], ["page_action"]),
    ]
    other = {"url": OTHER_PAGE["url"], "title": "Two lines", "elements": 0, "selectedChars": 0}
    assert [item.get("page") for item in items if item["role"] == "user"] == [None, SHOWN, other]


async def test_retry_and_edit_keep_what_the_message_had(open_talk, provider):
    for answer in ("Seen.", "Again.", "Hello.", "Edited."):
        provider.say(answer)
    async with open_talk() as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "look", **WITH_PAGE)
        (first, _) = await talk.items(session_id)
        async with talk.events(session_id) as events:
            await talk.ask("POST", f"/api/sessions/{session_id}/retry", status=202)
            await events.until("session.finished")
        await talk.say(session_id, "hello")
        async with talk.events(session_id) as events:
            edited = {"number": first["number"], "text": "look again"}
            await talk.ask("POST", f"/api/sessions/{session_id}/edit", edited, status=202)
            await events.until("session.finished")
        items = await talk.items(session_id)
    assert [told(request) for request in provider.requests] == [
        (["example.org/a"], ["page_action"]),
        (["example.org/a"], ["page_action"]),
        ([], []),
        (["example.org/a"], ["page_action"]),
    ]
    assert [(item["text"], item.get("page")) for item in items if item["role"] == "user"] == [("look again", SHOWN)]


@pytest.mark.parametrize(
    "body",
    [
        {"browserTools": [{"name": "no spaces"}]},
        {"browserTools": [MORE] * 129},
        {"browserTools": [{"name": "x", "parameters": {"type": "array"}}]},
        {"currentPageInfo": {"url": 1}},
    ],
)
async def test_what_no_provider_takes_is_refused_with_the_message(open_talk, body):
    async with open_talk() as talk:
        session_id = await talk.begin()
        path = f"/api/sessions/{session_id}/messages"
        refused = await talk.ask("POST", path, {"text": "x", **body}, status=400)
        assert await talk.items(session_id) == []
    assert refused["error"]["type"] == "invalid_body"


async def test_chat_message_in_place_of_an_answer_goes_on_with_page_and_tools(open_talk, provider):
    provider.say("", ("a", "page_action", '{"actions": []}'))
    provider.say("Instead.")
    provider.say("Hello.")
    async with open_talk() as talk:
        await talk.post("click", browser_tools=[CLICK], current_page_info=PAGE)
        await talk.post("rather tell me", current_page_info=OTHER_PAGE)
        await talk.post("hello")
    assert [told(request) for request in provider.requests] == [
        (["example.org/a"], ["page_action"]),
        (["example.com/b"], ["page_action"]),
        ([], []),
    ]


async def test_pages_count_in_what_may_wait(open_busy):  # noqa: F811
    page = {"selectedText": "x" * (QUEUED_CHARS // 2)}
    async with open_busy() as chat:
        await chat.send("second", currentPageInfo=page)
        refused = await chat.send("third", status=429, currentPageInfo=page)
        await chat.send("fourth")
        await chat.stop()
    assert refused["error"]["type"] == "queue_full"
