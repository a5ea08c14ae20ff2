"""Finds the context size of a model: from the settings, its provider's list, or the model library's table."""

import asyncio
import json
import math
import time
from collections.abc import Callable
from typing import Any

import structlog
from pydantic_ai.models import Model

from agentcore.chat.chat_limits import CONTEXT_LIST_SECONDS
from agentcore.chat.model.provider_models import ask_for_list
from agentcore.chat.settings import ModelChoice
from agentcore.errors import ToolError

log = structlog.get_logger(__name__)

_Key = tuple[str, str | None, str]
"""Provider, address and model."""

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


_FRESH_SECONDS = 60.0
"""How long a size is used before the list is asked for again: a server may be restarted with another size."""

_PAUSES = {"provider_timeout": 300.0, "models_not_listed": _FRESH_SECONDS, "provider_rate_limited": _FRESH_SECONDS}
"""How many seconds after an error a provider is asked for its list again: each attempt delays a turn."""


class ContextSizes:
    """The context sizes of models, as their providers say; turns that ask at the same time share one request.

    Args:
        clock: Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[_Key, int | None] = {}
        self._ask_again_s: dict[_Key, float] = {}
        self._locks: dict[_Key, asyncio.Lock] = {}
        self.servers: dict[str | None, str] = {}
        """The header `Server` of addresses whose list was read."""

    async def find_size(self, choice: ModelChoice, model: Model) -> int | None:
        """Return the size of a model's context in tokens; None if it is unknown."""
        if choice.context_tokens is not None:
            return choice.context_tokens
        key = (choice.provider, choice.base_url, choice.model)
        async with self._locks.setdefault(key, asyncio.Lock()):
            if self._clock() >= self._ask_again_s.get(key, -math.inf):
                await self._look_up(key, choice, model)
            return self._known.get(key)

    async def _look_up(self, key: _Key, choice: ModelChoice, model: Model) -> None:
        # in a thread: the library's table is large
        table = await asyncio.to_thread(lambda: model.context_window)
        if choice.base_url is None and table is not None:
            self._known[key] = table
            self._ask_again_s[key] = math.inf  # the table does not change
            return
        try:
            answer = await ask_for_list(choice.protocol.name, choice.base_url, choice.api_key, CONTEXT_LIST_SECONDS)
        except ToolError as exc:
            # a server that is starting, or a key that is corrected, answers later; until then the last size counts
            log.info("context_size_not_listed", model=choice.model, error=exc.type)
            self._known.setdefault(key, table)
            self._ask_again_s[key] = self._clock() + _PAUSES.get(exc.type, 0.0)
            return
        self.servers[choice.base_url] = answer.server
        self._known[key] = parse_context_size(answer.content, choice.model) or table
        self._ask_again_s[key] = self._clock() + _FRESH_SECONDS


def parse_context_size(content: bytes, model: str) -> int | None:
    """Parse the size of a model's context from a list of models; None if it is not in there."""
    try:
        entries: list[Any] = json.loads(content)["data"]
        (entry,) = [entry for entry in entries if entry["id"] == model]
        said = {**(entry.get("meta") or {}), **entry}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None  # the list of another kind of server, or one without this model
    return next((said[name] for name in _FIELDS if type(said.get(name)) is int and said[name] > 0), None)
