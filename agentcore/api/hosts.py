"""Hosts on other machines, as a module of the server sees them."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

HostState: TypeAlias = Literal["running", "away", "draining", "drained", "disconnected"]
"""How a host stands. `away`: it is not connected; `draining`, `drained`: it is, and takes nothing new; `disconnected`:
a person keeps it out."""

AnswerHosts: TypeAlias = Callable[[Mapping[str, Any], bytes | None], Awaitable[tuple[Mapping[str, Any], bytes | None]]]
"""Answers what the same module on the server asks: a request and the bytes with it; gives an answer, with bytes."""


@dataclass(frozen=True, slots=True)
class HostInfo:
    """A host on another machine that a person has let in.

    Args:
        name: What it is called here.
        state: How it stands.
        platform: The system of its machine, as it says, such as `Linux x86_64`; empty: it is not known yet.
        workspace: The folders there that its tools work in, as it says; none while it is not known.
        modules: The names of the modules that it runs, without its own; none where it has not been here since the
            server started.
    """

    name: str
    state: HostState
    platform: str = ""
    workspace: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()

    @property
    def is_connected(self) -> bool:
        """Whether it is connected just now."""
        return self.state in ("running", "draining", "drained")

    @property
    def takes_new(self) -> bool:
        """Whether something new may go there: it is connected, and a person does not keep new work away from it."""
        return self.state == "running"
