"""Adapter for models of OpenAI, and of servers that speak its protocol."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from openai import AsyncOpenAI, AsyncStream, DefaultAsyncHttpxClient, NotGiven, Omit
from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam
from openai.types.chat.chat_completion_chunk import Choice
from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponseStreamEvent
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings, OpenAIStreamedResponse
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from agentcore.chat.model.openai_stream import DETAILS_FIELD, ChatStream
from agentcore.chat.model.providers import OPENAI
from agentcore.chat.model.thinking_tags import THINKING_FIELD
from agentcore.chat.settings import ModelChoice

_NO_TAGS = "\0", "\0"
"""Tags that never occur: tags are read before the adapter sees the text."""

_PROFILE = OpenAIModelProfile(thinking_tags=_NO_TAGS)


def create_model(choice: ModelChoice) -> tuple[OpenAIChatModel, AsyncOpenAI]:
    """Create the model and its client, which the caller closes."""
    client = create_client(choice)
    send_as_given(client.chat.completions, "messages", "tools", required={"messages": ()})
    # sent as it is: which models of a service accept which effort, only the service knows
    settings = OpenAIChatModelSettings(openai_reasoning_effort=choice.effort) if choice.effort else None
    provider = OpenAIProvider(openai_client=client)
    return _ChatModel(choice.model, provider=provider, profile=_PROFILE, settings=settings), client


def create_client(choice: ModelChoice) -> AsyncOpenAI:
    """Create the client of a model."""
    return AsyncOpenAI(
        # local servers need no key, but the SDK requires one
        api_key=choice.api_key.get_secret_value() or "none",
        base_url=choice.base_url or OPENAI.base_url,
        max_retries=0,  # `Engine` repeats requests, so that a wait is shown
        timeout=choice.timeout_s,
        http_client=DefaultAsyncHttpxClient(follow_redirects=False),  # a redirect would send key and chat elsewhere
    )


def send_as_given(resource: Any, *fields: str, required: Mapping[str, Any] | None = None) -> None:
    """Have a resource of the SDK send fields of its `create` as they are.

    The SDK holds each value in them against all types that its place may have: half a millisecond for each message of
    the chat, in every request, while nothing else runs. They are complete already.

    Args:
        required: Values that the SDK needs in place of some of them.
    """
    create = resource.create

    async def create_as_given(*, extra_body: Any = None, **arguments: Any) -> Any:
        given = {name: arguments.pop(name) for name in fields if name in arguments}
        given = {name: value for name, value in given.items() if not isinstance(value, NotGiven | Omit)}
        return await create(**(required or {}), **arguments, extra_body={**given, **(extra_body or {})})

    resource.create = create_as_given


class _StreamedResponse(OpenAIStreamedResponse):
    def _map_thinking_delta(self, choice: Choice) -> Iterable[ModelResponseStreamEvent]:
        thought = getattr(choice.delta, THINKING_FIELD, None)
        if not thought:
            return super()._map_thinking_delta(choice)
        return self._parts_manager.handle_thinking_delta(
            vendor_part_id=THINKING_FIELD, id=THINKING_FIELD, content=thought, provider_name=self.provider_name
        )

    def _map_chunk_provider_details(self, chunk: ChatCompletionChunk) -> dict[str, Any] | None:
        delta = chunk.choices[0].delta if chunk.choices else None
        details = None if delta is None else getattr(delta, DETAILS_FIELD, None)
        return {DETAILS_FIELD: details} if details else None


class _ChatModel(OpenAIChatModel):
    """Reads streams in one form, and sends messages that every server accepts.

    Attributes:
        server: The header `Server` of its last answer; empty: none yet.
    """

    server = ""

    @property
    def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
        return _StreamedResponse

    async def _process_streamed_response(
        self,
        response: AsyncStream[ChatCompletionChunk],
        model_request_parameters: ModelRequestParameters,
        model_settings: OpenAIChatModelSettings | None = None,
    ) -> OpenAIStreamedResponse:
        self.server = response.response.headers.get("server", "")
        offered = [tool.name for tool in model_request_parameters.function_tools]
        stream = cast("AsyncStream[ChatCompletionChunk]", ChatStream(response, offered))
        return await super()._process_streamed_response(stream, model_request_parameters, model_settings)

    def _map_model_response(self, message: ModelResponse) -> ChatCompletionMessageParam | None:
        mapped: Any = super()._map_model_response(message)
        details = (message.provider_details or {}).get(DETAILS_FIELD)
        if mapped is not None and details and message.provider_url == self._provider.base_url:
            mapped[DETAILS_FIELD] = details
        return cast("ChatCompletionMessageParam | None", mapped)

    async def _map_messages(
        self,
        messages: Sequence[ModelMessage],
        model_request_parameters: ModelRequestParameters,
        *,
        model_settings: ModelSettings | None = None,
    ) -> list[ChatCompletionMessageParam]:
        mapped = await super()._map_messages(messages, model_request_parameters, model_settings=model_settings)
        return _merge_adjacent(mapped)


def _merge_adjacent(messages: Sequence[Any]) -> list[Any]:
    """Merge adjacent messages of the user, and of the assistant: the templates of many models require it."""
    merged: list[Any] = []
    for message in messages:
        before: Any = merged[-1] if merged else {}
        is_same = message["role"] in ("user", "assistant") and before.get("role") == message["role"]
        if is_same and not before.get("tool_calls"):
            merged[-1] = {**before, **message, "content": _join_contents(before.get("content"), message.get("content"))}
        else:
            merged.append(message)
    return merged


def _join_contents(one: Any, other: Any) -> Any:
    if not one or not other:
        return one or other
    if isinstance(one, str) and isinstance(other, str):
        return f"{one}\n\n{other}"
    return [*_content_parts(one), *_content_parts(other)]


def _content_parts(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
