"""Models: providers, their keys and model lists, and requests to models."""

from agentcore.chat.model.connections import PROVIDER_NAME, Connection, ProviderId, StoredProvider
from agentcore.chat.model.local_servers import LocalServer
from agentcore.chat.model.provider_keys import ProviderKeys
from agentcore.chat.model.provider_models import suggest_model
from agentcore.chat.model.providers import DEFAULT_PROVIDER, PROVIDERS
