"""The data of results: what a program gets of each tool."""

from typing import TypedDict


class PutAsideFile(TypedDict):
    """A file that a sandboxed command left where it could act on the person; `aside` is empty: it is still there."""

    path: str
    aside: str
    why: str
    instead: str


class LeftProcess(TypedDict):
    """What a command left running, and was ended with it."""

    pid: int
    command: str


class CommandResult(TypedDict, total=False):
    """How a command ended and the end of its output; in the background, or typed into a process, its id alone."""

    process_id: str
    exit_code: int | None
    signal: str | None
    duration_ms: int
    output: str
    output_is_cut: bool
    dropped_lines: int
    put_aside: list[PutAsideFile]
    left_behind: list[LeftProcess]


class ProcessOutput(TypedDict):
    """What a background process wrote, and how it ended, if it has."""

    process_id: str
    exited: bool
    exit_code: int | None
    signal: str | None
    stdout: str
    stderr: str
    dropped_lines: int
    put_aside: list[PutAsideFile]


class EndedProcess(TypedDict):
    """A background process that was ended, or had been."""

    process_id: str
    was_running: bool
    exit_code: int | None
    signal: str | None
