"""A kind of hosts, as its distribution registers it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from agentcore.api.host_group_config import HostGroupConfig
from agentcore.api.host_kinds.host_side import MakeProgram
from agentcore.api.host_kinds.server_side import HostGroup, HostSource

if TYPE_CHECKING:
    import click


class HostKind(Protocol):
    """A kind of hosts. See the package for how it is registered."""

    @property
    def config(self) -> type[HostGroupConfig]:
        """The model of an entry of `hosts` in app.json."""
        ...

    def open_group(self, config: Any, group: HostGroup) -> HostSource:
        """Return the source of the hosts of an entry. Called in the event loop, before modules start; must not wait.

        Args:
            config: The entry, an instance of `config`.
            group: What the server offers for it.
        """
        ...

    def host_options(self) -> "Sequence[click.Option]":
        """Return options that this kind adds to `agentcore host`; none may be required."""
        ...

    def host_commands(self) -> "Mapping[str, click.Command]":
        """Return commands that this kind adds to `agentcore hosts`, by name."""
        ...

    def join(self, options: Mapping[str, Any], *, server: str, name: str, ca: Path | None) -> MakeProgram | None:
        """Return how the program of `agentcore host` is made; None: the options are not meant for this kind.

        Args:
            options: The values of `host_options`, by name.
            server: The value of `--server`.
            name: The name of this machine.
            ca: The value of `--ca`: a file with certificates that are trusted besides those of the system.
        Raises:
            HostKindError: The options are invalid.
        """
        ...
