"""Imports servers of other clients: shows them, lets the user choose, and moves their secrets out of the blocks."""

import copy
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import click

from agentcore.cli.clients.client_catalog import CLIENTS
from agentcore.cli.clients.configured_servers import ConfiguredServer, all_configured_servers, configured_servers_of
from agentcore.cli.terminal.exit_codes import CliError, ExitCode
from agentcore.cli.terminal.output import print_notice, print_table
from agentcore.near_names import near_names, unknown_name
from agentcore.secrets import MASK
from agentcore.server.modules.pasted import BLOCKS, FoundSecret, secrets_in

Blocks = dict[str, dict[str, Any]]


def find_servers(client: str | None, module_of: Callable[[str], str], here: Collection[str]) -> list[ConfiguredServer]:
    """Find the servers of one client, or of all, that can be added; omitted ones are named on stderr.

    Args:
        client: The client's name. None: all clients.
        module_of: Returns the module name for a server's name; raises `CliError` if there is none.
        here: The names of the servers in app.json.
    Raises:
        CliError: There is no client of that name, or its file cannot be read.
    """
    if client is not None and client not in CLIENTS:
        raise CliError(unknown_name("client", client, near_names(client, list(CLIENTS))))
    told: list[str] = []
    offered = configured_servers_of(CLIENTS[client]) if client is not None else all_configured_servers(told)
    modules = {module_of(name): name for name in here}
    found: dict[str, ConfiguredServer] = {}
    for server in offered:
        where = f"{server.name} of {server.client.title} is left out"
        try:
            module = module_of(server.name)
        except CliError as exc:
            told.append(f"{where}: {exc.message}")
            continue
        if module in modules:
            told.append(f"{where}: {modules[module]} is here already")
        elif module not in found:
            found[module] = server
        elif found[module].block != server.block:
            other = found[module]
            told.append(f"{where}: {other.name} of {other.client.title} is another one; take it with --from")
    for sentence in told:
        print_notice(sentence)
    return list(found.values())


def print_servers(found: Sequence[ConfiguredServer]) -> None:
    """Print the servers with a number each, and without values that look like secrets."""
    rows = [
        (
            str(number),
            server.name,
            _describe_origin(server),
            str(len(secrets_in(server.name, server.block, ())) or ""),
            _describe_command(mask_blocks({server.name: server.block})[server.name]),
        )
        for number, server in enumerate(found, 1)
    ]
    print_table(("", "server", "of", "secrets", "runs"), rows)


def print_left_out(chosen: Sequence[ConfiguredServer]) -> None:
    """Print on stderr what is not taken over of each server."""
    for server in chosen:
        for sentence in server.left_out:
            print_notice(f"{server.name} of {server.client.title}: {sentence}")


def choose_servers(
    found: Sequence[ConfiguredServer], wanted: Sequence[str], *, takes_all: bool
) -> list[ConfiguredServer]:
    """Return the servers that the user chose on the command line, or else asks for at a terminal.

    Raises:
        CliError: A name is unknown, or there is no terminal to ask at.
    """
    chosen = list(found) if takes_all else _select_by_name(found, wanted)
    if not takes_all and not wanted:
        if not sys.stdin.isatty():
            message = "nobody can be asked here which of these are meant"
            raise CliError(message, hint="say so with --all, --only NAME or --from CLIENT", code=ExitCode.USAGE)
        said: str = click.prompt("Which? Numbers or names, with spaces between, or all", err=True)
        words = said.replace(",", " ").split()
        chosen = (
            list(found) if words == ["all"] else _select_by_name(found, [_resolve_name(found, word) for word in words])
        )
    if len(chosen) > BLOCKS:
        raise CliError(f"these are {len(chosen)}; take at most {BLOCKS} at a time", hint="--only NAME names some")
    return chosen


def move_secrets(
    chosen: Sequence[ConfiguredServer], kept: Collection[str], *, leaves: bool, is_sure: bool
) -> tuple[Blocks, dict[str, str]]:
    """Return the servers' blocks with references in place of apparent secrets, and these secrets by name.

    Args:
        kept: Names of the stored secrets.
        leaves: True to leave secrets in the blocks.
        is_sure: True to not ask the user.
    """
    blocks = {server.name: copy.deepcopy(server.block) for server in chosen}
    secrets: dict[str, str] = {}
    if leaves:
        return blocks, secrets
    found: list[tuple[dict[str, Any], FoundSecret]] = []
    for name, block in blocks.items():
        taken = {*kept, *(each.name for _, each in found)}
        found += [(block, secret) for secret in secrets_in(name, block, taken)]
    names = ", ".join(secret.name for _, secret in found)
    if found and not is_sure and sys.stdin.isatty():
        question = f"These look like secrets: {names}. Keep them as such, and out of app.json?"
        if not click.confirm(question, default=True, err=True):
            return blocks, secrets
    for block, secret in found:
        _set_text(block, secret.path, secret.instead)
        secrets[secret.name] = secret.value
    return blocks, secrets


def mask_blocks(blocks: Mapping[str, dict[str, Any]]) -> Blocks:
    """Return a copy of the blocks for display, with apparent secrets masked."""
    shown = copy.deepcopy(dict(blocks))
    for name, block in shown.items():
        for secret in secrets_in(name, block, ()):
            _set_text(block, secret.path, secret.instead)
        for secret in secrets_in(name, blocks[name], ()):
            text = _get_text(block, secret.path).replace(f"${{secret:{secret.name}}}", MASK)
            _set_text(block, secret.path, text)
    return shown


def _describe_origin(server: ConfiguredServer) -> str:
    where = "" if server.project is None else f" in {server.project}"
    return f"{server.client.title}{where}{' (off there)' if server.is_off else ''}"


def _select_by_name(found: Sequence[ConfiguredServer], names: Sequence[str]) -> list[ConfiguredServer]:
    by_name = {server.name: server for server in found}
    for name in names:
        if name not in by_name:
            raise CliError(unknown_name("server", name, near_names(name, list(by_name))))
    return [by_name[name] for name in dict.fromkeys(names)]


def _resolve_name(found: Sequence[ConfiguredServer], word: str) -> str:
    is_number = word.isascii() and word.isdigit() and 0 < int(word) <= len(found)
    return found[int(word) - 1].name if is_number else word


def _get_text(block: Any, path: Sequence[str | int]) -> str:
    for step in path:
        block = block[step]
    return str(block)


def _set_text(block: Any, path: Sequence[str | int], text: str) -> None:
    for step in path[:-1]:
        block = block[step]
    block[path[-1]] = text


def _describe_command(block: Mapping[str, Any]) -> str:
    return str(block["url"]) if "url" in block else " ".join([block["command"], *block["args"]])
