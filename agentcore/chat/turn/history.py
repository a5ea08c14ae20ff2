"""Converts messages of a session between their stored form and the form sent to a model."""

import operator
from base64 import b64decode
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)

from agentcore.chat.model.thinking_tags import THINKING_FIELD
from agentcore.chat.session.transcript import CUT_OFF, REPEATED, STOPPED
from agentcore.chat.texts import result_text
from agentcore.chat.turn.attachments.attachment_content import user_text_of
from agentcore.chat.turn.text_tool_call_format import WrittenForm, format_call
from agentcore.chat.turn.tool_output import ToolOutput
from agentcore.store.chat.chat_rows import ContextMessage


def dump_message(message: ModelMessage) -> str:
    """Serialise one message for the store."""
    return ModelMessagesTypeAdapter.dump_json([message]).decode()


def searchable_text(message: ModelMessage) -> str:
    """Return the text of the user or the model in a message, as indexed for search."""
    parts = (part for part in message.parts if isinstance(part, UserPromptPart | TextPart))
    return "\n".join(user_text_of(part) if isinstance(part, UserPromptPart) else part.content for part in parts)


def load_messages(stored: Iterable[ContextMessage]) -> list[tuple[int, ModelMessage]]:
    """Parse stored messages, with their numbers; results whose calls were replaced by a summary are left out."""
    messages = [
        (each.number, message) for each in stored for message in ModelMessagesTypeAdapter.validate_json(each.message)
    ]
    requested = {
        part.tool_call_id
        for _, message in messages
        if isinstance(message, ModelResponse)
        for part in message.parts
        if isinstance(part, ToolCallPart)
    }
    known = ((number, _with_results_of(message, requested)) for number, message in messages)
    return [(number, message) for number, message in known if message.parts]


def _with_results_of(message: ModelMessage, wanted: set[str]) -> ModelMessage:
    if isinstance(message, ModelResponse):
        return message
    parts = [part for part in message.parts if not isinstance(part, ToolReturnPart) or part.tool_call_id in wanted]
    return with_parts(message, parts)


def with_parts(message: ModelRequest, parts: Sequence[ModelRequestPart]) -> ModelRequest:
    """Return a message with other parts; itself if they are the same: each request goes through the whole chat."""
    is_same = len(parts) == len(message.parts) and all(map(operator.is_, parts, message.parts))
    return message if is_same else replace(message, parts=parts)


def build_request(
    results: Sequence[tuple[str, str, ToolOutput]], message: str | None = None, attached: Sequence[UserContent] = ()
) -> ModelRequest:
    """Build a request to a model: results of calls (tool, id, output), then a user message.

    Args:
        results: The results.
        message: The message; None: there is none.
        attached: Its attachments.
    """
    parts: list[ModelRequestPart] = [
        ToolReturnPart(
            tool,
            _to_contents(told),
            tool_id,
            metadata={"artifact": told["whole"]} if told.get("whole") else None,
            outcome="success" if told["ok"] else "failed",
        )
        for tool, tool_id, told in results
    ]
    if message is not None:
        words: list[UserContent] = [message] if message else []
        parts.append(UserPromptPart([*words, *attached] if attached else message))
    return ModelRequest(parts=parts)


def _to_contents(told: ToolOutput) -> Any:
    contents: list[str | BinaryContent] = [
        block["text"]
        if block["type"] == "text"
        else BinaryContent(data=b64decode(block["base64"]), media_type=block["mime"])
        for block in told["blocks"]
    ]
    return contents[0] if len(contents) == 1 and isinstance(contents[0], str) else contents


def prepare_for_model(
    messages: Sequence[ModelMessage], *, images: bool, written_form: WrittenForm | None, marks_failures: bool
) -> list[ModelMessage]:
    """Adapt the history to a model: without images, or with calls and results as text, if necessary."""
    adapted = _without_empty_parts(_with_notes(messages))
    if not marks_failures:
        adapted = [_with_plain_failures(each) if isinstance(each, ModelRequest) else each for each in adapted]
    if not images:
        adapted = [_without_images(each) if isinstance(each, ModelRequest) else each for each in adapted]
    if written_form is not None:
        adapted = [_as_text(each, written_form) for each in adapted]
    return adapted


def with_note(messages: Sequence[ModelMessage], note: str) -> Sequence[ModelMessage]:
    """Append a text to the last message, for one request; empty: there is none."""
    if not note:
        return messages
    last = messages[-1] if messages else None
    if isinstance(last, ModelRequest):
        return [*messages[:-1], replace(last, parts=[*last.parts, UserPromptPart(note)])]
    return [*messages, ModelRequest(parts=[UserPromptPart(note)])]


def _without_empty_parts(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Leave out blank text, which some providers refuse, and thinking that was written in tags."""
    adapted: list[ModelMessage] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            kept = [part for part in message.parts if not _is_left_out(part)]
            if len(kept) < len(message.parts):
                message = replace(message, parts=kept)  # noqa: PLW2901 - as it is sent
            if not kept:
                continue
        adapted.append(message)
    return adapted


def _is_left_out(part: ModelResponsePart) -> bool:
    if isinstance(part, TextPart):
        return not part.content.strip()
    return isinstance(part, ThinkingPart) and part.id == THINKING_FIELD


def _with_notes(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Insert a note about each answer that was stopped or cut off, before the next user message."""
    adapted: list[ModelMessage] = []
    for message in messages:
        before = adapted[-1] if adapted else None
        note = _note_about(before) if isinstance(before, ModelResponse) else None
        if note is not None and isinstance(message, ModelRequest):
            results = [part for part in message.parts if isinstance(part, ToolReturnPart)]
            others = [part for part in message.parts if not isinstance(part, ToolReturnPart)]
            adapted.append(replace(message, parts=[*results, UserPromptPart(note), *others]))
        else:
            adapted.append(message)
    return adapted


def _note_about(answer: ModelResponse) -> str | None:
    """Return what the model must know about the end of an answer; None: it ended by itself."""
    metadata = answer.metadata or {}
    if metadata.get(STOPPED):
        return result_text("stopped_answer")
    if metadata.get(REPEATED):
        return result_text("repeated_answer")
    if (tools := metadata.get(CUT_OFF)) is None:
        return None
    return result_text("cut_calls", tools=", ".join(tools)) if tools else result_text("cut_answer")


def _with_plain_failures(message: ModelRequest) -> ModelRequest:
    """Mark failed results as successes: the adapter would turn the text of each failure into JSON."""
    parts = [
        replace(part, outcome="success") if isinstance(part, ToolReturnPart) and part.outcome == "failed" else part
        for part in message.parts
    ]
    return with_parts(message, parts)


def _without_images(message: ModelRequest) -> ModelRequest:
    parts = [
        ToolReturnPart(
            part.tool_name,
            [_replace_image(content) for content in part.content],
            part.tool_call_id,
            outcome=part.outcome,
        )
        if isinstance(part, ToolReturnPart) and isinstance(part.content, list)
        else part
        for part in message.parts
    ]
    return with_parts(message, parts)


def _replace_image(content: Any) -> Any:
    return result_text("no_images", mime=content.media_type) if isinstance(content, BinaryContent) else content


def _as_text(message: ModelMessage, written_form: WrittenForm) -> ModelMessage:
    if isinstance(message, ModelResponse):
        spoken: list[ModelResponsePart] = [
            TextPart(format_call(part.tool_name, part.args_as_dict(), written_form))
            if isinstance(part, ToolCallPart)
            else part
            for part in message.parts
        ]
        return replace(message, parts=spoken)
    asked: list[ModelRequestPart] = [
        UserPromptPart(_result_as_text(part)) if isinstance(part, ToolReturnPart) else part for part in message.parts
    ]
    return replace(message, parts=asked)


def _result_as_text(part: ToolReturnPart) -> str | list[UserContent]:
    head = result_text("tool_result", tool=part.tool_name, id=part.tool_call_id)
    contents: list[Any] = part.content if isinstance(part.content, list) else [part.content]
    if all(isinstance(content, str) for content in contents):
        return "\n\n".join([head, *contents])  # the templates of some local models accept nothing but text
    return [head, *contents]
