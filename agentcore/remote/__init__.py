"""Modules that run elsewhere: in a process of their own, and what links them to their server."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentcore.config.loading import AppConfig
    from agentcore.remote.places.hosts import Hosts


def places_of(config: "AppConfig") -> "Hosts | None":
    """The hosts that app.json names, for a host to be opened with; None: all modules run in its own process."""
    if not config.hosts:
        return None
    from agentcore.remote.places.hosts import Hosts  # noqa: PLC0415 - a server without hosts needs nothing of it

    return Hosts(config)
