"""Finds model servers on this machine, at the usual ports of loopback only."""

import asyncio
from collections.abc import Sequence
from http import HTTPStatus
from typing import NamedTuple

import aiohttp

from agentcore.chat.model.provider_models import REFUSALS, fetch_answer, is_chat_model, parse_model_names
from agentcore.chat.model.services import SERVICES


class KnownServer(NamedTuple):
    """The default address of a kind of server, and its name for users."""

    kind: str
    base_url: str
    label: str = ""


class LocalServer(NamedTuple):
    """A server that answered.

    Args:
        kind: What kind of server it is.
        base_url: Its address.
        models: Its chat models, as far as they are known.
        needs_key: True if it answers nothing else without a key, and none is known.
        provider: The provider whose key opened it; None: it was asked without a key.
    """

    kind: str
    base_url: str
    models: list[str]
    needs_key: bool = False
    provider: str | None = None

    @property
    def label(self) -> str:
        """The name of this kind of server for users."""
        return next((place.label for place in PLACES if place.kind == self.kind), self.kind)


PLACES = tuple(
    KnownServer(service.name, service.base_url, service.label["en"])
    for service in SERVICES.values()
    if service.is_local
)
"""The default addresses of these servers."""

LOOK_SECONDS = 3.0
"""Maximum time for a server to answer."""


async def find_local_servers(
    places: Sequence[KnownServer] = PLACES, limit_s: float = LOOK_SECONDS
) -> list[LocalServer]:
    """Ask each address for its models, in the protocol of OpenAI (`GET /v1/models`)."""
    # no proxy of the environment: the requests go to this machine
    timeout = aiohttp.ClientTimeout(total=limit_s)
    async with aiohttp.ClientSession(timeout=timeout, trust_env=False) as client:
        found = await asyncio.gather(*(_probe_server(client, place) for place in places))
    return [server for server in found if server is not None]


async def _probe_server(client: aiohttp.ClientSession, place: KnownServer) -> LocalServer | None:
    from agentcore.chat.model.locked_servers import (  # noqa: PLC0415 - a search is rare, and never first
        is_only_list_open,
        recognise_refusal,
    )

    try:
        listed = await fetch_answer(client, f"{place.base_url}/models")
        if listed.status in REFUSALS:
            kind = await recognise_refusal(client, place.base_url, listed)
            return None if kind is None else LocalServer(kind, place.base_url, [], needs_key=True)
        if listed.status != HTTPStatus.OK:
            return None
        names = [name for name in parse_model_names(listed.content) if is_chat_model(name)]
        needs_key = await is_only_list_open(client, place.base_url, listed)
        return LocalServer(place.kind, place.base_url, names, needs_key)
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError):
        return None  # something else listens there, or nothing does
