"""Errors of the state folder and its content."""

from pathlib import Path

from agentcore.errors import AgentcoreError, ToolError
from agentcore.store.state.server_info import ServerInfo


class StateDirError(AgentcoreError):
    """The state folder or a file in it cannot be used as it is; the message says what to change."""


class StateLockedError(StateDirError):
    """Another process holds the state folder.

    Args:
        server: What the holder wrote about itself; None: it does not serve (a command is running), or not yet.
    """

    def __init__(self, folder: Path, server: ServerInfo | None, /) -> None:
        who = "another agentcore process"
        if server is not None:
            addresses = ", ".join(server.addresses.values()) or "no address yet"
            who = f"process {server.pid} ({addresses}, {server.config})"
        super().__init__(
            f"the state folder {folder} is held by {who}; use that one, end it,"
            " or set AGENTCORE_STATE_DIR to another folder"
        )
        self.folder = folder
        self.server = server


class DatabaseTooNewError(AgentcoreError):
    """The database was written by a later version of agentcore; it is left unchanged."""


class DatabaseUnusableError(StateDirError):
    """The database is not from this agentcore, or cannot be migrated to its schema; it is left unchanged."""

    def __init__(self, path: Path, reason: str, /) -> None:
        super().__init__(
            f"{path} cannot be used as the database: {reason}; put a backup in its place, move it away so that a new"
            " one is begun, or set AGENTCORE_STATE_DIR to another folder"
        )


class RecordWriteError(AgentcoreError):
    """The record of calls cannot be written now (a full disk, for instance); nothing is lost, and it is retried."""

    def as_tool_error(self) -> ToolError:
        """Return a `record_unavailable` error: a call that cannot be recorded does not run."""
        message = (
            f"the call did not run, because it could not be recorded: {self}; make room on the disk of the state folder"
        )
        return ToolError("record_unavailable", message, retryable=True)


class RecordUnreadableError(AgentcoreError):
    """There is no record at the given path, the file is not a database of agentcore, or a file of older rows is
    damaged."""

    def as_tool_error(self) -> ToolError:
        """Return a `record_unreadable` error."""
        return ToolError("record_unreadable", str(self))
