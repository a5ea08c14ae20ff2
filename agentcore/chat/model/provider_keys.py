"""Provider keys entered by the user: stored in the state folder, readable by its owner only, and never returned."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import structlog
from pydantic import BaseModel, ConfigDict, Field, SecretStr, TypeAdapter, ValidationError

from agentcore.chat.model.providers import PROVIDERS, ProviderName
from agentcore.errors import ToolError
from agentcore.store.state import read_private_file, write_private_file

log = structlog.get_logger(__name__)

_FILE = "providers.json"
_FILE_LIMIT_BYTES = 64 * 1024
KeyOrigin = Literal["environment", "stored"]


class StoredProvider(BaseModel, defer_build=True):
    """What was entered for one provider."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: Annotated[SecretStr | None, Field(max_length=1000)] = None
    base_url: Annotated[str | None, Field(max_length=1000)] = None


_NOTHING = StoredProvider()
_STORED = TypeAdapter(dict[ProviderName, StoredProvider], config=ConfigDict(defer_build=True))


class ProviderKeys:
    """Keys and addresses by provider; if the environment sets a provider, all stored values of it are ignored.

    All of them, because a key that was entered for one address must not be sent to another.

    Args:
        folder: The state folder.
        environ: The environment.
    """

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self._path = folder / _FILE
        self._environ = environ
        self._stored = self._read_file()
        self._change = asyncio.Lock()

    def merge_environ(self) -> dict[str, str]:
        """Return the environment, with the stored values of providers that it does not set."""
        merged = dict(self._environ)
        for provider, stored in self._stored.items():
            if PROVIDERS[provider].is_in(self._environ):
                continue
            if stored.key is not None:
                merged[PROVIDERS[provider].key_variable] = stored.key.get_secret_value()
            if stored.base_url is not None:
                merged[PROVIDERS[provider].base_url_variable] = stored.base_url
        return merged

    def is_fixed(self, provider: ProviderName) -> bool:
        """True if the environment sets this provider, so that stored keys and addresses have no effect."""
        return PROVIDERS[provider].is_in(self._environ)

    def find_key_origin(self, provider: ProviderName) -> KeyOrigin | None:
        """Return where the key of a provider comes from; None if there is none."""
        if PROVIDERS[provider].is_in(self._environ):
            return "environment" if self._environ.get(PROVIDERS[provider].key_variable) else None
        stored = self._stored.get(provider)
        return "stored" if stored is not None and stored.key is not None else None

    def base_url(self, provider: ProviderName) -> str | None:
        """Return the address that is set for a provider; None: its own."""
        return self.merge_environ().get(PROVIDERS[provider].base_url_variable) or None

    def find_provider_at(self, base_url: str) -> ProviderName | None:
        """Return the provider that has a key for this address; None if there is none."""
        for provider in PROVIDERS:
            if self.base_url(provider) == base_url and self.find_key_origin(provider) is not None:
                return provider
        return None

    def get_stored_provider(self, provider: ProviderName) -> StoredProvider:
        """Return what is stored for a provider; empty if nothing is."""
        return self._stored.get(provider, _NOTHING)

    def with_entered(self, provider: ProviderName, key: SecretStr | None, base_url: str | None) -> StoredProvider:
        """Return what would be stored if a key, an address, or both were entered.

        An address without a key also removes the stored key, which was meant for another address. An empty address is
        the provider's own.
        """
        address = self.get_stored_provider(provider).base_url if base_url is None else base_url or None
        return StoredProvider(key=key, base_url=address)

    async def replace_stored_provider(
        self, provider: ProviderName, before: StoredProvider, after: StoredProvider
    ) -> None:
        """Replace what is stored for a provider, only if it is still what the user was shown.

        Raises:
            ToolError: `config_changed`: what is stored now is not `before`.
        """
        async with self._change:
            if self.get_stored_provider(provider) != before:
                message = f"what is kept for {provider} is other than when this was asked for; nothing was changed"
                raise ToolError("config_changed", message, provider=provider)
            others = {name: stored for name, stored in self._stored.items() if name != provider}
            await self._write_file(others if after == _NOTHING else {**others, provider: after})

    def _read_file(self) -> dict[ProviderName, StoredProvider]:
        content = read_private_file(self._path, _FILE_LIMIT_BYTES)
        if content is None:
            return {}
        try:
            return _STORED.validate_json(content)
        except ValidationError:
            # without the reason, which quotes the key
            log.warning("provider_keys_unreadable", path=str(self._path), hint="enter the keys again")
            return {}

    async def _write_file(self, stored: dict[ProviderName, StoredProvider]) -> None:
        shown = {
            name: {
                "key": None if entry.key is None else entry.key.get_secret_value(),
                "base_url": entry.base_url,
            }
            for name, entry in stored.items()
        }
        content = json.dumps(shown).encode()
        await asyncio.to_thread(write_private_file, self._path, content)
        self._stored = stored
