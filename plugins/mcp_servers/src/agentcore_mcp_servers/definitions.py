"""Conversion of a server's tools to agentcore's tool definitions."""

import mcp_types as types

from agentcore.api import Effect, EffectsClaim, ToolDefinition
from agentcore_mcp_servers.block import ServerBlock
from agentcore_mcp_servers.hints import READING, convert_annotations
from agentcore_mcp_servers.icons import convert_icons
from agentcore_mcp_servers.views import Shown

_EXECUTE: tuple[Effect, ...] = ("execute",)


def create_definition(tool: types.Tool, name: str, block: ServerBlock, shown: Shown) -> ToolDefinition:
    """Create the definition of a tool under its name in agentcore."""
    said = (tool.description or tool.title or tool.name).strip() or tool.name
    original = "" if name.endswith(f"_{tool.name}") else f"\n\n(The server's own name of it: {tool.name})"
    effects = frozenset(block.find_effects(tool.name) or _infer_effects(tool.annotations, block))
    return ToolDefinition(
        name=name,
        description=said + original,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        effects=effects,
        annotations=convert_annotations(tool.annotations, effects, block),
        timeout_s=block.agentcore.timeout_s,
        # a view shows the result of a model's call
        view=shown.view if shown.is_for_models else None,
        in_views=shown.in_views,
        served_as=None if shown.is_for_models else "view",
        icons=convert_icons(tool),
        claim=_find_claim(tool, block),
    )


def _find_claim(tool: types.Tool, block: ServerBlock) -> EffectsClaim | None:
    """Return what a server says of a tool that the block says nothing of: that it only reads.

    What it reads it could send anywhere: an address gets it in any case, and a command has the network.
    """
    said = tool.annotations
    is_open = block.find_effects(tool.name) is None and not block.agentcore.trust_annotations
    # a name with `*` would be a pattern for other tools
    if said is None or not said.read_only_hint or not is_open or "*" in tool.name:
        return None
    annotations = convert_annotations(said, READING, block)
    return EffectsClaim(READING, annotations, ("agentcore", "effects", tool.name))


def _infer_effects(said: types.ToolAnnotations | None, block: ServerBlock) -> tuple[Effect, ...]:
    """Derive effects from the server's annotations if the user trusts them; otherwise `execute`."""
    if said is None or not block.agentcore.trust_annotations or said.read_only_hint is None:
        return _EXECUTE
    does: Effect = "read" if said.read_only_hint else "write"
    return (does,) if said.open_world_hint is False else (does, "egress")
