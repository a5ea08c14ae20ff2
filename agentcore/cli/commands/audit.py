"""`agentcore audit`: lists, shows, verifies and exports the record of calls."""

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

from agentcore.cli.commands.completion import complete_module, complete_tool
from agentcore.cli.options import config_option, json_option
from agentcore.cli.terminal.exit_codes import CliError, ExitCode

if TYPE_CHECKING:
    from agentcore.store.state.server_info import ServerInfo

_DATABASE = "state.sqlite3"
_KINDS = ("call", "decision", "notice")
_QUERY = {"text": "q", "before_seq": "before", "after_seq": "after"}
"""The server's names of filters that differ from those of the store."""
_PROGRESS_SECONDS = 0.2
_ARGUMENTS_SHOWN = 80  # in a list; `audit show` prints them as recorded


@click.group()
def audit() -> None:
    """The record of calls and decisions."""


@audit.command("list")
@config_option
@click.option("-n", "--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many.")
@click.option("--tool", metavar="NAME", shell_complete=complete_tool, help="Those of one tool.")
@click.option("--module", metavar="NAME", shell_complete=complete_module, help="Those of one module.")
@click.option("--session", "session_id", metavar="ID", help="Those of one session.")
@click.option("--outcome", metavar="TYPE", help="ok, the type of an error, or failed for any error.")
@click.option("--kind", type=click.Choice(_KINDS), help="Calls, decisions, or notices of the record itself.")
@click.option("--text", metavar="WORDS", help="Those with these words in the tool's name or the arguments.")
@click.option("--before", "before_seq", type=click.IntRange(1), metavar="ROW", help="Those older than a row.")
@json_option
def list_rows(*, config_path: Path, limit: int, as_json: bool, **wanted: Any) -> None:
    """List the newest calls and decisions, newest first.

    Works while a server runs, and without one. Of the arguments, the record has what people may read: secrets are
    masked, and long ones cut.

    \b
    Examples:
      agentcore audit list --outcome failed
      agentcore audit list --tool bash -n 5
      agentcore audit list --before 1200 --json
    """
    from agentcore.cli.terminal.output import print_json, print_notice, print_table

    rows = _read_rows(config_path, limit, **wanted)
    if as_json:
        print_json({"calls": rows, "next": rows[-1]["seq"] if len(rows) == limit else None})
    elif not rows:
        print_notice("There is nothing of that in the record.")
    else:
        table = [
            (
                str(row["seq"]),
                _format_time(row),
                row["tool"] or row["kind"],
                _outcome_text(row),
                row["call_id"],
                _shorten_arguments(row),
            )
            for row in rows
        ]
        print_table(("row", "time", "tool", "outcome", "call", "arguments"), table, [_row_colour(row) for row in rows])
        if len(rows) == limit:
            print_notice(f"Older ones: --before {rows[-1]['seq']}")


@audit.command()
@config_option
@json_option
@click.argument("call_id", metavar="ID")
def show(config_path: Path, as_json: bool, call_id: str) -> None:
    """Show one call with all that was recorded of it: who, what, the decisions about it, and how it ended.

    ID is a call's id, or the number of a row. Works while a server runs, and without one.
    """
    from agentcore.cli.terminal.output import print_json

    rows = _read_rows(config_path, 1000, call_id=call_id)[::-1]
    if not rows and call_id.isdigit() and int(call_id) > 0:
        seq = int(call_id)
        rows = _read_rows(config_path, 1, after_seq=seq - 1, before_seq=seq + 1)
        if rows and rows[0]["call_id"]:
            rows = _read_rows(config_path, 1000, call_id=rows[0]["call_id"])[::-1]
    if not rows:
        raise CliError(
            f"the record has no call {call_id!r}", hint="agentcore audit list shows ids", code=ExitCode.CALL_FAILED
        )
    if as_json:
        print_json({"calls": rows})
        return
    for number, row in enumerate(rows):
        if number:
            click.echo()
        _print_row(row)


@audit.command()
@config_option
@json_option
@click.option("--from-start", is_flag=True, help="Do not go on where an interrupted verification stopped.")
def verify(config_path: Path, as_json: bool, from_start: bool) -> int:
    """Go through the record from its first row and tell whether it was changed since it was written.

    Works while a server runs. The heads that are printed name the state of the record at the end of each closed part,
    and of the whole: kept elsewhere, they show later whether the record still goes on from there. A verification that
    was interrupted goes on where it stopped, for a day. Exit code 1: the record is broken.
    """
    from dataclasses import asdict

    from agentcore.cli.terminal.output import colour_text, print_json
    from agentcore.store.record.verification import verify_record

    with _RowProgress() as progress:
        report = verify_record(_database_path(config_path), progress.show, may_resume=not from_start)
    if as_json:
        print_json(asdict(report))
        return ExitCode.OK if report.is_intact else ExitCode.CALL_FAILED
    if report.resumed_after:
        click.echo(f"went on after row {report.resumed_after}, where it was interrupted; --from-start checks all")
    if report.deleted:
        click.echo(f"the rows 1 to {report.deleted} were deleted, because the record had reached a limit")
    for segment in report.segments:
        click.echo(f"{'':<8}up to row {segment.last_seq}: head {segment.head}")
    if report.is_intact:
        click.echo(f"{colour_text('intact', 'green')}: {report.rows} rows, head {report.head}")
    else:
        click.echo(f"{colour_text('broken', 'red')} at row {report.broken_seq}: {report.reason}")
        click.echo(f"{report.rows} rows before it are good, head {report.head}")
    return ExitCode.OK if report.is_intact else ExitCode.CALL_FAILED


@audit.command()
@config_option
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def export(config_path: Path, file: Path) -> None:
    """Write the whole record to FILE, a JSON object per line, the oldest row first.

    Works while a server runs; rows of the last moment may be missing then. An existing file is not replaced.
    """
    import json

    from agentcore.cli.terminal.output import print_notice
    from agentcore.store.record.query import export_rows

    try:
        output = file.open("x", encoding="utf-8")
    except FileExistsError as exc:
        raise CliError(f"{file} exists already", hint="name another file", code=ExitCode.USAGE) from exc
    count = 0
    with output:
        for recorded in export_rows(_database_path(config_path)):
            output.write(json.dumps({"seq": recorded.seq, **recorded.row._asdict()}, ensure_ascii=False) + "\n")
            count += 1
    print_notice(f"{count} rows")


class _RowProgress:
    """One line on a terminal's stderr that says how far a verification is."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._shown_at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._shown_at:
            click.echo("\r\x1b[K", nl=False, err=True)

    def show(self, row: int, last: int) -> None:
        """Show that the rows up to `row` of `last` are verified."""
        now = time.monotonic()
        if self._is_shown and now - self._shown_at > _PROGRESS_SECONDS:
            self._shown_at = now
            click.echo(f"\r\x1b[Kverified {row} of {last} rows ({row * 100 // max(1, last)} %)", nl=False, err=True)


def _database_path(config_path: Path) -> Path:
    from agentcore.store.state.state_dir import locate_state_dir

    return locate_state_dir(config_path, os.environ) / _DATABASE


def _read_rows(config_path: Path, limit: int, **wanted: Any) -> list[dict[str, Any]]:
    """Return rows of the record, newest first, with the fields of `GET /api/calls`."""
    from agentcore.cli.backend.opening import running_server
    from agentcore.store.record.query import RecordFilter, read_record

    server = running_server(config_path)
    if server is not None:
        # the newest rows may not be in the file yet
        return _request_rows(server, limit, wanted)
    found = read_record(_database_path(config_path), RecordFilter(**wanted), limit)
    return [{"seq": recorded.seq, **recorded.row._asdict()} for recorded in found]


def _request_rows(server: "tuple[Path, ServerInfo]", limit: int, wanted: Mapping[str, Any]) -> list[dict[str, Any]]:
    from urllib.parse import urlencode

    from agentcore.cli.backend.server_client import ServerClient

    client = ServerClient.from_state_dir(*server)
    given = {_QUERY.get(name, name): value for name, value in wanted.items() if value is not None}
    rows: list[dict[str, Any]] = []
    is_one_call = "call_id" in given
    while True:
        page = client.get(f"/api/calls?{urlencode({**given, 'limit': limit - len(rows)})}")
        rows += page["calls"]
        # a short page says where older rows go on; those of one call lie together
        if len(rows) >= limit or page["next"] is None or (rows and is_one_call):
            return rows
        given["before"] = page["next"]


def _format_time(row: Mapping[str, Any]) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(row["time_ms"] / 1000, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _outcome_text(row: Mapping[str, Any]) -> str:
    return str(row["decision"] if row["kind"] == "decision" else row["outcome"])


def _shorten_arguments(row: Mapping[str, Any]) -> str:
    text = str(row["arguments"])
    return text if len(text) <= _ARGUMENTS_SHOWN else text[: _ARGUMENTS_SHOWN - 1] + "…"


def _row_colour(row: Mapping[str, Any]) -> str | None:
    return "red" if row["kind"] == "call" and row["outcome"] != "ok" else None


def _print_row(row: Mapping[str, Any]) -> None:
    from agentcore.cli.terminal.output import colour_text, print_text
    from agentcore.core.declarations.hosted_names import host_in

    head = colour_text(row["tool"] or "the record itself", "cyan", bold=True)
    click.echo(f"{head}  ({row['kind']}, row {row['seq']})")
    duration = row["duration_ms"]
    who = f"{row['principal_kind']} {row['principal_id']}".strip()
    fields = {
        "time": _format_time(row),
        "call": row["call_id"],
        "made by": row["parent_call_id"],
        "host": host_in(row["module"]),
        "module": row["module"],
        "session": row["session_id"],
        "resource": row["resource_id"],
        "who": who,
        "decision": " by ".join(part for part in (row["decision"], row["decided_by"]) if part),
        "outcome": row["outcome"],
        "took": None if duration is None else f"{duration:g} ms",
        "digest": row["arguments_digest"],
        "arguments": row["arguments"],
    }
    for name, value in fields.items():
        if value:
            print_text(f"  {name:<10}{value}")
