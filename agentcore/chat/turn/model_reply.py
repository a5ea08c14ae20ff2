"""One answer of a model: requested, streamed, and split into text and calls."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponsePart, TextPart, ToolCallPart

from agentcore.chat.client_messages import PageInfo
from agentcore.chat.model.model_requests import Engine
from agentcore.chat.model.offered_tools import OfferedTool
from agentcore.chat.model.system_message_text import Instructions
from agentcore.chat.model.text_tool_call_parsing import WrittenCallFilter, parse_written
from agentcore.chat.session.event_stream import Stream
from agentcore.chat.settings import ModelChoice
from agentcore.chat.system.parts import SystemPart
from agentcore.chat.texts import Locale
from agentcore.chat.turn import history
from agentcore.chat.turn.prompts import build_instructions, system_message
from agentcore.chat.turn.text_tool_call_format import WrittenForm
from agentcore.late_dataclasses import dataclass
from agentcore.store.chat.chat_rows import UsedTokens


def find_written_form(choice: ModelChoice, *, is_for_client: bool) -> WrittenForm | None:
    """Return how a model writes its calls; None: it calls tools natively."""
    if choice.tools != "prompted":
        return None
    return "text" if is_for_client else "tag"


@dataclass(frozen=True, slots=True)
class Prompt:
    """The inputs of a request to a model besides the messages.

    Args:
        choice: The model.
        system: The parts from the session's system plan.
        tools: The tools that it may call.
        page: The user's current page.
        is_for_client: True if a client of the chat endpoint drives the turn: its form of written calls is fixed.
        note: A text for the model after the messages, which is not stored; empty: there is none.
        may_call: False if the model must answer with text.
    """

    choice: ModelChoice
    system: Sequence[SystemPart]
    tools: Sequence[OfferedTool]
    page: PageInfo | None = None
    is_for_client: bool = False
    note: str = ""
    may_call: bool = True

    @property
    def written_form(self) -> WrittenForm | None:
        """How the model writes its calls; None: it calls tools natively."""
        return find_written_form(self.choice, is_for_client=self.is_for_client)


@dataclass(frozen=True, slots=True)
class ModelReply:
    """An answer of a model.

    Args:
        response: The answer, with calls as separate parts even if the model wrote them as text.
        fault: Why a written call could not be parsed; None: all could.
    """

    response: ModelResponse
    fault: str | None = None


def instructions_of(prompt: Prompt, locale: Locale) -> Instructions:
    """Return the instructions to send with a prompt."""
    written_form = prompt.written_form if prompt.may_call else None
    return build_instructions(
        system_message(prompt.system, prompt.tools, prompt.page, locale, written_form=written_form)
    )


def used_tokens(response: ModelResponse) -> UsedTokens:
    """Return the tokens that one answer used."""
    usage = response.usage
    return UsedTokens(usage.input_tokens, usage.output_tokens, 1, usage.cache_read_tokens)


async def ask_model(
    engine: Engine, prompt: Prompt, messages: Sequence[ModelMessage], stream: Stream, *, can_repair: bool
) -> ModelReply:
    """Request an answer from a model, and stream it.

    Args:
        engine: Sends the request.
        prompt: The model and its other inputs.
        messages: The conversation.
        stream: Receives the answer as it arrives.
        can_repair: True if an answer that cannot be parsed is requested again, and so is not shown.
    Raises:
        BrokenAnswerError: The provider refused or failed, or the connection broke.
    """
    choice = prompt.choice
    marks_failures = choice.protocol.marks_failures
    messages = history.with_note(messages, prompt.note)
    sent = history.prepare_for_model(
        messages, images=choice.images, written_form=prompt.written_form, marks_failures=marks_failures
    )
    holder = WrittenCallFilter()
    is_prompted = prompt.written_form is not None
    can_write = is_prompted and bool(prompt.tools) and prompt.may_call

    def show(piece: str) -> None:
        stream.send_content(holder.add_text(piece) if can_write else piece)

    # a request with calls in its history is refused by some providers if it has no definitions
    is_bare = is_prompted or not (prompt.may_call or choice.protocol.needs_definitions)
    offered = [] if is_bare else prompt.tools
    told = instructions_of(prompt, stream.locale)
    response = await engine.request_response(
        choice,
        sent,
        offered,
        told,
        on_text=show,
        on_thinking=stream.publish_thinking,
        on_wait=stream.publish_model_wait,
        may_call=prompt.may_call,
    )
    if not prompt.may_call:
        texts = [part for part in response.parts if not isinstance(part, ToolCallPart)]
        return ModelReply(replace(response, parts=texts))
    if not can_write:
        return ModelReply(response)
    written = parse_written(holder.text, {tool.name for tool in prompt.tools})
    if written.fault is None or not can_repair:
        stream.send_content(holder.flush(written))
    if written.calls:
        spoken: list[ModelResponsePart] = [TextPart(written.text)] if written.text else []
        requested = [ToolCallPart(call.tool_name, call.arguments) for call in written.calls]
        response = replace(response, parts=[*spoken, *requested])
    return ModelReply(response, written.fault)
