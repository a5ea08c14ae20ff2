"""Requests to models: their inputs, the streamed answer, and their failures."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, Protocol

import structlog
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from agentcore.chat.model.context_size import ContextSizes
from agentcore.chat.model.endless_answer import (
    ANSWER_CHARS,
    AnswerSize,
    EndlessAnswerError,
    RepetitionWatch,
    without_repeats,
)
from agentcore.chat.model.offered_tools import OfferedTool
from agentcore.chat.model.prompt_progress import REQUEST_FIELD, PromptProgress, PromptReading
from agentcore.chat.model.provider_errors import to_provider_error
from agentcore.chat.model.provider_models import LLAMA_CPP
from agentcore.chat.model.retries import ProviderWait, Retries
from agentcore.chat.model.system_message_text import Instructions
from agentcore.chat.model.tool_support import ToolSupport
from agentcore.chat.model.valid_response import valid_response
from agentcore.chat.settings import ModelChoice
from agentcore.errors import ToolError
from agentcore.tool_formats.dialects import Dialect
from agentcore.valid_text import TextChunks

log = structlog.get_logger(__name__)


class Client(Protocol):
    """A provider's client."""

    async def close(self) -> None:
        """Close its connections."""


class BrokenAnswerError(ToolError):
    """An answer ended with an error; `partial` is the part that was received."""

    def __init__(self, error: ToolError, partial: ModelResponse | None) -> None:
        super().__init__(error.type, error.message, retryable=error.retryable)
        self.context = error.context
        self.partial = partial


class _NothingReceivedError(Exception):
    """A request failed before any part of an answer was received, so it can be sent again."""

    def __init__(self, error: ToolError, cause: Exception) -> None:
        super().__init__(error.message)
        self.error = error
        self.cause = cause


class Engine:
    """Sends requests to models; keeps one client for each until it is closed."""

    def __init__(self) -> None:
        self._models: dict[str, tuple[Model, Client]] = {}
        self._sizes = ContextSizes()
        self._tool_support = ToolSupport()

    async def request_response(
        self,
        choice: ModelChoice,
        messages: Sequence[ModelMessage],
        tools: Sequence[OfferedTool],
        instructions: Instructions,
        *,
        on_text: Callable[[str], None],
        on_thinking: Callable[[str], None],
        on_wait: Callable[[ProviderWait | PromptProgress | None], None] = lambda wait: None,
        may_call: bool = True,
    ) -> ModelResponse:
        """Send a conversation, pass on the text of the answer as it arrives, and return the complete answer.

        A request that the provider cannot answer now is sent again, when the provider says or after a growing delay.

        Args:
            on_wait: Called before each wait, with the progress of a server that reads a long request and reports it,
                and with None after either.
            may_call: False if the model must answer with text, although tools are defined.
        Raises:
            BrokenAnswerError: The provider refused or failed, or the connection broke.
        """
        dialect = choice.dialect
        parameters = ModelRequestParameters(
            function_tools=[_to_tool_definition(tool, dialect) for tool in tools],
            instruction_parts=_parts_of(instructions, marks_cache=choice.protocol.marks_cache),
        )
        settings = ModelSettings() if may_call or not tools else ModelSettings(tool_choice="none")
        if await self._reports_progress(choice):
            settings["extra_body"] = {REQUEST_FIELD: True}
        open_stream = partial(
            model_request_stream,
            messages=list(messages),
            model_settings=settings or None,
            model_request_parameters=parameters,
            instrument=False,
        )
        retries = Retries(choice)
        while True:
            try:
                return await self._request_once(choice, open_stream, on_text, on_thinking, on_wait)
            except _NothingReceivedError as exc:
                wait = retries.plan_wait(exc.cause)
                if wait is None:
                    raise BrokenAnswerError(exc.error, None) from exc.cause
            log.info("model_request_waits", model=choice.model, reason=wait.reason, seconds=round(wait.seconds, 1))
            on_wait(wait)
            try:
                await asyncio.sleep(wait.seconds)
            finally:
                on_wait(None)

    async def _request_once(
        self,
        choice: ModelChoice,
        open_stream: Callable[[Model], AbstractAsyncContextManager[StreamedResponse]],
        on_text: Callable[[str], None],
        on_thinking: Callable[[str], None],
        on_wait: Callable[[PromptProgress | None], None],
    ) -> ModelResponse:
        """Send one request.

        Raises:
            _NothingReceivedError: It failed before any part of an answer was received.
            BrokenAnswerError: It failed later.
        """
        stream = None
        has_begun = False
        text = TextChunks()
        thought = TextChunks()
        size = AnswerSize()
        repeats = {TextPart: RepetitionWatch(), ThinkingPart: RepetitionWatch()}
        try:
            with PromptReading(on_wait) as reading:
                async with open_stream(await self._load_model(choice)) as stream:
                    async for event in stream:
                        reading.end()
                        if chunk := _text_of(event):
                            has_begun = True
                            on_text(text.add(chunk))
                            repeats[TextPart].add(chunk)
                        elif chunk := _thought_of(event):
                            has_begun = True
                            on_thinking(thought.add(chunk))
                            repeats[ThinkingPart].add(chunk)
                        size.add(chunk or _arguments_of(event))
            on_thinking(thought.flush())
            on_text(text.flush())
            received = stream.get()
            response = valid_response(received)
        except EndlessAnswerError as exc:
            log.info("model_answer_stopped", model=choice.model, is_repeated=bool(exc.unit))
            received_part = _without_repeats(_read_partial_response(stream), exc.unit)
            raise BrokenAnswerError(_endless_answer_error(exc, choice), received_part) from exc
        except Exception as exc:
            log.info("model_request_failed", provider=choice.provider, model=choice.model, error=type(exc).__name__)
            error = to_provider_error(exc, choice, has_begun=has_begun or stream is not None)
            if stream is None:
                raise _NothingReceivedError(error, exc) from exc
            raise BrokenAnswerError(error, _read_partial_response(stream)) from exc
        if (problem := _incomplete_answer_error(response, received, choice)) is not None:
            raise BrokenAnswerError(problem, response)
        return response

    async def find_context_tokens(self, choice: ModelChoice) -> int | None:
        """Return the context size of a model; None if it is unknown. Queries the provider until it has answered."""
        return await self._sizes.find_size(choice, await self._load_model(choice))

    async def _reports_progress(self, choice: ModelChoice) -> bool:
        """True if the model's server reports how far it has read a request: llama.cpp does if it is asked to."""
        if choice.protocol.name != "openai" or choice.base_url is None:
            return False
        last = getattr(await self._load_model(choice), "server", "")
        return LLAMA_CPP in (last, self._sizes.servers.get(choice.base_url)) or choice.provider == "llama_cpp"

    async def drops_tools(self, choice: ModelChoice) -> bool:
        """True if the model's server says that it drops the definitions of tools."""
        return await self._tool_support.drops_tools(choice)

    async def close(self) -> None:
        """Close the clients."""
        for _, client in self._models.values():
            await client.close()
        self._models.clear()

    async def _load_model(self, choice: ModelChoice) -> Model:
        key = repr((choice, choice.api_key.get_secret_value()))
        if key not in self._models:
            adapter = await asyncio.to_thread(import_module, choice.protocol.adapter)
            if key not in self._models:  # another turn may have created it meanwhile
                self._models[key] = adapter.create_model(choice)
        return self._models[key][0]


def _to_tool_definition(tool: OfferedTool, dialect: Dialect) -> ToolDefinition:
    schema, _, is_strict = tool.schema.lower_to(dialect)
    # always set `strict`: otherwise the adapters decide it by their own analysis
    description = dialect.shorten_description(tool.description)
    return ToolDefinition(name=tool.name, parameters_json_schema=schema, description=description, strict=is_strict)


def _parts_of(instructions: Instructions, *, marks_cache: bool) -> list[InstructionPart]:
    """Split the instructions only to mark the cache: templates of some local models accept a single system message."""
    lasting, passing = instructions
    if marks_cache:
        parts = [InstructionPart(lasting), InstructionPart(passing, dynamic=True)]
    else:
        parts = [InstructionPart("\n\n".join(text for text in instructions if text))]
    return [part for part in parts if part.content]


def _text_of(event: Any) -> str:
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""


def _thought_of(event: Any) -> str:
    if isinstance(event, PartStartEvent) and isinstance(event.part, ThinkingPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, ThinkingPartDelta):
        return event.delta.content_delta or ""
    return ""


def _arguments_of(event: Any) -> Any:
    if isinstance(event, PartStartEvent) and isinstance(event.part, ToolCallPart):
        return event.part.args
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, ToolCallPartDelta):
        return event.delta.args_delta
    return None


def _endless_answer_error(endless: EndlessAnswerError, choice: ModelChoice) -> ToolError:
    model = f"{choice.provider}:{choice.model}"
    if endless.unit:
        message = "The model repeated the same text word for word, so its answer was stopped."
        return ToolError("answer_repeats", message, model=model)
    message = f"The answer had more than {ANSWER_CHARS:,} characters, so it was stopped."
    return ToolError("answer_cut", message, model=model)


def _without_repeats(partial: ModelResponse | None, unit: str) -> ModelResponse | None:
    """Return the received part of an answer without the repetitions, which would lead the model into them again."""
    if partial is None or not unit:
        return partial
    is_text = (TextPart, ThinkingPart)
    parts = [
        replace(part, content=without_repeats(part.content, unit)) if isinstance(part, is_text) else part
        for part in partial.parts
    ]
    return replace(partial, parts=parts)


def _incomplete_answer_error(response: ModelResponse, received: ModelResponse, choice: ModelChoice) -> ToolError | None:
    """Return the error of an answer that is incomplete, or could not be read completely; None if there is none."""
    model = f"{choice.provider}:{choice.model}"
    if len(response.parts) < len(received.parts):
        message = "The provider's answer is not of the form that its protocol says. Look at its address, or try again."
        return ToolError("provider_failed", message, retryable=True, model=model)
    is_refused = response.finish_reason == "content_filter"
    if not is_refused and not (response.provider_details or {}).get("finish_reason"):
        # the connection closed normally, but before the answer ended; the adapter takes that for the end
        message = "The provider's answer ended before it was complete. Send the message again."
        return ToolError("provider_stream_broken", message, retryable=True, model=model)
    if is_refused:
        refusal = (response.provider_details or {}).get("refusal")
        text = f" It said: {refusal}" if isinstance(refusal, str) else " Say it in another way."
        return ToolError("provider_refused", f"The provider's filter stopped the answer.{text}", model=model)
    if response.finish_reason == "length":
        message = "The answer has reached the longest that the model gives. Tell it to go on."
        return ToolError("answer_cut", message, model=model)
    return None


def _read_partial_response(stream: StreamedResponse | None) -> ModelResponse | None:
    """Return the received part of an answer that failed; None if nothing can be stored."""
    try:
        return None if stream is None else valid_response(stream.get())
    except (TypeError, ValueError, AttributeError):  # chunks of unexpected types, often why it failed
        return None
