"""Tests a key and an address before they are stored, by requesting the provider's models."""

from urllib.parse import urlsplit

from pydantic import SecretStr

from agentcore.chat.model.connection_failure import address_of
from agentcore.chat.model.provider_models import ASK_SECONDS, ask_for_models, sort_chat_models_first, suggest_model
from agentcore.chat.model.providers import PROVIDERS, ProviderName
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass

_ENDPOINTS = ("/chat/completions", "/completions", "/responses", "/messages", "/models", "/embeddings")
"""Endpoints that users copy along with a base URL from a provider's documentation."""

_VERSION = "/v1"


@dataclass(frozen=True, slots=True)
class ProviderCheck:
    """A key and an address that work.

    Args:
        base_url: The address that answered, which may be a corrected form of the one that was entered; None: the
            provider's own.
        models: Names of models, chat models first.
        suggested: The model to start with; None: there is no chat model.
        is_only_choice: True if no choice is necessary: the provider's own address, or a single model.
    """

    base_url: str | None
    models: list[str]
    suggested: str | None
    is_only_choice: bool


async def check_provider(
    provider: ProviderName, base_url: str | None, key: SecretStr, limit_s: float = ASK_SECONDS
) -> ProviderCheck:
    """Ask a provider for its models with a key that is not stored yet.

    A base URL is tried without an endpoint at its end, and with and without `/v1`, until the provider answers. These
    forms differ in the path only, so that the key is sent to no other server.

    Args:
        provider: The provider, or the one whose protocol a server speaks.
        base_url: The address that was entered; None: the provider's own.
        key: The key; empty for a server that needs none.
        limit_s: How long each attempt may take.
    Raises:
        ToolError: As `ask_for_models`; `models_empty`: the address works, but has no models.
    """
    first_error: ToolError | None = None
    for candidate in address_candidates(provider, base_url):
        try:
            names = await ask_for_models(provider, candidate, key, limit_s)
        except ToolError as exc:
            if exc.type != "models_not_listed":
                raise
            first_error = first_error or exc
            continue
        if not names:
            address = address_of(candidate or PROVIDERS[provider].base_url)
            raise ToolError("models_empty", f"{address} answers, but it has no models for this key.", address=address)
        names = sort_chat_models_first(names)
        return ProviderCheck(
            candidate, names, suggest_model(provider, names), is_only_choice=candidate is None or len(names) == 1
        )
    assert first_error is not None  # noqa: S101 - there is always a candidate
    raise first_error


def address_candidates(provider: ProviderName, base_url: str | None) -> list[str | None]:
    """Return the base URLs that an entered address can mean, the most likely one first; None is the provider's own."""
    if base_url is None:
        return [None]
    cleaned = base_url.rstrip("/")
    for endpoint in _ENDPOINTS:
        cleaned = cleaned.removesuffix(endpoint)
    if cleaned == PROVIDERS[provider].base_url:
        return [None]
    bare = cleaned.removesuffix(_VERSION)
    if PROVIDERS[provider].models_path.startswith(f"{_VERSION}/"):
        return [bare]
    parts = urlsplit(cleaned)
    root = f"{parts.scheme}://{parts.netloc}"
    return list(dict.fromkeys([cleaned, f"{bare}{_VERSION}", bare, f"{root}{_VERSION}"]))
