"""The errors of agentcore: their root, and the error that callers receive."""

from collections.abc import Sequence

_ERRORS_SAID = 3


class AgentcoreError(Exception):
    """Root of all errors that agentcore raises on purpose."""


class ToolError(AgentcoreError):
    """Ends one tool call with an error that the caller, often a model, can act on.

    Args:
        type: snake_case; part of the module's contract, listed in its README.
        message: What happened to which value, and what to try next.
        retryable: True if the same call may succeed later without a change.
        untrusted: True if message or context repeat content from the open world (text of a page, an address named by a
            server), so that a model must not treat it as the user's request. Errors of tools with `open_world` are
            always treated this way.
        context: JSON values that help the caller (selector, url, ids); never secrets.
    """

    def __init__(
        self,
        type: str,  # noqa: A002 - the name on the wire
        message: str,
        /,
        *,
        retryable: bool = False,
        untrusted: bool = False,
        **context: object,
    ) -> None:
        super().__init__(message)
        self.untrusted = untrusted
        self.type = type
        self.message = message
        self.retryable = retryable
        self.context = context

    def to_json(self) -> dict[str, object]:
        """Return the error object of the result envelope: type, message, context, retryable."""
        return {"type": self.type, "message": self.message, "context": self.context, "retryable": self.retryable}


class InvalidResultError(ToolError):
    """A tool returned something other than it declares: `invalid_result`, with one entry per wrong field.

    Args:
        tool: The tool's name.
        errors: Path in the result (empty: the result itself) and the problem there.
        untrusted: True if the result, whose values the errors repeat, comes from the open world.
    """

    def __init__(self, tool: str, errors: Sequence[tuple[str, str]], *, untrusted: bool = False) -> None:
        entries = [{"path": path, "message": message[:1].lower() + message[1:]} for path, message in errors]
        shown = "; ".join(f"{entry['path'] or 'result'}: {entry['message']}" for entry in entries[:_ERRORS_SAID])
        more = f" (and {len(entries) - _ERRORS_SAID} more)" if len(entries) > _ERRORS_SAID else ""
        super().__init__(
            "invalid_result",
            f"{tool} returned something other than it declares, which is a defect of the tool: {shown}{more}.",
            untrusted=untrusted,
            tool=tool,
            errors=entries,
        )
