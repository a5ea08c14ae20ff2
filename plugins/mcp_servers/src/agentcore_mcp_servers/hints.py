"""Hints about tools that MCP clients of agentcore get."""

import mcp_types as types

from agentcore.api import Effect, ToolAnnotations
from agentcore_mcp_servers.block import ServerBlock

READING: frozenset[Effect] = frozenset(("read", "egress"))
"""What a tool of a server does at least: what it reads it could send anywhere."""


def convert_annotations(
    said: types.ToolAnnotations | None, effects: frozenset[Effect], block: ServerBlock
) -> ToolAnnotations:
    """Convert a server's hints to those for our clients.

    Some clients run tools without asking if the hints make them look harmless. So `readOnlyHint` follows the effects,
    and hints that are more harmless than MCP's defaults are passed on only if the user trusts them.
    """
    given = said or types.ToolAnnotations()
    is_trusted = block.agentcore.trust_annotations
    open_world = given.open_world_hint if is_trusted or given.open_world_hint else None
    if effects <= READING:
        # MCP gives the other hints a meaning only for tools that change something
        return ToolAnnotations(read_only=True, open_world=open_world)
    return ToolAnnotations(
        read_only=False if given.read_only_hint is False else None,
        destructive=given.destructive_hint if is_trusted or given.destructive_hint else None,
        idempotent=given.idempotent_hint if is_trusted or given.idempotent_hint is False else None,
        open_world=open_world,
    )
