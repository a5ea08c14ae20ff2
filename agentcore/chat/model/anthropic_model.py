"""Adapter for models of Anthropic."""

from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.providers.anthropic import AnthropicProvider

from agentcore.chat.model.providers import ANTHROPIC
from agentcore.chat.settings import ModelChoice

_CACHED = AnthropicModelSettings(
    # markers on blocks, which other servers with this protocol accept or ignore; the top-level key is Anthropic's own
    anthropic_cache_tool_definitions=True,
    anthropic_cache_instructions=True,
    anthropic_cache_messages=True,
)
"""Cached for five minutes: tools, the lasting instructions, the conversation so far.

Source: https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching.
"""


def create_model(choice: ModelChoice) -> tuple[AnthropicModel, AsyncAnthropic]:
    """Create the model and its client, which the caller closes."""
    client = AsyncAnthropic(
        api_key=choice.api_key.get_secret_value() or "none",
        base_url=choice.base_url or ANTHROPIC.base_url,
        max_retries=0,  # as in the other adapter
        timeout=choice.timeout_s,
        http_client=DefaultAsyncHttpxClient(follow_redirects=False),  # as in the other adapter
    )
    provider = AnthropicProvider(anthropic_client=client)
    # the library knows which models take an effort, and which a number of tokens for their thoughts
    settings = AnthropicModelSettings(**_CACHED, thinking=choice.effort) if choice.effort else _CACHED
    return AnthropicModel(choice.model, provider=provider, settings=settings), client
