"""`agentcore connect` and `disconnect`: put agentcore into the clients that people use, and take it out again."""

import json
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentcore.cli.options import config_option
from agentcore.cli.terminal.exits import CliError, ExitCode

if TYPE_CHECKING:
    from agentcore.cli.clients import AgentClient, FileChange, OverStdio

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_ANY = "any"

_yes = click.option("--yes", "is_sure", is_flag=True, help="Do not ask.")
_name = click.option("--name", default="agentcore", show_default=True, help="What agentcore is called there.")


@click.command()
@config_option
@click.option("--print", "only_prints", is_flag=True, help="Print the entry, and change nothing.")
@click.option("--tools", metavar="PATTERNS", default="", help="Offer only these tools, such as 'browser_*,read_file'.")
@_name
@_yes
@click.argument("client")
def connect(*, config_path: Path, only_prints: bool, tools: str, name: str, is_sure: bool, client: str) -> int:
    """Give the tools of agentcore to CLIENT: shows what changes in its configuration, asks, writes, and reads it back.

    CLIENT is one of claude-code, claude-desktop, cursor, windsurf, vscode, codex, gemini, goose, zed, opencode; with
    --print also `any`. The client starts `agentcore mcp`, which speaks to the running server, or is the server where
    none runs. Nothing secret is written. The file as it was is kept beside it.

    \b
    Examples:
      agentcore connect claude-code
      agentcore connect --print any
    """
    from agentcore.cli.clients import stdio_entry

    chosen = None if client == _ANY and only_prints else _client_of(client)
    config = config_path.resolve()
    if not config.is_file():
        raise CliError(f"there is no {config}", hint="agentcore init writes one")
    patterns = [pattern for pattern in tools.split(",") if pattern]
    waits = chosen is not None and chosen.waits
    reach = stdio_entry(_program(), client, config, waits=waits, tools=patterns)
    if only_prints:
        _print(chosen, name, reach)
        return ExitCode.OK
    assert chosen is not None  # noqa: S101 - what is not printed is a client's
    return _connect(chosen, _checked(name), reach, is_sure=is_sure)


@click.command()
@_name
@_yes
@click.argument("client")
def disconnect(name: str, is_sure: bool, client: str) -> int:
    """Take agentcore out of CLIENT's configuration again; its key stays until `agentcore approvers revoke`."""
    from agentcore.cli.clients import plan, run_own
    from agentcore.cli.terminal.output import note

    chosen = _client_of(client)
    _refuse_while_running(chosen)
    places = [chosen.locate()]
    if chosen.command_locates is not None:
        places.append(chosen.command_locates())
    changes = [change for change in (plan(chosen, path, name, None) for path in places) if not change.is_none]
    if not changes:
        click.echo(f"{chosen.title} does not have {name}.")
        return ExitCode.OK
    for change in changes:
        click.echo(change.diff(), nl=False)
    _make_sure(is_sure)
    own = None if chosen.removes is None else chosen.removes(name)
    if own is not None and shutil.which(own[0]):
        run_own(own, chosen.title)
    else:
        for change in changes:
            change.write()
    note(f"{name} is out of {chosen.title}. Its key goes with: agentcore approvers revoke {client}")
    return ExitCode.OK


def _connect(client: "AgentClient", name: str, reach: "OverStdio", *, is_sure: bool) -> int:
    from agentcore.cli.clients import plan, run_own
    from agentcore.cli.terminal.output import note

    _refuse_while_running(client)
    own = None if client.adds is None else client.adds(name, reach)
    by_command = own is not None and shutil.which(own[0]) is not None
    path = client.command_locates() if by_command and client.command_locates is not None else client.locate()
    entry = client.entry(reach)
    change = plan(client, path, name, entry)
    if change.is_none:
        click.echo(f"{client.title} has {name} already, as it is to be ({change.path}).")
        return ExitCode.OK
    click.echo(change.diff(), nl=False)
    _make_sure(is_sure)
    if by_command and own is not None:
        # some of these commands refuse a name that they have
        if client.removes is not None and _has(client, path, name):
            run_own(client.removes(name), client.title)
        run_own(own, client.title)
        change = plan(client, path, name, entry)  # what the command does not set, such as the limit
    if not change.is_none:
        change.write()
    _read_back(client, change, name, reach)
    note(f"{client.title} has {name} from its next start ({change.path}).")
    return ExitCode.OK


def _read_back(client: "AgentClient", change: "FileChange", name: str, reach: "OverStdio") -> None:
    """See that the file says what it was to say."""
    from agentcore.cli.clients import entry_in

    found = entry_in(client, change.path, name)
    if json.loads(json.dumps(found)) != client.entry(reach):
        message = f"{change.path} does not say what was written: {json.dumps(found)[:500]}"
        raise CliError(
            message, hint="see that nothing else writes it; the file as it was is beside it", code=ExitCode.CALL_FAILED
        )


def _has(client: "AgentClient", path: Path, name: str) -> bool:
    from agentcore.cli.clients import entry_in

    return entry_in(client, path, name) is not None


def _print(client: "AgentClient | None", name: str, reach: "OverStdio") -> None:
    """Print the part of a client's file that holds our entry; of an unknown client in the form that most take."""
    from agentcore.cli.clients import read_document

    if client is None:
        entry: dict[str, Any] = {"command": reach.command, "args": list(reach.args)}
        click.echo(json.dumps({"mcpServers": {name: entry}}, indent=2))
        return
    place = (*client.parent, name)
    if client.format == "json":
        block: Any = client.entry(reach)
        for key in reversed(place):
            block = {key: block}
        click.echo(json.dumps(block, indent=2))
        return
    click.echo(read_document("", client.format, client.title).with_value(place, client.entry(reach)), nl=False)


def _client_of(name: str) -> "AgentClient":
    from agentcore.cli.clients import CLIENTS
    from agentcore.near_names import near_names, unknown_name

    if name in CLIENTS:
        return CLIENTS[name]
    hint = "--print any gives a block for any other client"
    raise CliError(unknown_name("client", name, near_names(name, list(CLIENTS))), hint=hint)


def _checked(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise CliError(f"--name {name!r} has other characters than letters, digits, - and _, or over 40")
    return name


def _refuse_while_running(client: "AgentClient") -> None:
    from agentcore.cli.clients import running_of

    if running_of(client.is_running):
        message = f"{client.title} is running, and would write over its configuration when it ends"
        raise CliError(message, hint="quit it first")


def _make_sure(is_sure: bool) -> None:
    if is_sure:
        return
    if not sys.stdin.isatty():
        raise CliError("nobody can be asked here whether that is meant", hint="say so with --yes", code=ExitCode.USAGE)
    click.confirm("Write that?", abort=True, err=True)


def _program() -> str:
    """The absolute path of this interpreter's `agentcore`, which needs no PATH of the client's."""
    beside = Path(sys.executable).with_name("agentcore")
    found = str(beside) if beside.is_file() else shutil.which("agentcore")
    if found is None:
        raise CliError("the program `agentcore` is not beside this interpreter, nor on PATH")
    return found
