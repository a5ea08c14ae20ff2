"""What the person is told at a machine that is a host."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agentcore.core.events import Event


@dataclass(frozen=True)
class HostCallbacks:
    """What the person at this machine is told.

    Args:
        offers: Once: the tools of each module, the reasons of those that failed, and the workspace folders.
        code: The code by which the host is paired, and until when it is valid (ms since 1970).
        state: How the connection stands.
        resource: A resource here was made, has changed, or has ended; None: nobody wants to know.
    """

    offers: Callable[[dict[str, list[str]], dict[str, str], tuple[Path, ...]], None]
    code: Callable[[str, int], None]
    state: Callable[[str], None]
    resource: Callable[[Event], None] | None = None
