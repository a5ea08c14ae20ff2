"""Reads pages; this file and its slow libraries are imported when the first page is read."""

from agentcore.api import seen_text
from agentcore_web_tools.fetching import FetchOptions, Reading, shell_notice
from agentcore_web_tools.reading.document import Document
from agentcore_web_tools.reading.rendering import to_html, to_markdown, to_text
from agentcore_web_tools.reading.text_length import text_length

_RENDER = {"markdown": to_markdown, "text": to_text, "html": to_html}

_HIDDEN_CHARS = 40
"""Less hidden text, such as labels for screen readers, is not worth a note."""


def read_page(text: str, url: str, options: FetchOptions) -> Reading:
    """Find the main content of a page and render it.

    Args:
        text: The page's HTML.
        url: The page's address, for making links absolute.
        options: The format `markdown`, `text` or `html`, and if the whole page is requested.
    """
    document = Document(text, url)
    content, left_out = document.extract_content(is_full=options.full)
    chars = text_length(content)
    notices = shell_notice(chars, has_scripts=document.has_scripts, sends_on_to=document.sends_on_to)
    if left_out:
        of = f"{left_out:,} of {chars + left_out:,} characters"
        notices += (f"Menus, headers and footers ({of}) are left out; `full: true` gives them.",)
    if document.hidden_chars >= _HIDDEN_CHARS:
        hidden = f"{document.hidden_chars:,} characters that the page hides are left out"
        notices += (f'{hidden}; format "raw" gives its HTML, and a browser shows what a click would.',)
    return Reading(_RENDER[options.format](content), seen_text(document.title), notices, left_out)
