"""Converts exceptions of requests to providers into errors that name the cause."""

import re
from html import unescape
from typing import Any

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelTimeoutError,
    UserError,
)

from agentcore.chat.model.connection_failure import address_of, no_answer_in_time, no_connection, redirected
from agentcore.chat.model.context_errors import full_error_text, is_too_long, parse_context_limit
from agentcore.chat.model.tool_support import TOOLS_NOT_SUPPORTED, is_tool_refusal
from agentcore.chat.settings import ModelChoice
from agentcore.errors import ToolError
from agentcore.secrets import MASK
from agentcore.valid_text import valid_text

_PAGE = re.compile(r"<!doctype html|<html[\s>]", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]*>([^<]+)</title", re.IGNORECASE)
_PAGE_CHARS = 4000
"""Maximum length of a web page, sent in place of an answer, that is stored."""

_SAID: tuple[tuple[type[Exception], str, str, bool], ...] = (
    (
        ModelAuthenticationError,
        "provider_unauthorized",
        "The provider refused the key. Look at it and at the address.",
        False,
    ),
    (ModelQuotaExceededError, "provider_quota_exceeded", "The account has no quota left at the provider.", False),
    (ModelRateLimitError, "provider_rate_limited", "The provider takes no more requests now. Try again later.", True),
    (ModelNotFoundError, "model_not_found", "The provider knows no such model.", False),
    (ContentFilterError, "provider_refused", "The provider's filter stopped the answer.", False),
    (ModelRequestRejectedError, "provider_refused", "The provider refused the request.", False),
)


def to_provider_error(exc: Exception, choice: ModelChoice, *, has_begun: bool) -> ToolError:
    """Create the error of a failed request to a model.

    Args:
        exc: The SDK's exception.
        choice: The requested model.
        has_begun: True if a part of the answer had arrived.
    """
    base_url = choice.base_url or choice.protocol.base_url
    context: dict[str, Any] = {"model": f"{choice.provider}:{choice.model}"}
    error = _connection_error(exc, choice, base_url, has_begun=has_begun)
    if error is not None:
        error.context |= context
        return error
    if isinstance(exc, ModelHTTPError):
        context["status"] = exc.status_code
    words = _describe_provider_message(exc, choice, base_url, context)
    said = full_error_text(exc.body if isinstance(exc, ModelHTTPError) else None, exc)
    if isinstance(exc, ModelContextWindowExceededError) or (isinstance(exc, ModelAPIError) and is_too_long(said)):
        if (limit := parse_context_limit(said)) is not None:
            context["context_tokens"] = limit
        message = f"The session is too long for the model's context. {words}"
        return ToolError("context_too_long", message, **context)
    if isinstance(exc, ModelAPIError) and exc.retry_after:
        context["retry_after_s"] = exc.retry_after
        words = f"{words} It takes requests again in {_format_duration(exc.retry_after)}."
    for kind, error_type, message, is_retryable in _list_causes(exc, choice, said):
        if isinstance(exc, kind):
            return ToolError(error_type, f"{message} {words}", retryable=is_retryable, **context)
    if has_begun:
        message = f"The provider's answer broke off. {words} Send the message again."
        return ToolError("provider_stream_broken", message, retryable=True, **context)
    if isinstance(exc, UserError):
        error_type = "model_not_configured"
        message = f"The model cannot be asked. {words}"
    else:
        error_type = "provider_failed"
        message = f"The provider failed. {words} Try again."
    return ToolError(error_type, message, retryable=isinstance(exc, ModelAPIError), **context)


_NO_TOOLS = (
    ModelHTTPError,
    TOOLS_NOT_SUPPORTED,
    "The model cannot be given tools. Let it write its calls in this chat.",
    False,
)


def _list_causes(exc: Exception, choice: ModelChoice, said: str) -> tuple[tuple[type[Exception], str, str, bool], ...]:
    """Return what an exception may mean, the most particular first."""
    is_about_tools = isinstance(exc, ModelHTTPError) and choice.tools != "prompted" and is_tool_refusal(said)
    return (_NO_TOOLS, *_SAID) if is_about_tools else _SAID


def _describe_provider_message(exc: Exception, choice: ModelChoice, base_url: str, context: dict[str, Any]) -> str:
    """Return the provider's message as a short sentence; add it to the context without the key, which some repeat."""
    if (page := _page_in(exc)) is not None:
        title = _TITLE.search(page)
        named = _without_key(" ".join(unescape(title[1]).split()), choice)[:100] if title else ""
        address = address_of(base_url)
        context |= {"reason": "web_page", "address": address, "title": named}
        context["sent"] = _without_key(page, choice)[:_PAGE_CHARS]
        return f"{address} sent a web page{f', “{named}”,' if named else ''} in place of an answer."
    body = exc.body if isinstance(exc, ModelHTTPError) else None
    said = body.get("message") if isinstance(body, dict) else None
    if said is None and isinstance(body, dict) and isinstance(body.get("error"), dict):
        said = body["error"].get("message")
    words = context["said"] = _without_key(str(said or exc), choice)[:300]
    return f"{words if isinstance(exc, UserError) else f'It said: {words}'}".rstrip(".") + "."


def _connection_error(exc: Exception, choice: ModelChoice, base_url: str, *, has_begun: bool) -> ToolError | None:
    """Create the error for a provider that was not reached, or answered with a redirect; None for another cause."""
    if isinstance(exc, ModelTimeoutError):
        return no_answer_in_time(base_url, choice.timeout_s)
    if isinstance(exc, ModelConnectionError) and not has_begun:
        return no_connection(exc, base_url)
    response = getattr(exc.__cause__, "response", None)
    if response is not None and response.is_redirect:
        return redirected(base_url, response.headers["location"])
    return None


def _format_duration(seconds: float) -> str:
    for unit, size in (("hour", 3600), ("minute", 60)):
        if seconds >= 2 * size:
            return f"{round(seconds / size)} {unit}s"
    return f"{round(seconds)} seconds"


def _page_in(exc: Exception) -> str | None:
    """Return the HTML that a provider, or a server in front of it, sent with a refusal; None if there is none."""
    said = str(exc.body) if isinstance(exc, ModelHTTPError) and isinstance(exc.body, str) else str(exc)
    found = _PAGE.search(said)
    return None if found is None else said[found.start() :]


def _without_key(said: str, choice: ModelChoice) -> str:
    key = choice.api_key.get_secret_value()
    return valid_text(said.replace(key, MASK) if key else said)
