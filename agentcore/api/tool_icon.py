"""The pictures by which people know a tool."""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class ToolIcon:
    """A small picture by which people know a tool, on the page and in MCP clients; models are not shown it.

    Args:
        src: The file itself as a `data:` address in base64, at most 16 KiB of an SVG, PNG, JPEG or WebP picture.
            Nothing is loaded for it, so that nobody hears who looks at it.
        sizes: What it is made for: `48x48`, or `any` for an SVG.
        theme: The background that it is made for; None: each.
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
