"""Views of tools at an origin of their own: a frame that passes messages on, and in it the view's document.

Source: MCP Apps, revision 2026-01-26, "Sandbox proxy". The document is not handed through the page: it is served here,
under a policy of its own that makes it an origin of nobody's, so that it is as shut up in a window as in its frame.
"""

from collections.abc import Iterable
from html import escape

from agentcore.api import ToolView
from agentcore.server.page.document import inline_hashes, page_folder

_ORIGINS_MARK = "PAGE_ORIGINS"
_VIEW_MARK = "VIEW_PATH"
_ALLOW_MARK = "VIEW_PERMISSIONS"
_ABILITIES = "allow-scripts allow-forms"
"""What the document may in its frame. Without forms no `submit` is told; by its policy they lead nowhere."""


def frame_document(view: ToolView, document_path: str, page_origins: Iterable[str]) -> str:
    """The frame of a view: it holds the view's document, and passes messages between that and the page.

    Raises:
        OSError: The page's files are not there.
    """
    text = (page_folder() / "views" / "frame.html").read_text(encoding="utf-8")
    allow = "; ".join(f"{permission} *" for permission in view.permissions)
    filled = text.replace(_ORIGINS_MARK, escape(" ".join(sorted(page_origins))))
    return filled.replace(_VIEW_MARK, escape(document_path)).replace(_ALLOW_MARK, escape(allow))


def frame_policy(text: str, document_path: str, own_origins: Iterable[str], page_origins: Iterable[str]) -> str:
    """The frame's own policy: its script, the view's document and nothing else, in a frame of the page."""
    documents = " ".join(f"{origin}{document_path}" for origin in sorted(own_origins))
    return (
        f"default-src 'none'; script-src {' '.join(inline_hashes(text))}; "
        f"style-src {' '.join(inline_hashes(text, 'style'))}; "
        f"frame-src {documents}; base-uri 'none'; form-action 'none'; "
        f"frame-ancestors {' '.join(sorted(page_origins))}"
    )


def view_policy(view: ToolView, ancestors: Iterable[str]) -> str:
    """The policy of a view's document: what it declared, and nothing where it declared nothing."""
    loads = " ".join(view.loads_from)
    directives = {
        "default-src": "'none'",
        "script-src": f"'unsafe-inline' {loads}",
        "style-src": f"'unsafe-inline' {loads}",
        "img-src": f"data: blob: {loads}",
        "font-src": f"data: {loads}",
        "media-src": f"data: blob: {loads}",
        "connect-src": " ".join(view.connects_to) or "'none'",
        "frame-src": " ".join(view.frames) or "'none'",
        "base-uri": " ".join(view.bases) or "'none'",
        "form-action": "'none'",
        "frame-ancestors": " ".join(sorted(ancestors)) or "'none'",
        "sandbox": _ABILITIES,
    }
    return "; ".join(f"{directive} {sources}".rstrip() for directive, sources in directives.items())
