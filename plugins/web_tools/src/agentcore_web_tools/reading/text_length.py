"""How much text an element shows."""

from lxml import html


def text_length(element: html.HtmlElement) -> int:
    """How many characters of text an element shows, spaces not counted."""
    return sum(len(word) for text in element.itertext() for word in text.split())
