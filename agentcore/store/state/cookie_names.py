"""Names of the cookies that carry half of a browser's session: unguessable, and stable across restarts.

Cookies of one host are sent to all of its ports. A page at another local port that knew a name could set cookies of
that name for longer paths, which browsers send first.
"""

import re
import secrets
from pathlib import Path

from agentcore.store.state.private_file import create_private_file, read_private_file
from agentcore.store.state.state_errors import StateDirError

_FILE = "cookie_name"
_RANDOM_BYTES = 16
_LIMIT_BYTES = 256
_FORM = re.compile(r"[0-9a-f]{32}")


def ensure_cookie_name(folder: Path, audience: str) -> str:
    """Return the name of the cookie of one origin, creating its random part in the state folder if needed.

    Args:
        audience: The origin: `page` or `approval`.
    Raises:
        StateDirError: The file does not contain a valid random part, or vanished.
        OSError: It cannot be written.
    """
    path = folder / _FILE
    content = read_private_file(path, _LIMIT_BYTES)
    if content is None:
        create_private_file(path, secrets.token_hex(_RANDOM_BYTES).encode("ascii") + b"\n")
        content = read_private_file(path, _LIMIT_BYTES)
    random_part = (content or b"").decode("ascii", "replace").strip()
    if not _FORM.fullmatch(random_part):
        raise StateDirError(f"{path} does not hold 32 hexadecimal digits; remove it for a new one")
    return f"agentcore_{audience}_{random_part}"
