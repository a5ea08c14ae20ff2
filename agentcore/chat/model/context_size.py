"""Finds the context size of a model: from the settings, its provider's list, or the model library's table."""

import asyncio
import json
from typing import Any

import structlog
from pydantic_ai.models import Model

from agentcore.chat.bounds import CONTEXT_LIST_SECONDS
from agentcore.chat.model.provider_models import ask_for_list
from agentcore.chat.settings import ModelChoice
from agentcore.errors import ToolError

log = structlog.get_logger(__name__)

_FIELDS = (
    "max_model_len",  # vLLM, SGLang
    "loaded_context_length",  # LM Studio
    "n_ctx",  # llama.cpp
    "context_length",  # OpenRouter, Together
    "context_window",  # Groq
    "max_context_length",  # Mistral, LM Studio
    "max_input_tokens",  # Anthropic, LiteLLM
    "n_ctx_train",  # llama.cpp, where it does not say more
)
"""Fields with the size in an entry of a provider's list, or in the entry's `meta`; the binding ones come first."""


class ContextSizes:
    """The context sizes of models; each is looked up until the provider has answered."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str | None, str], int | None] = {}

    async def find_size(self, choice: ModelChoice, model: Model) -> int | None:
        """Return the size of a model's context in tokens; None if it is unknown."""
        if choice.context_tokens is not None:
            return choice.context_tokens
        key = (choice.provider, choice.base_url, choice.model)
        if key in self._known:
            return self._known[key]
        # in a thread: the library's table is large
        size = await asyncio.to_thread(lambda: model.context_window)
        if choice.base_url is not None or size is None:
            try:
                size = await _find_listed_size(choice) or size
            except ToolError as exc:
                # not stored: a server that is starting, or a key that is corrected, answers later
                log.info("context_size_not_listed", model=choice.model, error=exc.type)
                return size
        self._known[key] = size
        return size


async def _find_listed_size(choice: ModelChoice) -> int | None:
    content = await ask_for_list(choice.provider, choice.base_url, choice.api_key, CONTEXT_LIST_SECONDS)
    return parse_context_size(content, choice.model)


def parse_context_size(content: bytes, model: str) -> int | None:
    """Parse the size of a model's context from a list of models; None if it is not in there."""
    try:
        entries: list[Any] = json.loads(content)["data"]
        (entry,) = [entry for entry in entries if entry["id"] == model]
        said = {**(entry.get("meta") or {}), **entry}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None  # the list of another kind of server, or one without this model
    return next((said[name] for name in _FIELDS if type(said.get(name)) is int and said[name] > 0), None)
