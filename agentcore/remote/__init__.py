"""Modules that run elsewhere: in a process of their own, and what links them to their server."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from agentcore.config.loading import AppConfig
    from agentcore.remote.places.hosts import Hosts


async def end_all_outliving(state: "Path") -> list[str]:
    """Have the hosts end that outlive the server of a state folder; gives the names of those that ran."""
    from agentcore.remote.places.hosts import end_all_outliving as end_all  # noqa: PLC0415 - as below

    return await end_all(state)


def places_of(config: "AppConfig") -> "Hosts":
    """The hosts that app.json names, and those that dial in, for a host to be opened with."""
    from agentcore.remote.places.hosts import Hosts  # noqa: PLC0415 - commands that open no host need nothing of it

    return Hosts(config)
