"""Views of tools, read strictly, because what they may load and request is put into headers and attributes."""

import re
from typing import Any, cast, get_args

from agentcore.api.tool_view import ToolView, ViewPermission
from agentcore.core.module_code.value_reading import WrongValueError, read_flag, read_text, read_texts
from agentcore.limits import VIEW_CHARS, VIEW_SOURCES

_DOCUMENT = re.compile(r"\s*<!doctype html\b.*", re.IGNORECASE | re.DOTALL)
_HOST = r"(\*\.)?[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:[0-9]{1,5})?"
_WEB = re.compile(rf"https://{_HOST}", re.IGNORECASE)
_WEB_OR_SOCKET = re.compile(rf"(https|wss)://{_HOST}", re.IGNORECASE)
_NAME = re.compile(r"[!-~]([ -~]{0,126}[!-~])?")


def read_view(value: Any, where: str) -> str | ToolView | None:
    """Read a view into plain values of the core's own.

    Raises:
        TypeError, ValueError: It is invalid; the message says why.
    """
    if value is None:
        return None
    if isinstance(value, ToolView):
        return _tool_view(value, where)
    text = read_text(value, where, "an HTML document, a ToolView, or None")
    if not _DOCUMENT.fullmatch(text):
        raise WrongValueError(where, "an HTML document that begins with <!doctype html>, a ToolView, or None", text)
    return text


def read_name_in_views(value: Any, where: str) -> str | None:
    """The name by which views call a tool.

    Raises:
        TypeError, ValueError: It is none.
    """
    if value is None:
        return None
    return read_text(value, where, "1 to 128 visible characters, or None", pattern=_NAME)


def _tool_view(given: ToolView, where: str) -> ToolView:
    document = given.document
    if type(document) is not str or not document.strip() or len(document) > VIEW_CHARS:
        raise WrongValueError(f"document of {where}", f"HTML, at most {VIEW_CHARS:,} characters", document)
    return ToolView(
        document=document,
        connects_to=_read_sources(given.connects_to, f"connects_to of {where}", _WEB_OR_SOCKET),
        loads_from=_read_sources(given.loads_from, f"loads_from of {where}", _WEB),
        frames=_read_sources(given.frames, f"frames of {where}", _WEB),
        bases=_read_sources(given.bases, f"bases of {where}", _WEB),
        permissions=_read_permissions(given.permissions, f"permissions of {where}"),
        has_border=None if given.has_border is None else read_flag(given.has_border, f"has_border of {where}"),
    )


def _read_sources(value: Any, where: str, pattern: re.Pattern[str]) -> tuple[str, ...]:
    sources = read_texts(value, where, "sources")
    if len(sources) > VIEW_SOURCES:
        raise ValueError(f"{where} has {len(sources)} entries, the bound is {VIEW_SOURCES}")
    for source in sources:
        if not pattern.fullmatch(source):
            allowed = "https://HOST[:PORT] or wss://HOST[:PORT]" if pattern is _WEB_OR_SOCKET else "https://HOST[:PORT]"
            raise ValueError(f"{where} may hold {allowed}, not {source[:100]!r}")
    return tuple(dict.fromkeys(source.lower() for source in sources))


def _read_permissions(value: Any, where: str) -> tuple[ViewPermission, ...]:
    known = get_args(ViewPermission)
    permissions = read_texts(value, where, "permissions")
    for permission in permissions:
        if permission not in known:
            raise ValueError(f"{where} may hold {', '.join(known)}, not {permission[:100]!r}")
    return cast("tuple[ViewPermission, ...]", tuple(dict.fromkeys(permissions)))
