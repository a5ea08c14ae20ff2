"""Requests the models of a provider; all providers answer in the format of OpenAI's `GET /v1/models`."""

import json
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

import aiohttp
from pydantic import SecretStr

from agentcore.chat.model.connection_failure import address_of, no_answer_in_time, no_connection
from agentcore.chat.model.providers import PROVIDERS, ProviderName
from agentcore.errors import ToolError
from agentcore.valid_text import valid_text

_ANSWER_BYTES = 8 * 1024 * 1024
_MODELS_SHOWN = 1000
_NO_TALK = re.compile(
    r"embed|bge-|whisper|tts|dall-e|image|audio|realtime|moderation|rerank|transcribe|sora|vision-preview|babbage|davinci|"
    r"guard|ocr|instruct-0914",
    re.IGNORECASE,
)
"""Names of models for something other than chat and tool calls."""
ASK_SECONDS = 20.0
"""Maximum time for a provider to answer."""

REFUSALS = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
"""Statuses with which a server refuses a request without its key."""

LLAMA_CPP = "llama.cpp"
"""The header `Server` of llama.cpp."""


class ServerAnswer(NamedTuple):
    """The answer of a server to one request."""

    status: int
    server: str
    content: bytes

    @property
    def document(self) -> Mapping[str, Any]:
        """The JSON object in it; empty if it is something else."""
        try:
            document = json.loads(self.content)
        except (ValueError, RecursionError):
            return {}
        return document if isinstance(document, dict) else {}

    @property
    def error(self) -> Mapping[str, Any]:
        """The error in OpenAI's form; empty if it is something else."""
        error = self.document.get("error")
        return error if isinstance(error, dict) else {}


async def ask_for_models(
    provider: ProviderName, base_url: str | None, key: SecretStr, limit_s: float = ASK_SECONDS
) -> list[str]:
    """Ask a provider for the names of its models, in its own order.

    Raises:
        ToolError: As `ask_for_list`.
    """
    content = (await ask_for_list(provider, base_url, key, limit_s)).content
    try:
        return parse_model_names(content)
    except ValueError as exc:
        raise _not_listed(_base_of(provider, base_url), is_web_page=_is_web_page(content)) from exc


async def ask_for_list(provider: ProviderName, base_url: str | None, key: SecretStr, limit_s: float) -> ServerAnswer:
    """Ask a provider for its list of models, unparsed.

    Args:
        provider: The provider, or the one whose protocol a server speaks.
        base_url: Its address; None: the provider's own.
        key: The key; empty if a local server needs none.
        limit_s: How long it may take.
    Raises:
        ToolError: `provider_unauthorized`, `provider_rate_limited`, `provider_unreachable`, `provider_timeout`,
            `provider_failed`; `models_not_listed`: there is no such list at this address.
    """
    record = PROVIDERS[provider]
    base = _base_of(provider, base_url)
    headers = record.request_headers(key.get_secret_value())
    timeout = aiohttp.ClientTimeout(total=limit_s)
    try:
        async with aiohttp.ClientSession(timeout=timeout, trust_env=True) as client:
            listed = await fetch_answer(client, f"{base}{record.models_path}", headers)
            if listed.status != HTTPStatus.OK:
                raise _error_for_status(listed.status, base)
            if await refuses_key(client, base, listed.server, headers):
                raise _error_for_status(HTTPStatus.UNAUTHORIZED, base)
            return listed
    except TimeoutError as exc:
        raise no_answer_in_time(base, limit_s) from exc
    except (aiohttp.ClientError, OSError) as exc:
        raise no_connection(exc, base) from exc


def _base_of(provider: ProviderName, base_url: str | None) -> str:
    return (base_url or PROVIDERS[provider].base_url).rstrip("/")


async def fetch_answer(
    client: aiohttp.ClientSession, url: str, headers: Mapping[str, str] | None = None
) -> ServerAnswer:
    """Request a URL without following redirects, which could lead to another server.

    Raises:
        aiohttp.ClientError, TimeoutError, OSError: There is no answer.
    """
    async with client.get(url, headers=headers, allow_redirects=False) as response:
        return ServerAnswer(response.status, response.headers.get("Server", ""), await read_answer(response))


async def read_answer(response: aiohttp.ClientResponse) -> bytes:
    """Read the body of a response; of one over 8 MiB only the beginning, which is not valid JSON."""
    content = bytearray()
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > _ANSWER_BYTES:
            break
    return bytes(content)


async def refuses_key(client: aiohttp.ClientSession, base_url: str, server: str, headers: Mapping[str, str]) -> bool:
    """True if a llama.cpp server, which lists its models to anyone, refuses a key, or the lack of one.

    Args:
        client: The client.
        base_url: Its address.
        server: The header `Server` of its list of models.
        headers: With the key.
    Raises:
        aiohttp.ClientError, TimeoutError, OSError: There is no answer.
    """
    if server != LLAMA_CPP:
        return False
    said = await fetch_answer(client, f"{root_of(base_url)}/props", headers)
    return said.status in REFUSALS


def root_of(base_url: str) -> str:
    """Return the address of a server without the `/v1` of the protocol."""
    return base_url.rstrip("/").removesuffix("/v1")


def parse_model_names(content: bytes) -> list[str]:
    """Parse the names of the models in a response, at most 1000.

    Raises:
        ValueError: It is not a list of models.
    """
    try:
        names = [entry["id"] for entry in json.loads(content)["data"]]
    except (ValueError, TypeError, KeyError, RecursionError) as exc:
        raise ValueError("no list of models") from exc
    return [valid_text(name) for name in names if isinstance(name, str)][:_MODELS_SHOWN]


def is_chat_model(name: str) -> bool:
    """True unless the name is that of a model for something other than chat, such as embeddings."""
    return _NO_TALK.search(name) is None


def sort_chat_models_first(names: Sequence[str]) -> list[str]:
    """Return models in their provider's order, with chat models first."""
    return sorted(names, key=lambda name: not is_chat_model(name))


def suggest_model(provider: ProviderName, names: Sequence[str]) -> str | None:
    """Return the model of a provider to start with: the newest version of its usual one, else the first chat model."""
    usual = PROVIDERS[provider].usual_model
    if usual in names:
        return usual
    dated = sorted(
        name for name in names if re.fullmatch(re.escape(usual) + r"-\d{8}|" + re.escape(usual) + "-latest", name)
    )
    return dated[-1] if dated else next((name for name in names if is_chat_model(name)), None)


def _error_for_status(status: int, base: str) -> ToolError:
    """Return the error for a status, without the provider's message, in which some repeat the key."""
    context: dict[str, Any] = {"status": status, "address": address_of(base)}
    if status in REFUSALS:
        message = "The provider refused the key. Look at it and at the address."
        return ToolError("provider_unauthorized", message, **context)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        message = "The provider takes no more requests now. Try again later."
        return ToolError("provider_rate_limited", message, retryable=True, **context)
    if status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return _not_listed(base)
    message = f"{address_of(base)} failed with status {status}. Try again, or look at its address."
    return ToolError("provider_failed", message, retryable=True, **context)


def _is_web_page(content: bytes) -> bool:
    return content.lstrip()[:16].lower().startswith((b"<!doctype", b"<html"))


def _not_listed(base: str, *, is_web_page: bool = False) -> ToolError:
    message = f"{base} has no list of models. Look at the address, or name a model under models in app.json."
    context: dict[str, Any] = {"reason": "web_page"} if is_web_page else {}
    return ToolError("models_not_listed", message, base_url=base, address=address_of(base), **context)
