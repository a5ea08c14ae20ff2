"""How a stream is cut into chunks, and what a server makes of the protocol, never changes what an answer means."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.chat.model.thinking_tags import ThinkingSplitter
from tests.chat.notes import TOKEN, Notes
from tests.support.provider import openai_chunk, spoken

pytestmark = pytest.mark.spec("C2")


def stream(*deltas, reason="stop", usage=(), done=True):
    """The bytes of a stream with these deltas, then reports of tokens."""
    chunks = [openai_chunk({"index": 0, "delta": delta, "finish_reason": None}) for delta in deltas]
    if reason:
        chunks.append(openai_chunk({"index": 0, "delta": {}, "finish_reason": reason}))
    for sent, received in usage:
        report = {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}
        chunks.append(openai_chunk(None, usage=report))
    return b"".join(chunks) + (b"data: [DONE]\n\n" if done else b"")


def text(*pieces):
    return stream(*({"content": piece} for piece in pieces))


def call(index, call_id, name, arguments):
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    piece = {"index": index, "id": call_id, "type": "function", "function": function}
    return {"tool_calls": [{key: value for key, value in piece.items() if value is not None}]}


THOUGHTS = [
    ("<think>plan</think>\n\nForty-two.", "plan", "Forty-two."),
    ("<think>\nplan\n</think>\n\nYes.", "plan", "Yes."),
    ("\n <thinking>\none\n\ntwo </thinking>Ja", "one\n\ntwo", "Ja"),
    ("<think></think>Only the answer", "", "Only the answer"),
    ("<think>a</think>\n<think>b</think>c", "a\nb", "c"),
    ("Write `<think>` and </think> so.", "", "Write `<think>` and </think> so."),
    ("<thing>is no tag", "", "<thing>is no tag"),
    ("<b>think</b>", "", "<b>think</b>"),
]


@pytest.mark.parametrize(("whole", "thought", "answer"), THOUGHTS)
async def test_thinking_in_tags_is_neither_answer_nor_sent_back(open_talk, provider, text_of, whole, thought, answer):
    async with open_talk() as talk:
        for number, pieces in enumerate(([whole], list(whole))):
            session = f"s{number}"
            provider.say(raw=text(*pieces))
            provider.say("Next.")
            shown = text_of(await talk.post("one", session_id=session))
            await talk.post("two", session_id=session)
            assert shown == answer
            assert thought == "".join(item.get("thinking") or "" for item in await talk.items(session))
            sent = spoken(provider.requests[-1])
            assert [message["content"] for message in sent] == ["one", answer, "two"]
            assert not any("thinking_in_tags" in message for message in sent)


@given(st.data())
def test_cuts_of_a_stream_never_change_what_is_thinking(data):
    whole, thought, answer = data.draw(st.sampled_from(THOUGHTS))
    places = sorted(data.draw(st.sets(st.integers(1, len(whole) - 1))))
    splitter = ThinkingSplitter()
    found = []
    for start, end in itertools.pairwise((0, *places, len(whole))):
        found += splitter.add(whole[start:end])
    found += splitter.flush()
    assert "".join(piece for kind, piece in found if kind == "thinking") == thought
    assert "".join(piece for kind, piece in found if kind == "answer") == answer


CALLS = [
    [call(0, "c1", "note_add", ""), call(0, None, "note_add", '{"text": "a"}')],
    [call(0, "c1", "note_add", None), call(0, "c1", "note_add", '{"text"'), call(0, "c1", "note_add", ': "a"}')],
    [call(0, "c1", "note", ""), call(0, None, "_add", '{"text": "a"}')],
    [call(0, "c1", "note", ""), call(0, None, "note_add", '{"text": "a"}')],
    [call(0, "c1", "note_add", '{"text"'), call(0, None, None, '{"text": "a"}')],
    [call(0, "c1", "note_add", '{"text": "a"}'), call(0, None, None, '{"text": "a"}')],
    [call(0, "c1", "note_add", {"text": "a"})],
    [call(0, "c1", "note_add", "{}"), call(0, None, None, '{"text"'), call(0, None, None, ': "a"}')],
    [call(0, None, "note_add", {}), call(0, None, "note_add", '{"text": "a"}')],
    [call(0, None, "note_add", '{"text": "a"}'), call(0, None, "note_add", '{"text": "a"}')],
    [call(0, None, "note_add", '{"text": "a"}\n'), call(0, None, "note_add", '{"text": "a"}')],
    [call(0, None, "note", ""), call(0, None, "note_add", '{"text"'), call(0, None, "note_add", '{"text": "a"}')],
    [call(0, None, "note", '{"text": "a"}'), call(0, None, "note_add", '{"text": "a"}')],
    [call(0, None, "note", '{"text": "a"}'), call(0, None, "_add", "")],
    [call(0, None, "note_add", '{"text": "a"}'), call(0, None, "note_add", ""), call(0, None, None, " ")],
    [call(None, None, "note_add", '{"te'), call(None, None, None, 'xt": "a"}')],
    [{"function_call": {"name": "note_add", "arguments": '{"text"'}}, {"function_call": {"arguments": ': "a"}'}}],
]


@pytest.mark.parametrize("deltas", CALLS)
@pytest.mark.parametrize("reason", ["tool_calls", "stop", ""])
async def test_call_in_any_pieces_runs_once(open_talk, provider, calls_of, deltas, reason):
    provider.say(raw=stream(*deltas, reason=reason))
    async with open_talk(Notes(), **TOKEN) as talk:
        events = await talk.post("add")
        (found,) = calls_of(events)
        assert (found["tool_name"], json.loads(found["arguments"])) == ("note_add", {"text": "a"})
        provider.say("Done.")
        await talk.approve(events[-1]["waiting"][0])
    assert provider.requests[-1]["messages"][-1]["role"] == "tool"


TWO_CALLS = [
    [call(0, "c1", "note_add", '{"text": "a"}'), call(0, "c2", "note_add", '{"text": "b"}')],
    [call(None, "c1", "note_add", '{"text": "a"}'), call(None, "c2", "note_add", '{"text": "b"}')],
    [call(None, None, "note_add", '{"text": "a"}'), call(None, None, "note_add", '{"text": "b"}')],
    [
        call(1, "c1", "note_add", '{"text"'),
        call(0, "c2", "note_add", '{"text"'),
        call(1, None, None, ': "a"}'),
        call(0, None, None, ': "b"}'),
    ],
    [
        {
            "tool_calls": [
                *call(0, "c1", "note_add", '{"text": "a"}')["tool_calls"],
                *call(1, "c2", "note_add", '{"text": "b"}')["tool_calls"],
            ]
        }
    ],
    [call(0, None, "note_add", '{"text": "a"}'), call(0, None, "note_add", '{"text": "b"}')],
    [call(0, "c1", "note_add", '{"text": "a"}'), call(0, "c1", "note_add", '{"text": "b"}')],
    [
        call(0, "c1", "note_add", '{"text"'),
        call(0, "c1", "note_add", ': "a"}'),
        call(0, "c1", "note_add", ""),
        call(0, "c1", None, '{"te'),
        call(0, "c1", None, 'xt": "b"}'),
    ],
    [call(None, "c1", "note_add", '{"text": "a"}'), call(None, "c1", "note_add", '{"text": "b"}')],
    [call(0, "", "note_add", {"text": "a"}), call(0, "", "note_add", {"text": "b"})],
    [
        call(0, None, "note_add", '{"text"'),
        call(0, None, None, ': "a"}'),
        call(0, None, "note_add", '{"te'),
        call(0, None, None, 'xt": "b"}'),
    ],
    [
        call(0, None, "note_add", ""),
        call(0, None, None, '{"text": "a"}'),
        call(0, None, "note_add", ""),
        call(0, None, None, '{"text": "b"}'),
    ],
]


@pytest.mark.parametrize("deltas", TWO_CALLS)
async def test_two_calls_stay_two_whatever_their_indexes_and_ids(open_talk, provider, calls_of, deltas):
    provider.say(raw=stream(*deltas, reason="tool_calls"))
    async with open_talk(Notes(), **TOKEN) as talk:
        found = calls_of(await talk.post("add"))
    assert [json.loads(each["arguments"]) for each in found] == [{"text": "a"}, {"text": "b"}]
    assert [each["tool_name"] for each in found] == ["note_add", "note_add"]


async def test_two_calls_with_one_id_and_index_run_and_get_a_result_each(open_talk, provider, calls_of):
    notes = Notes()
    deltas = [call(0, "c1", "note_add", '{"text": "a"}'), call(0, "c1", "note_add", '{"text": "b"}')]
    provider.say(raw=stream(*deltas, reason="tool_calls"))
    provider.say("Both.")
    async with open_talk(notes, approvals={"mode": "allow"}) as talk:
        await talk.post("add")
    assert notes.added == ["a", "b"]
    (asked,) = [message for message in provider.requests[-1]["messages"] if message.get("tool_calls")]
    ids = [each["id"] for each in asked["tool_calls"]]
    results = [message["tool_call_id"] for message in provider.requests[-1]["messages"] if message["role"] == "tool"]
    assert len(set(ids)) == 2
    assert results == ids


@pytest.mark.parametrize("cut", [[], [8], [0, 8], [1, 9, 12]])
async def test_call_that_a_server_sends_once_more_is_one(open_talk, provider, calls_of, cut):
    whole = '{"text": "a"}'
    places = [*cut, len(whole)]
    again = [whole[start:end] for start, end in zip([0, *cut], places, strict=True)]
    more = [call(0, "c1", "note_add", again[0]), *(call(0, "c1", None, piece) for piece in again[1:])]
    provider.say(raw=stream(call(0, "c1", "note_add", whole), *more, reason="tool_calls"))
    async with open_talk(Notes(), **TOKEN) as talk:
        found = calls_of(await talk.post("add"))
    assert [json.loads(each["arguments"]) for each in found] == [{"text": "a"}]


ARGUMENTS = [
    (['{"a":', '{"a":1}'], {"a": 1}),  # the whole once more after a cut
    (['{"a":', '{"a":1}', "}"], {"a": {"a": 1}}),  # the same pieces, of other arguments
    (['{"a":', '{"a":1}}'], {"a": {"a": 1}}),
    (['{"a":', '{"a":{}}', ',"b":', '{"x":1}', "}"], {"a": {"a": {}}, "b": {"x": 1}}),
    (['{"a', '{"a":', '{"a":1', '{"a":1}', '{"a":1}'], {"a": 1}),  # totals
    (['{"a":', "1", '{"a":1}'], {"a": 1}),
]


@pytest.mark.parametrize("has_names", [False, True])
@pytest.mark.parametrize(("pieces", "meant"), ARGUMENTS)
async def test_arguments_are_what_the_pieces_make_together_or_what_is_repeated(
    open_talk, provider, calls_of, pieces, meant, has_names
):
    begun = call(0, "c1", "note_add", pieces[0])
    deltas = [begun, *(call(0, "c1", "note_add" if has_names else None, piece) for piece in pieces[1:])]
    provider.say(raw=stream(*deltas, reason="tool_calls"))
    async with open_talk(Notes(), **TOKEN) as talk:
        found = calls_of(await talk.post("add"))
    assert [json.loads(each["arguments"]) for each in found] == [meant]


@pytest.mark.parametrize("pieces", [['{"a":', '{"a":1}', "]"], ['{"a":{"b":1}'], ['{"a":', '{"a":{"b":1}']])
async def test_arguments_that_are_json_in_neither_way_are_an_error(open_talk, provider, pieces):
    begun = call(0, "c1", "note_add", pieces[0])
    deltas = [begun, *(call(0, "c1", None, piece) for piece in pieces[1:])]
    provider.say(raw=stream(*deltas, reason="tool_calls"))
    provider.say("I see.")
    notes = Notes()
    async with open_talk(notes, approvals={"mode": "allow"}) as talk:
        await talk.post("add")
    assert notes.added == []
    assert "not valid JSON" in provider.sent


async def test_calls_of_two_tools_with_one_index_and_the_same_arguments_stay_two(open_talk, provider, calls_of):
    deltas = [call(0, None, "note_long", "{}"), call(0, None, "note_seen", "{}")]
    provider.say(raw=stream(*deltas, reason="tool_calls"))
    async with open_talk(Notes(), **TOKEN) as talk:
        found = calls_of(await talk.post("add"))
    assert [each["tool_name"] for each in found] == ["note_long", "note_seen"]


async def test_last_report_of_tokens_counts(open_talk, provider):
    provider.say(raw=stream({"content": "Hi"}, usage=[(10, 1), (10, 2), (10, 3)]))
    async with open_talk() as talk:
        await talk.post("one")
        shown = await talk.ask("GET", "/api/sessions/s1")
    assert (shown["usage"]["inputTokens"], shown["usage"]["outputTokens"]) == (10, 3), shown["usage"]


async def test_text_without_a_reason_for_its_end_is_complete_if_the_server_ended_the_stream(
    open_talk, provider, text_of
):
    provider.say(raw=stream({"content": "All of it."}, reason=""))
    provider.say(raw=stream({"content": "Half of"}, reason="", done=False))
    async with open_talk() as talk:
        whole = await talk.post("one")
        broken = await talk.post("two")
    assert text_of(whole) == "All of it."
    assert [event for event in whole if event.get("error")] == []
    assert broken[-2]["error"]["type"] == "provider_stream_broken" or broken[0]["error"]["type"]


async def test_refusal_says_what_the_model_said(open_talk, provider):
    provider.say(raw=stream({"refusal": "No"}, {"refusal": "."}))
    async with open_talk() as talk:
        events = await talk.post("one")
    error = next(event["error"] for event in events if event.get("error"))
    assert error["type"] == "provider_refused"
    assert "No." in error["message"]
    assert not error["retryable"]


@pytest.mark.parametrize("error", [{"message": "no route"}, "no route"])
async def test_error_with_status_200_is_told_as_the_error(open_talk, provider, error):
    provider.say(document={"error": error})
    async with open_talk() as talk:
        events = await talk.post("one")
    assert "no route" in next(event["error"]["message"] for event in events if event.get("error"))


async def test_whole_answer_in_place_of_a_stream_is_read(open_talk, provider, text_of, calls_of):
    message = {
        "role": "assistant",
        "content": "<think>so</think>Adding.",
        "tool_calls": call(0, "c1", "note_add", '{"text": "a"}')["tool_calls"],
    }
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    head = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "usage": usage}
    provider.say(document={**head, "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})
    async with open_talk(Notes(), **TOKEN) as talk:
        events = await talk.post("add")
    assert text_of(events) == "Adding."
    assert [json.loads(each["arguments"]) for each in calls_of(events)] == [{"text": "a"}]


async def test_reasoning_that_has_to_go_back_goes_back_unchanged(open_talk, provider):
    details = [
        {"type": "reasoning.text", "text": "Think.", "signature": "sig", "format": "anthropic-claude-v1", "index": 0},
        {"type": "reasoning.encrypted", "data": "AAAA", "id": "r1", "format": "openai-responses-v1", "index": 1},
    ]
    pieces = [
        {"reasoning_details": [{**details[0], "text": "Thi", "signature": None}]},
        {"reasoning_details": [{**details[0], "text": "nk."}]},
        {"reasoning_details": [details[1]]},
    ]
    provider.say(raw=stream(*pieces, call(0, "c1", "note_add", '{"text": "a"}'), reason="tool_calls"))
    provider.say("Done.")
    async with open_talk(Notes(), **TOKEN) as talk:
        events = await talk.post("add")
        await talk.approve(events[-1]["waiting"][0])
    sent = next(message for message in provider.requests[-1]["messages"] if message["role"] == "assistant")
    assert sent["reasoning_details"] == details


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_blank_answer_is_never_sent_back(open_talk, provider, kind):
    for words in (" ", "\n\n", "Fine."):
        provider.say(words)
    async with open_talk(model={"provider": kind, "model": "claude-x"}) as talk:
        for message in ("one", "two", "three"):
            await talk.post(message)
    sent = spoken(provider.requests[-1])
    assert [message["role"] for message in sent] == ["user"] * len(sent)
    assert all(word in provider.sent for word in ("one", "two", "three"))
    contents = [message["content"] for message in sent]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    assert all(block["text"].strip() for block in blocks)


async def test_messages_of_the_user_after_failures_are_one_for_servers_that_require_it(open_talk, provider, text_of):
    provider.say(status=500, error={"error": {"message": "crashed"}})
    provider.say("Here.")
    async with open_talk() as talk:
        await talk.post("one")
        assert text_of(await talk.post("two")) == "Here."
    sent = spoken(provider.requests[-1])
    assert [message["role"] for message in sent] == ["user"]
    assert sent[0]["content"] == "one\n\ntwo"


CUT_CALL = [call(0, "c1", "note_add", ""), call(0, None, None, '{"text": "a lon')]


@pytest.mark.parametrize("spoken_before", [[], [{"content": "I note it."}]])
async def test_model_is_told_that_its_call_was_cut_off_by_the_output_limit(open_talk, provider, spoken_before):
    provider.say(raw=stream(*spoken_before, *CUT_CALL, reason="length"))
    provider.say("Shorter, then.")
    async with open_talk(Notes(), **TOKEN) as talk:
        session = await talk.begin()
        events = await talk.say(session, "note it")
        (error,) = [event["error"] for event in events if event["type"] == "session.error"]
        assert error["type"] == "answer_cut"
        await talk.say(session, "and now?")
        assert [item["text"] for item in await talk.items(session) if item["role"] == "user"] == ["note it", "and now?"]
    sent = spoken(provider.requests[-1])
    assert "cut off by the output limit inside a call of note_add" in sent[-1]["content"]
    assert "and now?" in sent[-1]["content"]
    assert not any(message.get("tool_calls") for message in sent)


async def test_anthropic_model_is_told_that_its_call_was_cut_off(open_talk, provider):
    provider.say("", ("t1", "note_add", '{"text": "a'), reason="max_tokens")
    provider.say("Shorter, then.")
    async with open_talk(Notes(), model={"provider": "anthropic"}, **TOKEN) as talk:
        session = await talk.begin()
        await talk.say(session, "note it")
        await talk.say(session, "and now?")
    assert "inside a call of note_add" in json.dumps(provider.requests[-1]["messages"][-1])


async def test_model_is_told_that_its_answer_was_cut_off(open_talk, provider):
    provider.say("Once upon a", reason="length")
    provider.say("time.")
    async with open_talk() as talk:
        session = await talk.begin()
        await talk.say(session, "tell")
        await talk.say(session, "go on")
    assert "The answer above was cut off" in spoken(provider.requests[-1])[-1]["content"]
