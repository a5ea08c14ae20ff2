"""Provider keys entered by the user: stored in the state folder, readable by its owner only, and never returned."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import structlog
from pydantic import ConfigDict, SecretStr, TypeAdapter, ValidationError

from agentcore.chat.model.connections import ProviderId, StoredProvider
from agentcore.chat.model.services import SERVICES
from agentcore.errors import ToolError
from agentcore.store.state.private_file import read_private_file, write_private_file

log = structlog.get_logger(__name__)

_FILE = "providers.json"
_FILE_LIMIT_BYTES = 64 * 1024
_NOTHING = StoredProvider()
_STORED = TypeAdapter(dict[ProviderId, StoredProvider], config=ConfigDict(defer_build=True))


class ProviderKeys:
    """Keys and addresses that were entered, by the name of their provider.

    Args:
        folder: The state folder.
        environ: The environment, which `find_connections` prefers.

    Attributes:
        environ: The environment.
    """

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self._path = folder / _FILE
        self.environ = environ
        self._stored = self._read_file()
        self._change = asyncio.Lock()

    @property
    def stored(self) -> Mapping[str, StoredProvider]:
        """The stored providers, by name."""
        return self._stored

    def get_stored_provider(self, name: str) -> StoredProvider:
        """Return what is stored for a provider; empty if nothing is."""
        return self._stored.get(name, _NOTHING)

    def with_entered(
        self, name: str, key: SecretStr | None, base_url: str | None, service: str | None = None
    ) -> StoredProvider:
        """Return what would be stored if a key, an address, or both were entered.

        An address without a key also removes the stored key, which was meant for another address. An empty address is
        the service's own.
        """
        before = self.get_stored_provider(name)
        address = before.base_url if base_url is None else base_url or None
        # its name says what it is, unless it has a name of its own
        kept = None if name in SERVICES else service or before.service
        return StoredProvider(service=kept, key=key, base_url=address)

    async def replace_stored_provider(self, provider: str, before: StoredProvider, after: StoredProvider) -> None:
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

    def _read_file(self) -> dict[str, StoredProvider]:
        content = read_private_file(self._path, _FILE_LIMIT_BYTES)
        if content is None:
            return {}
        try:
            return _STORED.validate_json(content)
        except ValidationError:
            # without the reason, which quotes the key
            log.warning("provider_keys_unreadable", path=str(self._path), hint="enter the keys again")
            return {}

    async def _write_file(self, stored: dict[str, StoredProvider]) -> None:
        shown = {
            name: {
                "service": entry.service,
                "key": None if entry.key is None else entry.key.get_secret_value(),
                "base_url": entry.base_url,
            }
            for name, entry in stored.items()
        }
        content = json.dumps(shown).encode()
        await asyncio.to_thread(write_private_file, self._path, content)
        self._stored = stored
