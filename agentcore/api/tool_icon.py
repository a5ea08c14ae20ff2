"""Icons of tools."""

from dataclasses import field
from typing import Literal

from agentcore.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolIcon:
    """A small icon of a tool, for the page and MCP clients; models do not see it.

    Args:
        src: The file itself as a `data:` address in base64, at most 16 KiB of an SVG, PNG, JPEG or WebP image.
            Nothing is loaded for it, so that no server learns who views it.
        sizes: The intended sizes: `48x48`, or `any` for an SVG.
        theme: The intended background; None: any.
    """

    src: str = field(repr=False)
    sizes: tuple[str, ...] = ()
    theme: Literal["light", "dark"] | None = None

    def to_json(self) -> dict[str, object]:
        """`{"src", "mimeType", "sizes", "theme"}` in MCP's form."""
        mime = self.src.removeprefix("data:").partition(";")[0]
        icon: dict[str, object] = {"src": self.src, "mimeType": mime}
        if self.sizes:
            icon["sizes"] = list(self.sizes)
        return icon | ({"theme": self.theme} if self.theme else {})
