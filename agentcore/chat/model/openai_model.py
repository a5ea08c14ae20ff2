"""Adapter for models of OpenAI, and of servers that speak its protocol."""

from openai import AsyncOpenAI
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from agentcore.chat.model.providers import OPENAI
from agentcore.chat.settings import ModelChoice


def create_model(choice: ModelChoice) -> tuple[OpenAIChatModel, AsyncOpenAI]:
    """Create the model and its client, which the caller closes."""
    client = AsyncOpenAI(
        # local servers need no key, but the SDK requires one
        api_key=choice.api_key.get_secret_value() or "none",
        base_url=choice.base_url or OPENAI.base_url,
        max_retries=choice.max_retries,
        timeout=choice.timeout_s,
    )
    return OpenAIChatModel(choice.model, provider=OpenAIProvider(openai_client=client)), client
