"""Models: providers, their keys and lists, one request and its answer."""

from agentcore.chat.model.provider import DEFAULT_PROVIDER, PROVIDERS, ProviderName
from agentcore.chat.model.provider_keys import StoredProvider
