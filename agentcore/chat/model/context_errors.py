"""Recognises refusals of requests longer than the model's context, and reads the context size from them."""

import json
import re
from typing import Any

_SMALLEST = 256
"""Tokens; a smaller number in such a message is not the size of a context."""

_TOO_LONG = re.compile(
    "|".join(
        (
            "context_length_exceeded",  # OpenAI, Groq, OpenRouter: the code
            "maximum context length",  # OpenAI, DeepSeek, vLLM, SGLang, Mistral
            "exceed_context_size_error",  # llama.cpp: the type
            "exceeds the available context size",  # llama.cpp
            "prompt is too long",  # Anthropic
            "exceed context limit",  # Anthropic: the prompt together with max_tokens
            "request_too_large",  # Anthropic: bytes
            "exceeds the context length|exceeded max context length",  # Ollama
            "greater than the context length|loaded with context length of",  # LM Studio
            "maximum model length",  # vLLM
            "longer than the model's context",  # SGLang
            "maximum prompt length",  # xAI
            "exceeds the maximum number of tokens",  # Gemini
            "input is too long|too many input tokens",  # Bedrock
            "prompt exceeds max length",  # Zhipu
            "exceeded model token limit",  # Moonshot
            "range of input length should be",  # DashScope
            "reduce the length of the messages",  # Groq
            "input or output tokens must be reduced",  # OpenAI: longer than an account may send in a minute
        )
    ),
    re.IGNORECASE,
)
"""Collected from the documentation and sources of the providers named in the comments."""

_NUMBER = r"[^\da-z]{0,3}(\d[\d,]{2,})"
_LIMITS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"n_ctx[\"']?{_NUMBER}",
        rf"(?:context|prompt|model|model's context|max) length (?:is|of only|of|:)?{_NUMBER}",
        r"(\d[\d,]{2,}) maximum context length",
        rf"context size{_NUMBER}",
        rf"> {_NUMBER}",
        rf"tokens allowed{_NUMBER}",
        rf"(?:token limit|limit):?{_NUMBER}",
        rf"\[1, ?{_NUMBER}",
    )
)


def is_too_long(said: str) -> bool:
    """True if a provider's message, with its codes, says that the request is too long for the model."""
    return _TOO_LONG.search(said) is not None


def parse_context_limit(said: str) -> int | None:
    """Return the context size in tokens that a provider's refusal names; None if it names none."""
    for pattern in _LIMITS:
        for match in pattern.finditer(said):
            limit = int(match[1].replace(",", ""))
            if limit >= _SMALLEST:
                return limit
    return None


def full_error_text(body: Any, exc: Exception) -> str:
    """Return the complete text of a provider's refusal, including its codes."""
    return f"{exc} {body if isinstance(body, str) else json.dumps(body, default=str)}"
