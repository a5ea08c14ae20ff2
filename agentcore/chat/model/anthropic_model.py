"""Models of Anthropic."""

from anthropic import AsyncAnthropic
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from agentcore.chat.model.providers import ANTHROPIC
from agentcore.chat.settings import ModelChoice


def make(choice: ModelChoice) -> tuple[AnthropicModel, AsyncAnthropic]:
    """The model, and the client that it asks with, which the caller closes."""
    client = AsyncAnthropic(
        api_key=choice.api_key.get_secret_value() or "none",
        base_url=choice.base_url or ANTHROPIC.base_url,
        max_retries=choice.max_retries,
        timeout=choice.timeout_s,
    )
    return AnthropicModel(choice.model, provider=AnthropicProvider(anthropic_client=client)), client
