"""The errors with which the host itself ends calls."""

import re
import traceback
from typing import Any

import pydantic_core
import structlog

from agentcore.api.definition import ResourceUse
from agentcore.api.errors import ToolError
from agentcore.host.call import Call
from agentcore.host.encoding import to_json
from agentcore.store.errors import RecordWriteError
from agentcore.valid_text import valid_text

log = structlog.get_logger(__name__)

_TYPE = re.compile(r"[a-z][a-z0-9_]{0,63}")


class CallTimeout(Exception):  # noqa: N818 - it is no error of its own, but the mark of one
    """Cuts a call off that was not done in time.

    Args:
        limit_s: The time that it had, in seconds.
    """

    def __init__(self, limit_s: float) -> None:
        super().__init__()
        self.limit_s = limit_s


class ModuleError(ToolError):
    """What a module raised to end a call, read at the border: a type that is one, words that can be sent."""


def read_error(call: Call, error: ToolError) -> ModuleError:
    """The error with which a module ended a call, as it can be stored, sent and told.

    Raises:
        TypeError: Its type is no name in snake_case, its message no text, or its context no object.
    """
    texts: tuple[object, object] = error.type, error.message  # a module may have put anything there
    if not all(isinstance(each, str) for each in texts) or not _TYPE.fullmatch(error.type):
        raise TypeError("the type of a ToolError must be a name in snake_case, and its message a text")
    context = pydantic_core.from_json(to_json(error.context))
    if not isinstance(context, dict):
        raise TypeError("the context of a ToolError must be an object")
    untrusted = bool(error.untrusted) or call.is_of_open_world
    read = ModuleError(error.type, valid_text(error.message), retryable=bool(error.retryable), untrusted=untrusted)
    read.context = context
    return read


def defect(call: Call, exc: BaseException) -> ToolError:
    """What becomes of any other exception: `timeout`, or `internal_error` with its traceback in the log."""
    if isinstance(exc, CallTimeout):
        return ToolError(
            "timeout",
            f"{call.request.tool} was not done within {exc.limit_s:g} s; give it more with timeout_ms",
            retryable=True,
            timeout_ms=int(exc.limit_s * 1000),
        )
    text = "".join(traceback.format_exception(exc))
    log.error("call_failed", call_id=call.id, tool=call.request.tool, traceback=text)
    return ToolError(
        "internal_error",
        f"{call.request.tool} failed with {type(exc).__name__}; the log has the traceback under {call.id}",
        call_id=call.id,
    )


def unreachable(call: Call, use: ResourceUse, named: str) -> ToolError:
    """Others' resources are as if they were not."""
    message = f"there is no {use.type.replace('_', ' ')} {named!r} in session {call.session_id!r}"
    context: dict[str, Any] = {"resource_id" if use.key is None else use.argument: named}
    return ToolError(use.not_found, message, **context)


def unrecorded(exc: RecordWriteError) -> ToolError:
    """A call that cannot be recorded does not run."""
    message = (
        f"the call did not run, because it could not be recorded: {exc}; make room on the disk of the state folder"
    )
    return ToolError("record_unavailable", message, retryable=True)


def cancelled() -> ToolError:
    """Somebody ended the call."""
    return ToolError("cancelled", "the call was cancelled")
