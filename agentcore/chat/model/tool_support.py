"""Notices servers that accept the definitions of tools and give them to no model."""

import json
import re
from collections.abc import Collection
from typing import Any

import aiohttp
import structlog

from agentcore.chat.chat_limits import CONTEXT_LIST_SECONDS
from agentcore.chat.model.provider_models import read_answer
from agentcore.chat.model.text_tool_call_parsing import parse_written
from agentcore.chat.settings import ModelChoice
from agentcore.errors import ToolError

log = structlog.get_logger(__name__)

TOOLS_NOT_SUPPORTED = "tools_not_supported"
"""The error of a model that is not given the tools; having it write its calls helps."""

_REFUSAL = re.compile(
    r"does not support (?:tools|tool|function)|tools param requires|unsupported param: tools|enable-auto-tool-choice|"
    r"endpoints? found that support tool use|(?:tool|function)[ _-]?(?:use|calls|calling)? (?:is|are) not supported",
    re.IGNORECASE,
)
"""What Ollama, llama.cpp, vLLM and OpenRouter say when a model cannot be given tools."""

_MARKUP = re.compile(
    r"^\s{0,9}(?:<tool_call>\s{0,9})?(?:<function=[\w.-]+>|<\|python_tag\|>|<｜tool▁calls▁begin｜>|<invoke name=)",
    re.MULTILINE,
)
"""Markup of calls, other than JSON, that the server should have read."""


def is_tool_refusal(said: str) -> bool:
    """True if a provider's message says that the model cannot be given tools."""
    return _REFUSAL.search(said) is not None


def contains_call_markup(text: str, names: Collection[str]) -> bool:
    """True if an answer contains a call as text, which the server should have read.

    Args:
        text: The answer.
        names: The tools that were offered.
    """
    written = parse_written(text, names)
    return any(call.tool_name in names for call in written.calls) or _MARKUP.search(text) is not None


class ToolSupport:
    """Asks servers, once each, whether a model's template has a place for tools."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], bool] = {}

    async def drops_tools(self, choice: ModelChoice) -> bool:
        """True if the server says that it drops the definitions of tools, as llama.cpp does in `/props`."""
        if choice.base_url is None:
            return False
        key = (choice.base_url, choice.model)
        if key not in self._known:
            try:
                self._known[key] = reads_no_tools(await _ask_for_properties(choice))
            except (TimeoutError, aiohttp.ClientError, OSError) as exc:
                # not stored: it may only be busy
                log.info("tool_support_unknown", model=choice.model, error=type(exc).__name__)
                return False
        return self._known[key]


async def _ask_for_properties(choice: ModelChoice) -> bytes:
    root = (choice.base_url or "").rstrip("/").removesuffix("/v1")
    key = choice.api_key.get_secret_value()
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=CONTEXT_LIST_SECONDS), trust_env=True) as client,
        client.get(
            f"{root}/props",
            params={"model": choice.model},
            headers={"Authorization": f"Bearer {key}"} if key else {},
            allow_redirects=False,
        ) as response,
    ):
        return await read_answer(response) if response.ok else b""


def reads_no_tools(content: bytes) -> bool:
    """True if the properties of a llama.cpp server say that the model's template has no place for tools."""
    try:
        said: dict[str, Any] = json.loads(content)
        abilities = said.get("chat_template_caps")
        templates = [said.get(name) for name in ("chat_template", "chat_template_tool_use")]
    except (ValueError, AttributeError, RecursionError):
        return False  # another kind of server
    if isinstance(abilities, dict) and isinstance(abilities.get("supports_tools"), bool):
        return not abilities["supports_tools"]
    texts = [text for text in templates if isinstance(text, str) and text.strip()]
    return bool(texts) and not any("tools" in text or "functions" in text for text in texts)


def tools_dropped_error(choice: ModelChoice, *, wrote_call: bool) -> ToolError:
    """Create the error about a model that was not given the tools of its chat."""
    happened = (
        "The model wrote a call of a tool into its answer, and its server did not read it: nothing ran."
        if wrote_call
        else "The model's server gives it no tools: its chat template has no place for them."
    )
    message = f'{happened} Let the model write its calls in this chat, or set "tools": "prompted" for it in app.json.'
    return ToolError(TOOLS_NOT_SUPPORTED, message, model=f"{choice.provider}:{choice.model}")
