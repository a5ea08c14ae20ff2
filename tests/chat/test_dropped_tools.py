"""Servers that give a model no tools: noticed, said once, and helped by having the model write its calls."""

import pytest

from tests.chat.test_written_calls import PUT, Drawer

pytestmark = pytest.mark.spec("C5")

TEMPLATE = "{% for message in messages %}{{ message.content }}{% endfor %}"
NO_TOOLS = {"chat_template": TEMPLATE, "chat_template_caps": {"supports_tools": False}}


def errors_of(events):
    return [event["error"] for event in events if event["type"] == "session.error"]


@pytest.mark.parametrize(
    "said",
    [
        PUT,
        '{"name": "put", "arguments": {"text": "milk"}}',
        "<function=put>\n<parameter=text>\nmilk\n</parameter>\n</function>",
    ],
)
async def test_call_that_arrives_as_text_is_noticed_and_one_click_has_it_run(open_talk, provider, said):
    provider.say(said)
    provider.say(PUT)
    provider.say("It is in.")
    provider.say("You are welcome.")
    drawer = Drawer()
    async with open_talk(drawer) as talk:
        session_id = await talk.begin()
        (error,) = errors_of(await talk.say(session_id, "Remember the milk"))
        assert (error["type"], drawer.put_in) == ("tools_not_supported", [])
        assert "write its calls" in error["message"]
        async with talk.events(session_id) as events:
            await talk.ask("POST", f"/api/sessions/{session_id}/retry?writesCalls=true", status=202)
            await events.until("session.finished")
        assert not errors_of(await talk.say(session_id, "Thanks"))
        view = await talk.ask("GET", f"/api/sessions/{session_id}/system")
    assert drawer.put_in == ["milk"]
    assert "tools" in provider.requests[0]
    assert all("tools" not in request for request in provider.requests[1:])
    assert "<tool_call>" in provider.requests[3]["messages"][0]["content"]
    assert "tools" in [part["id"] for part in view["parts"]]


@pytest.mark.parametrize("properties", [NO_TOOLS, {"chat_template": TEMPLATE}])
async def test_template_without_a_place_for_tools_is_said_once(open_talk, provider, properties):
    provider.properties = properties
    provider.say("Noted!")
    provider.say("Noted again!")
    async with open_talk(Drawer()) as talk:
        session_id = await talk.begin()
        (error,) = errors_of(await talk.say(session_id, "Remember the milk"))
        assert error["type"] == "tools_not_supported"
        assert not errors_of(await talk.say(session_id, "And the eggs"))
        shown = [item["text"] for item in await talk.items(session_id) if item["role"] == "assistant"]
    assert shown == ["Noted!", "Noted again!"]


@pytest.mark.parametrize(
    "properties",
    [
        None,
        [],
        {"chat_template": TEMPLATE, "chat_template_caps": {"supports_tools": True}},
        {"chat_template": TEMPLATE + "{% if tools %}{{ tools }}{% endif %}"},
        {"chat_template": TEMPLATE, "chat_template_tool_use": "{{ tools }}"},
        {"total_slots": 1},
    ],
)
async def test_server_that_may_pass_tools_on_is_not_suspected(open_talk, provider, properties):
    provider.properties = properties
    provider.say(f"I could write `{PUT}`, and did not.")
    async with open_talk(Drawer()) as talk:
        assert not errors_of(await talk.say(await talk.begin(), "hello"))


@pytest.mark.parametrize(
    "said",
    [
        "registry.ollama.ai/library/gemma3:latest does not support tools",
        "tools param requires --jinja flag",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "No endpoints found that support tool use.",
    ],
)
async def test_server_that_refuses_tools_is_helped_alike(open_talk, provider, said):
    provider.say(status=400, error={"error": {"message": said}})
    provider.say(PUT)
    provider.say("It is in.")
    drawer = Drawer()
    async with open_talk(drawer) as talk:
        session_id = await talk.begin()
        (error,) = errors_of(await talk.say(session_id, "Remember the milk"))
        assert error["type"] == "tools_not_supported"
        async with talk.events(session_id) as events:
            await talk.ask("POST", f"/api/sessions/{session_id}/retry?writesCalls=true", status=202)
            await events.until("session.finished")
    assert drawer.put_in == ["milk"]
