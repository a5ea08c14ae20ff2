"""Conversion of a server's tools to agentcore's tool definitions."""

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Literal
from urllib.parse import unquote_to_bytes

import mcp_types as types

from agentcore.api import Effect, EffectsClaim, ToolDefinition, ToolIcon
from agentcore_mcp_servers.block import ServerBlock
from agentcore_mcp_servers.hints import READING, convert_annotations
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


_COUNT = 4
_BYTES = 16 * 1024
_SIZES = 8
_KINDS = ("data:image/svg+xml", "data:image/png", "data:image/jpeg", "data:image/webp")
_SIZE = re.compile(r"any|[1-9][0-9]{0,3}x[1-9][0-9]{0,3}")


def convert_icons(tool: types.Tool) -> tuple[ToolIcon, ...]:
    """Return the icons of a tool that can be shown, at most 4; the others are ignored.

    Remote icons are never loaded, because the server would learn when and from where its tools are viewed.
    """
    found = (_convert_icon(icon) for icon in tool.icons or ())
    return tuple(icon for icon in found if icon is not None)[:_COUNT]


def _convert_icon(icon: types.Icon) -> ToolIcon | None:
    head, separator, data = icon.src.partition(",")
    kind, *options = head.lower().split(";")
    if not separator or kind not in _KINDS:
        return None
    try:
        file = b64decode(data, validate=True) if "base64" in options else unquote_to_bytes(data)
    except binascii.Error:
        return None
    if not 0 < len(file) <= _BYTES:
        return None
    return ToolIcon(
        f"{kind};base64,{b64encode(file).decode('ascii')}", _parse_sizes(icon.sizes), _parse_theme(icon.theme)
    )


def _parse_sizes(given: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(size.lower() for size in given or () if _SIZE.fullmatch(size.lower()))[:_SIZES]


def _parse_theme(given: str | None) -> Literal["light", "dark"] | None:
    return "light" if given == "light" else "dark" if given == "dark" else None
