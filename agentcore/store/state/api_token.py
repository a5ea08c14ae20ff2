"""The API token: from the environment, else from a file in the state folder that is created at the first start."""

import re
import secrets
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from agentcore.store.state.private_file import create_private_file, read_private_file
from agentcore.store.state.state_errors import StateDirError

TOKEN_VARIABLE = "AGENTCORE_TOKEN"  # noqa: S105 - the name of the variable, not its value
_TOKEN_BYTES = 32
_LIMIT_BYTES = 4096
# characters allowed in `Authorization: Bearer` (RFC 6750, 2.1)
_TOKEN_FORM = re.compile(r"[A-Za-z0-9._~+/-]+=*")


def read_token(folder: Path, environ: Mapping[str, str]) -> SecretStr | None:
    """Return the token as a client finds it, or None if there is none yet.

    Raises:
        StateDirError: The value found cannot be a token.
    """
    if text := environ.get(TOKEN_VARIABLE, ""):
        return _validate_token(text, f"the environment variable {TOKEN_VARIABLE}")
    path = folder / "token"
    content = read_private_file(path, _LIMIT_BYTES)
    if content is None:
        return None
    return _validate_token(content.decode("ascii", "replace").strip(), str(path))


def ensure_token(folder: Path, environ: Mapping[str, str]) -> SecretStr:
    """Return the token, creating it (256 bits, mode 0600) if there is none."""
    token = read_token(folder, environ)
    if token is None:
        create_private_file(folder / "token", secrets.token_urlsafe(_TOKEN_BYTES).encode("ascii") + b"\n")
        token = read_token(folder, environ)
    if token is None:
        raise StateDirError(f"{folder / 'token'} vanished while it was made; is another program cleaning the folder?")
    return token


def _validate_token(text: str, source: str) -> SecretStr:
    if not _TOKEN_FORM.fullmatch(text):
        raise StateDirError(
            f"{source} holds no usable token: letters, digits and . _ ~ + / - only; remove it for a new one"
        )
    return SecretStr(text)
