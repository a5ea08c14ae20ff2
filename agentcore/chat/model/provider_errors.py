"""What went wrong at a provider, said as what it is."""

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

from agentcore.chat.model.context_errors import all_said, is_too_long, limit_in
from agentcore.chat.settings import ModelChoice
from agentcore.errors import ToolError
from agentcore.secrets import MASK
from agentcore.valid_text import valid_text

_PAGE = re.compile(r"<!doctype html|<html[\s>]", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]*>([^<]+)</title", re.IGNORECASE)
_PAGE_CHARS = 4000
"""What is kept of a web page that came in place of an answer."""

_SAID: tuple[tuple[type[Exception], str, str, bool], ...] = (
    (
        ModelAuthenticationError,
        "provider_unauthorized",
        "the provider refused the key; look at it and at base_url",
        False,
    ),
    (ModelQuotaExceededError, "provider_quota_exceeded", "the account of the provider has no quota left", False),
    (ModelRateLimitError, "provider_rate_limited", "the provider takes no more requests now; try again later", True),
    (ModelNotFoundError, "model_not_found", "the provider knows no such model", False),
    (ContentFilterError, "provider_refused", "the provider's filter stopped the answer", False),
    (ModelRequestRejectedError, "provider_refused", "the provider refused the request", False),
    (ModelTimeoutError, "provider_timeout", "the provider did not answer in time; try again", True),
)


def tell_failure(exc: Exception, choice: ModelChoice, *, has_begun: bool) -> ToolError:
    """The error object of a failed request to a model.

    Args:
        exc: What the SDK raised.
        choice: The model that was asked.
        has_begun: Whether a part of the answer had come.
    """
    status = exc.status_code if isinstance(exc, ModelHTTPError) else None
    context: dict[str, Any] = {"model": f"{choice.provider}:{choice.model}"}
    if status is not None:
        context["status"] = status
    if (page := _page_in(exc)) is not None:
        context["sent"] = _without_key(page, choice)[:_PAGE_CHARS]
    said = all_said(exc.body if isinstance(exc, ModelHTTPError) else None, exc)
    if isinstance(exc, ModelContextWindowExceededError) or (isinstance(exc, ModelAPIError) and is_too_long(said)):
        if (limit := limit_in(said)) is not None:
            context["context_tokens"] = limit
        message = f"the session is too long for the model's context: {_detail(exc, choice)}"
        return ToolError("context_too_long", message, **context)
    for kind, error_type, message, is_retryable in _SAID:
        if isinstance(exc, kind):
            said = f"{message}: {_detail(exc, choice)}"
            return ToolError(error_type, said, retryable=is_retryable, **context)
    if has_begun:
        message = f"the provider's answer broke off: {_detail(exc, choice)}; send the message again"
        return ToolError("provider_stream_broken", message, retryable=True, **context)
    if isinstance(exc, ModelConnectionError):
        message = f"the provider cannot be reached: {_detail(exc, choice)}; look at base_url"
        return ToolError("provider_unreachable", message, retryable=True, **context)
    if isinstance(exc, UserError):
        return ToolError("model_not_configured", f"the model cannot be asked: {_detail(exc, choice)}", **context)
    message = f"the provider failed: {_detail(exc, choice)}; try again"
    return ToolError("provider_failed", message, retryable=isinstance(exc, ModelAPIError), **context)


def _detail(exc: Exception, choice: ModelChoice) -> str:
    """What the provider said, short, and without the key, which some of them repeat."""
    if (page := _page_in(exc)) is not None:
        title = _TITLE.search(page)
        named = f", “{' '.join(unescape(title[1]).split())[:100]}”" if title else ""
        return _without_key(f"it sent a web page{named}, in place of an answer", choice)
    body = exc.body if isinstance(exc, ModelHTTPError) else None
    said = body.get("message") if isinstance(body, dict) else None
    if said is None and isinstance(body, dict) and isinstance(body.get("error"), dict):
        said = body["error"].get("message")
    return _without_key(str(said or exc), choice)[:300]


def _page_in(exc: Exception) -> str | None:
    """The HTML that a provider, or something before it, sent with a refusal; None: it sent none."""
    said = str(exc.body) if isinstance(exc, ModelHTTPError) and isinstance(exc.body, str) else str(exc)
    found = _PAGE.search(said)
    return None if found is None else said[found.start() :]


def _without_key(said: str, choice: ModelChoice) -> str:
    key = choice.api_key.get_secret_value()
    return valid_text(said.replace(key, MASK) if key else said)
