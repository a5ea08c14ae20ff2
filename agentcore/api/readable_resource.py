"""Resources that a tool reads."""

from agentcore.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadableResource:
    """A resource that a tool reads, as MCP clients list it.

    Args:
        uri: Its URI, at most 4,000 characters; of a template, a URI template (RFC 6570).
        name: Its name.
        description: What it is.
        mime: Its media type; None: unknown.
        size_bytes: Its size; None: unknown.
        is_template: True if `uri` is a template for the URIs of many resources.
    """

    uri: str
    name: str
    description: str = ""
    mime: str | None = None
    size_bytes: int | None = None
    is_template: bool = False
