"""The errors of agentcore: one root, and the one that a caller is meant to read."""

from collections.abc import Sequence

_ERRORS_SAID = 3


class AgentcoreError(Exception):
    """Root of every error that agentcore raises on purpose."""


class ToolError(AgentcoreError):
    """Ends one tool call with an error that the caller, often a model, can act on.

    Args:
        type: snake_case; part of the module's contract, listed in its README.
        message: What happened to which value, and what to try next.
        retryable: Whether the same call can succeed later without a change.
        untrusted: Whether message or context repeat what comes from the open world (the words of a page, an address
            that a server named), so that a model must not take them for the person's wish. Errors of tools with
            `open_world` are taken so in any case.
        context: JSON values that help to act (selector, url, ids); never secrets.
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
        """The error object of the result envelope: type, message, context, retryable."""
        return {"type": self.type, "message": self.message, "context": self.context, "retryable": self.retryable}


class InvalidResultError(ToolError):
    """A tool returned something other than it declares: `invalid_result`, with one entry for each wrong field.

    Args:
        tool: Its name.
        errors: Path in the result (empty: the result itself) and what is wrong there.
        untrusted: Whether the result, whose values the errors repeat, comes from the open world.
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
