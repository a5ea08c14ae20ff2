"""Agentcore's entry in the configuration of a client, with which the client reaches agentcore."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from agentcore.late_dataclasses import dataclass

CALL_SECONDS = 660
"""Time limit of a call in the entries of clients that accept one."""

START_SECONDS = 30
"""Time limit of the start, from the command to the list of tools, in the entries of clients that accept one."""

WAIT_SECONDS = 600
"""How long a call then waits for approval; the rest of the limit is for the call itself."""


BEARER_VARIABLE = "AGENTCORE_MCP_KEY"
"""Environment variable from which some clients read their key."""

KEY_BEGINS = "acap_"
"""Prefix of the clients' keys."""

_OUR_MARKS = (f"Bearer {KEY_BEGINS}", BEARER_VARIABLE)
"""Texts by which agentcore's HTTP entries are recognised: the prefix of a key, or the variable with the key."""


@dataclass(frozen=True, slots=True)
class OverStdio:
    """A command that the client starts.

    Args:
        command: The absolute path of `agentcore`.
        args: Its arguments.
        env: Variables that it needs, none of which is secret: clients pass few of their own on.
    """

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OverHttp:
    """An address that the client connects to.

    Args:
        url: The address.
        key: The client's key.
    """

    url: str
    key: str


Reach = OverStdio | OverHttp

Waits = Literal["no", "with_progress", "silently"]
"""Whether the client lets a call wait for minutes: never, while it receives progress, or even without progress."""


def stdio_entry(
    program: str, client: str, config: Path, env: Mapping[str, str], *, waits: Waits, tools: Sequence[str] = ()
) -> OverStdio:
    """Return how a client that starts commands reaches the server of an app.json.

    Args:
        program: The absolute path of `agentcore`.
        client: The client's name in agentcore.
        config: The absolute path of app.json.
        env: Variables without which it would not find that server.
        waits: See `Waits`.
        tools: Patterns of the requested tools. Empty: all that the client may use.
    """
    args = ["mcp", "--client", client, "--config", str(config)]
    if tools:
        args += ["--tools", ",".join(tools)]
    if waits != "no":
        args += ["--wait", str(WAIT_SECONDS)]
    if waits == "silently":
        args += ["--wait-silently"]
    return OverStdio(program, tuple(args), env)


def http_entry(address: str, key: str, *, waits: Waits, tools: Sequence[str] = ()) -> OverHttp:
    """Return how a client reaches a server by its address.

    Args:
        address: The server's address for MCP clients.
        key: The client's key.
        waits: See `Waits`.
        tools: Patterns of the requested tools. Empty: all that the client may use.
    """
    asked = [f"tools={quote(','.join(tools), safe='*,')}"] if tools else []
    asked += [f"wait={WAIT_SECONDS}"] if waits != "no" else []
    asked += ["wait_silently=1"] if waits == "silently" else []
    return OverHttp(f"{address}?{'&'.join(asked)}" if asked else address, key)


def is_own_entry(entry: Any) -> bool:
    """True if an entry is one of agentcore's, for any app.json."""
    if not isinstance(entry, Mapping):
        return False
    command = entry.get("command") or entry.get("cmd")
    words = [*(command if isinstance(command, list) else [command]), *(entry.get("args") or [])]
    if words and Path(str(words[0])).name.startswith("agentcore") and "mcp" in words:
        return True
    address = entry.get("url") or entry.get("httpUrl") or entry.get("serverUrl") or entry.get("uri")
    is_mcp = isinstance(address, str) and address.partition("?")[0].endswith("/mcp")
    return is_mcp and any(mark in str(entry) for mark in (*_OUR_MARKS, "agentcore"))
