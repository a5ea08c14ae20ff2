"""What the files and folders that count are called."""

import re
from collections.abc import Container

ASIDE = re.compile(r"\.agentcore-aside(-\d+)?$")
"""What the name of something that was quarantined ends with: no program looks for such a name."""


_NAME_BYTES = 255
"""Of a file's name, on all common file systems."""


def quarantine_name(name: str, number: int) -> str:
    """The name under which something is quarantined, at the `number`th attempt, from 1; a long one loses its end."""
    ending = ".agentcore-aside" + (f"-{number}" if number > 1 else "")
    while len(f"{name}{ending}".encode("utf-8", "surrogateescape")) > _NAME_BYTES:
        name = name[:-1]
    return f"{name}{ending}"


def is_git_folder(path: str, names: Container[str]) -> bool:
    """Whether git takes a folder for a repository (setup.c: `is_git_directory`), or would with little more."""
    if path.endswith("/.git"):
        return True
    return ("objects" in names and ("HEAD" in names or "refs" in names)) or ("HEAD" in names and "commondir" in names)
