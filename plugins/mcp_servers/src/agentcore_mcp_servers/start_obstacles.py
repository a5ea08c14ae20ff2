"""What keeps a server from being started, and how to find out that it is gone: before the next attempt is due."""

import asyncio
import errno
import itertools
import re
import shutil
import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

from agentcore.api import ToolError

_LOOK_SECONDS = 2.0
_UNREACHABLE = frozenset((errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTUNREACH, errno.ETIMEDOUT))
_OF_NETWORK = re.compile(
    # codes as whole words: ModuleNotFoundError has ENOTFOUND in it
    r"\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH)\b"
    r"|(?i:Temporary failure in name resolution|Name or service not known|Network is unreachable|dns error"
    r"|failed to lookup address)"
)
"""How npm, pip, uv and curl say that there is no network."""


def is_of_network(error: BaseException) -> bool:
    """Return True if an error of a connection says that the network is not there, or a name is not known."""
    return any(
        isinstance(each, socket.gaierror)
        or (isinstance(each, OSError) and each.errno in _UNREACHABLE)
        or (isinstance(each, ToolError) and each.type == "host_not_found")
        for each in _walk_causes(error)
    )


def output_names_network(output: str) -> bool:
    """Return True if a program says in its output that the network is not there."""
    return _OF_NETWORK.search(output) is not None


async def wait_until_gone(failure: ToolError, path: str | None) -> None:
    """Wait until what a failed start was about is there: a program, or the network; else for ever.

    Args:
        failure: Why the server did not start; its context says what it waits for.
        path: The `PATH` on which its program is looked for.
    """
    match failure.context.get("waits_for"):
        case "program":
            command = str(failure.context["command"])
            await _poll(lambda: asyncio.to_thread(_has_program, command, path))
        case "network":
            host = str(failure.context.get("host") or "")
            await _poll(lambda: _lacks_network(host))  # if it is there, another attempt may be for nothing
            await _poll(lambda: _has_network(host))
        case _:
            await asyncio.Event().wait()


async def _poll(is_so: Callable[[], Awaitable[bool]]) -> None:
    for _ in itertools.count():
        if await is_so():
            return
        await asyncio.sleep(_LOOK_SECONDS)


def _has_program(command: str, path: str | None) -> bool:
    return shutil.which(command, path=path) is not None


async def _lacks_network(host: str) -> bool:
    return not await _has_network(host)


async def _has_network(host: str) -> bool:
    """Return True if a host's name can be resolved; without one, if there is a default route."""
    if not host:
        return await asyncio.to_thread(_has_default_route)
    try:
        await asyncio.get_running_loop().getaddrinfo(host, None)
    except OSError:
        return False
    return True


def _has_default_route() -> bool:
    try:
        lines = Path("/proc/net/route").read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return True  # another system: it is tried again when that is due
    return any(columns[1:2] == columns[7:8] == ["00000000"] for columns in map(str.split, lines))


def _walk_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, its causes and contexts, and the members of groups."""
    waiting: list[BaseException] = [error]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        waiting += [one for one in (each.__cause__, each.__context__) if one is not None]
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions
