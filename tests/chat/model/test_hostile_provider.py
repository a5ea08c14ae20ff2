"""A provider that says anything at all: each turn ends in order with errors that are known, and the session goes on."""

import asyncio
import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.chat.notes import Notes
from tests.support.provider import Provider, Reply, anthropic_events, json_bytes, openai_events

pytestmark = pytest.mark.spec("C5", "S4")

ODD_TEXT = st.sampled_from(
    ["", "\ud800", "\udfff x", "\x00", "\x1b[2J", "a\nb", "</untrusted>", "x" * 5000, "note_add", "no such!", "\u2028"]
)
ODD_VALUE = st.sampled_from(
    [None, True, -1, 0, 2**63, 10**400, 1.5, float("nan"), [], {}, [None], {"a": {}}, [[[]]], {"text": 5}]
)
ODD_JSON = st.sampled_from(
    ['{"text": NaN}', '{"text": "\\ud800"}', "[1]", "{", "[" * 5000, '{"a":' * 500, '{"text": 1e999}', '"x"']
)
ODD_BYTES = st.sampled_from([b"data: \xff\xfe\n\n", b"\x00", b"data: {\n\n"])
ODD = st.one_of(ODD_TEXT, ODD_VALUE, ODD_JSON)
BASE = Reply("some text", [("id1", "note_add", '{"text": "a"}'), ("id2", "note_fail", "{}")])


TELLING = frozenset(
    (
        *("content", "text", "partial_json", "name", "arguments", "id", "index", "type", "delta", "usage"),
        *("tool_calls", "function", "finish_reason", "stop_reason", "prompt_tokens", "output_tokens", "model"),
    )
)
"""Places where most adapters look."""


def documents(stream: list[bytes]) -> list[Any]:
    """The JSON of the events of a stream."""
    found = [event.partition(b"data: ")[2].strip() for event in stream]
    return [None if data == b"[DONE]" else json.loads(data) for data in found]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All places in JSON values."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, child in children for place in places(child, (*path, key)))]


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The value with another one at a place."""
    if not path:
        return new
    changed = copy.copy(value)
    changed[path[0]] = put(value[path[0]], path[1:], new)
    return changed


@st.composite
def streams(draw: st.DrawFn, kind: str) -> bytes:
    """A stream of a provider in which something is wrong: values, missing, repeated and foreign events, bytes."""
    events = documents(openai_events(BASE) if kind == "openai" else anthropic_events(BASE))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(events) - 1))
        match draw(st.integers(0, 5)):
            case 0:
                events.insert(at, copy.deepcopy(events[at]))
            case 1 if len(events) > 1:
                del events[at]
            case 2:
                events.insert(at, draw(ODD))
            case _:
                found = places(events[at])
                telling = [place for place in found if place and place[-1] in TELLING]
                events[at] = put(events[at], draw(st.sampled_from(telling or found)), draw(ODD))
    named = [(event.get("type") if isinstance(event, dict) else None, event) for event in events]
    lines = [
        (b"event: %b\n" % str(name).encode("utf-8", "replace") if kind == "anthropic" else b"")
        + b"data: %b\n\n" % (b"[DONE]" if event is None else json_bytes(event))
        for name, event in named
    ]
    if draw(st.integers(0, 9)) == 0:
        lines.insert(draw(st.integers(0, len(lines))), draw(ODD_BYTES))
    return b"".join(lines)


def is_valid(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return False
    return True


async def look(talk: Any, provider: Provider, session_id: str, raw: bytes, text_of: Any) -> None:
    """Let the provider say something, see what comes of it, and go on."""
    provider.replies[:] = [Reply(raw=raw), Reply("So."), Reply("So."), Reply("So.")]
    events = await talk.post("x", session_id=session_id)
    assert "message" in events[-1]
    assert is_valid(events)
    errors = [event["error"] for event in events if "error" in event]
    assert not [error for error in errors if error["type"] == "internal_error"], errors
    results = [event["tool_result"] for event in events if "tool_result" in event]
    assert not [result for result in results if not result["ok"] and result["error"]["type"] == "internal_error"], (
        results
    )
    provider.replies[:] = [Reply("Good.")]
    again = await talk.post("y", session_id=session_id)
    assert text_of(again) == "Good.", again
    assert is_valid(provider.requests)
    messages = provider.requests[-1]["messages"]
    blocks = [block for each in messages if isinstance(each["content"], list) for block in each["content"]]
    names = [call["function"]["name"] for each in messages for call in each.get("tool_calls") or ()]
    names += [block["name"] for block in blocks if block["type"] == "tool_use"]
    assert all(name.isascii() and name.replace("_", "").replace("-", "").isalnum() for name in names), names
    assert is_valid((await talk.ask("GET", f"/api/sessions/{session_id}/messages"))["items"])


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize("examples", [12, pytest.param(150, marks=pytest.mark.more)])
@pytest.mark.slow
async def test_whatever_a_provider_says_the_turn_ends_in_order_and_the_session_goes_on(
    open_talk, provider, text_of, kind, examples
):
    async with open_talk(Notes(), model={"provider": kind}, approvals={"mode": "allow"}) as talk:
        loop, count = asyncio.get_running_loop(), iter(range(10_000))

        @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)
        @given(streams(kind))
        def check(raw: bytes) -> None:
            work = look(talk, provider, f"s{next(count)}", raw, text_of)
            asyncio.run_coroutine_threadsafe(work, loop).result(120)

        await asyncio.to_thread(check)
