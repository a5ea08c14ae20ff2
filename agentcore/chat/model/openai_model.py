"""Models of OpenAI, and of servers that speak its protocol."""

from openai import AsyncOpenAI
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from agentcore.chat.model.providers import OPENAI
from agentcore.chat.settings import ModelChoice


def make(choice: ModelChoice) -> tuple[OpenAIChatModel, AsyncOpenAI]:
    """The model, and the client that it asks with, which the caller closes."""
    client = AsyncOpenAI(
        # a local server wants no key, and the SDK refuses to go without
        api_key=choice.api_key.get_secret_value() or "none",
        base_url=choice.base_url or OPENAI.base_url,
        max_retries=choice.max_retries,
        timeout=choice.timeout_s,
    )
    return OpenAIChatModel(choice.model, provider=OpenAIProvider(openai_client=client)), client
