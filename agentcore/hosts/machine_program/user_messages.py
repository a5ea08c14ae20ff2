"""Messages for the user of a foreign machine."""

from collections.abc import Callable
from pathlib import Path

from agentcore.core.events import Event
from agentcore.late_dataclasses import dataclass


@dataclass(frozen=True)
class HostCallbacks:
    """Receives messages for the user of this machine.

    Args:
        offers: Called once: the tools of each module, the reasons of those that failed, and the workspace folders.
        code: The code for pairing the host, and its expiry (ms since 1970).
        state: The state of the connection.
        resource: A resource here was created, has changed, or has ended; None: changes are not reported.
    """

    offers: Callable[[dict[str, list[str]], dict[str, str], tuple[Path, ...]], None]
    code: Callable[[str, int], None]
    state: Callable[[str], None]
    resource: Callable[[Event], None] | None = None
