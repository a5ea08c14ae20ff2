"""The key of a host at its server, stored in the state folder of the host's machine."""

import hashlib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from agentcore.store.state.private_file import make_private_folder, read_private_file, write_private_file

_FILE_BYTES = 16 * 1024


class _StoredKey(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    server: str
    name: str
    key: str


class ServerKey:
    """The key of one host at one server.

    Args:
        state: The state folder.
        server: The server's address.
        name: The name of the host there.
    """

    def __init__(self, state: Path, server: str, name: str) -> None:
        self._server = server
        self._name = name
        digest = hashlib.sha256(f"{server}\n{name}".encode()).hexdigest()[:16]
        self._file = state / "servers" / f"{digest}.json"

    def read(self) -> SecretStr | None:
        """Return the key; None: there is none, and the host must be paired."""
        content = read_private_file(self._file, _FILE_BYTES)
        if content is None:
            return None
        try:
            kept = _StoredKey.model_validate_json(content)
        except ValidationError:
            return None
        return SecretStr(kept.key) if (kept.server, kept.name) == (self._server, self._name) else None

    def write(self, key: str) -> None:
        """Keep it, with mode 0600; it is on the disk when this returns."""
        make_private_folder(self._file.parent)
        kept = _StoredKey(server=self._server, name=self._name, key=key)
        write_private_file(self._file, kept.model_dump_json().encode())

    def delete(self) -> None:
        """Keep it no more."""
        self._file.unlink(missing_ok=True)
