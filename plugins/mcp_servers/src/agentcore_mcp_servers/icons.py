"""Icons of a server's tools that are embedded as data URLs, so that nothing is loaded."""

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Literal
from urllib.parse import unquote_to_bytes

import mcp_types as types

from agentcore.api import ToolIcon

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
