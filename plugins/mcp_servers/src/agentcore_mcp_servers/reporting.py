"""How a server is just now, for people: who it says it is, what it has beside tools, and what it wrote."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import mcp_types as types

from agentcore.api import Report, ToolError, mask_secrets
from agentcore_mcp_servers.server import Server

_FACT_CHARS = 300
_LOG_CHARS = 30_000


async def create_report(server: Server, original_names: Mapping[str, str], log: str, said: Sequence[str]) -> Report:
    """The report on a server.

    Args:
        original_names: The server's own names of its tools and prompts, by those here.
        log: What it wrote to its errors.
        said: What it sent to be logged.
    """
    can = server.capabilities
    facts = server.describe_identity()
    facts |= await _count_entries("prompts", can.prompts, server.list_prompts)
    facts |= await _count_entries("resources", can.resources, server.list_resources)
    text = "\n".join(part for part in (log, *said) if part)
    shown = {name: mask_secrets(value)[:_FACT_CHARS] for name, value in facts.items()}
    return Report(shown, text[-_LOG_CHARS:], original_names)


async def _count_entries(
    name: str, capability: Any, read: Callable[[], Awaitable[Sequence[types.Prompt | types.Resource]]]
) -> dict[str, str]:
    if capability is None:
        return {}
    try:
        return {name: str(len(await read()))}
    except ToolError as exc:
        return {name: exc.message}
