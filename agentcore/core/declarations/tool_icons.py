"""Icons of tools, read strictly, because pages and clients show their content."""

import binascii
import re
from base64 import b64decode
from typing import Any, Literal, cast

from agentcore.api.tool_icon import ToolIcon
from agentcore.core.module_code.value_reading import WrongValueError, read_mapping, read_text, read_texts
from agentcore.limits import TOOL_ICON_BYTES, TOOL_ICONS

_SRC = re.compile(r"data:image/(?:svg\+xml|png|jpeg|webp);base64,([A-Za-z0-9+/]+={0,2})", re.IGNORECASE)
_SIZE = re.compile(r"any|[1-9][0-9]{0,3}x[1-9][0-9]{0,3}")
_SIZES = 8
_KEYS = ("src", "sizes", "theme", "mimeType")


def read_icons(value: Any, where: str) -> tuple[ToolIcon, ...]:
    """Read icons into plain values of the core's own; also those in MCP's form.

    Raises:
        TypeError, ValueError: One of them is invalid; the message says why.
    """
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise WrongValueError(where, "a list of ToolIcon", value)
    if len(value) > TOOL_ICONS:
        raise ValueError(f"{where} has {len(value)} entries, the bound is {TOOL_ICONS}")
    return tuple(_read_icon(each, where) for each in value)


def _read_icon(value: Any, where: str) -> ToolIcon:
    if isinstance(value, ToolIcon):
        given: dict[str, Any] = {name: getattr(value, name) for name in ToolIcon.__slots__}
    else:
        given = read_mapping(value, where, "ToolIcon, or mappings with `src`, `sizes` and `theme`")
        if unknown := [key for key in given if key not in _KEYS]:
            raise ValueError(f"{where} has {unknown[0]!r}, and may have {', '.join(_KEYS)}")
    src = read_text(given.get("src"), f"src of {where}")
    file = _SRC.fullmatch(src)
    if file is None:
        raise WrongValueError(f"src of {where}", "data:image/svg+xml;base64,… (or png, jpeg, webp)", src)
    try:
        size = len(b64decode(file[1], validate=True))
    except binascii.Error as exc:
        raise ValueError(f"src of {where} is no base64: {exc}") from None
    if size > TOOL_ICON_BYTES:
        raise ValueError(f"src of {where} has {size:,} bytes, the bound is {TOOL_ICON_BYTES:,}")
    return ToolIcon(src, _read_sizes(given.get("sizes"), f"sizes of {where}"), _read_theme(given.get("theme"), where))


def _read_sizes(value: Any, where: str) -> tuple[str, ...]:
    sizes = () if value is None else tuple(read_texts(value, where, "sizes such as 48x48"))
    if len(sizes) > _SIZES or not all(_SIZE.fullmatch(size) for size in sizes):
        raise WrongValueError(where, f"at most {_SIZES} of the form 48x48, or any", value)
    return sizes


def _read_theme(value: Any, where: str) -> Literal["light", "dark"] | None:
    if value not in (None, "light", "dark"):
        raise WrongValueError(f"theme of {where}", "light, dark or None", value)
    return cast('Literal["light", "dark"] | None', value)
