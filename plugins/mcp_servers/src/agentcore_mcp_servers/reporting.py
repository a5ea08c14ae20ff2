"""The report on a server for the user: its identity, numbers of prompts and resources, and log."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import mcp_types as types

from agentcore.api import Report, ToolError, mask_secrets
from agentcore_mcp_servers.server import Server

_FACT_CHARS = 300
_LOG_CHARS = 30_000


async def create_report(server: Server, original_names: Mapping[str, str], log: str, said: Sequence[str]) -> Report:
    """Create the report on a server.

    Args:
        server: The server.
        original_names: The server's own names of its tools and prompts, by their names in agentcore.
        log: Its stderr.
        said: Diagnostics of the module and log messages that the server sent.
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
