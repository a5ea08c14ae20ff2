"""The errors of agentcore: one root, and the one that a caller is meant to read."""


class AgentcoreError(Exception):
    """Root of every error that agentcore raises on purpose."""


class ToolError(AgentcoreError):
    """Ends one tool call with an error that the caller, often a model, can act on.

    Args:
        type: snake_case; part of the module's contract, listed in its README.
        message: What happened to which value, and what to try next.
        retryable: Whether the same call can succeed later without a change.
        context: JSON values that help to act (selector, url, ids); never secrets.
    """

    def __init__(self, type: str, message: str, /, *, retryable: bool = False, **context: object) -> None:  # noqa: A002
        super().__init__(message)
        self.type, self.message, self.retryable, self.context = type, message, retryable, context

    def to_json(self) -> dict[str, object]:
        """The error object of the result envelope: type, message, context, retryable."""
        return {"type": self.type, "message": self.message, "context": self.context, "retryable": self.retryable}
