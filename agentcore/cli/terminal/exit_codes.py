"""Exit codes of commands, and the error that ends a command with a message and a hint."""

import sys
from enum import IntEnum
from typing import IO, Any

import click


class ExitCode(IntEnum):
    """Exit codes, which are part of the command line's contract."""

    OK = 0
    CALL_FAILED = 1
    USAGE = 2
    UNREACHABLE = 3
    LOOP_BLOCKED = 24  # the number of the signal with which the server's guard kills it
    INTERRUPTED = 130


class CliError(click.ClickException):
    """Ends a command with a message, a hint, and an exit code.

    Args:
        message: What happened.
        hint: What to do about it, unless the message already says so.
        code: The exit code.
    """

    def __init__(self, message: str, *, hint: str = "", code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(message)
        self.hint = hint
        self.exit_code = int(code)  # type: ignore[misc]  # click declares it for the class; ours differs by error

    def show(self, file: IO[Any] | None = None) -> None:
        """Write message and hint to stderr."""
        from agentcore.cli.terminal.output import colour_text, print_notice

        print_notice(self.message, colour_text("error:", "red", sys.stderr, bold=True))
        if self.hint:
            print_notice(f"  {self.hint}")


def to_cli_error(error: Exception) -> CliError | None:
    """Convert an uncaught agentcore error into a `CliError`; return None for any other exception, which is a defect."""
    # Importing it would load pydantic, and code that raises an agentcore error has already imported it.
    if "agentcore.errors" not in sys.modules:
        return None
    from agentcore.errors import AgentcoreError, ToolError

    if isinstance(error, ToolError):
        return CliError(f"{error.type}: {error.message}", code=ExitCode.CALL_FAILED)
    if isinstance(error, AgentcoreError):
        from agentcore.store.state.state_errors import StateLockedError

        is_locked = isinstance(error, StateLockedError)
        return CliError(str(error), code=ExitCode.UNREACHABLE if is_locked else ExitCode.USAGE)
    return None
