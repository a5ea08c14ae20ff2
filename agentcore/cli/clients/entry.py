"""Our entry in the configuration of a client: how the client reaches agentcore."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

CALL_SECONDS = 660
"""The time limit of a call that clients are given, where they take one."""

WAIT_SECONDS = 600
"""How long a call waits for a person then; the rest is for the call itself."""


BEARER_VARIABLE = "AGENTCORE_MCP_KEY"
"""Where a client that reads its key from the environment finds it."""

KEY_BEGINS = "acap_"
"""How the keys of clients begin."""

_OUR_MARKS = (f"Bearer {KEY_BEGINS}", BEARER_VARIABLE)
"""What an entry of ours over HTTP has: how our keys begin, or where one is."""


@dataclass(frozen=True, slots=True)
class OverStdio:
    """A command that the client starts.

    Args:
        command: The absolute path of `agentcore`.
        args: Its arguments.
    """

    command: str
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OverHttp:
    """An address that the client speaks to.

    Args:
        url: The address.
        key: The client's key.
    """

    url: str
    key: str


Reach = OverStdio | OverHttp


def stdio_entry(program: str, client: str, config: Path, *, waits: bool, tools: Sequence[str] = ()) -> OverStdio:
    """How a client that starts commands reaches the server of an app.json.

    Args:
        program: The absolute path of `agentcore`.
        client: The client's name here.
        config: The absolute path of app.json.
        waits: Whether the client's own limit lets a call wait long.
        tools: Patterns of the tools that it wants; none: all that it may have.
    """
    args = ["mcp", "--client", client, "--config", str(config)]
    if tools:
        args += ["--tools", ",".join(tools)]
    if waits:
        args += ["--wait", str(WAIT_SECONDS)]
    return OverStdio(program, tuple(args))


def http_entry(address: str, key: str, *, waits: bool, tools: Sequence[str] = ()) -> OverHttp:
    """How a client reaches a server by its address.

    Args:
        address: For clients of MCP.
        key: The client's.
        waits: Whether the client's own limit lets a call wait long.
        tools: Patterns of the tools that it wants; none: all that it may have.
    """
    asked = [f"tools={quote(','.join(tools), safe='*,')}"] if tools else []
    asked += [f"wait={WAIT_SECONDS}"] if waits else []
    return OverHttp(f"{address}?{'&'.join(asked)}" if asked else address, key)


def is_own_entry(entry: Any) -> bool:
    """Whether an entry that was found is one of agentcore's, whichever app.json it names."""
    if not isinstance(entry, Mapping):
        return False
    command = entry.get("command") or entry.get("cmd")
    words = [*(command if isinstance(command, list) else [command]), *(entry.get("args") or [])]
    if words and Path(str(words[0])).name.startswith("agentcore") and "mcp" in words:
        return True
    address = entry.get("url") or entry.get("httpUrl") or entry.get("serverUrl") or entry.get("uri")
    is_mcp = isinstance(address, str) and address.partition("?")[0].endswith("/mcp")
    return is_mcp and any(mark in str(entry) for mark in (*_OUR_MARKS, "agentcore"))
