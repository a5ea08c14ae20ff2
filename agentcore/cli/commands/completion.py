"""`agentcore completion`, and the completion of tools, their arguments, modules and hosts."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem, get_completion_class

F = TypeVar("F", bound=Callable[..., Any])

_VARIABLE = "_AGENTCORE_COMPLETE"
_CACHE_NAME = "completion.json"
_CACHE_BYTES = 1024 * 1024


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a completion script for a shell.

    It completes commands, options, modules, hosts, tools and the names of their arguments.

    \b
    Install:
      bash   eval "$(agentcore completion bash)"         in ~/.bashrc
      zsh    eval "$(agentcore completion zsh)"          in ~/.zshrc
      fish   agentcore completion fish > ~/.config/fish/completions/agentcore.fish
    """
    script = get_completion_class(shell)
    assert script is not None  # noqa: S101 - click has these three
    click.echo(script(ctx.find_root().command, {}, "agentcore", _VARIABLE).source())


def complete_tool(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete names of tools that existed when a command last listed them."""
    known = _known_tools(ctx)
    return [
        CompletionItem(name, help=str(tool.get("help", "")))
        for name, tool in known.items()
        if name.startswith(incomplete)
    ]


def complete_argument(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete `key=` for the arguments of the tool that is already typed."""
    tool = _known_tools(ctx).get(str(ctx.params.get("tool")), {})
    names = [f"{name}=" for name in tool.get("arguments", [])]
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def complete_module(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete names of installed and local modules."""
    from agentcore.core.discovery.families import load_config
    from agentcore.core.discovery.source_search import installed_names

    try:
        names = installed_names(load_config(_config_path(ctx), {}))
    except Exception:  # noqa: BLE001 - while somebody types, a broken app.json completes nothing
        return []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def complete_host(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete names of the hosts in app.json."""
    from agentcore.core.discovery.families import load_config

    try:
        names = load_config(_config_path(ctx), {}).hosts
    except Exception:  # noqa: BLE001 - while somebody types, a broken app.json completes nothing
        return []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def complete_machine(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete names of the other machines and pools in app.json."""
    from agentcore.config.host_config import ProcessHostConfig
    from agentcore.core.discovery.families import load_config

    try:
        known = load_config(_config_path(ctx), {}).hosts
    except Exception:  # noqa: BLE001 - while somebody types, a broken app.json completes nothing
        return []
    names = [name for name, host in known.items() if not isinstance(host, ProcessHostConfig)]
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


host_option: Callable[[F], F] = click.option(
    "--host",
    default="",
    metavar="NAME",
    shell_complete=complete_machine,
    help="A host on another machine, or a pool of them, in place of the server's own tools.",
)


def remember_tools(config_path: Path, tools: Iterable[Mapping[str, Any]]) -> None:
    """Store names of tools and arguments in the state folder, since completion must not start a core."""
    from agentcore.store.state.private_file import write_private_file
    from agentcore.store.state.state_dir import locate_state_dir

    known = {
        tool["name"]: {
            "help": str(tool.get("description", "")).split("\n", 1)[0][:100],
            "arguments": list(tool.get("input_schema", {}).get("properties", {})),
        }
        for tool in tools
    }
    text = json.dumps(known).encode("ascii")
    path = locate_state_dir(config_path) / _CACHE_NAME
    try:
        if not path.exists() or path.read_bytes() != text:
            write_private_file(path, text)
    except OSError:
        pass  # completion is a convenience: a full disk must not fail the command that ran


def _known_tools(ctx: click.Context) -> dict[str, Any]:
    from agentcore.store.state.private_file import read_private_file
    from agentcore.store.state.state_dir import locate_state_dir

    try:
        content = read_private_file(locate_state_dir(_config_path(ctx)) / _CACHE_NAME, _CACHE_BYTES)
        known = {} if content is None else json.loads(content)
    except Exception:  # noqa: BLE001 - while somebody types, an unreadable file completes nothing
        return {}
    return known if isinstance(known, dict) else {}


def _config_path(ctx: click.Context) -> Path:
    return Path(ctx.params.get("config_path") or "app.json")
