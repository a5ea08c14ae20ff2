"""Answers that do not end: stopped with a note, and continued."""

import json
import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.chat.model.endless_answer import EndlessAnswerError, RepetitionWatch, find_repeated, without_repeats
from tests.chat.notes import Notes
from tests.support.provider import openai_chunk

SENTENCE = "I will now look at the file again. "
PARAGRAPH = " ".join(random.Random(1).sample([f"word{n}" for n in range(900)], 120)) + ".\n\n"


@pytest.mark.parametrize("unit", [SENTENCE, PARAGRAPH, "\n"], ids=["sentence", "paragraph", "lines"])
@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_answer_that_repeats_itself_is_stopped_and_continues(open_talk, provider, kind, unit):
    provider.say(f"Let me see. {unit * (20_000 // len(unit))}", split=65536)
    provider.say("It is empty.")
    async with open_talk(Notes(), model={"provider": kind}) as talk:
        session_id = await talk.begin()
        events = await talk.say(session_id, "What is in it?")
        items = await talk.items(session_id)
        await talk.say(session_id, "Continue")
    said = "".join(event["content"] for event in events if event["type"] == "session.content")
    assert len(said) < 12_000
    assert items[-1]["error"]["type"] == "answer_repeats"
    kept = items[-2]["text"]
    assert kept.startswith(f"Let me see. {unit.rstrip()}")
    assert len(kept) < len("Let me see. ") + 2 * len(unit)
    assert "repeated the same text word for word" in json.dumps(provider.requests[-1])


@pytest.mark.parametrize("field", ["arguments", "name"])
async def test_endless_calls_are_stopped(open_talk, provider, field):
    def piece(letter):
        function = {"name": "note_add"} | {field: letter * 100_000}
        call = {"index": 0, "id": "a", "function": function}
        return openai_chunk({"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None})

    provider.say(raw=b"".join(map(piece, string.ascii_lowercase)))
    async with open_talk(Notes()) as talk:
        events = await talk.post("Go on")
    assert [event["error"]["type"] for event in events if "error" in event] == ["answer_cut"]


@given(st.text("ab ", min_size=1, max_size=300), st.text(max_size=40), st.integers(1, 300))
def test_repetition_is_found_however_the_text_is_cut(unit, before, size):
    text = before + unit * (9 + 5_000 // len(unit))
    watch = RepetitionWatch()

    def add_all():
        for start in range(0, len(text), size):
            watch.add(text[start : start + size])

    with pytest.raises(EndlessAnswerError, match="repeats"):
        add_all()


@pytest.mark.parametrize(
    "text",
    [
        PARAGRAPH * 3,
        "\n".join(f"| {number} | yes | no |" for number in range(500)),
        "\n".join(f"    row_{number} = read(table, {number})" for number in range(500)),
        "- " * 400,
    ],
    ids=["a text three times", "table", "code", "short line"],
)
def test_other_text_is_not_taken_for_a_repetition(text):
    assert find_repeated(text) == ""


def test_one_repetition_is_kept():
    assert without_repeats("So. abcabcabcab", "abc") == "So. abc"
