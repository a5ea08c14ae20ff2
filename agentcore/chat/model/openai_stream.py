"""The stream of an OpenAI-compatible server in one form, whatever its server makes of the protocol.

How a stream is cut into chunks never changes its meaning: thinking in tags is separated from the answer, the calls are
passed on whole at the end, the last report of tokens counts, an answer that came as one JSON document is read like a
stream. The adapter of pydantic-ai reads what comes out of here.
"""

import json
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from openai import APIError, AsyncStream
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletionChunk
from openai.types.chat.chat_completion_chunk import (
    Choice,
    ChoiceDelta,
    ChoiceDeltaToolCall,
    ChoiceDeltaToolCallFunction,
)

from agentcore.chat.model.call_arguments import CallArguments
from agentcore.chat.model.endless_answer import AnswerSize
from agentcore.chat.model.prompt_progress import read_progress
from agentcore.chat.model.thinking_tags import THINKING_FIELD, Kind, ThinkingSplitter


class CallName(NamedTuple):
    """The name so far, with every other name that the chunks may add up to.

    A chunk continues the name, or repeats it from its beginning, alone or with more. `pa` and `paya` are both: only the
    names of the offered tools show whether this is `papaya` or `paya`.

    Args:
        text: The name, if each chunk that can be a repetition is one.
        readings: The names that the chunks may add up to, if an offered tool's name begins with them.
    """

    text: str = ""
    readings: frozenset[str] = frozenset(("",))

    def add(self, chunk: str, offered: Sequence[str]) -> "CallName":
        """Return the name with a further chunk.

        Args:
            offered: The names of all offered tools.
        """
        text = chunk if chunk.startswith(self.text) else self.text + chunk
        repeated = {chunk for reading in self.readings if chunk.startswith(reading)}
        readings = {reading + chunk for reading in self.readings} | repeated
        beginnings = (each for each in readings if any(name.startswith(each) for name in offered))
        return CallName(text, frozenset(beginnings))

    def choose(self, offered: Sequence[str]) -> str:
        """Return the name, preferably that of an offered tool."""
        if self.text in offered:
            return self.text
        return min(self.readings.intersection(offered), default=self.text)


DETAILS_FIELD = "reasoning_details"
"""Reasoning that has to be sent back unchanged, as OpenRouter defines it."""

_DOCUMENT_BYTES = 16 * 1024 * 1024
_JOINED = ("text", "summary", "data")

_CHOICE = Choice.construct(index=0, delta=None, finish_reason=None)
_DELTA = ChoiceDelta.construct()


class ChatStream:
    """Stands for the SDK's stream of one answer.

    Args:
        source: The SDK's stream, before anything was read of it.
        offered: The names of the tools that were offered to the model.
    """

    def __init__(self, source: AsyncStream[ChatCompletionChunk], offered: Sequence[str]) -> None:
        self._source = source
        self._has_done_mark = False
        self._template: ChatCompletionChunk | None = None
        """The first chunk, without its choices."""
        self._thinking = ThinkingSplitter()
        self._calls = _Calls(offered)  # counts their arguments: the adapter gets them only at the end
        self._details = _ReasoningDetails()
        self._has_text = False
        self._finish_reason: Any = None
        self._usage: dict[str, Any] | None = None

    async def close(self) -> None:
        """End the request."""
        await self._source.close()

    async def __aiter__(self) -> AsyncIterator[ChatCompletionChunk]:
        async for chunk in self._read_chunks():
            if self._template is None:
                self._template = ChatCompletionChunk.construct(**{**chunk, "choices": [], "usage": None})
            if read_progress(chunk):
                continue
            self._read_usage(chunk)
            choices = chunk.get("choices")
            choice: Any = choices[0] if isinstance(choices, list) and choices else None
            delta = choice.get("delta") if isinstance(choice, dict) else None
            if not isinstance(delta, dict):
                continue
            self._finish_reason = choice.get("finish_reason") or self._finish_reason
            for part in self._read_delta(delta):
                yield self._make_chunk(part)
        for delta in self._read_end():
            yield self._make_chunk(delta)
        yield self._make_chunk({}, finish_reason=self._find_finish_reason())
        if self._usage is not None and self._template is not None:
            yield self._template.model_copy(update={"usage": CompletionUsage.construct(**self._usage)})

    async def _read_chunks(self) -> AsyncIterator[dict[str, Any]]:
        content_type = self._source.response.headers.get("content-type", "")
        if content_type.partition(";")[0].strip().lower() == "application/json":
            yield await self._read_document()
            return
        self._watch_done_mark()
        # as parsed JSON: for the SDK, making its object of a chunk takes longer than all else that happens to a word
        self._source._cast_to = object  # type: ignore[assignment]  # noqa: SLF001 - no argument of the request does it
        async for chunk in cast("AsyncStream[Any]", self._source):
            if isinstance(chunk, dict):
                yield chunk

    def _watch_done_mark(self) -> None:
        """Note whether the server ended its stream: the SDK does not tell that from a closed connection."""
        events = self._source._iter_events  # noqa: SLF001 - the only place that sees the events

        async def iter_events() -> AsyncIterator[Any]:
            async for event in events():
                self._has_done_mark |= event.data.startswith("[DONE]")
                yield event

        self._source._iter_events = iter_events  # type: ignore[method-assign]  # noqa: SLF001 - as above

    async def _read_document(self) -> dict[str, Any]:
        """Read an answer that came as one JSON document, though a stream was requested.

        Raises:
            APIError: It is an error.
        """
        response = self._source.response
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > _DOCUMENT_BYTES:
                raise APIError("the answer is too large", response.request, body=None)
        document = _parse_object(bytes(body))
        error = document.get("error")
        choices = document.get("choices")
        choice: Any = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if error or not isinstance(message, dict):
            said = error.get("message") if isinstance(error, dict) else error
            raise APIError(str(said or body[:300].decode("utf-8", "replace")), response.request, body=error)
        self._has_done_mark = True
        calls = message.get("tool_calls")
        delta = {**message, "tool_calls": [{"index": n, **call} for n, call in enumerate(calls)] if calls else None}
        whole = {"index": 0, "delta": delta, "finish_reason": choice.get("finish_reason")}
        return {**document, "choices": [whole]}

    def _read_usage(self, chunk: Mapping[str, Any]) -> None:
        """Remember the tokens that a chunk reports; servers that report them repeatedly send the sum so far."""
        own = chunk.get("x_groq")  # Groq's field, the only report unless one is requested
        usage = chunk.get("usage") or (own.get("usage") if isinstance(own, dict) else None)
        if isinstance(usage, dict):
            self._usage = usage

    def _read_delta(self, delta: Mapping[str, Any]) -> list[dict[str, Any]]:
        fields = dict(delta)
        self._calls.add_all(fields.pop("tool_calls", None))
        self._calls.add_legacy(fields.pop("function_call", None))
        self._details.add_all(fields.pop(DETAILS_FIELD, None))
        content = fields.pop("content", None)
        deltas = [fields] if any(fields.values()) else []
        if isinstance(content, str):
            deltas += [self._text_delta(kind, text) for kind, text in self._thinking.add(content)]
        elif isinstance(content, list):
            deltas += [self._text_delta(kind, text) for kind, text in _read_blocks(content)]
        elif content:
            self._has_text = True
            deltas.append({"content": content})
        return deltas

    def _read_end(self) -> list[dict[str, Any]]:
        deltas = [self._text_delta(kind, text) for kind, text in self._thinking.flush()]
        calls = self._calls.to_deltas()
        if calls:
            deltas.append({"tool_calls": calls})
        if self._details.items:
            deltas.append({DETAILS_FIELD: self._details.items})
        return deltas

    def _text_delta(self, kind: str, text: str) -> dict[str, Any]:
        if kind == "thinking":
            return {THINKING_FIELD: text}
        self._has_text = True
        return {"content": text}

    def _find_finish_reason(self) -> Any:
        """Return why the answer ended; where the server ended its stream without saying so, it is complete."""
        if self._finish_reason or not self._has_done_mark:
            return self._finish_reason
        if self._calls.are_whole:
            return "tool_calls"
        return "stop" if self._has_text and not self._calls else None

    def _make_chunk(self, delta: Mapping[str, Any], *, finish_reason: Any = None) -> ChatCompletionChunk:
        # copies, because the SDK's own constructors look at the type of each field
        choice = _CHOICE.model_copy(update={"delta": _DELTA.model_copy(update=delta), "finish_reason": finish_reason})
        template = self._template or ChatCompletionChunk.construct()
        return template.model_copy(update={"choices": [choice]})


class _Calls:
    """Puts the calls of one answer together, from pieces in any order."""

    def __init__(self, offered: Sequence[str]) -> None:
        self._offered = offered
        self._calls: list[_Call] = []
        self._last_name = ""
        self._size = AnswerSize()

    def __bool__(self) -> bool:
        return bool(self._calls)

    @property
    def are_whole(self) -> bool:
        """True if there are calls, and the arguments of each are JSON."""
        return bool(self._calls) and all(call.is_whole for call in self._list_calls())

    def add_all(self, pieces: Any) -> None:
        for chunk in pieces if isinstance(pieces, list) else ():
            if not isinstance(chunk, dict):
                continue
            call = self._add(chunk.get("index"), chunk.get("id"), chunk.get("function"))
            call.extra |= {name: value for name, value in chunk.items() if name not in _KNOWN and value is not None}

    def add_legacy(self, function: Any) -> None:
        """Add a call in the form before there were several in one answer."""
        if function is not None:
            self._add(0, None, function)

    def _add(self, index: Any, call_id: Any, function: Any) -> "_Call":
        fields = function if isinstance(function, dict) else {}
        name = _text_or_empty(fields.get("name"))
        arguments = fields.get("arguments")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        arguments = _text_or_empty(arguments)
        if name != self._last_name:  # many servers repeat it with each piece of the arguments
            self._size.add(name)
            self._last_name = name
        self._size.add(arguments)
        call = self._find_call(index, call_id, name, arguments)
        call.add(call_id, name, arguments)
        return call

    def to_deltas(self) -> list[ChoiceDeltaToolCall]:
        return [call.to_delta(number) for number, call in enumerate(self._list_calls())]

    def _list_calls(self) -> list["_Call"]:
        """Return the calls without those that a server sent once more; such a one may have more of its name."""
        for call in self._calls:
            if call.previous is not None and call.is_repetition:
                call.previous.late_name = call.name
        return [call for call in self._calls if not call.is_repetition]

    def _find_call(self, index: Any, call_id: Any, name: str, arguments: str) -> "_Call":
        """Return the call that a piece belongs to.

        An id decides; without one, the index, unless a further call begins; without either, the last call, unless the
        piece names a tool again.
        """
        if call_id:
            known = [call for call in self._calls if call.call_id == call_id]
            # two calls may have one id; then their indexes differ, and each piece that begins one names its tool
            if known and (not name or index in (None, known[-1].index)):
                return self._continue(known[-1], name, arguments)
        same_index = [call for call in self._calls if call.index == index and index is not None]
        if same_index and not (call_id and same_index[-1].call_id):
            return self._continue(same_index[-1], name, arguments)
        if index is None and not call_id and self._calls and not (name and self._calls[-1].is_whole):
            return self._calls[-1]
        self._calls.append(_Call(index, self._offered))
        return self._calls[-1]

    def _continue(self, call: "_Call", name: str, arguments: str) -> "_Call":
        """Return the call that a piece continues: the given one, or a further one that it begins."""
        begun = call.begin_next(name, arguments)
        if begun is None:
            return call
        self._calls.append(begun)
        return begun


_KNOWN = frozenset(("index", "id", "type", "function"))


class _Call:
    """One call that is put together."""

    def __init__(self, index: Any, offered: Sequence[str]) -> None:
        self.index = index
        self.call_id = ""
        self.previous: _Call | None = None
        """The call that was complete when this one began, with nothing but its arguments to tell the two apart."""
        self.extra: dict[str, Any] = {}
        self._offered = offered
        self.name = CallName()
        self.late_name = CallName()
        """Received after the arguments were complete: this call's name once more, or that of a further call."""
        self.arguments = CallArguments()

    @property
    def is_whole(self) -> bool:
        """True if its arguments are a JSON document."""
        return bool(self.name.text) and (self.arguments.is_blank or self.arguments.is_json)

    @property
    def is_repetition(self) -> bool:
        """True if it is the previous call once more: the same arguments, and no other tool."""
        previous = self.previous
        if previous is None or self.arguments.text.strip() != previous.arguments.text.strip():
            return False
        return self.name.text.startswith(previous.name.text)

    def add(self, call_id: Any, name: str, arguments: str) -> None:
        """Add a piece: a part of the name and of the arguments, or either once more."""
        if isinstance(call_id, str) and call_id:
            self.call_id = call_id
        if name and self.arguments.is_json_object:
            self.late_name = self.late_name.add(name, self._offered)
        elif name:
            self.name = self.name.add(name, self._offered)
        if self.arguments.is_empty_object and arguments.lstrip().startswith("{"):
            self.arguments = CallArguments()
        self.arguments.add(arguments)

    def begin_next(self, name: str, arguments: str) -> "_Call | None":
        """Return a further call with the same index or id if a piece begins one, else None.

        It does if this call is complete, and arguments start again in the piece that names a tool or in one after it.
        """
        if not self.arguments.is_json_object or not arguments.lstrip().startswith("{"):
            return None
        late_name = self.late_name.add(name, self._offered)
        if not late_name.text or (self.arguments.is_empty_object and late_name.text == self.name.text):
            return None
        begun = _Call(self.index, self._offered)
        begun.previous = self
        begun.name = self.late_name
        self.late_name = CallName()
        return begun

    def to_delta(self, number: int) -> ChoiceDeltaToolCall:
        name = self.name.add(self.late_name.text, self._offered).choose(self._offered)
        function = ChoiceDeltaToolCallFunction.construct(name=name, arguments=self.arguments.text)
        call_id = self.call_id or f"call_{secrets.token_hex(8)}"
        return ChoiceDeltaToolCall.construct(index=number, id=call_id, type="function", function=function, **self.extra)


def _text_or_empty(value: Any) -> str:
    return value if isinstance(value, str) else ""


class _ReasoningDetails:
    """Collects reasoning that has to be sent back: items in their order, each put together from its pieces."""

    def __init__(self) -> None:
        self.items: list[dict[str, Any]] = []

    def add_all(self, pieces: Any) -> None:
        if not isinstance(pieces, list):
            return
        for chunk in pieces:
            if isinstance(chunk, dict):
                self._add(chunk)

    def _add(self, piece: dict[str, Any]) -> None:
        key = piece.get("type"), piece.get("index"), piece.get("id")
        known = next(
            (item for item in self.items if (item.get("type"), item.get("index"), item.get("id")) == key), None
        )
        if known is None or piece.get("index") is None:
            self.items.append(dict(piece))
            return
        for name, value in piece.items():
            is_text = name in _JOINED and isinstance(value, str) and isinstance(known.get(name), str)
            if value is not None:
                known[name] = known[name] + value if is_text else value


def _read_blocks(blocks: list[Any]) -> Iterator[tuple[Kind, str]]:
    """Read content that comes as blocks of text and of thinking, as Mistral's reasoning models send it."""
    for block in blocks:
        if not isinstance(block, dict):
            continue
        if isinstance(text := block.get("text"), str) and text:
            yield "answer", text
        thoughts = block.get("thinking")
        for thought in thoughts if isinstance(thoughts, list) else ():
            if isinstance(thought, dict) and isinstance(text := thought.get("text"), str) and text:
                yield "thinking", text


def _parse_object(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
