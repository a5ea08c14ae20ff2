"""Names of quarantined files, and recognition of git folders."""

import re
from collections.abc import Container

ASIDE = re.compile(r"\.agentcore-aside(-\d+)?$")
"""The suffix of quarantined files and folders: no program looks for such names."""


_NAME_BYTES = 255
"""Maximum length of a file name on all common file systems."""


def quarantine_name(name: str, number: int) -> str:
    """Return the quarantine name for the `number`th attempt, counted from 1; long names are truncated."""
    ending = ".agentcore-aside" + (f"-{number}" if number > 1 else "")
    while len(f"{name}{ending}".encode("utf-8", "surrogateescape")) > _NAME_BYTES:
        name = name[:-1]
    return f"{name}{ending}"


def is_git_folder(path: str, names: Container[str]) -> bool:
    """Return True if git treats a folder as a repository (setup.c: `is_git_directory`), or nearly would."""
    if path.endswith("/.git"):
        return True
    return ("objects" in names and ("HEAD" in names or "refs" in names)) or ("HEAD" in names and "commondir" in names)
