"""Images of tools: checked before they are sent, and one that the provider refuses does not take the others with it."""

import base64
import json

import pytest

from agentcore.api import Image, Module, ToolContext, ToolResult, tool
from tests.chat.notes import Notes
from tests.support.pictures import picture
from tests.support.provider import Reply

pytestmark = pytest.mark.processes

GOOD = picture(color="green")
REFUSED = {"error": {"message": "Could not process image"}}


class Camera(Module):
    """Gives the pictures that a test loaded into it."""

    name = "camera"

    def __init__(self, **pictures: Image) -> None:
        self.pictures = pictures

    @tool(read_only=True)
    async def look(self, ctx: ToolContext, at: str) -> ToolResult:
        """Look at something."""
        return ToolResult((self.pictures[at],))


def encoded(data):
    return base64.b64encode(data).decode()


def look(*names):
    return [(f"c{number}", "look", json.dumps({"at": name})) for number, name in enumerate(names)]


def refuse(provider, *bad, message=REFUSED):
    """Let the provider refuse requests with one of these pictures, and otherwise say what comes next."""
    refused = [encoded(data) for data in bad]
    queued = provider.replies

    def script(request):
        text = json.dumps(request)
        if any(data in text for data in refused):
            return Reply(status=400, error=message)
        return queued.pop(0)

    provider.script = script


def is_sent(provider, data, at=-1):
    return encoded(data) in json.dumps(provider.requests[at])


@pytest.mark.more
@pytest.mark.parametrize(
    "data",
    [
        picture(size=(64, 64), noise=True)[:-40],
        picture()[:-12],
        picture(size=(64, 64), noise=True).replace(b"IDAT", b"IDAT\0", 1),
        picture("JPEG", size=(64, 64), noise=True)[:900],
        picture("GIF", size=(64, 64), noise=True)[:900],
        picture("WEBP", size=(64, 64), noise=True)[:300],
    ],
    ids=["cut PNG", "PNG without its end", "broken PNG", "cut JPEG", "cut GIF", "cut WebP"],
)
async def test_damaged_picture_of_a_tool_is_told_in_words_and_later_ones_are_sent(open_talk, provider, data):
    provider.say("", *look("bad"))
    provider.say("", *look("good"))
    provider.say("Green.")
    provider.say("Still green.")
    refuse(provider, data)
    camera = Camera(bad=Image(data), good=Image(GOOD))
    async with open_talk(camera, approvals={"mode": "allow"}) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "Look")
        await talk.say(session_id, "Sure?")
        items = await talk.items(session_id)
    assert len(provider.requests) == 4
    assert [item["role"] for item in items if item["role"] == "notice"] == []
    assert is_sent(provider, GOOD, 2)
    assert is_sent(provider, GOOD, 3)
    assert "which cannot be shown: it is damaged" in provider.sent


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_picture_is_sent_as_what_it_is_and_not_as_what_it_is_called(open_talk, provider, kind):
    provider.say("", *look("it"))
    provider.say("Seen.")
    data = picture(kind)
    async with open_talk(Camera(it=Image(data, "image/jpg")), approvals={"mode": "allow"}) as talk:
        await talk.post("Look")
    assert f"data:image/{kind.lower()};base64,{encoded(data)}" in provider.sent


@pytest.mark.more
async def test_too_large_picture_of_a_tool_is_shown_smaller_and_kept(open_talk, provider):
    provider.say("", *look("large"))
    provider.say("Noise.")
    large = picture(size=(1500, 1200), noise=True)
    async with open_talk(Camera(large=Image(large)), approvals={"mode": "allow"}) as talk:
        await talk.post("Look")
        artifact_id = provider.sent.split("[artifact ")[1].split(":")[0]
        async with talk.client.get(f"/api/artifacts/{artifact_id}") as response:
            kept = await response.read()
    assert "data:image/jpeg;base64," in provider.sent
    assert len(provider.sent) < 5_100_000
    assert "shown smaller, with 1500 by 1200 pixels" in provider.sent
    assert kept == large


@pytest.mark.more
@pytest.mark.parametrize("message", [REFUSED, {"error": {"message": "Bad request"}}])
@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_only_the_refused_picture_is_replaced_in_this_and_later_requests(open_talk, provider, kind, message):
    """Whatever the provider has against it: it looks whole to us."""
    bad = picture(color="black")
    provider.say("", *look("before"))
    provider.say("", *look("good", "bad"))
    provider.say("", *look("after"))
    provider.say("All seen.")
    provider.say("Still.")
    refuse(provider, bad, message=message)
    before, after = picture(color="blue"), picture(color="white")
    camera = Camera(before=Image(before), good=Image(GOOD), bad=Image(bad), after=Image(after))
    options = {"model": {"provider": kind}, "approvals": {"mode": "allow"}}
    async with open_talk(camera, **options) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "Look")
        items = await talk.items(session_id)
        count = len(provider.requests)
    async with open_talk(camera, **options) as talk:
        await talk.say(session_id, "After a restart?")
    assert items[-1]["text"] == "All seen."
    assert len(provider.requests) == count + 1
    for data in (before, GOOD, after):
        assert is_sent(provider, data, count - 1)
        assert is_sent(provider, data)
    assert "which the provider refused" in provider.sent
    assert len([item for item in items if item["role"] == "notice"]) == 1


@pytest.mark.more
async def test_two_refused_pictures_of_one_answer_are_both_found(open_talk, provider):
    bad, worse = picture(color="black"), picture(color="brown")
    provider.say("", *look("bad", "good", "worse"))
    provider.say("One is green.")
    refuse(provider, bad, worse)
    camera = Camera(bad=Image(bad), good=Image(GOOD), worse=Image(worse))
    async with open_talk(camera, approvals={"mode": "allow"}) as talk:
        await talk.post("Look")
    assert is_sent(provider, GOOD)
    assert provider.sent.count("which the provider refused") == 2


@pytest.mark.more
async def test_model_that_sees_nothing_is_no_longer_sent_pictures(open_talk, provider):
    shown = [picture(color=color) for color in ("red", "green", "blue", "black", "white")]
    for number in range(5):
        provider.say("", *look(str(number)))
    provider.say("I see nothing.")
    refuse(provider, *shown)
    camera = Camera(**{str(number): Image(data) for number, data in enumerate(shown)})
    async with open_talk(camera, approvals={"mode": "allow"}) as talk:
        await talk.post("Look")
    assert not is_sent(provider, shown[4], -2)
    assert [is_sent(provider, data, at) for at, data in enumerate(shown[:1], 1)] == [True]
    assert len(provider.requests) == 6 + 4  # four were tried, the last one was not


@pytest.mark.more
async def test_picture_that_a_sub_agent_s_provider_refuses_leaves_the_others(open_talk, provider):
    bad = picture(color="black")
    provider.say("", ("t", "ask_helper", "{}"))
    provider.say("", *look("bad"))
    provider.say("", *look("good"))
    provider.say("Green.")
    provider.say("It is green.")
    refuse(provider, bad)

    class Helper(Module):
        name = "helper"

        @tool(effects=["execute"])
        async def ask_helper(self, ctx: ToolContext) -> str:
            """Ask a helper."""
            return await ctx.run_agent("look")

    camera = Camera(bad=Image(bad), good=Image(GOOD))
    async with open_talk(camera, Helper(), Notes(), approvals={"mode": "allow"}) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "Look")
        items = await talk.items(session_id)
    assert is_sent(provider, GOOD, -2)
    assert items[-1]["text"] == "It is green."
