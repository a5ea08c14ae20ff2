"""Names of a server's tools in agentcore."""

import hashlib
import re
from collections import Counter

NAME_CHARS = 64
_HASH_CHARS = 8
_OTHER = re.compile(r"[^A-Za-z0-9_-]+")
_LETTER = re.compile(r"[A-Za-z0-9]")
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
    return name if len(name) <= NAME_CHARS else _with_hash(name, original)


def assign_names(prefix: str, originals: list[str]) -> tuple[dict[str, str], list[str]]:
    """Assign unique names to a server's tools.

    A name that would not tell the tool from another one ends with a hash of the original, so that each name means the
    same tool whatever else the server offers: if several originals lead to it, or if no letter or digit of the original
    is left in it.

    Args:
        prefix: Prefix of all names, without `_`.
        originals: The server's own names, in its order.
    Returns:
        A map of names to originals; and a sentence for each tool that gets no name because it is listed twice.
    """
    names: dict[str, str] = {}
    refused = [
        f"the tool {original!r} is listed twice; the first counts"
        for number, original in enumerate(originals)
        if original in originals[:number]
    ]
    distinct = list(dict.fromkeys(originals))
    requested = Counter(tool_name(prefix, original) for original in distinct)
    for original in distinct:
        name = tool_name(prefix, original)
        is_own = name == f"{prefix}_{original}"
        if not is_own and (requested[name] > 1 or not _LETTER.search(_OTHER.sub("_", original))):
            name = _with_hash(f"{prefix}_{_OTHER.sub('_', original).strip('_') or 'tool'}", original)
        names[name] = original
    return names, refused


def _with_hash(name: str, original: str) -> str:
    mark = hashlib.sha256(original.encode("utf-8", "replace")).hexdigest()[:_HASH_CHARS]
    return f"{name[: NAME_CHARS - _HASH_CHARS - 1]}_{mark}"
