"""Reads pages; the libraries for it are imported with this file, at the first page."""

from agentcore_web_tools.document import Document, text_length
from agentcore_web_tools.fetching import Format, Reading, shell_notice
from agentcore_web_tools.rendering import tidy, to_html, to_markdown, to_text

_RENDER = {"markdown": to_markdown, "text": to_text, "html": to_html}


def read_page(text: str, url: str, form: Format) -> Reading:
    """Find the main content of a page, and give it in a format.

    Args:
        text: The page's HTML.
        url: Where it came from; links become absolute.
        form: `markdown`, `text` or `html`.
    """
    document = Document(text, url)
    content = document.main_content()
    notices = shell_notice(text_length(content), has_scripts=document.has_scripts, sends_on_to=document.sends_on_to)
    return Reading(_RENDER[form](content), tidy(document.title), notices)
