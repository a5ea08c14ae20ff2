"""`agentcore audit`: the record of calls."""

import os
from pathlib import Path

import click

from agentcore.cli.options import config_option, json_option
from agentcore.cli.terminal.exits import ExitCode

_DATABASE = "state.sqlite3"


@click.group()
def audit() -> None:
    """The record of calls and decisions."""


@audit.command()
@config_option
@json_option
def verify(config_path: Path, as_json: bool) -> int:
    """Go through the record from its first row and tell whether it was changed since it was written.

    Works while a server runs. The head that is printed names the state of the whole record: kept elsewhere, it
    shows later whether the record still goes on from there. Exit code 1: the record is broken.
    """
    from dataclasses import asdict

    from agentcore.cli.terminal.output import painted, print_json
    from agentcore.store.record import verify_record
    from agentcore.store.state import locate_state_dir

    report = verify_record(locate_state_dir(config_path, os.environ) / _DATABASE)
    if as_json:
        print_json(asdict(report))
    elif report.is_intact:
        click.echo(f"{painted('intact', 'green')}: {report.rows} rows, head {report.head}")
    else:
        click.echo(f"{painted('broken', 'red')} at row {report.broken_seq}: {report.reason}")
        click.echo(f"{report.rows} rows before it are good, head {report.head}")
    return ExitCode.OK if report.is_intact else ExitCode.CALL_FAILED
