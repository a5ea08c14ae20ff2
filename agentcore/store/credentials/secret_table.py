"""Secrets that the user stores for settings of modules, in a file of the state folder that only its owner may read.

They are in a file and not in the database, like the API token and provider keys: a removed secret leaves no traces in
free pages or in the write-ahead log, and settings can be read where no database is open.
"""

import re
import threading
import time
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr, TypeAdapter, ValidationError
from pydantic_core import to_json

from agentcore.errors import ToolError
from agentcore.secrets import SECRET_NAME
from agentcore.store.state.private_file import read_private_file, write_private_file
from agentcore.store.state.state_errors import StateDirError
from agentcore.valid_text import valid_text

SECRET_BYTES = 64 * 1024
"""Maximum size of one secret in UTF-8."""

_FILE = "secrets.json"
_FILE_BYTES = 4 * 1024 * 1024
_NAME = re.compile(SECRET_NAME)
_change = threading.Lock()


class StoredSecret(BaseModel, defer_build=True):
    """One secret.

    Args:
        set_at_ms: When it was set, in milliseconds since 1970.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: SecretStr
    set_at_ms: Annotated[int, Field(ge=0)]


_KEPT = TypeAdapter(dict[str, StoredSecret], config=ConfigDict(defer_build=True))


def read_secrets(folder: Path) -> dict[str, StoredSecret]:
    """Return the secrets of a state folder by name.

    Raises:
        StateDirError: The file cannot be read.
    """
    content = read_private_file(folder / _FILE, _FILE_BYTES)
    if content is None:
        return {}
    try:
        return _KEPT.validate_json(content)
    except ValidationError:
        # not chained: the cause quotes secrets
        raise StateDirError(f"{folder / _FILE} is damaged; remove it, and set the secrets again") from None


def save_secret(folder: Path, name: str, value: SecretStr) -> None:
    """Store a secret, replacing one of the same name. The caller must hold the folder's lock.

    Raises:
        ToolError: `invalid_secret`, `too_many_secrets`.
        StateDirError: The file cannot be read.
        OSError: It cannot be written.
    """
    check_secret(name, value)
    with _change:
        kept = read_secrets(folder) | {name: StoredSecret(value=value, set_at_ms=time.time_ns() // 1_000_000)}
        _write_secrets(folder, kept)


def remove_secret(folder: Path, name: str) -> None:
    """Delete a secret. The caller must hold the folder's lock.

    Raises:
        ToolError: `secret_not_found`.
        StateDirError: The file cannot be read.
        OSError: It cannot be written.
    """
    with _change:
        kept = read_secrets(folder)
        check_secret_exists(kept, name)
        del kept[name]
        _write_secrets(folder, kept)


def check_secret_exists(kept: dict[str, StoredSecret], name: str) -> None:
    """Check that a secret with this name exists.

    Raises:
        ToolError: `secret_not_found`.
    """
    if name not in kept:
        there_are = f"there are: {', '.join(sorted(kept))}" if kept else "none is kept"
        raise ToolError("secret_not_found", f"there is no secret {name!r}; {there_are}", name=name)


def check_secret(name: str, value: SecretStr) -> None:
    """Check that a secret can be stored.

    Raises:
        ToolError: `invalid_secret`; it never contains the value.
    """
    if problem := _find_problem(name, value.get_secret_value()):
        raise ToolError("invalid_secret", problem, name=name)


def _find_problem(name: str, value: str) -> str:
    if not _NAME.fullmatch(name):
        return f"{name!r} cannot name a secret: a letter or _ first, then letters, digits and _ . - , at most 64"
    if value == "":
        return "the value is empty"
    if "\0" in value:
        return "the value has a NUL character, which no program or server takes"
    if valid_text(value) != value:
        return "the value is no valid text; encode it first, such as in base64"
    if len(value.encode()) > SECRET_BYTES:
        return f"the value is larger than {SECRET_BYTES} bytes; keep it in a file, and its path in the setting"
    return ""


def _write_secrets(folder: Path, kept: dict[str, StoredSecret]) -> None:
    shown = {
        name: {"value": secret.value.get_secret_value(), "set_at_ms": secret.set_at_ms} for name, secret in kept.items()
    }
    content = to_json(shown)
    if len(content) > _FILE_BYTES:
        message = f"all secrets together would be larger than {_FILE_BYTES} bytes; remove some"
        raise ToolError("too_many_secrets", message, limit=_FILE_BYTES)
    write_private_file(folder / _FILE, content)
