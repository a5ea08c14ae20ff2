"""Types of the tools' structured results, with field names as on the wire."""

from typing import Any, TypedDict


class ScriptValue(TypedDict):
    """What a script returned, and in which page."""

    value: Any
    resourceId: str


class PageContent(TypedDict, total=False):
    """The page's summary; or its text or HTML, with the length of the whole."""

    summary: dict[str, Any]
    content: str
    length: int
    truncated: bool
    resourceId: str


class PatchedPage(TypedDict):
    """What became of each operation."""

    results: list[dict[str, Any]]
    total: int
    succeeded: int
    failed: int
    resourceId: str
