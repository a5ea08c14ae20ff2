"""Errors with which the server refuses a request: a status and an error object."""

from collections.abc import Mapping
from http import HTTPStatus

from agentcore.encoding import to_json
from agentcore.errors import AgentcoreError, ToolError
from agentcore.server.http.response import JSON, Answer

_STATUS = {
    "approval_changed": HTTPStatus.CONFLICT,
    "approval_denied": HTTPStatus.FORBIDDEN,
    "approval_not_found": HTTPStatus.NOT_FOUND,
    "approver_exists": HTTPStatus.CONFLICT,
    "approver_not_found": HTTPStatus.NOT_FOUND,
    "artifact_not_found": HTTPStatus.NOT_FOUND,
    "call_not_found": HTTPStatus.NOT_FOUND,
    "change_not_found": HTTPStatus.NOT_FOUND,
    "config_changed": HTTPStatus.CONFLICT,
    "config_not_written": HTTPStatus.CONFLICT,
    "confirmation_required": HTTPStatus.FORBIDDEN,
    "forbidden": HTTPStatus.FORBIDDEN,
    "invalid_code": HTTPStatus.UNAUTHORIZED,
    "internal_error": HTTPStatus.FAILED_DEPENDENCY,
    "module_failed": HTTPStatus.FAILED_DEPENDENCY,
    "host_not_found": HTTPStatus.NOT_FOUND,
    "module_not_found": HTTPStatus.NOT_FOUND,
    "record_unreadable": HTTPStatus.FAILED_DEPENDENCY,
    "requirement_not_found": HTTPStatus.NOT_FOUND,
    "module_stopping": HTTPStatus.CONFLICT,
    "pairing_not_found": HTTPStatus.NOT_FOUND,
    "pairing_refused": HTTPStatus.FORBIDDEN,
    "provider_not_found": HTTPStatus.NOT_FOUND,
    "skill_not_found": HTTPStatus.NOT_FOUND,
    "invalid_answer": HTTPStatus.BAD_REQUEST,
    "question_not_found": HTTPStatus.NOT_FOUND,
    "resource_busy": HTTPStatus.CONFLICT,
    "resource_not_found": HTTPStatus.NOT_FOUND,
    "icon_not_found": HTTPStatus.NOT_FOUND,
    "message_not_found": HTTPStatus.NOT_FOUND,
    "offer_not_found": HTTPStatus.NOT_FOUND,
    "queue_full": HTTPStatus.TOO_MANY_REQUESTS,
    "secret_not_found": HTTPStatus.NOT_FOUND,
    "session_busy": HTTPStatus.CONFLICT,
    "session_not_found": HTTPStatus.NOT_FOUND,
    "tab_not_found": HTTPStatus.NOT_FOUND,
    "timeout": HTTPStatus.FAILED_DEPENDENCY,
    "tool_call_answered": HTTPStatus.CONFLICT,
    "tool_call_not_found": HTTPStatus.NOT_FOUND,
    "view_not_found": HTTPStatus.NOT_FOUND,
    "unknown_tool": HTTPStatus.NOT_FOUND,
}
"""HTTP statuses of errors that do not come from a call (those of calls are sent with 200); others are sent with 400.

All are 4xx: the caller receives an error object to act on, while 500 would mean a failure that was not foreseen.
"""


class Refusal(AgentcoreError):  # noqa: N818 - it is an answer more than a failure
    """Ends a request with a status and an error object.

    Args:
        status: HTTP status, 4xx.
        type: snake_case.
        message: What is wrong and what to do.
        headers: Further headers of the response.
        closes: True if the connection is closed afterwards.
        context: JSON values that help to act.
    """

    def __init__(
        self,
        status: int,
        type: str,  # noqa: A002 - the name on the wire
        message: str,
        /,
        *,
        retryable: bool = False,
        headers: Mapping[str, str] | None = None,
        closes: bool = False,
        **context: object,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.type = type
        self.message = message
        self.retryable = retryable
        self.headers = headers
        self.closes = closes
        self.context = context

    def to_answer(self) -> Answer:
        """Return the response with the error object."""
        error = {"type": self.type, "message": self.message, "context": self.context, "retryable": self.retryable}
        return Answer(to_json({"ok": False, "error": error}), self.status, JSON, self.headers, closes=self.closes)


def answer_error(error: ToolError, headers: Mapping[str, str] | None = None) -> Answer:
    """Return the response to a request that failed with an error that is not the result of a call."""
    body = to_json({"ok": False, "error": error.to_json()})
    return Answer(body, _STATUS.get(error.type, HTTPStatus.BAD_REQUEST), JSON, headers)
