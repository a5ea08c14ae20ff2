"""Where a repository's configuration says that its hooks and further configuration are (git-config(1))."""

import os
import re

_SECTION = re.compile(r'[ \t]*\[[ \t]*([A-Za-z0-9.-]+)(?:[ \t]+"[^\n]*")?[ \t]*\]')
_VALUE = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*=[ \t]*(.*?)[ \t]*$")


def read_leads(text: str) -> tuple[list[str], list[str]]:
    """Read a configuration leniently: what git may obey counts, also where it is written in a rare form.

    Returns:
        The folders of hooks, and the files of further configuration, as it spells them.
    """
    hooks: list[str] = []
    included: list[str] = []
    section = ""
    for line in text.split("\n"):
        rest = line
        if match := _SECTION.match(line):
            section = match[1].lower()
            rest = line[match.end() :]
        if not (match := _VALUE.match(rest)):
            continue
        key = match[1].lower()
        value = os.path.expanduser(match[2].strip('"'))  # noqa: PTH111
        if not value:
            continue
        if (section, key) == ("core", "hookspath"):
            hooks.append(value)
        elif section.partition(".")[0] in ("include", "includeif") and key == "path":
            included.append(value)
    return hooks, included
