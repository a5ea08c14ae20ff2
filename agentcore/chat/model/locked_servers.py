"""Recognises model servers that need a key from how they answer without one.

A status of 401 alone proves nothing: anything may listen at these ports. Each kind of server is recognised by an answer
that only it gives:

- llama.cpp names itself in the header `Server`. With `--api-key`, new releases list their models to anyone and
  refuse the rest, such as `/props`; old ones refuse the list as well, with an `authentication_error`.
- LM Studio says in its refusal that an "LM Studio API token" is required, with the code `invalid_api_key`.
- vLLM refuses what begins with `/v1` with `{"error": "Unauthorized"}`, as many servers do, but tells everyone its
  `/version`.
- Jan refuses with a plain text, and shows everyone the description of its API, titled "Jan API …".
- KoboldCpp lists its models to anyone, and says in `/api/extra/version` that it is `protected`.

Sources: `tools/server/server-http.cpp` of llama.cpp, `vllm/entrypoints/openai/server_utils.py` of vLLM,
`src-tauri/src/core/server/proxy.rs` of Jan, `koboldcpp.py` of KoboldCpp, and recorded refusals of LM Studio.
"""

from collections.abc import Callable
from http import HTTPStatus
from typing import NamedTuple

import aiohttp

from agentcore.chat.model.provider_models import LLAMA_CPP, ServerAnswer, fetch_answer, refuses_key, root_of


class _Lock(NamedTuple):
    """How one kind of server refuses its list of models, and what proves that it is this kind."""

    kind: str
    refuses: Callable[[ServerAnswer], bool]
    path: str = ""
    proves: Callable[[ServerAnswer], bool] = lambda _: True


_LOCKS = (
    _Lock("llama_cpp", lambda said: said.server == LLAMA_CPP and said.error.get("type") == "authentication_error"),
    _Lock(
        "lm_studio",
        lambda said: said.error.get("code") == "invalid_api_key" and "LM Studio" in str(said.error.get("message")),
    ),
    _Lock(
        "vllm",
        lambda said: said.document == {"error": "Unauthorized"},
        "/version",
        lambda said: list(said.document) == ["version"] and isinstance(said.document["version"], str),
    ),
    _Lock(
        "jan",
        lambda said: said.content in (b"Missing authorization header", b"Invalid or missing authorization token"),
        "/openapi.json",
        lambda said: _title_of(said).startswith("Jan API"),
    ),
)


async def recognise_refusal(client: aiohttp.ClientSession, base_url: str, refusal: ServerAnswer) -> str | None:
    """Return the kind of model server that refused its list of models for lack of a key; None if it is none.

    Raises:
        aiohttp.ClientError, TimeoutError, OSError: There is no answer.
    """
    for lock in _LOCKS:
        if not lock.refuses(refusal):
            continue
        if not lock.path:
            return lock.kind
        proof = await fetch_answer(client, f"{root_of(base_url)}{lock.path}")
        if proof.status == HTTPStatus.OK and lock.proves(proof):
            return lock.kind
    return None


async def is_only_list_open(client: aiohttp.ClientSession, base_url: str, listed: ServerAnswer) -> bool:
    """True if a server that lists its models needs a key for the rest.

    Raises:
        aiohttp.ClientError, TimeoutError, OSError: There is no answer.
    """
    if await refuses_key(client, base_url, listed.server, {}):
        return True
    if not listed.server.startswith("ConcedoLlamaForKobold"):
        return False
    said = await fetch_answer(client, f"{root_of(base_url)}/api/extra/version")
    return said.document.get("result") == "KoboldCpp" and said.document.get("protected") is True


def _title_of(said: ServerAnswer) -> str:
    info = said.document.get("info")
    return str(info.get("title")) if isinstance(info, dict) else ""
