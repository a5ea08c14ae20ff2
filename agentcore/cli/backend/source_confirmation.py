"""Chooses the source of a module, confirmed at the terminal of the core's own process."""

import sys
from collections.abc import Mapping
from typing import Any

import click

from agentcore.cli.backend.backend import Backend
from agentcore.cli.backend.server_backend import ServerBackend
from agentcore.cli.terminal.exit_codes import CliError
from agentcore.cli.terminal.module_text import describe_source, list_other_sources
from agentcore.cli.terminal.output import print_text
from agentcore.cli.terminal.visible_text import all_visible


def print_sources(module: Mapping[str, Any]) -> None:
    """Print the sources that can be chosen for a module."""
    if not module["others"]:
        click.echo(f"Nothing else has the name {module['name']}; it is {describe_source(module) or 'not installed'}.")
    for text in list_other_sources(module):
        print_text(text)


def choose_source(backend: Backend, name: str, source: str) -> dict[str, Any]:
    """Choose the source from which a module is loaded, and return the updated module.

    Raises:
        CliError: A running server asks the user first, there is no terminal to ask at, or the user declines.
    """
    if isinstance(backend, ServerBackend):
        return backend.choose_source(name, source)
    from agentcore.cli.backend.local_host import LocalHost

    assert isinstance(backend, LocalHost)  # noqa: S101 - there are these two
    if not backend.run(lambda core: _confirm_source(core, name, source)):
        raise CliError("nothing was changed")
    return backend.get_module(name)


async def _confirm_source(host: Any, name: str, source: str) -> bool:
    from agentcore.cli.terminal.terminal import TERMINAL, ask_confirmation, is_interactive

    proposal, found = await host.sources.make_proposal(name, source)
    if not is_interactive():
        raise CliError(
            "a person chooses what stands behind a module, and there is no terminal to ask one at",
            hint="run this at a terminal; or start the server, and choose in the approval view",
        )
    for subject, diff in proposal.diff:
        sys.stderr.write(f"{all_visible(subject)}\n{all_visible(diff)}")
    if not await ask_confirmation("Load this from now on?", is_new=True):
        return False
    await host.sources.choose_source(name, found, TERMINAL)
    return True
