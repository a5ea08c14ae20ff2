"""Hosts on other machines, as a module of the server sees them."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeAlias

from agentcore.late_dataclasses import dataclass

HostState: TypeAlias = Literal["running", "away", "draining", "drained", "disconnected"]
"""The state of a host. `away`: it is not connected; `draining`, `drained`: it is, and accepts no new work;
`disconnected`: the user has disconnected it."""

AnswerHosts: TypeAlias = Callable[[Mapping[str, Any], bytes | None], Awaitable[tuple[Mapping[str, Any], bytes | None]]]
"""Answers requests of the same module on the server: gets a request and its bytes; returns an answer and bytes."""


@dataclass(frozen=True, slots=True)
class HostInfo:
    """A foreign machine that the user has paired.

    Args:
        name: Its name here.
        state: Its state.
        platform: The system that its machine reports, such as `Linux x86_64`; empty: unknown.
        workspace: The folders that its tools work in, as it reports; none while unknown.
        modules: The names of the modules that it runs, without its own name; none if it has not connected since the
            server started.
    """

    name: str
    state: HostState
    platform: str = ""
    workspace: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()

    @property
    def is_connected(self) -> bool:
        """True if it is connected now."""
        return self.state in ("running", "draining", "drained")

    @property
    def takes_new(self) -> bool:
        """True if it accepts new work: it is connected, and not drained."""
        return self.state == "running"
