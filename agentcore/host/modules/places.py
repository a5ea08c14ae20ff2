"""Where modules run that do not run in the process of their server, as far as the host has to know."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from agentcore.host.discovery.finding import Found


class PlacedModule(Protocol):
    """A module that runs elsewhere: what stands for it here implements the hooks, and says these things besides.

    Attributes:
        place: The name of where it runs.
        problems: What was wrong with definitions of its that were left out there, one sentence each.
        fingerprint: Of the code that runs there; one that outlived a server may be older than that on the disk.
        outlives: Whether it goes on when this server ends.
        goes_on: Whether this server is about to end without it: then nothing of it is ended.
    """

    @property
    def place(self) -> str: ...
    @property
    def problems(self) -> Sequence[str]: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def outlives(self) -> bool: ...
    @property
    def goes_on(self) -> bool: ...

    async def check_settings(self, values: dict[str, Any]) -> Sequence[Mapping[str, Any]]:
        """What is wrong with settings, as pydantic says it (`type`, `loc`, `msg`); none: all is right."""
        ...

    async def clear_up(self) -> Sequence[str] | None:
        """Find what it left there once it was stopped, and end what can be ended.

        Returns:
            What was found, each in a few words; None: others share its code, and run.
        """
        ...


class Place(Protocol):
    """A process, or a machine, in which modules run.

    Attributes:
        name: What it is called in app.json.
    """

    name: str

    async def find(self, name: str) -> Found | None:
        """What stands behind a module's name there; None: the same as here.

        Raises:
            ToolError: `host_unavailable`.
            ModuleNotInstalled: There is nothing.
        """
        ...

    async def load(self, name: str, found: Found, fingerprint: str, locale: str) -> PlacedModule:
        """Have a module's code imported there, and give what stands for it here.

        Args:
            fingerprint: Of the code that is meant: code that was loaded there stays to be had until its place ends.
        Raises:
            ToolError: `host_unavailable`: the place cannot be had.
            BaseException: What the import raised there.
        """
        ...


class Places(Protocol):
    """Knows where modules run."""

    def of(self, name: str) -> Place | None:
        """Where a module runs; None: in the process of the server."""
        ...

    async def rest(self, name: str) -> None:
        """A module has ended: a place in which none runs any more may end, too."""
        ...


class NoPlaces:
    """All modules run in the process of the server."""

    def of(self, name: str) -> Place | None:
        """See `Places.of`."""
        return None

    async def rest(self, name: str) -> None:
        """See `Places.rest`."""
