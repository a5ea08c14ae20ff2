"""What people are shown of a tool's results in the chat, beside the results themselves."""

from dataclasses import dataclass, field
from typing import Literal

ViewPermission = Literal["camera", "microphone", "geolocation", "clipboard-write"]
"""What a view may ask the browser for; the browser then asks the person."""


@dataclass(frozen=True, slots=True)
class ToolView:
    """A document in which the chat shows people what a tool does (MCP Apps, revision 2026-01-26).

    It lives in a frame from an origin of its own, where it can reach nothing: not the page, not the API, not other
    views. It speaks with the chat by the messages of MCP Apps (`ui/initialize`, `ui/notifications/tool-result`, …), and
    calls those tools of its module that have a name for that (`in_views`); such calls pass rules and approvals.

    Args:
        document: HTML, at most 4 million characters.
        connects_to: Where its scripts may connect to: `https://HOST`, `wss://HOST`, with `*.` before it for all below.
        loads_from: Where it may load scripts, styles, pictures, fonts and sounds from; what is in it, it has anyway.
        frames: Of what it may have frames.
        bases: What its addresses may be relative to.
        permissions: What it may ask the browser for.
        has_border: Whether it wants a border around it; None: as the chat likes.
    """

    document: str = field(repr=False)
    connects_to: tuple[str, ...] = ()
    loads_from: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    permissions: tuple[ViewPermission, ...] = ()
    has_border: bool | None = None
