"""Views of a tool's results in the chat."""

from dataclasses import field
from typing import Literal

from agentcore.late_dataclasses import dataclass

ViewPermission = Literal["camera", "microphone", "geolocation", "clipboard-write"]
"""A permission that a view may request from the browser, which then asks the user."""


@dataclass(frozen=True, slots=True)
class ToolView:
    """A document in which the chat shows the results of a tool (MCP Apps, revision 2026-01-26).

    It runs in a frame with a separate origin, where it can access neither the page, the API, nor other
    views. It exchanges the messages of MCP Apps with the chat (`ui/initialize`, `ui/notifications/tool-result`, …), and
    calls those tools of its module that have a name for that (`in_views`); such calls need approval as usual.

    Args:
        document: HTML, at most 4 million characters.
        connects_to: Hosts that its scripts may connect to: `https://HOST`, `wss://HOST`, with `*.` for all subdomains.
        loads_from: Hosts that it may load scripts, styles, images, fonts and media from, beside its inline content.
        frames: Hosts of frames in it.
        bases: Allowed base addresses.
        permissions: Permissions that it may request from the browser.
        has_border: True if it requests a border around it; None: the chat decides.
    """

    document: str = field(repr=False)
    connects_to: tuple[str, ...] = ()
    loads_from: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    permissions: tuple[ViewPermission, ...] = ()
    has_border: bool | None = None
