"""Kinds of hosts that installed distributions add: which there are, and their objects."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from agentcore.entry_points import EntryPoint, find_entry_points
from agentcore.errors import AgentcoreError
from agentcore.installing import INDEX_WARNING, pip_command
from agentcore.near_names import closest_name

if TYPE_CHECKING:
    from agentcore.api.host_kinds.kind import HostKind

GROUP = "agentcore.host_kinds"
"""The entry-point group: the name of a kind, as `kind` of an entry of `hosts`, and where its object is."""

OWN_KINDS = ("process", "remote")
"""The kinds of agentcore itself, which no distribution can replace."""

_RESERVED = (*OWN_KINDS, "member")  # the last one is that of a pool's hosts, where hosts are listed


class HostKindMissingError(AgentcoreError):
    """No installed distribution adds a kind of hosts, or it cannot be loaded; the message says what to do."""


def installed_kinds() -> dict[str, EntryPoint]:
    """Return the added kinds, by name; of two distributions with the same one, that which is imported first."""
    found: dict[str, EntryPoint] = {}
    for point in find_entry_points(GROUP):
        if point.name not in _RESERVED:
            found.setdefault(point.name, point)
    return found


def load_kind(name: str) -> "HostKind":
    """Import a kind.

    Raises:
        HostKindMissingError: It is not installed, or cannot be loaded.
    """
    installed = installed_kinds()
    point = installed.get(name)
    if point is not None:
        return _load(point)
    known = [*OWN_KINDS, *sorted(installed)]
    if meant := closest_name(name, known):
        raise HostKindMissingError(f"there is no kind {name!r} of hosts; did you mean {meant!r}?")
    raise HostKindMissingError(
        f"no installed package adds hosts of kind {name!r} (known are {', '.join(known)}); try: "
        f"{pip_command(distribution_of(name))} ({INDEX_WARNING})"
    )


def load_kinds() -> "Iterator[HostKind]":
    """Import all added kinds, in the order of their names.

    Raises:
        HostKindMissingError: One cannot be loaded.
    """
    for _, point in sorted(installed_kinds().items()):
        yield _load(point)


def distribution_of(kind: str) -> str:
    """Return the name that the distribution of a kind has by convention."""
    return f"agentcore-{kind.replace('_', '-')}-hosts"


def _load(point: EntryPoint) -> "HostKind":
    try:
        found = point.load()
        made = found() if isinstance(found, type) else found
    except Exception as exc:
        raise HostKindMissingError(
            f"hosts of kind {point.name!r}, of {point.distribution}, cannot be loaded: {exc}"
        ) from exc
    return cast("HostKind", made)
