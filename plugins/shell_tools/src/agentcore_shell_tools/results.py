"""Structured results of the tools."""

from typing import NotRequired, TypedDict


class QuarantinedFile(TypedDict):
    """A file that a sandboxed command left where it could act on the person; `aside` is empty: it is still there."""

    path: str
    aside: str
    why: str
    instead: str


class LeftProcess(TypedDict):
    """What a command left running, and was ended with it."""

    pid: int
    command: str


class CursorPosition(TypedDict):
    """Row and column of a cursor, from 1."""

    row: int
    column: int


class HighlightedText(TypedDict):
    """What stands out by its background, and its row, from 1."""

    row: int
    text: str


class ScreenData(TypedDict):
    """What a terminal shows: rows without blanks and empty rows at their end; no cursor where it is hidden."""

    columns: int
    lines: int
    rows: list[str]
    cursor: CursorPosition | None
    title: str
    highlighted: list[HighlightedText]
    is_full_screen: bool
    is_partial: bool


class ServiceAddress(TypedDict):
    """A port that a process listens on: the resource, the address on the machine where it runs, and why it cannot be
    reached, if so."""

    resource_id: str
    url: str
    problem: NotRequired[str]


class CommandResult(TypedDict, total=False):
    """How a command ended and the end of its output; in the background, or typed into a process, its id alone.

    Where keys were pressed, what `bash_output` gives.
    """

    process_id: str
    exit_code: int | None
    signal: str | None
    duration_ms: int
    output: str
    output_is_cut: bool
    dropped_lines: int
    put_aside: list[QuarantinedFile]
    left_behind: list[LeftProcess]
    exited: bool
    stdout: str
    stderr: str
    waits_for_input: bool
    screen: ScreenData
    services: list[ServiceAddress]


class ProcessOutput(TypedDict):
    """What a background process wrote, and how it ended, if it has.

    `waits_for_input` is there, and true, where it reads its terminal and nothing was typed.
    """

    process_id: str
    exited: bool
    exit_code: int | None
    signal: str | None
    stdout: str
    stderr: str
    dropped_lines: int
    put_aside: list[QuarantinedFile]
    waits_for_input: NotRequired[bool]
    screen: NotRequired[ScreenData]
    services: NotRequired[list[ServiceAddress]]


class EndedProcess(TypedDict):
    """A background process that was ended, or had been."""

    process_id: str
    was_running: bool
    exit_code: int | None
    signal: str | None
