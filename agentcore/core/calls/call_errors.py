"""The errors with which the core itself ends calls."""

from typing import Any

import structlog

from agentcore.api import ResourceUse
from agentcore.core.calls.call import Call
from agentcore.core.declarations.hosted_names import host_title
from agentcore.core.module_code.module_error import log_failure, type_name
from agentcore.core.module_code.tool_errors import plain_error
from agentcore.errors import InvalidResultError, ToolError
from agentcore.secrets import mask_known_secrets, mask_known_secrets_inside

log = structlog.get_logger(__name__)


class CallTimeout(Exception):  # noqa: N818 - it is no error of its own, but the mark of one
    """Cuts a call off that was not done in time.

    Args:
        limit_s: The time that it had, in seconds.
    """

    def __init__(self, limit_s: float) -> None:
        super().__init__()
        self.limit_s = limit_s


class CallDetached(Exception):  # noqa: N818 - it is no error of its own, but the mark of one
    """Ends a call here that continues in its host: the next server resumes it, and the record leaves it open."""


class ModuleError(ToolError):
    """An error that a module raised to end a call, read into plain values."""


def read_error(call: Call, error: ToolError) -> ModuleError:
    """Convert the error with which a module ended a call, so that it can be stored, sent and reported.

    Raises:
        WrongToolError: Its type is not snake_case.
    """
    if isinstance(error, InvalidResultError):
        log_failure(log, "result_invalid", error, call_id=call.id, tool=call.request.tool)
    plain = plain_error(error)
    untrusted = plain.untrusted or call.is_of_open_world
    read = ModuleError(plain.type, mask_known_secrets(plain.message), retryable=plain.retryable, untrusted=untrusted)
    read.context = mask_known_secrets_inside(plain.context)
    return read


def error_from_exception(call: Call, exc: BaseException) -> ToolError:
    """Convert any other exception: to `timeout`, or `internal_error` with its traceback in the log."""
    if type(exc) is CallTimeout:  # no isinstance: a foreign object's class may lie, or raise
        return ToolError(
            "timeout",
            f"{call.request.tool} was not done within {exc.limit_s:g} s; give it more with timeout_ms",
            retryable=True,
            timeout_ms=int(exc.limit_s * 1000),
        )
    log_failure(log, "call_failed", exc, call_id=call.id, tool=call.request.tool)
    return ToolError(
        "internal_error",
        f"{call.request.tool} failed with {type_name(exc)}; the log has the traceback under {call.id}",
        call_id=call.id,
    )


def unreachable_resource_error(call: Call, use: ResourceUse, named: str, reason: str = "") -> ToolError:
    """Return the error for an unreachable resource: others' are unknown; for the caller's own, the module may give a
    reason."""
    message = reason or f"there is no {use.type.replace('_', ' ')} {named!r} in session {call.session_id!r}"
    context: dict[str, Any] = {"resource_id" if use.key is None else use.argument: named}
    # a reason may contain text from outside, such as a page's address
    return ToolError(use.not_found, message, untrusted=bool(reason), **context)


def target_gone(resource_id: str) -> ToolError:
    """Return the error of a call that waited for approval while its resource ended."""
    message = (
        f"{resource_id!r}, on which this call was to act, ended while the call waited; nothing was done. Look at what"
        " is there now, and call it again"
    )
    return ToolError("resource_not_found", message, resource_id=resource_id)


def on_other_host(now: str, before: str, *, is_approved: bool) -> ToolError:
    """Return the error of a call that would run on another machine than the one that was checked, and possibly
    approved.

    Args:
        now: The host where it would run; empty: the server.
        before: The one that was checked.
    """
    message = f"the call would run on {host_title(now)} now, and no longer on {host_title(before)}; send it again"
    if is_approved:
        return ToolError("approval_denied", message, host=now)
    return ToolError("module_stopping", message, retryable=True, host=now)


def cancelled_error() -> ToolError:
    """Somebody ended the call."""
    return ToolError("cancelled", "the call was cancelled")


def chat_refused(host: str, operation: str) -> ToolError:
    """Return the error of a foreign machine that requests chat data without the user's permission."""
    message = (
        f"host {host!r} may not use {operation!r}: the user has not allowed it to use chats, their models and agents; "
        f"`agentcore hosts chats {host} on` asks the user to allow it"
    )
    return ToolError("host_not_allowed", message, host=host, operation=operation)
