"""The page's document: its policy, and the scripts of modules that run before its own."""

import html
import os
import re
import sys
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

from agentcore.core.modules.modules import Modules
from agentcore.server.addresses import Addresses
from agentcore.server.page.open_command import open_command

_PACKAGE = Path(__file__).resolve().parents[2]
_SCRIPTS_MARK = "<!-- scripts of modules -->"
_VERSION_MARK = "PAGE_VERSION"
_APPROVAL_MARK = "APPROVAL_ORIGIN"
_VIEWS_MARK = "VIEWS_ORIGIN"
_COMMAND_MARK = "OPEN_COMMAND"
_INLINE = re.compile(r"<(script|style)(?![^>]*\ssrc=)[^>]*>(.*?)</\1>", re.DOTALL)


@cache
def page_folder() -> Path:
    """Return the folder of the page's files: in the package if it is installed, beside it in a checkout."""
    inside = _PACKAGE / "webui"
    beside = _PACKAGE.parent / "webui"
    return inside if (inside / "index.html").is_file() else beside


def render_page(modules: Modules, version: str, file: Path, approval_origin: str, views_origin: str) -> str:
    """Return the document as HTML.

    Args:
        modules: They add scripts.
        version: From `page_version`.
        file: app.json.
        approval_origin: Origin of the approval view; empty: there is none.
        views_origin: Origin of tool views and of the frame that draws diagrams; empty: there is none.
    Raises:
        OSError: The page's files are not installed.
    """
    text = (page_folder() / "index.html").read_text(encoding="utf-8")
    scripts = "\n    ".join(
        f'<script type="module" src="{html.escape(path)}"></script>' for path in _page_scripts(modules)
    )
    text = text.replace(_SCRIPTS_MARK, scripts).replace(_VERSION_MARK, version)
    command = open_command(file.absolute(), Path.cwd(), sys.argv, os.environ)
    text = text.replace(_APPROVAL_MARK, html.escape(approval_origin)).replace(_VIEWS_MARK, html.escape(views_origin))
    return text.replace(_COMMAND_MARK, html.escape(command))


def page_policy(modules: Modules, addresses: Addresses, framed: Iterable[Addresses], text: str) -> str:
    """Return the Content-Security-Policy of the page.

    It allows the page's own sources, its inline scripts by hash, the frames of the approval view and of tool views, and
    what modules add.
    """
    directives: dict[str, list[str]] = {
        "default-src": ["'none'"],
        "script-src": ["'self'", *inline_hashes(text)],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:", "blob:"],
        "font-src": ["'self'"],
        "media-src": ["'self'", "blob:"],
        "connect-src": ["'self'", *sorted(origin.replace("http", "ws", 1) for origin in addresses.origins)],
        "manifest-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
    if origins := {origin for each in framed for origin in each.origins}:
        directives["frame-src"] = sorted(origins)
    for directive, sources in _policy_additions(modules):
        present = directives.setdefault(directive, [])
        present.extend(source for source in sources if source not in present)
    return _format_policy(directives)


def approval_policy(page: Addresses, text: str) -> str:
    """Return the Content-Security-Policy of the approval view: own sources only, and only the page may frame it."""
    return _format_policy(
        {
            "default-src": ["'none'"],
            "script-src": ["'self'", *inline_hashes(text)],
            "style-src": ["'self'"],
            "img-src": ["'self'"],
            "connect-src": ["'self'"],
            "base-uri": ["'none'"],
            "form-action": ["'none'"],
            "frame-ancestors": sorted(page.origins),
        }
    )


def inline_hashes(text: str, tag: str = "script") -> list[str]:
    """Return the policy sources that allow a document's inline scripts, or styles."""
    bodies = [body for name, body in _INLINE.findall(text) if name == tag]
    return [hash_source(body.encode()) for body in bodies]


def hash_source(script: bytes) -> str:
    """Return the policy source that allows one inline script or style."""
    return f"'sha256-{b64encode(sha256(script).digest()).decode()}'"


def _format_policy(directives: Mapping[str, Iterable[str]]) -> str:
    return "; ".join(f"{directive} {' '.join(sources)}" for directive, sources in directives.items())


def page_version(modules: Modules, *, is_stopping: bool) -> str:
    """Return the version of the scripts and the policy that a page opened now would get; other pages reload once.

    Empty while the server stops: modules stop one by one then, and a page that reloads would find no server.
    """
    if is_stopping:
        return ""
    parts = [
        *_page_scripts(modules),
        *(f"{directive} {' '.join(sources)}" for directive, sources in _policy_additions(modules)),
    ]
    return sha256("\n".join(parts).encode()).hexdigest()[:16]


def _page_scripts(modules: Modules) -> list[str]:
    return [
        f"/modules/{record.name}/{record.component.page_script}"
        for record in modules.records.values()
        if record.component is not None and record.component.page_script is not None
    ]


def _policy_additions(modules: Modules) -> list[tuple[str, Sequence[str]]]:
    """Return what components of ready modules add to the policy, as read by `core/declarations/components.py`."""
    return [
        (directive, sources)
        for record in modules.records.values()
        if record.component is not None
        for directive, sources in record.component.csp.items()
    ]
