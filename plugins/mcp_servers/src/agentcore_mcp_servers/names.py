"""The names that tools of a server have here."""

import hashlib
import re

NAME_CHARS = 64
_HASH_CHARS = 8
_OTHER = re.compile(r"[^A-Za-z0-9_-]+")
_MODULE_PREFIX = "mcp_"


def default_prefix(module: str) -> str:
    """What the names of a server's tools begin with, unless its block says otherwise: its key, in lower case."""
    return module.removeprefix(_MODULE_PREFIX)


def tool_name(prefix: str, original: str) -> str:
    """The name of a tool over all servers: what is too long ends with a hash of the whole.

    Args:
        prefix: What all names of the server begin with, before `_`.
        original: The server's own name of it.
    """
    name = f"{prefix}_{_OTHER.sub('_', original)}"
    if len(name) <= NAME_CHARS:
        return name
    mark = hashlib.sha256(original.encode()).hexdigest()[:_HASH_CHARS]
    return f"{name[: NAME_CHARS - _HASH_CHARS - 1]}_{mark}"


def assign_names(prefix: str, originals: list[str]) -> tuple[dict[str, str], list[str]]:
    """The names of a server's tools, and what is said of those that get none.

    Args:
        prefix: What all names begin with.
        originals: The server's own names, in its order.
    Returns:
        Name to original; and for each tool whose name another one has already, a sentence that names both.
    """
    names: dict[str, str] = {}
    refused: list[str] = []
    for original in originals:
        name = tool_name(prefix, original)
        if name not in names:
            names[name] = original
        elif names[name] == original:
            refused.append(f"the tool {original!r} is listed twice; the first counts")
        else:
            refused.append(f"the tools {names[name]!r} and {original!r} would both be {name!r}; the first counts")
    return names, refused
