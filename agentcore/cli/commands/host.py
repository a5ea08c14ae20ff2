"""`agentcore host`: runs this machine as a host of a server elsewhere."""

import os
import platform
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentcore.cli.options import config_option, is_verbose, json_option

if TYPE_CHECKING:
    from agentcore.api.host_kinds import MakeProgram

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_BEFORE_ADDED = 3
"""How many options come before those of kinds in the help: --config, --json, --server."""

_DISTRIBUTION_OF_OPTION = dict.fromkeys(("--pool", "--key", "--capacity", "--label"), "agentcore-nats-hosts")
"""Options that were agentcore's own once: the distribution that has them now."""


class _HostCommand(click.Command):
    """Has the options of all installed kinds of hosts, besides those below."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        from agentcore.config.host_kinds import load_kinds

        own = super().get_params(ctx)
        names = {param.name for param in own}
        added = [option for kind in load_kinds() for option in kind.host_options() if option.name not in names]
        return [*own[:_BEFORE_ADDED], *added, *own[_BEFORE_ADDED:]]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as exc:
            missing = _DISTRIBUTION_OF_OPTION.get(exc.option_name)
            if missing is None:
                raise
            from agentcore.cli.terminal.exit_codes import CliError
            from agentcore.installing import pip_command

            raise CliError(f"{exc.option_name} needs a package more", hint=pip_command(missing)) from None


@click.command(cls=_HostCommand)
@config_option
@json_option
@click.option(
    "--server", metavar="URL", envvar="SERVER_URL", required=True, help="The server's address.  [default: SERVER_URL]"
)
@click.option("--name", metavar="NAME", help="What this machine is called there.  [default: its own name]")
@click.option(
    "--ca",
    type=_FILE,
    metavar="FILE",
    help="Certificates that are trusted besides those of the system, such as that of your own reverse proxy.",
)
@click.option("--pair", "pairs", is_flag=True, help="Be paired anew: the server knows this machine no more.")
def host(
    *,
    config_path: Path,
    as_json: bool,
    server: str,
    name: str | None,
    ca: Path | None,
    pairs: bool,
    **kind_options: Any,
) -> int:
    """Offer the modules of this machine to a server elsewhere, until Ctrl-C.

    It dials out, so that it works behind a router or a proxy (HTTPS_PROXY), and dials again whenever the connection is
    lost. The modules are those that app.json lists here, with its settings, its workspace and its sandbox; what may run
    is decided at the server. The first time it shows a code, which a person types in the server's approval view.

    Installed kinds of hosts add options, such as --pool: with it, this machine is one of many hosts that servers share
    over NATS. They find it, and nothing new comes here beyond its capacity.

    With --json each thing that is told is one line: `agent.offers`, `agent.code`, `agent.state`, and
    `resource.stateChanged` of whatever lives here, as GET /api/events of a server has it. Errors go to stderr.

    \b
    Examples:
      agentcore host --server https://agent.example.org
      agentcore host --server http://127.0.0.1:8765 --name build-box
      agentcore host --server tls://nats.example.org:4222 --pool farm --key farm.seed --capacity 50
    """
    from agentcore.cli.own_stdout import log_module_output, own_stdout
    from agentcore.cli.terminal.exit_codes import CliError, ExitCode
    from agentcore.config.workspace_roots import prepare_roots
    from agentcore.core.discovery.families import load_config
    from agentcore.core.module_code.process_exit import bounded_runner
    from agentcore.core.process_privacy import hide_secrets
    from agentcore.hosts.machine_program.dial_in import HostNotPaired, Server
    from agentcore.hosts.machine_program.host_program import run_host_for_server, run_host_program
    from agentcore.hosts.machine_program.user_messages import HostCallbacks
    from agentcore.server.logging.log_setup import configure_logging, log_to_state_folder
    from agentcore.store.state.state_dir import StateDir

    called = _own_name() if name is None else name
    if not _NAME.fullmatch(called):
        raise CliError(
            f"{called!r} cannot be a host's name: up to 40 small letters, digits, _ and -, a letter first",
            hint="choose one with --name",
        )
    hide_secrets()
    configure_logging(level="debug" if is_verbose() else "info" if not own_stdout().isatty() else "warning")
    config = load_config(config_path, os.environ)
    make_program = _find_program(kind_options, server=server, name=called, ca=ca)
    where = Server.from_address(server, ca) if make_program is None else None
    if not config.modules:
        raise CliError(f"{config.file} lists no modules, so this machine offers nothing", hint="agentcore init --help")
    address = server if where is None else where.address
    told = HostCallbacks(
        _print_offers, lambda code, until_ms: _print_code(address, called, code, until_ms), _print_state
    )
    if as_json:
        told = HostCallbacks(
            _print_offers_json, _print_code_json, _print_state_json, lambda event: _print_line(event.to_json())
        )
    with (
        StateDir.open(config.file, prepare_roots(config)) as state,
        log_to_state_folder(state.path),
        log_module_output(),
        bounded_runner() as runner,
    ):
        try:
            if where is not None:
                runner.run(run_host_for_server(config, state, where, called, told, pairs=pairs))
            if make_program is not None:
                runner.run(run_host_program(config, state, make_program, told))
        except HostNotPaired as exc:
            raise CliError(
                f"{address} does not let {called!r} in: {exc}",
                hint="if it was forgotten there, --pair pairs it anew",
                code=ExitCode.UNREACHABLE,
            ) from None
    return ExitCode.OK


def _find_program(options: Mapping[str, Any], *, server: str, name: str, ca: Path | None) -> "MakeProgram | None":
    """Return the program of the added kind of hosts that the options are meant for; None: the machine dials in."""
    from agentcore.config.host_kinds import load_kinds

    for kind in load_kinds():
        own = {option.name: options[option.name] for option in kind.host_options()}
        if (make_program := kind.join(own, server=server, name=name, ca=ca)) is not None:
            return make_program
    return None


def _own_name() -> str:
    """Derive a valid host name from the machine's name."""
    text = re.sub(r"[^a-z0-9_-]+", "-", platform.node().partition(".")[0].lower()).strip("-_0123456789")
    return text[:40] or "machine"


def _print_offers(tools: dict[str, list[str]], failed: dict[str, str], roots: tuple[Path, ...]) -> None:
    for name, offered in tools.items():
        click.echo(f"{name}: {', '.join(offered) or 'no tools'}")
    for name, reason in failed.items():
        click.echo(f"{name} does not run: {reason}", err=True)
    click.echo(f"workspace: {', '.join(map(str, roots))}")


def _print_code(address: str, name: str, code: str, until_ms: int) -> None:
    until = time.strftime("%H:%M", time.localtime(until_ms / 1000))
    click.echo(f"\nTo let {name!r} in, type this code in the approval view of {address}: {code}")
    click.echo(f"It is valid once, until {until}.\n")


def _print_state(state: str) -> None:
    click.echo(state)


def _print_offers_json(tools: dict[str, list[str]], failed: dict[str, str], roots: tuple[Path, ...]) -> None:
    _print_line({"type": "agent.offers", "tools": tools, "failed": failed, "workspace": [str(root) for root in roots]})


def _print_code_json(code: str, until_ms: int) -> None:
    _print_line({"type": "agent.code", "code": code, "expiresAt": until_ms})


def _print_state_json(state: str) -> None:
    _print_line({"type": "agent.state", "state": state})


def _print_line(told: dict[str, Any]) -> None:
    from agentcore.cli.terminal.output import print_json_text
    from agentcore.encoding import to_json

    print_json_text(to_json(told).decode())
