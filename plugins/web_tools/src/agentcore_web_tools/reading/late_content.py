"""Puts content that arrives apart from its place where a browser shows it: streamed React, declarative shadow roots.

React streams a part that was not ready as `<div hidden id="S:0">` and a script `$RC("B:0","S:0")` that moves it in
place of the fallback after `<template id="B:0">` (up to the comment `/$`); `$RS("S:1","P:1")` fills
`<template id="P:1">`. Source: `ReactDOMFizzInstructionSetShared.js` of React 18 and 19.
"""

import re

from lxml import etree, html

_COMPLETED = re.compile(r"""\$RC\(\s*["']([^"']{1,100})["']\s*,\s*["']([^"']{1,100})["']""")
_FILLED = re.compile(r"""\$RS\(\s*["']([^"']{1,100})["']\s*,\s*["']([^"']{1,100})["']""")
_SEGMENT = re.compile(r"(?:.*:)?S:[0-9a-f]+", re.IGNORECASE)
_START = ("$", "$?", "$!", "$~")
_END = "/$"


def place_late_content(root: html.HtmlElement) -> None:
    """Move all such content to its place. The tree still has its comments and templates."""
    _place_streamed_segments(root)
    # inner ones first, so that each shadow root contains what its own elements show
    for template in reversed(list(root.iter("template"))):
        if template.get("shadowrootmode") is not None or template.get("shadowroot") is not None:
            _show_shadow_root(template)


def _place_streamed_segments(root: html.HtmlElement) -> None:
    by_id = {
        element.get("id"): element for element in root.iter("template", "div", "table", "svg") if element.get("id")
    }
    segments = {name: element for name, element in by_id.items() if _is_segment(name, element)}
    if not segments:
        return
    scripts = "\n".join(script.text for script in root.iter("script") if script.text)
    completed = [*_COMPLETED.findall(scripts), *_external_instructions(root)]
    for segment_id, place_id in _FILLED.findall(scripts):
        _move_segment(segments.pop(segment_id, None), by_id.get(place_id), replaces_fallback=False)
    for boundary_id, segment_id in completed:
        _move_segment(segments.pop(segment_id, None), by_id.get(boundary_id), replaces_fallback=True)


def _is_segment(name: str, element: html.HtmlElement) -> bool:
    return element.get("hidden") is not None and element.tag != "template" and _SEGMENT.fullmatch(name) is not None


def _external_instructions(root: html.HtmlElement) -> list[tuple[str, str]]:
    """Return the instructions for the runtime that is loaded as a file."""
    marks = (element for element in root.iter("template") if element.get("data-rci") is not None)
    return [(mark.get("data-bid") or "", mark.get("data-sid") or "") for mark in marks]


def _move_segment(segment: html.HtmlElement | None, place: html.HtmlElement | None, *, replaces_fallback: bool) -> None:
    if segment is None:
        return
    del segment.attrib["hidden"]
    if place is None or place.getparent() is None or place in segment.iter():
        return  # its place is unknown: it is shown where it arrived
    if replaces_fallback:
        _remove_fallback(place)
    _remove_without_tail(segment)
    place.addprevious(segment)
    _remove_without_tail(place)


def _remove_fallback(boundary: html.HtmlElement) -> None:
    """Remove what is shown until the content arrives: everything up to the end of the boundary."""
    depth = 0
    fallback = []
    for sibling in boundary.itersiblings():
        if sibling.tag is etree.Comment:
            text = (sibling.text or "").strip()
            if text == _END and depth == 0:
                break
            depth += (text in _START) - (text == _END)
        fallback.append(sibling)
    else:
        return  # the boundary has no end: nothing is known to be a fallback
    boundary.tail = None
    for element in fallback:
        element.getparent().remove(element)


def _remove_without_tail(element: html.HtmlElement) -> None:
    """Remove an element, but not the text that follows it."""
    parent = element.getparent()
    before = element.getprevious()
    tail = element.tail or ""
    element.tail = None
    if before is not None:
        before.tail = f"{before.tail or ''}{tail}"
    else:
        parent.text = f"{parent.text or ''}{tail}"
    parent.remove(element)


def _show_shadow_root(template: html.HtmlElement) -> None:
    """Replace the children of a host by its shadow tree, with these children in the slots."""
    host = template.getparent()
    if host is None:
        return
    _remove_without_tail(template)
    light = list(host)
    light_text = host.text
    for child in light:
        host.remove(child)
    host.text = template.text
    host.extend(list(template))
    for slot in list(host.iter("slot")):
        name = slot.get("name") or ""
        assigned = [child for child in light if child.tag is etree.Comment or (child.get("slot") or "") == name]
        assigned = [child for child in assigned if child.tag is not etree.Comment]
        has_text = not name and bool((light_text or "").strip())
        if assigned or has_text:
            for fallback in list(slot):
                slot.remove(fallback)
            slot.text = light_text if has_text else None
            slot.extend(assigned)
            light = [child for child in light if child not in assigned]
        slot.tag = "span" if not len(slot) else "div"
