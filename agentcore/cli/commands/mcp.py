"""`agentcore mcp`: offers tools to MCP clients that start a command, and manages the MCP servers behind agentcore."""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from agentcore.cli.options import config_option, json_option
from agentcore.cli.terminal.exit_codes import CliError, ExitCode

_CLIENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_FAMILY = "mcpServers"
"""The key in app.json under which a distribution mounts MCP servers; all clients use this word for them."""

_yes = click.option("--yes", "is_sure", is_flag=True, help="Do not ask.")


@click.group(invoke_without_command=True)
@config_option
@click.option("--client", metavar="NAME", help="The client's name, by which its calls are known.")
@click.option("--tools", default="", metavar="PATTERNS", help="Offer only these tools, such as 'browser_*,read_file'.")
@click.option(
    "--wait",
    "wait_s",
    type=click.FloatRange(min=1, max=86_400),
    metavar="SECONDS",
    help="How long a call waits for a person.  [default: 50]",
)
@click.option(
    "--wait-silently",
    "waits_silently",
    is_flag=True,
    help="Calls that request no progress wait as long: the client has a time limit of its own that allows it.",
)
@click.option(
    "--tools-wait",
    "tools_wait_s",
    type=click.FloatRange(min=0, max=60),
    metavar="SECONDS",
    help="How long the list of tools waits for modules that are starting.  [default: clients.NAME.tools_wait_s, 5]",
)
@click.pass_context
def mcp(
    context: click.Context,
    *,
    config_path: Path,
    client: str | None,
    tools: str,
    wait_s: float | None,
    waits_silently: bool,
    tools_wait_s: float | None,
) -> None:
    """Speak MCP on stdin and stdout: started by MCP clients, see `agentcore connect`.

    Passes all on to the running server of that app.json; where none runs, one is started, which lives as long as such
    clients are connected. When the server ends another one takes over, and the client stays connected.

    With a command below, it is about MCP servers whose tools agentcore offers.
    """
    if context.invoked_subcommand is not None:
        return
    from agentcore.cli.relay.relay import Relay
    from agentcore.cli.relay.server_link import ServerLink

    if client is None:
        raise CliError("--client is missing", hint="agentcore connect CLIENT writes all that a client needs")
    if _CLIENT.fullmatch(client) is None:
        raise CliError(f"--client {client!r} has other characters than letters, digits, - and _, or over 40")
    config = config_path.resolve()
    if not config.is_file():
        raise CliError(f"there is no {config}", hint="agentcore init writes one")
    # left out where it is not asked for, as a server of the version before knows no such key
    asked = {"tools": tools, "wait_s": wait_s, "tools_wait_s": tools_wait_s, "waits_silently": waits_silently or None}
    Relay(ServerLink(config, client, {name: value for name, value in asked.items() if value is not None})).run()


@mcp.command("add")
@config_option
@click.option("--env", "variables", multiple=True, metavar="NAME=VALUE", help="A variable of its environment.")
@click.option("--header", "headers", multiple=True, metavar="NAME=VALUE", help="A header, for a server at an address.")
@click.option(
    "--trust",
    "trusts_hints",
    is_flag=True,
    help="Believe what it says of the effects of its tools: those that only read then run without approval.",
)
@_yes
@click.argument("name")
@click.argument("words", nargs=-1, required=True, metavar="-- COMMAND…|URL")
def add(
    *,
    config_path: Path,
    variables: Sequence[str],
    headers: Sequence[str],
    trusts_hints: bool,
    is_sure: bool,
    name: str,
    words: Sequence[str],
) -> int:
    """Put an MCP server behind agentcore: a command that is started here, or an address.

    Keep secrets with `agentcore secrets set`, and name them: --env 'TOKEN=${secret:GITHUB_TOKEN}'. While a server runs,
    the change waits for you in the approval view; so do the server's tools, before a model is offered them.

    \b
    Examples:
      agentcore mcp add time -- uvx mcp-server-time
      agentcore mcp add docs https://mcp.example.com/mcp --header 'Authorization=Bearer ${secret:DOCS}'
    """
    block = _make_block(words, _parse_pairs("--env", variables), _parse_pairs("--header", headers))
    if trusts_hints:
        block["agentcore"] = {"trust_annotations": True}
    _module_of(name)  # report what is missing before anything is shown
    if name in _read_servers(config_path):
        raise CliError(f"there is a server {name!r} already", hint="agentcore mcp remove takes it away")
    _print_blocks(_mask_blocks({name: block}))
    _warn_of_exposed({name: block})
    _confirm_change(is_sure)
    return _change_server(config_path, name, block)


@mcp.command("list")
@config_option
@json_option
def list_servers(config_path: Path, as_json: bool) -> None:
    """List the MCP servers in app.json, with the modules that they are, and their state while a server runs."""
    from agentcore.cli.terminal.output import print_json, print_notice, print_table

    listed = _read_listed_modules(config_path)
    servers = _read_servers(config_path)
    states = _read_states(config_path)
    rows: list[dict[str, Any]] = [
        {
            "name": name,
            "module": _module_of(name),
            "isOn": _module_of(name) in listed,
            "state": states.get(_module_of(name), ""),
            "runs": _describe_command(block),
        }
        for name, block in _mask_blocks(servers).items()
    ]
    if as_json:
        print_json({"servers": rows})
    elif not rows:
        print_notice("There is none. agentcore mcp add NAME -- COMMAND puts one behind agentcore.")
    else:
        shown = [
            (row["name"], row["module"], (row["state"] or "on") if row["isOn"] else "off", row["runs"]) for row in rows
        ]
        print_table(("server", "module", "", "runs"), shown)
        _warn_of_exposed(servers)


@mcp.command("test")
@config_option
@json_option
@click.argument("name")
def test(config_path: Path, as_json: bool, name: str) -> int:
    """Start an MCP server alone, and say what it is: its tools with their effects, and what it wrote.

    It need not be on, and nothing else has to run. It gets its variables and secrets and the sandbox of its block; no
    tool is called, and nothing is accepted. What it downloads and keeps goes when it ends. Exit code 1: it did not
    start.

    \b
    Examples:
      agentcore mcp test time
      agentcore mcp test time --json
    """
    from agentcore.cli.backend.trial import run_trial
    from agentcore.cli.terminal.output import print_json
    from agentcore.cli.terminal.trial_text import print_trial, trial_json

    _check_known(name, _read_servers(config_path))
    trial = run_trial(config_path, _module_of(name))
    if as_json:
        print_json({"name": name, **trial_json(trial)})
    else:
        print_trial(name, trial)
    return ExitCode.CALL_FAILED if trial.reason else ExitCode.OK


@mcp.command("login")
@config_option
@click.option("--no-browser", is_flag=True, help="Only say the address; it can be opened on another machine too.")
@click.option("--landed", metavar="ADDRESS", help="Where the browser ended, if it could not reach this machine.")
@click.argument("name")
def log_in(config_path: Path, no_browser: bool, landed: str | None, name: str) -> int:
    """Log in at an MCP server that wants that (OAuth), in your browser; a server has to run (agentcore serve).

    What the log-in gives is kept in the state folder, for that server's address alone, and renewed by itself.

    \b
    Examples:
      agentcore mcp login linear
      agentcore mcp login linear --no-browser
      agentcore mcp login linear --landed 'http://127.0.0.1:40123/callback?code=…&state=…'
    """
    from agentcore.cli.backend.module_login import log_in_to

    return log_in_to(config_path, _resolve_module(config_path, name), opens=not no_browser, landed=landed)


@mcp.command("logout")
@config_option
@click.argument("name")
def log_out(config_path: Path, name: str) -> int:
    """Log out at an MCP server: what its log-in gave is forgotten, and ended there where that is possible."""
    from agentcore.cli.backend.module_login import log_out_of

    return log_out_of(config_path, _resolve_module(config_path, name))


@mcp.command("import")
@config_option
@click.option("--all", "takes_all", is_flag=True, help="Take all that are found.")
@click.option("--only", "wanted", multiple=True, metavar="NAME", help="Take this one; may be given more than once.")
@click.option("--from", "client_name", metavar="CLIENT", help="Take those of this client, such as claude-code.")
@click.option("--leave-secrets", is_flag=True, help="Leave secrets in app.json, where they stand in the client's file.")
@_yes
def import_servers(
    *,
    config_path: Path,
    takes_all: bool,
    wanted: Sequence[str],
    client_name: str | None,
    leave_secrets: bool,
    is_sure: bool,
) -> int:
    """Take over MCP servers that other clients have: finds them in their files, and asks which.

    Values that look like secrets are kept as such (`agentcore secrets`). The clients' files stay as they are; agentcore
    itself and what is here already is left out.

    \b
    Examples:
      agentcore mcp import
      agentcore mcp import --from claude-code --yes
      agentcore mcp import --only github --only time
    """
    from agentcore.cli.clients import import_dialogue
    from agentcore.cli.commands.secrets import list_secret_names

    servers = _read_servers(config_path)
    found = import_dialogue.find_servers(client_name, _module_of, servers)
    if not found:
        click.echo("No other servers were found.")
        return ExitCode.OK
    import_dialogue.print_servers(found)
    chosen = import_dialogue.choose_servers(
        found, wanted, takes_all=takes_all or (client_name is not None and not wanted)
    )
    import_dialogue.print_left_out(chosen)
    kept = list_secret_names(config_path)
    blocks, secrets = import_dialogue.move_secrets(chosen, kept, leaves=leave_secrets, is_sure=is_sure)
    _print_blocks(import_dialogue.mask_blocks(blocks))
    _warn_of_exposed(blocks)
    _confirm_change(is_sure)
    return _change_all(config_path, blocks, secrets, f"added: {', '.join(blocks)}")


@mcp.command("remove")
@config_option
@_yes
@click.argument("name")
def remove(config_path: Path, is_sure: bool, name: str) -> int:
    """Take an MCP server away again."""
    _check_known(name, _read_servers(config_path))
    _confirm_change(is_sure)
    return _change_server(config_path, name, None)


def _check_known(name: str, servers: Mapping[str, Any]) -> None:
    if name not in servers:
        from agentcore.near_names import near_names, unknown_name

        raise CliError(unknown_name("server", name, near_names(name, list(servers))))


def _resolve_module(config_path: Path, name: str) -> str:
    """Return the module of a server that is given by its name in app.json or by its module's name."""
    servers = _read_servers(config_path)
    modules = {_module_of(key) for key in servers}
    if name in servers or name not in modules:
        _check_known(name, servers)
        return _module_of(name)
    return name


def _make_block(words: Sequence[str], env: dict[str, str], headers: dict[str, str]) -> dict[str, Any]:
    first, *others = words
    if first.startswith(("http://", "https://")):
        if others or env:
            raise CliError("a server at an address takes neither arguments nor --env; it takes --header")
        return {"url": first} | ({"headers": headers} if headers else {})
    if headers:
        raise CliError("--header is for a server at an address; a command takes --env")
    return {"command": first, "args": others} | ({"env": env} if env else {})


def _parse_pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for each in given:
        name, sign, value = each.partition("=")
        if not sign or not name:
            raise CliError(f"{option} {each!r} is not NAME=VALUE")
        pairs[name] = value
    return pairs


def _print_blocks(blocks: Mapping[str, Any]) -> None:
    import json

    click.echo(json.dumps({_FAMILY: blocks}, indent=2, ensure_ascii=False))


def _warn_of_exposed(blocks: Mapping[str, Any]) -> None:
    from agentcore.cli.terminal.output import print_notice
    from agentcore.server.modules.pasted import exposure_warning

    for name, block in blocks.items():
        if isinstance(block, dict) and (warning := exposure_warning(block)):
            print_notice(f"{name}: {warning}; put it into env where the server reads it there")


def _confirm_change(is_sure: bool) -> None:
    if is_sure:
        return
    if not sys.stdin.isatty():
        raise CliError("nobody can be asked here whether that is meant", hint="say so with --yes", code=ExitCode.USAGE)
    click.confirm("Do that?", abort=True, err=True)


def _change_server(config_path: Path, name: str, block: dict[str, Any] | None) -> int:
    """Add or remove a server, and print the result."""
    done = f"{name} is {'removed' if block is None else 'added'}"
    return _change_all(config_path, {name: block}, {}, done)


def _change_all(
    config_path: Path, blocks: Mapping[str, dict[str, Any] | None], secrets: Mapping[str, str], done: str
) -> int:
    """Add and remove servers: through the running server, where the user confirms it, else in app.json itself.

    Args:
        secrets: Secrets to store with them, by name.
        done: The text to print on success.
    """
    from agentcore.cli.backend.opening import confirmation_hint, running_server
    from agentcore.cli.backend.server_client import ServerClient, ServerError
    from agentcore.cli.commands.secrets import save_secret_locally
    from agentcore.cli.terminal.output import print_notice

    server = running_server(config_path)
    if server is None:
        for name, value in secrets.items():
            save_secret_locally(config_path, name, value)
        for name, block in blocks.items():
            _change_locally(config_path, name, block)
        click.echo(f"{done}, from the next start.")
        return ExitCode.OK
    try:
        body = {"blocks": dict(blocks), "secrets": dict(secrets)}
        ServerClient.from_state_dir(*server).send("PUT", f"/api/families/{_FAMILY}", body)
    except ServerError as exc:
        if exc.error["type"] != "confirmation_required":
            raise
        print_notice(confirmation_hint(server[1]))
        return ExitCode.CALL_FAILED
    click.echo(f"{done}.")
    return ExitCode.OK


def _change_locally(config_path: Path, name: str, block: dict[str, Any] | None) -> None:
    from agentcore.config.config_file import ConfigFile
    from agentcore.config.json_edit import without_value
    from agentcore.config.loading import set_modules
    from agentcore.store.credentials.module_secrets import delete_module_secrets
    from agentcore.store.state.state_dir import locate_state_dir

    module = _module_of(name)
    listed = _read_listed_modules(config_path)
    file = ConfigFile.read(config_path)
    if block is None:
        file.with_text(without_value(file.source, (_FAMILY, name)))
        set_modules(config_path, tuple(other for other in listed if other != module))
        delete_module_secrets(locate_state_dir(config_path), module)
    else:
        file.with_value((_FAMILY, name), block)
        if module not in listed:
            set_modules(config_path, (*listed, module))


def _read_servers(config_path: Path) -> dict[str, Any]:
    from agentcore.config.config_file import ConfigFile

    found = ConfigFile.read(config_path).source.value.get(_FAMILY)
    return found if isinstance(found, dict) else {}


def _read_states(config_path: Path) -> dict[str, str]:
    """Return the state of each module of the running server, as all lists show it; none if no server runs."""
    from agentcore.cli.backend.opening import running_server
    from agentcore.cli.backend.server_client import ServerClient
    from agentcore.cli.terminal.module_text import display_state

    server = running_server(config_path)
    if server is None:
        return {}
    found = ServerClient.from_state_dir(*server).get("/api/modules")["modules"]
    return {module["name"]: display_state(module) for module in found}


def _read_listed_modules(config_path: Path) -> tuple[str, ...]:
    from agentcore.config.config_file import ConfigFile

    listed = ConfigFile.read(config_path).source.value.get("modules")
    return tuple(name for name in listed if isinstance(name, str)) if isinstance(listed, list) else ()


def _module_of(name: str) -> str:
    """Return the name of a server's module.

    Raises:
        CliError: Nothing that mounts servers is installed, or no module name can be made from `name`.
    """
    from agentcore.core.discovery.families import name_of_block
    from agentcore.core.discovery.installed import installed_families
    from agentcore.installing import pip_command

    family = next((each for each in installed_families() if each.key == _FAMILY), None)
    if family is None:
        raise CliError("what mounts MCP servers is not installed", hint=pip_command("agentcore-mcp-servers"))
    module = name_of_block(family, name)
    if not module:
        raise CliError(f"{name!r} makes no name of a module", hint="take one with letters or digits")
    return module


def _mask_blocks(blocks: Mapping[str, Any]) -> dict[str, Any]:
    """Mask what looks like a secret in the blocks; values that are not blocks are left as they are."""
    from agentcore.cli.clients.import_dialogue import mask_blocks

    shown = mask_blocks({name: block for name, block in blocks.items() if isinstance(block, dict)})
    return {name: shown.get(name, block) for name, block in blocks.items()}


def _describe_command(block: Any) -> str:
    if not isinstance(block, dict):
        return ""
    words = [block.get("url") or block.get("command") or "", *(block.get("args") or [])]
    return " ".join(str(word) for word in words)
