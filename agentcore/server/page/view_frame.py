"""Views of tools at their own origin: a frame that forwards messages, and in it the view's document.

Source: MCP Apps, revision 2026-01-26, "Sandbox proxy". The document is not passed through the page: the server sends
it with a policy that gives it an opaque origin, so that it is as isolated in a window as in its frame.
"""

from collections.abc import Iterable
from html import escape

from agentcore.api import ToolView
from agentcore.server.page.page_document import hash_source, inline_hashes, page_folder

_ORIGINS_MARK = "PAGE_ORIGINS"
_VIEW_MARK = "VIEW_PATH"
_ALLOW_MARK = "VIEW_PERMISSIONS"
_MERMAID_MARK = b"/* Mermaid */"
_ABILITIES = "allow-scripts allow-forms"
"""Sandbox permissions of the document. Without forms, `submit` is not fired; its policy prevents sending them."""


def frame_document(view: ToolView, document_path: str, page_origins: Iterable[str]) -> str:
    """Return the frame of a view: it contains the view's document, and forwards messages between that and the page.

    Raises:
        OSError: The page's files are not installed.
    """
    text = (page_folder() / "views" / "frame.html").read_text(encoding="utf-8")
    allow = "; ".join(f"{permission} *" for permission in view.permissions)
    filled = text.replace(_ORIGINS_MARK, escape(" ".join(sorted(page_origins))))
    return filled.replace(_VIEW_MARK, escape(document_path)).replace(_ALLOW_MARK, escape(allow))


def frame_policy(text: str, document_path: str, own_origins: Iterable[str], page_origins: Iterable[str]) -> str:
    """Return the frame's policy: only its script and the view's document, and only in a frame of the page."""
    documents = " ".join(f"{origin}{document_path}" for origin in sorted(own_origins))
    return (
        f"default-src 'none'; script-src {' '.join(inline_hashes(text))}; "
        f"style-src {' '.join(inline_hashes(text, 'style'))}; "
        f"frame-src {documents}; base-uri 'none'; form-action 'none'; "
        f"frame-ancestors {' '.join(sorted(page_origins))}"
    )


def view_policy(view: ToolView, ancestors: Iterable[str]) -> str:
    """Return the policy of a view's document: only what the view declared."""
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


def diagram_document() -> tuple[bytes, list[str]]:
    """Return the document that draws diagrams, and the policy sources of its scripts.

    The library is inside, because nothing can be loaded into a document without an origin.

    Raises:
        OSError: The page's files are not installed.
    """
    folder = page_folder()
    text = (folder / "ui" / "content" / "diagram-frame.html").read_text(encoding="utf-8")
    library = (folder / "vendor" / "mermaid.js").read_bytes()
    # searching megabytes for inline scripts would hold the interpreter's lock
    hashes = [hash_source(library), *inline_hashes(text)]
    return text.encode().replace(_MERMAID_MARK, library), hashes


def diagram_policy(hashes: Iterable[str], page_origins: Iterable[str]) -> str:
    """Return the policy of that document: its own scripts, an opaque origin, and only in a frame of the page.

    The library styles what it draws; its result is shown as an image, so that these styles end here.
    """
    return (
        f"default-src 'none'; script-src {' '.join(hashes)}; style-src 'unsafe-inline'; base-uri 'none'; "
        f"form-action 'none'; frame-ancestors {' '.join(sorted(page_origins))}; sandbox allow-scripts"
    )
