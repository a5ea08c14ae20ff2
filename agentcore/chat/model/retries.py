"""Decides whether a request that a provider refused is sent again, and when."""

import random
import time
from typing import Literal

from pydantic_ai.exceptions import (
    ModelConnectionError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelTimeoutError,
)

from agentcore.chat.model.context_errors import full_error_text
from agentcore.chat.settings import ModelChoice
from agentcore.late_dataclasses import dataclass

LONGEST_WAIT_SECONDS = 600.0
"""A provider that asks for a longer wait is not waited for: the error says how long it asks for."""

STATED_WAITS = 10
"""How often a wait that the provider asked for is granted in one request."""

_LOADING_SECONDS = 2.0
_FIRST_SECONDS = 0.5
_BACK_OFF_SECONDS = 8.0
_RETRIED = frozenset((408, 409, 429, 500, 502, 503, 504, 529))
_RATE_LIMITED = 429

WaitReason = Literal["rate_limited", "loading", "unavailable"]


@dataclass(frozen=True, slots=True)
class ProviderWait:
    """A wait before a request is sent again.

    Args:
        seconds: How long.
        until_ms: When it ends, in milliseconds since 1970.
        reason: `rate_limited`: too many requests; `loading`: a local server loads the model; `unavailable`: it failed,
            is overloaded, or cannot be reached.
    """

    seconds: float
    until_ms: int
    reason: WaitReason


class Retries:
    """The waits of one request to a model.

    Args:
        choice: Its `max_retries` limits how often a request is repeated if the provider does not say when.
    """

    def __init__(self, choice: ModelChoice) -> None:
        self._limit = choice.max_retries
        self._loading_until = time.monotonic() + choice.timeout_s
        self._stated = 0
        self._unstated = 0

    def plan_wait(self, error: Exception) -> ProviderWait | None:
        """Return the wait before the next attempt, after an attempt that failed before anything was received.

        Returns:
            None: The error is final.
        """
        if isinstance(error, ModelConnectionError) and not isinstance(error, ModelTimeoutError):
            return self._back_off("unavailable")
        if not isinstance(error, ModelHTTPError) or not _may_pass(error):
            return None
        if error.status_code != _RATE_LIMITED and "loading" in full_error_text(error.body, error).lower():
            return _make_wait(_LOADING_SECONDS, "loading") if time.monotonic() < self._loading_until else None
        reason: WaitReason = "rate_limited" if error.status_code == _RATE_LIMITED else "unavailable"
        if error.retry_after is None:
            return self._back_off(reason)
        self._stated += 1
        is_granted = self._stated <= STATED_WAITS and error.retry_after <= LONGEST_WAIT_SECONDS
        return _make_wait(error.retry_after, reason) if is_granted else None

    def _back_off(self, reason: WaitReason) -> ProviderWait | None:
        if self._unstated >= self._limit:
            return None
        seconds = min(_FIRST_SECONDS * 2**self._unstated, _BACK_OFF_SECONDS)
        self._unstated += 1
        # not exactly: several agents that were refused together would come back together
        return _make_wait(seconds * random.uniform(0.75, 1.0), reason)  # noqa: S311 - no secret


def _may_pass(error: ModelHTTPError) -> bool:
    """Return True if the same request may be accepted later."""
    if error.in_stream or isinstance(error, ModelQuotaExceededError):
        return False
    hint = error.provider_retry_hint
    return error.status_code in _RETRIED if hint is None else hint


def _make_wait(seconds: float, reason: WaitReason) -> ProviderWait:
    return ProviderWait(seconds, round((time.time() + seconds) * 1000), reason)
