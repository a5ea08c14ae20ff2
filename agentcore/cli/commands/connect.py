"""`agentcore connect` and `disconnect`: add agentcore to the configuration of other clients, and remove it again."""

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentcore.cli.options import config_option
from agentcore.cli.terminal.exit_codes import CliError, ExitCode

if TYPE_CHECKING:
    from agentcore.cli.clients.client_catalog import AgentClient
    from agentcore.cli.clients.client_file_change import FileChange
    from agentcore.cli.clients.entry import Reach

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_ANY = "any"
_KEY = re.compile(r"acap_[\w-]+")

_yes = click.option("--yes", "is_sure", is_flag=True, help="Do not ask.")
_name = click.option("--name", default="agentcore", show_default=True, help="What agentcore is called there.")


@click.command()
@config_option
@click.option("--print", "only_prints", is_flag=True, help="Print the entry, and change nothing.")
@click.option("--tools", metavar="PATTERNS", default="", help="Offer only these tools, such as 'browser_*,read_file'.")
@click.option("--http", "over_http", is_flag=True, help="By the running server's address, with a key made for CLIENT.")
@_name
@_yes
@click.argument("client")
def connect(
    *, config_path: Path, only_prints: bool, tools: str, over_http: bool, name: str, is_sure: bool, client: str
) -> int:
    """Give the tools of agentcore to CLIENT: shows what changes in its configuration, asks, writes, and reads it back.

    CLIENT is one of claude-code, claude-desktop, cursor, windsurf, vscode, codex, gemini, qwen, cline, continue, goose,
    zed, opencode, kilo; with --print also any name of yours for another client. The client starts `agentcore mcp`,
    which speaks to the running server, or starts one where none runs. Nothing secret is written. The file as it was is
    kept beside it. With --http the client is given the address of the running server, and its own key, which is never
    shown: Codex reads it from a variable, in the files of the others it is written.

    \b
    Examples:
      agentcore connect claude-code
      agentcore connect cursor --http
      agentcore connect --print my-agent
    """

    chosen = _find_printed_client(client) if only_prints else _find_client(client)
    config = config_path.resolve()
    if not config.is_file():
        raise CliError(f"there is no {config}", hint="agentcore init writes one")
    patterns = [pattern for pattern in tools.split(",") if pattern]
    reach = _make_reach(chosen, client, config, patterns, over_http=over_http, only_prints=only_prints)
    if only_prints:
        _print_entry(chosen, name, reach)
        return ExitCode.OK
    assert chosen is not None  # noqa: S101 - what is not printed is a client's
    return _connect_client(chosen, _check_name(name), config, reach, is_sure=is_sure)


@click.command()
@config_option
@_name
@_yes
@click.argument("client")
def disconnect(config_path: Path, name: str, is_sure: bool, client: str) -> int:
    """Take agentcore out of CLIENT's configuration again, and revoke the key that stood there, after asking.

    The key of a client that starts `agentcore mcp` stays until `agentcore approvers revoke`.
    """
    from agentcore.cli.clients.client_file_change import find_entry, plan_change, run_client_command
    from agentcore.cli.terminal.output import print_notice

    chosen = _find_client(client)
    _refuse_while_running(chosen)
    places = [chosen.locate()]
    if chosen.command_locates is not None:
        places.append(chosen.command_locates())
    changes = [change for change in (plan_change(chosen, path, name, None) for path in places) if not change.is_none]
    if not changes:
        click.echo(f"{chosen.title} does not have {name}.")
        return ExitCode.OK
    had_key = any(_is_over_http(find_entry(chosen, change.path, name)) for change in changes)
    for change in changes:
        click.echo(_mask_keys(change.format_diff()), nl=False)
    _confirm_change(is_sure)
    own = None if chosen.removes is None else chosen.removes(name)
    if own is not None and shutil.which(own[0]):
        run_client_command(own, chosen.title)
    else:
        for change in changes:
            change.write()
    revoked = had_key and _revoke_key(config_path, client, is_sure=is_sure)
    end = "Its key is revoked." if revoked else f"Its key goes with: agentcore approvers revoke {client}"
    print_notice(f"{name} is out of {chosen.title}. {end}")
    return ExitCode.OK


def _make_reach(
    client: "AgentClient | None", name: str, config: Path, tools: list[str], *, over_http: bool, only_prints: bool
) -> "Reach":
    """Return how a client reaches agentcore; over HTTP, this creates the client's key if it has none."""
    from agentcore.cli.clients.entry import http_entry, stdio_entry

    waits = "no" if client is None else client.waits
    if not over_http:
        return stdio_entry(_find_program(), name, config, _state_variable(config), waits=waits, tools=tools)
    from agentcore.cli.relay.client_key import http_reach

    if client is None or client.http is None:
        who = name if client is None else client.title
        raise CliError(f"{who} takes no address here", hint="without --http it starts agentcore mcp")
    if only_prints:
        raise CliError("--print shows no keys", hint="without --print, its file is changed after you have seen how")
    address, key = http_reach(config, name)
    return http_entry(address, key, waits=waits, tools=tools)


def _state_variable(config: Path) -> dict[str, str]:
    """Return the variable that names the state folder if it is not where a client's processes would look for it.

    Most clients start their servers with few variables of their own environment.
    """
    from agentcore.store.state.state_dir import STATE_DIR_VARIABLE, locate_state_dir

    is_moved = os.environ.get(STATE_DIR_VARIABLE) or os.environ.get("XDG_STATE_HOME")
    return {STATE_DIR_VARIABLE: str(locate_state_dir(config))} if is_moved else {}


def _is_over_http(entry: Any) -> bool:
    return isinstance(entry, dict) and not {"command", "cmd"} & set(entry)


def _revoke_key(config_path: Path, client: str, *, is_sure: bool) -> bool:
    from agentcore.cli.relay.client_key import revoke_key

    if not is_sure and not click.confirm("Revoke its key, too?", default=True, err=True):
        return False
    return revoke_key(config_path.resolve(), client)


def _mask_keys(text: str) -> str:
    return _KEY.sub("acap_…", text)


def _connect_client(client: "AgentClient", name: str, config: Path, reach: "Reach", *, is_sure: bool) -> int:
    from agentcore.cli.clients.client_file_change import plan_change, run_client_command
    from agentcore.cli.clients.entry import BEARER_VARIABLE, OverStdio
    from agentcore.cli.terminal.output import print_notice

    _refuse_while_running(client)
    # Never over HTTP: other users can see the key in the command's arguments while it runs.
    own = client.adds(name, reach) if client.adds is not None and isinstance(reach, OverStdio) else None
    by_command = own is not None and shutil.which(own[0]) is not None
    path = client.command_locates() if by_command and client.command_locates is not None else client.locate()
    entry = client.make_entry(reach, name)
    change = plan_change(client, path, name, entry)
    if isinstance(reach, OverStdio):
        _renew_revoked_key(config, client.name, is_sure=is_sure)
    if change.is_none:
        click.echo(f"{client.title} has {name} already, as it is to be ({change.path}).")
        return ExitCode.OK
    click.echo(_mask_keys(change.format_diff()), nl=False)
    _confirm_change(is_sure)
    if by_command and own is not None:
        # some of these commands reject a name that already exists
        if client.removes is not None and _has_entry(client, path, name):
            run_client_command(client.removes(name), client.title)
        run_client_command(own, client.title)
        change = plan_change(client, path, name, entry)  # what the command does not set, such as the time limit
    if not change.is_none:
        change.write()
    _check_written(client, change, name, reach)
    print_notice(f"{client.title} has {name} from its next start ({change.path}).")
    if BEARER_VARIABLE in change.after:
        print_notice(
            f"It reads its key from the variable {BEARER_VARIABLE}, which you set: it stands in the state folder, in "
            f"clients/{client.name}."
        )
    return ExitCode.OK


def _renew_revoked_key(config: Path, client: str, *, is_sure: bool) -> None:
    """Delete a client's revoked key after asking, so that it gets a new one; with the old one it stays refused."""
    from agentcore.cli.relay.client_key import delete_key, is_revoked
    from agentcore.cli.terminal.output import print_notice

    if not is_revoked(config, client):
        return
    print_notice(f"The key of {client} was revoked. It receives a new key the next time it starts.")
    _confirm_change(is_sure)
    delete_key(config, client)


def _check_written(client: "AgentClient", change: "FileChange", name: str, reach: "Reach") -> None:
    """Check that the file contains the entry that was written."""
    from agentcore.cli.clients.client_file_change import find_entry

    found = find_entry(client, change.path, name)
    if json.loads(json.dumps(found)) != client.make_entry(reach, name):
        message = f"{change.path} does not say what was written: {_mask_keys(json.dumps(found))[:500]}"
        raise CliError(
            message, hint="see that nothing else writes it; the file as it was is beside it", code=ExitCode.CALL_FAILED
        )


def _has_entry(client: "AgentClient", path: Path, name: str) -> bool:
    from agentcore.cli.clients.client_file_change import find_entry

    return find_entry(client, path, name) is not None


def _print_entry(client: "AgentClient | None", name: str, reach: "Reach") -> None:
    """Print the part of a client's file with agentcore's entry; for an unknown client in the most common format."""
    from agentcore.cli.clients.documents import read_document
    from agentcore.cli.clients.entry import OverStdio

    if client is None:
        assert isinstance(reach, OverStdio)  # noqa: S101 - no address is printed
        entry: dict[str, Any] = {"command": reach.command, "args": list(reach.args)}
        if reach.env:
            entry["env"] = dict(reach.env)
        click.echo(json.dumps({"mcpServers": {name: entry}}, indent=2))
        return
    place = (*client.parent, name)
    if client.format == "json":
        block: Any = client.make_entry(reach, name)
        for key in reversed(place):
            block = {key: block}
        click.echo(json.dumps(block, indent=2))
        return
    click.echo(
        read_document("", client.format, client.title).with_value(place, client.make_entry(reach, name)), nl=False
    )


def _find_client(name: str) -> "AgentClient":
    from agentcore.cli.clients.client_catalog import CLIENTS
    from agentcore.near_names import near_names, unknown_name

    if name in CLIENTS:
        return CLIENTS[name]
    hint = f"agentcore connect --print {name} prints a block for any other client"
    raise CliError(unknown_name("client", name, near_names(name, list(CLIENTS))), hint=hint)


def _find_printed_client(name: str) -> "AgentClient | None":
    """Return the client of a name; None if it is not known, which then gets the block that most clients accept."""
    from agentcore.cli.clients.client_catalog import CLIENTS
    from agentcore.cli.terminal.output import print_notice
    from agentcore.near_names import near_names

    if name in CLIENTS:
        return CLIENTS[name]
    if _NAME.fullmatch(name) is None:
        raise CliError(f"CLIENT {name!r} has other characters than letters, digits, - and _, or over 40")
    if name == _ANY:
        print_notice("Its calls will be recorded as those of `any`; to tell clients apart, give a name in its place.")
    else:
        near = near_names(name, list(CLIENTS))
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        print_notice(f"{name} is not one of the known clients; most others accept this block.{hint}")
    return None


def _check_name(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise CliError(f"--name {name!r} has other characters than letters, digits, - and _, or over 40")
    return name


def _refuse_while_running(client: "AgentClient") -> None:
    from agentcore.cli.clients.client_file_change import is_any_running

    if is_any_running(client.is_running):
        message = f"{client.title} is running, and would write over its configuration when it ends"
        raise CliError(message, hint="quit it first")


def _confirm_change(is_sure: bool) -> None:
    if is_sure:
        return
    if not sys.stdin.isatty():
        raise CliError("nobody can be asked here whether that is meant", hint="say so with --yes", code=ExitCode.USAGE)
    click.confirm("Write that?", abort=True, err=True)


def _find_program() -> str:
    """Return the absolute path of this interpreter's `agentcore`, which does not depend on the client's PATH."""
    beside = Path(sys.executable).with_name("agentcore")
    found = str(beside) if beside.is_file() else shutil.which("agentcore")
    if found is None:
        raise CliError("the program `agentcore` is not beside this interpreter, nor on PATH")
    return found
