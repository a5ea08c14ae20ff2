"""However a recorded stream is cut into pieces, its answer is the same."""

import asyncio
import itertools
import json
import random
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ThinkingPart, ToolCallPart

from agentcore.chat.model.model_requests import BrokenAnswerError, Engine
from agentcore.chat.model.offered_tools import OfferedTool
from agentcore.chat.model.system_message_text import Instructions
from agentcore.chat.settings import ModelChoice
from agentcore.tool_formats.formats import LoweredSchema
from tests.support.provider import json_bytes

pytestmark = pytest.mark.spec("C2")

RECORDINGS = Path(__file__).parent / "recordings"
SOURCES = json.loads((RECORDINGS / "sources.json").read_text())
NAMES = list(SOURCES)
TEXT_FIELDS = ("content", "reasoning", "reasoning_content")


def recorded(name: str) -> bytes:
    return (RECORDINGS / f"{name}.sse").read_bytes()


class _Body(httpx2.AsyncByteStream):
    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


class Player:
    """Reads streams as the product does: the engine and the provider's library are real, only the network is not."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._engine = Engine()
        self._pieces: Sequence[bytes] = ()
        self._tools: Sequence[OfferedTool] = ()

    async def answer(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request in place of the network."""
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=_Body(self._pieces))

    def read(self, protocol: str, pieces: Sequence[bytes], tools: Sequence[str] = ()) -> dict[str, Any]:
        """Return the meaning of a stream whose bytes arrive in these pieces, if these tools are offered."""
        self._pieces = pieces
        self._tools = [OfferedTool(name, "", LoweredSchema({"type": "object"}), "server") for name in tools]
        return self._runner.run(self._read(protocol))

    async def _read(self, protocol: str) -> dict[str, Any]:
        choice = ModelChoice(provider=protocol, model="m", base_url="http://provider.test/v1", max_retries=0)
        text: list[str] = []
        thinking: list[str] = []
        error = None
        try:
            response = await self._engine.request_response(
                choice,
                [ModelRequest.user_text_prompt("hello")],
                self._tools,
                Instructions("", ""),
                on_text=text.append,
                on_thinking=thinking.append,
            )
        except BrokenAnswerError as exc:
            error = exc.type
            response = exc.partial or ModelResponse(parts=[])
        parts = response.parts
        shown = "".join(part.content for part in parts if isinstance(part, TextPart))
        assert error or "".join(text) == shown
        assert "".join(thinking) == "".join(part.content for part in parts if isinstance(part, ThinkingPart))
        body = b"".join(self._pieces).decode()
        calls = [part for part in parts if isinstance(part, ToolCallPart)]
        details = response.provider_details or {}
        return {
            "text": "".join(text),
            "thinking": "".join(thinking),
            "signature": "".join(part.signature or "" for part in parts if isinstance(part, ThinkingPart)),
            # a call without an id gets a random one
            "ids": [call.tool_call_id if call.tool_call_id in body else "" for call in calls],
            "calls": [[call.tool_name, call.args_as_dict()] for call in calls],
            "usage": [response.usage.input_tokens, response.usage.output_tokens, response.usage.cache_read_tokens],
            "finish_reason": details.get("finish_reason"),
            "reasoning_details": details.get("reasoning_details"),
            "error": error,
        }

    def close(self) -> None:
        self._runner.run(self._engine.close())
        self._runner.close()


@pytest.fixture(scope="module")
def player() -> Iterator[Player]:
    playing = Player()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", playing.answer)
        yield playing
    playing.close()


def cut(body: bytes, places: Sequence[int]) -> list[bytes]:
    return [body[start:end] for start, end in itertools.pairwise((0, *places, len(body)))]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_recorded_stream_is_read_as_it_was_meant(player, name):
    source = SOURCES[name]
    found = player.read(source["protocol"], [recorded(name)])
    assert {key: found[key] for key in source["answer"]} == source["answer"]
    assert found["error"] is None


def test_every_recording_names_its_source_and_holds_no_secret():
    assert sorted(NAMES) == sorted(path.stem for path in RECORDINGS.glob("*.sse"))
    assert len({source["provider"] for source in SOURCES.values() if not source["by_hand"]}) >= 10
    for name, source in SOURCES.items():
        assert source["licence"] in {"MIT", "Apache-2.0"}
        assert all(source[key] for key in ("provider", "model", "package", "version", "file", "answer"))
        body = recorded(name)
        assert len(body) < 30_000
        assert not re.search(rb"(?i)\b(sk-|gsk_|xai-|org-|bearer|api.?key|organization|account|user_)", body), name


def test_providers_page_lists_the_recordings():
    page = (Path(__file__).parents[3] / "docs" / "providers.md").read_text()
    listed = re.findall(r"^\| (.+?) \| `(.+?)` \| .+ \| (yes|no) \|$", page, re.MULTILINE)
    expected = {
        (source["provider"], source["model"], "no" if source["by_hand"] else "yes") for source in SOURCES.values()
    }
    assert sorted(listed) == sorted(expected)


@pytest.mark.more
@pytest.mark.parametrize("name", ["mistral", "gemini", "ollama", "anthropic"])
def test_cut_at_any_byte_changes_nothing(player, name):
    protocol, body = SOURCES[name]["protocol"], recorded(name)
    expected = player.read(protocol, [body])
    places = range(1, len(body), 1 if len(body) < 600 else 7)
    assert [place for place in places if player.read(protocol, cut(body, [place])) != expected] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_stream_that_arrives_byte_by_byte_is_the_same(player, name):
    protocol, body = SOURCES[name]["protocol"], recorded(name)
    assert player.read(protocol, [bytes([byte]) for byte in body]) == player.read(protocol, [body])


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("newline", [b"\r\n", b"\r"])
def test_other_line_ends_and_comments_change_nothing(player, name, newline):
    protocol, body = SOURCES[name]["protocol"], recorded(name)
    changed = body.replace(b"data: ", b"data:").replace(b"\n\n", b"\n\n: still here\n\n").replace(b"\n", newline)
    expected = player.read(protocol, [body])
    assert player.read(protocol, [changed]) == expected
    assert player.read(protocol, cut(changed, range(3, len(changed), 5))) == expected


@settings(max_examples=40)
@given(name=st.sampled_from(NAMES), data=st.data())
def test_cuts_at_any_bytes_change_nothing(player, name, data):
    protocol, body = SOURCES[name]["protocol"], recorded(name)
    places = sorted(data.draw(st.sets(st.integers(1, len(body) - 1), max_size=8)))
    assert player.read(protocol, cut(body, places)) == player.read(protocol, [body])


Event = dict[str, Any]


def read_events(body: bytes) -> list[Event]:
    lines = [line[6:] for line in body.decode().split("\n") if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def write_events(protocol: str, events: Sequence[Event]) -> bytes:
    if protocol in ("anthropic", "openai_responses"):
        return b"".join(b"event: %b\ndata: %b\n\n" % (event["type"].encode(), json_bytes(event)) for event in events)
    return b"".join(b"data: %b\n\n" % json_bytes(event) for event in events) + b"data: [DONE]\n\n"


def test_written_events_are_the_recording(player):
    for name, source in SOURCES.items():
        body = write_events(source["protocol"], read_events(recorded(name)))
        assert player.read(source["protocol"], [body]) == player.read(source["protocol"], [recorded(name)])


ANTHROPIC_FIELDS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


class Recut:
    """Cuts the deltas of a stream into smaller ones and merges neighbours, as its protocol allows."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def recut(self, protocol: str, events: list[Event]) -> list[Event]:
        split, merge = {
            "anthropic": (self._split_anthropic, self._merge_anthropic),
            "openai": (self._split_openai, self._merge_openai),
            "openai_responses": (self._split_responses, self._merge_responses),
        }[protocol]
        found: list[Event] = []
        for event in events:
            for piece in split(event):
                merged = merge(found[-1], piece) if found and self._chance.random() < 0.4 else None
                if merged is None:
                    found.append(piece)
                else:
                    found[-1] = merged
        return found

    def _halves(self, text: str) -> tuple[str, str]:
        place = self._chance.randint(0, len(text))
        return text[:place], text[place:]

    def _split_anthropic(self, event: Event) -> list[Event]:
        delta = event.get("delta", {})
        field = ANTHROPIC_FIELDS.get(delta.get("type"))
        if field is None or self._chance.random() < 0.5:
            return [event]
        halves = [{**event, "delta": {**delta, field: half}} for half in self._halves(delta[field])]
        return [halves[0], {"type": "ping"}, *self._split_anthropic(halves[1])]

    def _merge_anthropic(self, first: Event, second: Event) -> Event | None:
        one, other = first.get("delta", {}), second.get("delta", {})
        field = ANTHROPIC_FIELDS.get(other.get("type"))
        if field is None or first.get("index") != second.get("index"):
            return None
        if first["type"] == "content_block_start" and field in first["content_block"]:
            block = first["content_block"]
            return {**first, "content_block": {**block, field: block[field] + other[field]}}
        if one.get("type") != other["type"]:
            return None
        return {**first, "delta": {**one, field: one[field] + other[field]}}

    def _split_responses(self, event: Event) -> list[Event]:
        if not event["type"].endswith(".delta") or self._chance.random() < 0.5:
            return [event]
        first, second = self._halves(event["delta"])
        return [{**event, "delta": first}, *self._split_responses({**event, "delta": second})]

    def _merge_responses(self, first: Event, second: Event) -> Event | None:
        if not second["type"].endswith(".delta") or first["type"] != second["type"]:
            return None
        return {**second, "delta": first["delta"] + second["delta"]}

    def _split_openai(self, event: Event) -> list[Event]:
        delta = event["choices"][0]["delta"] if event["choices"] else None
        if delta is None or self._chance.random() < 0.5:
            return [event]
        first: Event = {key: value for key, value in delta.items() if key not in ("tool_calls", "reasoning_details")}
        second: Event = {}
        for field in TEXT_FIELDS:
            if isinstance(delta.get(field), str):
                first[field], second[field] = self._halves(delta[field])
        if details := delta.get("reasoning_details"):
            halves = [self._halves(detail["text"]) for detail in details]
            for number, target in enumerate((first, second)):
                target["reasoning_details"] = [
                    {**detail, "text": half[number]} for detail, half in zip(details, halves, strict=True)
                ]
        if calls := delta.get("tool_calls"):
            first["tool_calls"], second["tool_calls"] = self._split_calls(calls)
        begun = {**event["choices"][0], "delta": first, "finish_reason": None}
        ended = {**event["choices"][0], "delta": second}
        rest = {**event, "choices": [ended]}
        without_usage = {key: value for key, value in event.items() if key not in ("usage", "x_groq")}
        return [{**without_usage, "choices": [begun]}, *self._split_openai(rest)]

    def _split_calls(self, calls: list[Event]) -> tuple[list[Event], list[Event]]:
        """Cut the arguments of calls; the beginning of a call says all the rest, and so may its continuation."""
        first, second = [], []
        for call in calls:
            begun, rest = self._halves(call["function"]["arguments"])
            first.append({**call, "function": {**call["function"], "arguments": begun}})
            function = {"arguments": rest}
            named = {key: call[key] for key in ("index", "id") if call.get(key) not in (None, "")}
            # without an index and an id, only a name shows where a further call begins
            if named and self._chance.random() < 0.3 and "name" in call["function"]:
                function["name"] = call["function"]["name"]
            if "index" in call and self._chance.random() < 0.5:
                named.pop("id", None)
            second.append({**named, "function": function})
        return first, second

    def _merge_openai(self, first: Event, second: Event) -> Event | None:
        if not first["choices"]:
            return None
        head = first["choices"][0]
        merged = {**first, **{key: value for key, value in second.items() if value is not None}}
        if not second["choices"]:
            return {**merged, "choices": [head]}
        tail = second["choices"][0]
        one, other = head["delta"], tail["delta"]
        if isinstance(one.get("content"), list) or isinstance(other.get("content"), list):
            return None
        delta = {**one, **other}
        for field in TEXT_FIELDS:
            texts = [each[field] for each in (one, other) if each.get(field)]
            if texts:
                delta[field] = "".join(texts)
        for field in ("tool_calls", "reasoning_details"):
            items = [*(one.get(field) or ()), *(other.get(field) or ())]
            if items:
                delta[field] = items
        reason = tail.get("finish_reason") or head.get("finish_reason")
        return {**merged, "choices": [{**tail, "delta": delta, "finish_reason": reason}]}


@pytest.mark.more
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(chance=st.randoms(use_true_random=False))
def test_deltas_split_and_merged_at_random_mean_the_same(player, name, chance):
    protocol, body = SOURCES[name]["protocol"], recorded(name)
    recut = Recut(chance).recut(protocol, read_events(body))
    assert player.read(protocol, [write_events(protocol, recut)]) == player.read(protocol, [body])


def read_choices(player, *choices, **fields):
    events = [{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": list(choices)}]
    return player.read("openai", [write_events("openai", [{**events[0], **fields}])])


@settings(max_examples=60)
@given(name=st.sampled_from(["papaya", "rere_x", "aaaa", "note_note_add", "read_file"]), data=st.data())
def test_name_of_an_offered_tool_is_read_however_it_is_cut_or_repeated(player, name, data):
    places = [0, *sorted(data.draw(st.sets(st.integers(1, len(name) - 1)))), len(name)]
    chunks = [name[data.draw(st.sampled_from([0, start])) : end] for start, end in itertools.pairwise(places)]
    chunks += [name] * data.draw(st.integers(0, 2))
    functions = [{"name": chunk, "arguments": ""} for chunk in chunks] + [{"arguments": "{}"}]
    choices = [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": each}]}} for each in functions]
    events = [{"id": "c1", "object": "chat.completion.chunk", "choices": [choice]} for choice in choices]
    found = player.read("openai", [write_events("openai", events)], tools=[name, "note_add", "find"])
    assert found["calls"] == [[name, {}]]


@pytest.mark.parametrize(
    ("chunks", "name"),
    [
        (["re", "read", "read_file"], "read_file"),
        (["read", "read"], "read"),
        (["pa", "paya"], "paya"),
        (["unoffered", "unoffered_tool"], "unoffered_tool"),
        (["unoffered", "_tool"], "unoffered_tool"),
    ],
)
def test_name_that_can_be_read_in_two_ways_is_the_shorter_offered_one(player, chunks, name):
    functions = [*({"name": chunk} for chunk in chunks), {"arguments": "{}"}]
    choices = [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": each}]}} for each in functions]
    events = [{"id": "c1", "object": "chat.completion.chunk", "choices": [choice]} for choice in choices]
    tools = ["read", "read_file", "readread", "paya", "papaya"]
    found = player.read("openai", [write_events("openai", events)], tools=tools)
    assert found["calls"] == [[name, {}]]


@pytest.mark.slow
def test_long_arguments_in_many_chunks_are_not_parsed_at_every_chunk(player, monkeypatch):
    parsed_chars = 0
    loads = json.loads

    def count_and_load(text, **options):
        nonlocal parsed_chars
        parsed_chars += len(text)
        return loads(text, **options)

    arguments = json.dumps({"text": '{"a": [}' * 500})
    chunks = [{"index": 0, "function": {"name": "note_add", "arguments": char}} for char in arguments]
    named_once = [chunks[0], *({"index": 0, "function": {"arguments": char}} for char in arguments[1:])]
    unnumbered = [{"function": chunk["function"]} for chunk in chunks]
    for calls in (chunks, named_once, unnumbered):
        events = [
            {"id": "c1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"tool_calls": [each]}}]}
            for each in calls
        ]
        body = write_events("openai", events)
        parsed_chars = 0
        with monkeypatch.context() as patch:
            patch.setattr(json, "loads", count_and_load)
            found = player.read("openai", [body])
        assert found["calls"] == [["note_add", loads(arguments)]]
        assert len(arguments) < parsed_chars < len(body) + 4 * len(arguments)


def test_thinking_in_blocks_is_thinking(player):
    content = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "Yes."}]
    found = read_choices(player, {"index": 0, "delta": {"content": content}, "finish_reason": "stop"})
    assert (found["thinking"], found["text"], found["error"]) == ("Hm.", "Yes.", None)


def test_tokens_that_only_groq_s_own_field_reports_count(player):
    choice = {"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}
    found = read_choices(player, choice, x_groq={"id": "r", "usage": {"prompt_tokens": 7, "completion_tokens": 2}})
    assert found["usage"] == [7, 2, 0]


def test_field_of_reasoning_that_a_later_piece_lacks_is_preserved(player):
    detail = {"type": "reasoning.text", "text": "Hm", "signature": "sig", "index": 0}
    pieces = [detail, {**detail, "text": ".", "signature": None}]
    delta = {"content": "Yes.", "reasoning_details": pieces}
    found = read_choices(player, {"index": 0, "delta": delta, "finish_reason": "stop"})
    assert found["reasoning_details"] == [{**detail, "text": "Hm."}]


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 150, 199, 10_000])
def test_answer_that_repeats_itself_is_stopped_whatever_the_size_of_its_pieces(player, size):
    whole = "All the same words.\n" * 150 + "".join(f"and line {number}\n" for number in range(100))
    choices = [{"index": 0, "delta": {"content": whole[at : at + size]}} for at in range(0, len(whole), size)]
    events = [{"id": "c1", "object": "chat.completion.chunk", "choices": [choice]} for choice in choices]
    found = player.read("openai", [write_events("openai", events)])
    assert found["error"] == "answer_repeats"
