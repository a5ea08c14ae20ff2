"""`agentcore hosts`: lists and manages the hosts in which modules run outside the server."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from agentcore.cli.commands.completion import complete_host
from agentcore.cli.options import config_option, json_option
from agentcore.cli.terminal.exit_codes import CliError, ExitCode

if TYPE_CHECKING:
    from agentcore.cli.backend.server_backend import ServerBackend

_NATS_COMMAND = "key"
"""A command that was agentcore's own once."""

_NATS_DISTRIBUTION = "agentcore-nats-hosts"
"""The distribution that has it now."""

Command = TypeVar("Command", bound=Callable[..., object])


def _names_host(command: Command) -> Command:
    """Add the parameters of commands on one host: its name, `--config` and `--json`."""
    named = click.argument("name", shell_complete=complete_host)(command)
    return config_option(json_option(named))


class _HostsGroup(click.Group):
    """Has the commands of all installed kinds of hosts, besides those below."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *self._find_added()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        own = super().get_command(ctx, cmd_name)
        return self._find_added().get(cmd_name) if own is None else own

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] == _NATS_COMMAND and not ctx.resilient_parsing and self.get_command(ctx, args[0]) is None:
            from agentcore.installing import pip_command

            raise CliError("keys of a pool need a package more", hint=pip_command(_NATS_DISTRIBUTION))
        return super().resolve_command(ctx, args)

    def _find_added(self) -> dict[str, click.Command]:
        from agentcore.config.host_kinds import load_kinds

        return {name: command for kind in load_kinds() for name, command in kind.host_commands().items()}


@click.group(cls=_HostsGroup, invoke_without_command=True)
@config_option
@json_option
@click.pass_context
def hosts(context: click.Context, *, config_path: Path, as_json: bool) -> None:
    """Hosts run modules beside the server: in processes of their own, or on other machines.

    The former stand in app.json, under `hosts`; the latter dial in (`agentcore host`), and a person lets them in. A
    pool has many of the latter, which NATS lets in: `farm.box7` is one of the pool `farm`.

    Without a command below they are listed, with their state. Without a running server, the modules are started for
    this look and stopped again.
    """
    if context.invoked_subcommand is not None:
        return
    from agentcore.cli.backend.opening import open_backend, running_server
    from agentcore.cli.terminal.host_text import print_hosts
    from agentcore.cli.terminal.output import print_json, print_notice

    with open_backend(config_path, warns=False) as backend:
        found = backend.list_hosts()
    if as_json:
        print_json({"hosts": found})
    elif not found:
        print_notice(
            'There is no host: all modules run in the server. "hosts" in app.json gives some a process of their own;'
        )
        print_notice("agentcore host --server URL, on another machine, offers what that one has.")
    else:
        server = running_server(config_path)
        print_hosts(found, "" if server is None else server[1].addresses.get("page", ""))


@hosts.command()
@_names_host
def restart(config_path: Path, as_json: bool, name: str) -> int:
    """End a host of the running server in order, and start its modules again.

    They run the code that is on the disk then; calls in it end. Exit code 1: it, or a module of it, did not start.
    """
    host = _server_backend(config_path).restart_host(name)
    _print_host(host, as_json=as_json)
    on = [module["state"] for module in host["modules"] if module["isListed"]]
    is_well = host["state"] != "failed" and "failed" not in on
    return ExitCode.OK if is_well else ExitCode.CALL_FAILED


@hosts.command()
@_names_host
def drain(config_path: Path, as_json: bool, name: str) -> None:
    """Give a host on another machine no new work; what goes on in it may end. Then it is `drained`."""
    _change_host(config_path, name, "drain", as_json=as_json)


@hosts.command()
@_names_host
def undrain(config_path: Path, as_json: bool, name: str) -> None:
    """Give a drained host work again."""
    _change_host(config_path, name, "undrain", as_json=as_json)


@hosts.command()
@_names_host
def disconnect(config_path: Path, as_json: bool, name: str) -> None:
    """End the connection of a host on another machine, and keep it out until `connect`; it keeps its key."""
    _change_host(config_path, name, "disconnect", as_json=as_json)


@hosts.command()
@_names_host
def connect(config_path: Path, as_json: bool, name: str) -> None:
    """Let a host in again that was disconnected. It dials in by itself."""
    _change_host(config_path, name, "connect", as_json=as_json)


@hosts.command()
@_names_host
@click.argument("state", type=click.Choice(["on", "off"]))
def chats(config_path: Path, as_json: bool, name: str, state: str) -> None:
    """Let a host on another machine use chats: read and change them, use their models, run sub-agents.

    `on` waits for you in the approval view; `off` takes effect at once. Hosts may not, unless you allow it.
    """
    _print_host(_server_backend(config_path).allow_chats(name, is_on=state == "on"), as_json=as_json)


@hosts.command()
@_names_host
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask.")
def forget(config_path: Path, is_sure: bool, as_json: bool, name: str) -> None:
    """Make the key of a host on another machine void, and close what is open in it.

    It can come back only with a new code: `agentcore host --pair` there, and `hosts pair` here.
    """
    from agentcore.cli.terminal.output import print_json
    from agentcore.core.declarations.hosted_names import is_pooled_host

    server = _server_backend(config_path)
    if not is_sure and not is_pooled_host(name):  # the server rejects hosts of a pool
        _confirm_forget(name, next((host for host in server.list_hosts() if host["name"] == name), None))
    server.delete_host(name)
    if as_json:
        print_json({"name": name})
    else:
        click.echo(f"{name} is forgotten.")


@hosts.command()
@config_option
@click.option("--chats", is_flag=True, help="Let it use chats, their models and agents, too.")
@click.argument("code")
def pair(config_path: Path, code: str, *, chats: bool) -> int:
    """Let a host in that shows this code on another machine (`agentcore host`), once you have seen what it brings.

    That takes who may approve, which the API token cannot. You log in at this terminal with a one-time code, which
    `code` in the terminal of the server makes; there, `pair CODE` does the same without one. A server without a
    terminal writes one with --approver-code-file.
    """
    import asyncio

    from agentcore.cli.backend.approver_client import ApproverClient
    from agentcore.cli.backend.opening import required_server
    from agentcore.cli.backend.server_client import path_of
    from agentcore.cli.terminal.output import print_notice
    from agentcore.cli.terminal.terminal import ask_confirmation, is_interactive, write_line
    from agentcore.cli.terminal.waiting_text import host_text
    from agentcore.core.declarations.hosted_names import is_pooled_host

    if is_pooled_host(code):
        raise CliError(
            f"{code!r} is no code, and nobody lets a host of a pool in here: NATS does, by its key",
            hint="agentcore host --pool POOL --server nats://… --key FILE, on that machine",
        )
    _, info = required_server(config_path)
    address = info.addresses.get("approval", "")
    if not is_interactive():
        raise CliError(
            "a person lets a host in, and nobody can be asked here",
            hint=f"type the code in the approval view, {address}, or `pair {code}` in the terminal of the server",
        )
    print_notice(
        "Type `code` in the terminal of the server for a log-in code of the approval view, or its whole address."
    )
    with ApproverClient.logged_in(address, click.prompt("Log-in code", err=True)) as client:
        shown = client.post("/api/host-pairings", {"code": code})
        write_line(host_text(shown, may_use_chats=chats))
        accepts = asyncio.run(
            ask_confirmation("Let it in, and let it use chats?" if chats else "Let it in?", is_new=True)
        )
        client.post(
            path_of("api", "host-pairings", shown["pairingId"], "decision"),
            {"accept": accepts, "chats": accepts and chats},
        )
    click.echo(f"{shown['name']} is paired and connects automatically." if accepts else "Refused.")
    return ExitCode.OK if accepts else ExitCode.CALL_FAILED


def _server_backend(config_path: Path) -> "ServerBackend":
    from agentcore.cli.backend.opening import required_server
    from agentcore.cli.backend.server_backend import ServerBackend

    return ServerBackend(*required_server(config_path))


def _change_host(
    config_path: Path, name: str, change: Literal["drain", "undrain", "disconnect", "connect"], *, as_json: bool
) -> None:
    _print_host(_server_backend(config_path).change_host(name, change), as_json=as_json)


def _print_host(host: Mapping[str, Any], *, as_json: bool) -> None:
    from agentcore.cli.terminal.host_text import print_host
    from agentcore.cli.terminal.output import print_json

    if as_json:
        print_json(host)
    else:
        print_host(host)


def _confirm_forget(name: str, host: Mapping[str, Any] | None) -> None:
    from agentcore.cli.terminal.host_text import open_resources_text
    from agentcore.cli.terminal.output import print_notice

    if not sys.stdin.isatty():
        raise CliError("nobody can be asked here whether that is meant", hint="say so with --yes")
    if host is not None and (host["callsInFlight"] or host["resources"]):
        held = open_resources_text(host) or "nothing"
        print_notice(f"This ends its running calls ({host['callsInFlight']}) and closes its resources ({held}).")
    click.confirm(f"Forget {name}? Its key is void then, and it comes back only with a new code.", abort=True, err=True)
