"""`agentcore hosts`: how the processes stand in which modules run, and starting one anew."""

from pathlib import Path

import click

from agentcore.cli.commands.completion import complete_host
from agentcore.cli.options import config_option, json_option
from agentcore.cli.terminal.exits import ExitCode


@click.group(invoke_without_command=True)
@config_option
@json_option
@click.pass_context
def hosts(context: click.Context, *, config_path: Path, as_json: bool) -> None:
    """Hosts are processes of their own in which modules run; app.json says which, under `hosts`.

    Without a command below they are listed, with their state. Without a running server, the modules are started for
    this look and stopped again.
    """
    if context.invoked_subcommand is not None:
        return
    from agentcore.cli.backend.opening import open_backend
    from agentcore.cli.terminal.module_text import HOST_COLOURS, HOST_HEADER, host_row
    from agentcore.cli.terminal.output import note, print_json, print_table

    with open_backend(config_path, warns=False) as backend:
        found = backend.hosts()
    if as_json:
        print_json({"hosts": found})
    elif not found:
        note('app.json names no host: all modules run in the server. "hosts" in it gives some a process of their own.')
    else:
        rows = [host_row(host) for host in found]
        print_table(HOST_HEADER, rows, [HOST_COLOURS.get(row[1]) for row in rows])


@hosts.command()
@config_option
@json_option
@click.argument("name", shell_complete=complete_host)
def restart(config_path: Path, as_json: bool, name: str) -> int:
    """End a host of the running server in order, and start its modules again.

    They run the code that is on the disk then; calls in it end. Exit code 1: it, or a module of it, did not start.
    """
    from agentcore.cli.backend.opening import required_server
    from agentcore.cli.backend.server_backend import ServerBackend
    from agentcore.cli.terminal.module_text import print_host
    from agentcore.cli.terminal.output import print_json

    host = ServerBackend(*required_server(config_path)).restart_host(name)
    if as_json:
        print_json(host)
    else:
        print_host(host)
    on = [module["state"] for module in host["modules"] if module["isListed"]]
    is_well = host["state"] != "failed" and "failed" not in on
    return ExitCode.OK if is_well else ExitCode.CALL_FAILED
