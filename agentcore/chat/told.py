"""What a model is told of a call's end: capped, and marked where it comes from the open world."""

import hashlib
from typing import Any

import pydantic_core

from agentcore.api.errors import ToolError
from agentcore.api.result import ArtifactLink, Image, Text
from agentcore.chat.limits import EDITED_BYTES, MODEL_BYTES
from agentcore.chat.texts import Locale, text
from agentcore.host.call import CallOutcome

Told = dict[str, Any]
"""`{"ok", "blocks": [{"type": "text", "text"} | {"type": "image", "mime", "base64"}]}`; JSON values only."""


def tell_outcome(outcome: CallOutcome, locale: Locale, *, source: str, is_untrusted: bool) -> Told:
    """The end of a server tool's call.

    Args:
        outcome: How it ended.
        locale: Language of what is added.
        source: The tool, named where the content is marked.
        is_untrusted: Whether its content comes from the open world.
    """
    told = _tell_end(outcome, locale, source, is_untrusted=is_untrusted)
    if outcome.edited_arguments is None:
        return told
    arguments = pydantic_core.to_json(outcome.edited_arguments, serialize_unknown=True).decode()
    edited = cap_text(text(locale, "edited", arguments=arguments), EDITED_BYTES, locale)
    return {**told, "blocks": [{"type": "text", "text": edited}, *told["blocks"]]}


def _tell_end(outcome: CallOutcome, locale: Locale, source: str, *, is_untrusted: bool) -> Told:
    if outcome.error is not None:
        return tell_error(outcome.error, locale)
    result = outcome.unwrap()
    texts: list[str] = []
    images: list[dict[str, Any]] = []
    for block in result.blocks():
        match block:
            case Text():
                texts.append(block.text)
            case Image():
                images.append(block.to_json())
            case ArtifactLink():
                texts.append(pydantic_core.to_json(block.to_json()).decode())
    if not texts and result.data is not None:
        texts.append(outcome.encoded_data.decode())
    return _told("\n".join(texts), locale, source if is_untrusted or result.untrusted else None, images=images)


def tell_client_result(result: str, locale: Locale, source: str) -> Told:
    """The result of a client tool: it speaks of a page, and is never trusted."""
    return _told(result, locale, source)


def tell_error(error: ToolError, locale: Locale) -> Told:
    """A failure, as the error object that a model can act on."""
    body = pydantic_core.to_json({"ok": False, "error": error.to_json()}, serialize_unknown=True).decode()
    return _told(body, locale, None, ok=False)


def mark_untrusted(content: str, locale: Locale, source: str) -> str:
    """Frame content so that it is seen to be data; its own digest names the frame, so that it cannot end it."""
    mark = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:12]
    head = text(locale, "untrusted", source=source)
    return f'{head}\n<untrusted id="{mark}">\n{content}\n</untrusted id="{mark}">'


def cap_text(content: str, limit_bytes: int, locale: Locale) -> str:
    """The head of a text that is over the bound, and how much is missing."""
    raw = content.encode("utf-8", "replace")
    if len(raw) <= limit_bytes:
        return content
    head = raw[:limit_bytes].decode("utf-8", "ignore")
    return f"{head}\n{text(locale, 'cut_result', count=len(raw) - limit_bytes)}"


def _told(
    content: str,
    locale: Locale,
    source: str | None,
    *,
    ok: bool = True,
    images: list[dict[str, Any]] | None = None,
) -> Told:
    capped = cap_text(content, MODEL_BYTES, locale)
    if source is not None:
        capped = mark_untrusted(capped, locale, source)
    return {"ok": ok, "blocks": [{"type": "text", "text": capped}, *(images or [])]}
