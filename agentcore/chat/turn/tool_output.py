"""What a model gets of a call's end: capped, and marked where it comes from the open world."""

import hashlib
import re
from typing import Any

from agentcore.api import ArtifactLink, Image, Text
from agentcore.chat.bounds import EDITED_BYTES, MODEL_BYTES
from agentcore.chat.texts import Locale, text
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.host.calls import CallOutcome

_TAG = re.compile(r"<(?=\s*/?\s*untrusted)", re.IGNORECASE)
_MARK_DIGITS = 32
_SOURCE_CHARS = 200
_SEEN = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
"""Pictures that providers take; another one in a session would have each of its later requests refused."""

ToolOutput = dict[str, Any]
"""`{"ok", "blocks": [{"type": "text", "text"} | {"type": "image", "mime", "base64"}]}`; JSON values only."""


def outcome_output(outcome: CallOutcome, locale: Locale, *, source: str) -> ToolOutput:
    """The end of a server tool's call.

    Args:
        outcome: How it ended.
        locale: Language of what is added.
        source: The tool, named where what comes from the open world is marked.
    """
    output = _end_output(outcome, locale, source if outcome.is_untrusted else None)
    if outcome.edited_arguments is None:
        return output
    arguments = to_json(outcome.edited_arguments).decode()
    edited = cap_text(text(locale, "edited", arguments=arguments), EDITED_BYTES, locale)
    return {**output, "blocks": [{"type": "text", "text": edited}, *output["blocks"]]}


def _end_output(outcome: CallOutcome, locale: Locale, source: str | None) -> ToolOutput:
    if outcome.error is not None:
        return error_output(outcome.error, locale, source)
    result = outcome.unwrap()
    texts: list[str] = []
    images: list[dict[str, Any]] = []
    for block in result.blocks():
        match block:
            case Text():
                texts.append(block.text)
            case Image() if block.mime in _SEEN:
                images.append(block.to_json())
            case Image():
                texts.append(text(locale, "no_image", mime=block.mime))
            case ArtifactLink():
                texts.append(to_json(block.to_json()).decode())
    if not texts and result.data is not None:
        texts.append(outcome.encoded_data.decode())
    return _output("\n".join(texts), locale, source, images=images)


def client_output(result: str, locale: Locale, source: str) -> ToolOutput:
    """The result of a client tool: it speaks of a page, and is never trusted."""
    return _output(result, locale, source)


def error_output(error: ToolError, locale: Locale, source: str | None = None) -> ToolOutput:
    """A failure, as the error object that a model can act on.

    Args:
        error: The error.
        locale: Language of what is added.
        source: Where its words may come from, if from the open world: all but its type is marked then.
    """
    said = error.to_json()
    if source is None:
        return _output(to_json({"ok": False, "error": said}).decode(), locale, None, ok=False)
    kind = {name: said.pop(name) for name in ("type", "retryable")}
    marked = mark_untrusted(cap_text(to_json(said).decode(), MODEL_BYTES, locale), locale, source)
    return _output(f"{to_json({'ok': False, 'error': kind}).decode()}\n{marked}", locale, None, ok=False)


def mark_untrusted(content: str, locale: Locale, source: str) -> str:
    """Frame content so that it is seen to be data.

    Its own digest names the frame, and what looks like the frame's tags in it is taken apart, so that it cannot end it.
    """
    held = _TAG.sub("&lt;", content)
    mark = hashlib.sha256(held.encode("utf-8", "replace")).hexdigest()[:_MARK_DIGITS]
    head = text(locale, "untrusted", source=one_line(source, _SOURCE_CHARS))
    return f'{head}\n<untrusted id="{mark}">\n{held}\n</untrusted id="{mark}">'


def one_line(content: str, limit_chars: int) -> str:
    """A text from outside for the middle of a line of ours: without line ends and controls, cut at its bound."""
    shown = "".join(character for character in " ".join(content.split()) if character.isprintable())
    return shown if len(shown) <= limit_chars else f"{shown[:limit_chars]}…"


def cap_text(content: str, limit_bytes: int, locale: Locale) -> str:
    """The head of a text that is over the bound, and how much is missing."""
    raw = content.encode("utf-8", "replace")
    if len(raw) <= limit_bytes:
        return content
    head = raw[:limit_bytes].decode("utf-8", "ignore")
    return f"{head}\n{text(locale, 'cut_result', count=len(raw) - limit_bytes)}"


def _output(
    content: str,
    locale: Locale,
    source: str | None,
    *,
    ok: bool = True,
    images: list[dict[str, Any]] | None = None,
) -> ToolOutput:
    capped = cap_text(content, MODEL_BYTES, locale)
    if source is not None:
        capped = mark_untrusted(capped, locale, source)
        if images:
            capped += f"\n{text(locale, 'untrusted_images')}"
    return {"ok": ok, "blocks": [{"type": "text", "text": capped}, *(images or [])]}
