"""Summaries that replace old messages: what they consist of, how they are requested, and how the model gets them."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextContent,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from agentcore.chat.texts import Locale, localized_text, result_text
from agentcore.chat.turn.attachments.attachment_content import attachments_of, user_text_of
from agentcore.chat.turn.compaction.shortening import is_untrusted
from agentcore.chat.turn.token_estimate import text_tokens
from agentcore.chat.untrusted_text import mark_untrusted
from agentcore.encoding import to_json
from agentcore.late_dataclasses import dataclass

AskForText = Callable[[str], Awaitable[str]]
"""Sends one message to a model; returns its answer, empty if it has none."""

_TAG = re.compile(r"<(?=\s*+(?:/\s*+)?conversation)", re.IGNORECASE)
_ARGUMENT_CHARS = 400
_RESULT_CHARS = 1_000
_SAID_CHARS = 8_000
_WORDS_A_TOKEN = 0.6
_TOOLS_NAMED = 12
_CALLS_LISTED = 100


@dataclass(frozen=True, slots=True)
class Summary:
    """The replacement for old messages.

    Args:
        written: The summary, as a model or a tool wrote it.
        words: The user's own texts in these messages.
        sources: Names of tools and attached files whose content in them came from the open world.
    """

    written: str
    words: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    def to_message(self, todos: Sequence[Mapping[str, Any]], limit_tokens: int, locale: Locale) -> ModelRequest:
        """Build the message for the model; the user's texts stay outside the frame around untrusted content.

        Args:
            todos: The session's to-do list.
            limit_tokens: Maximum tokens of the user's texts.
            locale: Language of what is added.
        """
        words = _select_fitting(self.words, limit_tokens)
        parts = []
        if words:
            parts.append("\n".join([localized_text(locale, "own_words"), *(f"> {_quote(word)}" for word in words)]))
        if todos:
            parts.append("\n".join([localized_text(locale, "todos"), *(to_json(todo).decode() for todo in todos)]))
        framed = self.written
        if self.sources:
            source = localized_text(locale, "summary_source", tools=", ".join(self.sources[:_TOOLS_NAMED]))
            framed = mark_untrusted(framed, source)
        parts.append(localized_text(locale, "summary", summary=framed))
        said = {"summary": {"written": self.written, "words": words, "sources": self.sources}}
        return ModelRequest(parts=[UserPromptPart("\n\n".join(parts))], metadata=said)


def summary_of(message: ModelMessage) -> Summary | None:
    """Return the summary in a message; None if it is not a summary."""
    if not isinstance(message, ModelRequest) or "summary" not in (message.metadata or {}):
        return None
    said = (message.metadata or {})["summary"]
    return Summary(said["written"], tuple(said["words"]), tuple(said["sources"]))


def build_summary(messages: Sequence[ModelMessage], written: str) -> Summary:
    """Build the summary of messages from its text, with what must be kept of earlier summaries among them."""
    words: list[str] = []
    sources: dict[str, None] = {}
    for message in messages:
        if (earlier := summary_of(message)) is not None:
            words += earlier.words
            sources |= dict.fromkeys(earlier.sources)
            continue
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                words.append(user_text_of(part))
                if is_untrusted(part):
                    sources |= dict.fromkeys(each.name for each in attachments_of(part))
            elif isinstance(part, ToolReturnPart) and is_untrusted(part):
                sources[part.tool_name] = None
    return Summary(written, tuple(words), tuple(sources))


async def write_summary(
    ask: AskForText, messages: Sequence[ModelMessage], *, read_tokens: int, write_tokens: int, locale: Locale
) -> str:
    """Have a model summarise messages; if it writes nothing, list the calls.

    Args:
        ask: Sends the request to the model.
        messages: The messages.
        read_tokens: Maximum tokens of the messages to send; of more, the beginning and the end are sent.
        write_tokens: Maximum tokens of the summary.
        locale: Language of the prompt.
    """
    request = localized_text(locale, "sum_up", words=int(write_tokens * _WORDS_A_TOKEN))
    # the content must not be able to close the tag
    conversation = _TAG.sub("&lt;", await asyncio.to_thread(_format_conversation, messages, read_tokens))
    said = await ask(f"{request}\n\n<conversation>\n{conversation}\n</conversation>")
    return said.strip() or _without_model(messages, locale)


def _without_model(messages: Sequence[ModelMessage], locale: Locale) -> str:
    calls = [_format_call(part) for message in messages for part in message.parts if isinstance(part, ToolCallPart)]
    return "\n".join([localized_text(locale, "no_summary", count=len(messages)), *calls[-_CALLS_LISTED:]])


def _format_conversation(messages: Sequence[ModelMessage], limit_tokens: int) -> str:
    """Format messages as text within a limit: of a longer conversation the beginning and, mostly, the end."""
    written = [_format_message(message) for message in messages]
    sizes = [text_tokens(each) for each in written]
    if sum(sizes) <= limit_tokens:
        return "\n\n".join(written)
    first = _count_within(sizes, limit_tokens // 4)
    last = _count_within(sizes[first:][::-1], limit_tokens - sum(sizes[:first]))
    left_out = result_text("left_out", count=len(written) - first - last)
    return "\n\n".join([*written[:first], left_out, *written[len(written) - last :]])


def _count_within(sizes: Sequence[int], limit: int) -> int:
    """Return how many of the first items fit into a limit."""
    total = 0
    for count, size in enumerate(sizes):
        total += size
        if total > limit:
            return count
    return len(sizes)


def _format_message(message: ModelMessage) -> str:
    if isinstance(message, ModelResponse):
        lines = [_cut_middle(part.content, _SAID_CHARS) for part in message.parts if isinstance(part, TextPart)]
        lines += [_format_call(part) for part in message.parts if isinstance(part, ToolCallPart)]
        return "assistant: " + "\n".join(lines)
    lines = []
    for part in message.parts:
        if isinstance(part, UserPromptPart):
            lines.append(f"person: {_cut_middle(user_text_of(part), _SAID_CHARS)}")
            lines += [
                _cut_middle(each.content, _RESULT_CHARS) for each in part.content if isinstance(each, TextContent)
            ]
        elif isinstance(part, ToolReturnPart):
            lines.append(_format_result(part))
    return "\n".join(lines)


def _format_result(part: ToolReturnPart) -> str:
    shown = _cut_middle(part.model_response_str(wrap_if_error=False), _RESULT_CHARS)
    artifact = (part.metadata or {}).get("artifact") or ""
    # the sentence that names it may have been in the middle, which was just cut out
    return f"result of {part.tool_name}: {shown}" + ("" if artifact in shown else f" [artifact {artifact}]")


def _format_call(part: ToolCallPart) -> str:
    return f"[calls {part.tool_name} {_cut_middle(part.args_as_json_str(), _ARGUMENT_CHARS)}]"


def _cut_middle(said: str, limit_chars: int) -> str:
    if len(said) <= limit_chars:
        return said
    tail = limit_chars // 3
    return f"{said[: limit_chars - tail]} […] {said[-tail:]}"


def _select_fitting(words: Sequence[str], limit_tokens: int) -> list[str]:
    """Select user texts within a limit: the first, which usually is the task, and as many of the last as fit."""
    if not words:
        return []
    most = max(limit_tokens // 2, 1)
    short = [cut_to_tokens(word, most) for word in words]
    left = limit_tokens - text_tokens(short[0])
    kept: list[str] = []
    for word in reversed(short[1:]):
        left -= text_tokens(word)
        if left < 0:
            break
        kept.append(word)
    return [short[0], *reversed(kept)]


def cut_to_tokens(said: str, limit_tokens: int) -> str:
    """Return a text, or both its ends if it has more tokens than the limit."""
    size = text_tokens(said)
    return said if size <= limit_tokens else _cut_middle(said, len(said) * limit_tokens // size)


def _quote(word: str) -> str:
    return word.replace("\n", "\n> ")
