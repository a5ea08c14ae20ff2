"""Tools that the client runs, native and prompted, over real HTTP."""

import asyncio
import json

import pytest

pytestmark = pytest.mark.spec("C2", "C3")

CLICK = {
    "name": "page_action",
    "description": "Act on the page.",
    "parameters": {"type": "object", "properties": {"actions": {"type": "array"}}, "required": ["actions"]},
}
MORE = {"name": "request_more_elements", "description": "Ask for more.", "parameters": {"type": "object"}}
PAGE = {
    "url": "https://example.org/a",
    "title": "例子",
    "elements": [{"id": "e_1_x", "desc": "button:Search", "odd": 1}],
    "selectedText": "chosen words",
    "other": True,
}
ARGUMENTS = '{"actions": [{"action": "click", "target": {"elementId": "e_1_x"}}]}'


@pytest.mark.parametrize(
    "form", ["浏览器工具 page_action 执行结果: {}", "Browser tool page_action result: {}"], ids=["zh", "en"]
)
async def test_result_of_a_client_tool_becomes_the_result_of_its_call(open_talk, provider, calls_of, text_of, form):
    provider.say("", ("call_1", "page_action", ARGUMENTS))
    provider.say("Clicked.")
    async with open_talk() as talk:
        first = await talk.post("click", browser_tools=[CLICK])
        (call,) = calls_of(first)
        second = await talk.post(form.format('{"success": true}'))
    assert call["kind"] == "client"
    assert json.loads(call["arguments"]) == json.loads(ARGUMENTS)
    assert first[-1]["waiting"] == [call["toolId"]]
    assert text_of(second) == "Clicked."
    told = provider.requests[-1]["messages"][-1]
    assert (told["role"], told["tool_call_id"]) == ("tool", call["toolId"])
    assert '{"success": true}' in told["content"]


async def test_oldest_call_of_the_name_gets_the_result_unless_the_id_says_otherwise(open_talk, provider, calls_of):
    provider.say("", ("a", "page_action", ARGUMENTS), ("b", "page_action", ARGUMENTS), ("c", "page_action", ARGUMENTS))
    async with open_talk() as talk:
        one, two, three = (call["toolId"] for call in calls_of(await talk.post("click", browser_tools=[CLICK])))
        oldest = await talk.post('Browser tool page_action result: {"n": 1}')
        named = await talk.post('Browser tool page_action result: {"n": 3}', toolId=three)
        again = await talk.post('Browser tool page_action result: {"n": 3}', toolId=three)
    assert oldest[-1]["waiting"] == [two, three]
    assert named[-1]["waiting"] == [two]
    assert again[0]["error"]["type"] == "tool_call_answered"
    assert one != two


async def test_result_that_nobody_waits_for_is_an_ordinary_message(open_talk, provider):
    provider.say("I see.")
    async with open_talk() as talk:
        await talk.post('Browser tool page_action result: {"success": true}')
    assert provider.requests[-1]["messages"][-1]["content"].startswith("Browser tool page_action result:")


async def test_approval_of_a_client_tool_is_consent_and_its_rejection_counts(open_talk, provider, calls_of, text_of):
    provider.say("", ("a", "page_action", ARGUMENTS))
    provider.say("Then not.")
    async with open_talk() as talk:
        (call,) = calls_of(await talk.post("click", browser_tools=[CLICK]))
        consent = await talk.approve(call["toolId"])
        rejected = await talk.approve(call["toolId"], approved=False)
    assert consent == [consent[-1]]
    assert consent[-1]["waiting"] == [call["toolId"]]
    assert text_of(rejected) == "The tool call was cancelled by the user.Then not."


async def test_page_and_tools_hold_for_the_turn_and_not_for_the_next(open_talk, provider):
    provider.say("", ("a", "page_action", ARGUMENTS))
    provider.say("Clicked.")
    provider.say("Hello.")
    async with open_talk() as talk:
        await talk.post("click", browser_tools=[CLICK], current_page_info=PAGE)
        await talk.post('Browser tool page_action result: {"success": true}')
        await talk.post("hello")
    _, second, third = provider.requests
    assert "e_1_x | button:Search" in second["messages"][0]["content"]
    assert [each["function"]["name"] for each in second["tools"]] == ["page_action"]
    assert "e_1_x" not in third["messages"][0]["content"]
    assert "tools" not in third


async def test_message_that_brings_a_new_page_replaces_the_old_one(open_talk, provider):
    provider.say("", ("a", "page_action", ARGUMENTS))
    provider.say("Clicked.")
    async with open_talk() as talk:
        await talk.post("click", browser_tools=[CLICK], current_page_info=PAGE)
        await talk.post(
            'Browser tool page_action result: {"success": true}', current_page_info={"url": "https://example.org/b"}
        )
    told = provider.requests[-1]["messages"][0]["content"]
    assert "https://example.org/b" in told
    assert "e_1_x" not in told


async def test_page_is_told_as_untrusted_with_what_is_missing(open_talk, provider):
    provider.say("Seen.")
    async with open_talk() as talk:
        await talk.post("look", browser_tools=[MORE], current_page_info={"selectedText": "chosen"})
    told = provider.requests[-1]["messages"][0]["content"]
    assert "<untrusted id=" in told
    assert "URL: unknown" in told
    assert "request_more_elements" in told
    assert "chosen" in told


async def test_tool_with_a_name_that_no_provider_takes_is_refused(open_talk):
    async with open_talk() as talk:
        body = {"message": "x", "session_id": "s1", "agent_id": "default", "user_id": "u"}
        response = await talk.client.post("/api/v1/agent/chat", json={**body, "browser_tools": [{"name": "no spaces"}]})
        assert response.status == 400
        assert (await response.json())["error"]["type"] == "invalid_body"


async def test_client_result_after_a_restart_goes_on(open_talk, provider, calls_of, text_of):
    provider.say("", ("a", "page_action", ARGUMENTS))
    provider.say("Clicked.")
    async with open_talk() as talk:
        calls_of(await talk.post("click", browser_tools=[CLICK], current_page_info=PAGE))
    async with open_talk() as talk:
        events = await talk.post('Browser tool page_action result: {"success": true}')
    assert text_of(events) == "Clicked."
    assert "e_1_x" in provider.sent


WRITTEN = '{"tool_call": {"tool_name": "page_action", "arguments": ' + json.dumps(ARGUMENTS) + "}}"
PROMPTED = {"tools": "prompted"}


@pytest.mark.parametrize(
    "reply",
    [
        WRITTEN,
        f"```json\n{WRITTEN}\n```",
        f"I click.\n{WRITTEN}\nDone so.",
        WRITTEN.replace(json.dumps(ARGUMENTS), ARGUMENTS),
    ],
    ids=["bare", "fenced", "with text", "object"],
)
async def test_model_without_tool_calling_writes_its_calls(open_talk, provider, calls_of, text_of, reply):
    provider.say(reply, split=5)
    provider.say("Clicked.")
    async with open_talk(model=PROMPTED) as talk:
        first = await talk.post("click", browser_tools=[CLICK, MORE])
        (call,) = calls_of(first)
        second = await talk.post('Browser tool page_action result: {"success": true}')
    assert "tool_call" not in text_of(first)
    assert json.loads(call["arguments"]) == json.loads(ARGUMENTS)
    assert text_of(second) == "Clicked."
    prompt = provider.requests[0]["messages"][0]["content"]
    assert prompt.count('{"tool_call"') >= 4
    assert "elementType" in prompt
    assert "tools" not in provider.requests[1]
    assert provider.requests[1]["messages"][-1]["role"] == "user"


async def test_call_that_cannot_be_read_goes_back_once(open_talk, provider, calls_of, text_of):
    provider.say('{"tool_call": {"tool_name": "page_action", "arguments": }}')
    provider.say(WRITTEN)
    async with open_talk(model=PROMPTED) as talk:
        events = await talk.post("click", browser_tools=[CLICK])
    assert len(calls_of(events)) == 1
    assert text_of(events) == ""
    assert "could not be read" in provider.requests[1]["messages"][-1]["content"]


async def test_call_that_cannot_be_read_twice_is_the_answer(open_talk, provider, calls_of, text_of):
    broken = '{"tool_call": {"tool_name": 7}}'
    provider.say(broken)
    provider.say(broken)
    async with open_talk(model=PROMPTED) as talk:
        events = await talk.post("click", browser_tools=[CLICK])
    assert (calls_of(events), text_of(events)) == ([], broken)
    assert len(provider.requests) == 2


async def test_prompt_is_chinese_where_the_locale_is(open_talk, provider):
    provider.say("好。")
    async with open_talk(model=PROMPTED, locale="zh") as talk:
        await talk.post("点击", browser_tools=[CLICK], current_page_info={})
    prompt = provider.requests[0]["messages"][0]["content"]
    assert "你可以调用工具" in prompt
    assert "网址: 未知" in prompt


async def test_without_tools_a_prompted_model_is_told_nothing_of_them(open_talk, provider):
    provider.say("Hi {you}.")
    async with open_talk(model=PROMPTED) as talk:
        await talk.post("hello", browser_tools=[])
    assert "tool_call" not in provider.requests[0]["messages"][0]["content"]


async def test_two_clients_send_the_same_result_and_the_turn_goes_on_once(open_talk, provider, calls_of):
    provider.say("", ("a", "page_action", ARGUMENTS))
    provider.say("Clicked.")
    async with open_talk() as talk:
        (call,) = calls_of(await talk.post("click", browser_tools=[CLICK]))
        message = 'Browser tool page_action result: {"success": true}'
        answers = await asyncio.gather(*(talk.post(message, toolId=call["toolId"]) for _ in range(6)))
    assert sum(any("error" in event for event in events) for events in answers) == 5
    assert len(provider.requests) == 2


STRICT = {
    "name": "page_fill",
    "description": "Fill a field.",
    "parameters": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "maxLength": 5, "pattern": "^[a-z]+$"},
            "rows": {"$ref": "#/$defs/rows"},
        },
        "required": ["text"],
        "additionalProperties": False,
        "$defs": {"rows": {"type": "array", "items": {"$ref": "#/$defs/rows"}}},
    },
}


@pytest.mark.parametrize("tools", ["native", "prompted"])
@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        ("{}", "text"),
        ('{"text": 5}', "text"),
        ('{"text": "longer"}', "text"),
        ('{"text": "a", "other": 1}', "other"),
        ('{"text": "a", "rows": [[1]]}', "rows[0][0]"),
    ],
)
async def test_arguments_that_the_client_s_schema_does_not_take_go_back_to_the_model(
    open_talk, provider, calls_of, text_of, wrong, path, tools
):
    def call(arguments: str) -> None:
        written = f'{{"tool_call": {{"tool_name": "page_fill", "arguments": {arguments}}}}}'
        provider.say(*([written] if tools == "prompted" else ["", ("a", "page_fill", arguments)]))

    call(wrong)
    call('{"text": "abc", "rows": [[], [[]]]}')
    provider.say("Filled.")
    async with open_talk(model={"tools": tools}) as talk:
        events = await talk.post("fill", browser_tools=[STRICT])
        (told,) = calls_of(events)
        assert json.loads(told["arguments"]) == {"text": "abc", "rows": [[], [[]]]}
        assert "invalid_arguments" in provider.sent
        failed = (await talk.items("s1"))[1]["calls"][0]["result"]["error"]
        assert (failed["type"], failed["context"]["errors"][0]["path"]) == ("invalid_arguments", path)
        assert text_of(await talk.post("Browser tool page_fill result: {}")) == "Filled."


def chain(length: int) -> dict[str, object]:
    """References that lead from one to the next."""
    parts = {f"d{number}": {"$ref": f"#/$defs/d{number + 1}"} for number in range(length)}
    return {"$ref": "#/$defs/d0", "$defs": {**parts, f"d{length}": {"type": "object"}}}


def doubling(length: int) -> dict[str, object]:
    """A schema that has twice the parts with each step."""
    parts = {f"d{number}": {"allOf": [{"$ref": f"#/$defs/d{number + 1}"}] * 2} for number in range(length)}
    return {"$ref": "#/$defs/d0", "$defs": {**parts, f"d{length}": {"type": "object"}}}


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"type": "objekt"}, "type"),
        ({"type": "array"}, "must be 'object'"),
        ({"properties": 5}, "properties"),
        ({"properties": {"a": {"$ref": "https://example.org/schema"}}}, "no place in the schema itself"),
        ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "no place in the schema itself"),
        ({"properties": {"a": {"$ref": "other.json#/a"}}}, "no place in the schema itself"),
        ({"$schema": "https://example.org/meta", "type": "object"}, "meta-schema"),
        ({"$ref": "#/$defs/nowhere"}, "nowhere"),
        ({"$dynamicRef": "#node"}, "$dynamicRef"),
        ({"properties": {"a": {"$id": "https://example.org/a"}}}, "$id"),
        ({"patternProperties": {f"^{number}$": {} for number in range(300)}}, "patterns"),
        ({"properties": {f"p{number}": {"pattern": "a"} for number in range(300)}}, "patterns"),
        ({"description": "x" * 600_000}, "bytes"),
        (doubling(40), "parts"),
        (chain(3000), "deep"),
    ],
)
async def test_schema_that_cannot_be_held_against_arguments_is_refused_at_the_door(open_talk, parameters, reason):
    async with open_talk() as talk, asyncio.timeout(30):
        tools = [{"name": "page_fill", "parameters": parameters}]
        body = {"message": "x", "session_id": "s1", "browser_tools": tools}
        async with talk.client.post("/api/v1/agent/chat", json=body) as response:
            assert response.status == 400
            error = (await response.json())["error"]
        assert error["type"] == "invalid_body"
        assert error["context"]["errors"][0]["path"] == "browser_tools"
        assert reason in error["message"]


async def test_more_tools_than_the_bound_are_refused(open_talk):
    async with open_talk() as talk:
        tools = [{"name": f"tool_{number}"} for number in range(129)]
        body = {"message": "x", "session_id": "s1", "browser_tools": tools}
        async with talk.client.post("/api/v1/agent/chat", json=body) as response:
            assert response.status == 400
            assert "128" in (await response.json())["error"]["message"]


@pytest.mark.slow
async def test_hostile_arguments_meet_a_pattern_in_linear_time(open_talk, provider, calls_of):
    slow = {"type": "object", "properties": {"text": {"type": "string", "pattern": "^(a+)+$"}}}
    provider.say("", ("a", "page_fill", json.dumps({"text": "a" * 20_000 + "b"})), split=4096)
    provider.say("No.")
    async with open_talk() as talk:
        assert calls_of(await talk.post("x", browser_tools=[{"name": "page_fill", "parameters": slow}])) == []


async def test_schema_may_name_what_looks_like_keywords(open_talk, provider, calls_of):
    """Properties called `$ref`, `pattern` or `default`, and data that looks like a schema."""
    odd = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"$ref": {"type": "string"}, "pattern": {}, "default": {"const": {"$ref": "https://a.example"}}},
    }
    provider.say("", ("a", "page_fill", '{"$ref": "x", "default": {"$ref": "https://a.example"}}'))
    async with open_talk() as talk:
        (call,) = calls_of(await talk.post("x", browser_tools=[{"name": "page_fill", "parameters": odd}]))
    assert json.loads(call["arguments"])["$ref"] == "x"
