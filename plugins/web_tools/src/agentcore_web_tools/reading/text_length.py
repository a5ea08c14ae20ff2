"""Length of an element's text."""

from lxml import html


def text_length(element: html.HtmlElement) -> int:
    """Return the number of characters of an element's text without spaces."""
    return sum(len(word) for text in element.itertext() for word in text.split())
