"""Adapter for OpenAI's responses API, in which a model's reasoning goes back to it, encrypted."""

from typing import Any

from openai import AsyncOpenAI
from pydantic_ai.messages import ModelResponse, ModelResponsePart, ThinkingPart
from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.providers.openai import OpenAIProvider

from agentcore.chat.model.openai_model import create_client, send_as_given
from agentcore.chat.settings import ModelChoice

_NOT_STORED = OpenAIResponsesModelSettings(openai_store=False)
"""The conversation is agentcore's own: the service keeps nothing that a later request refers to."""


def create_model(choice: ModelChoice) -> tuple[OpenAIResponsesModel, AsyncOpenAI]:
    """Create the model and its client, which the caller closes."""
    client = create_client(choice)
    send_as_given(client.responses, "input", "tools")
    settings = _NOT_STORED
    if choice.effort:
        settings = OpenAIResponsesModelSettings(**_NOT_STORED, openai_reasoning_effort=choice.effort)
    return _ResponsesModel(choice.model, provider=OpenAIProvider(openai_client=client), settings=settings), client


class _ResponsesModel(OpenAIResponsesModel):
    """Sends reasoning to the address that it came from, and nowhere else."""

    def accepts_stateless_artifacts(self, response: ModelResponse, part: ModelResponsePart | None = None) -> bool:
        return response.provider_url == self.base_url and super().accepts_stateless_artifacts(response, part)

    def _map_response_thinking_part(
        self, item: ThinkingPart, response_context: Any, context: Any, *, should_send_item_id: bool
    ) -> None:
        # the library would send other models' thinking as text, which this model then imitates
        if self.accepts_stateless_artifacts(response_context.message, item):
            super()._map_response_thinking_part(
                item, response_context, context, should_send_item_id=should_send_item_id
            )
