"""The document for a browser whose cookies exceed the size limit of request headers: it explains what to do."""

from functools import cache
from http import HTTPStatus

from agentcore.server.http.response import Answer
from agentcore.server.page.page_document import inline_hashes, page_folder


@cache
def cookie_help() -> Answer:
    """Return the response with the document, which loads nothing: further requests would be refused as well.

    Raises:
        OSError: The page's files are not installed.
    """
    text = (page_folder() / "cookies.html").read_text(encoding="utf-8")
    styles = " ".join(inline_hashes(text, "style"))
    policy = f"default-src 'none'; style-src {styles}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return Answer(
        text.encode(),
        HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
        "text/html; charset=utf-8",
        {"Content-Security-Policy": policy},
        closes=True,
    )
