"""Names of a server's tools in agentcore."""

import hashlib
import re

NAME_CHARS = 64
_HASH_CHARS = 8
_OTHER = re.compile(r"[^A-Za-z0-9_-]+")
_MODULE_PREFIX = "mcp_"


def default_prefix(module: str) -> str:
    """Return the default prefix of a server's tool names: its key in lower case."""
    return module.removeprefix(_MODULE_PREFIX)


def tool_name(prefix: str, original: str) -> str:
    """Return a tool's name in agentcore; a long one is truncated and ends with a hash of the original.

    Args:
        prefix: Prefix of all names of the server, without `_`.
        original: The server's own name of the tool.
    """
    name = f"{prefix}_{_OTHER.sub('_', original)}"
    if len(name) <= NAME_CHARS:
        return name
    mark = hashlib.sha256(original.encode()).hexdigest()[:_HASH_CHARS]
    return f"{name[: NAME_CHARS - _HASH_CHARS - 1]}_{mark}"


def assign_names(prefix: str, originals: list[str]) -> tuple[dict[str, str], list[str]]:
    """Assign unique names to a server's tools.

    Args:
        prefix: Prefix of all names, without `_`.
        originals: The server's own names, in its order.
    Returns:
        A map of names to originals; and a sentence for each tool that gets no name because it is already in use.
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
