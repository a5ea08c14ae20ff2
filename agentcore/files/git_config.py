"""Parse git configuration as git does (git-config(1), and `git_parse_source` in its config.c)."""

import os
import re
from collections.abc import Sequence

from agentcore.late_dataclasses import dataclass

_HEADER = re.compile(r'[ \t]*\[[ \t]*([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\]|\\.)*)")?[ \t]*\]')
_KEY = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(=?)")
_SPACE = " \t\r\v\f"
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}

_PLAIN_HEADER = re.compile(r'\[([A-Za-z0-9-]+)(?: "([^"\\\x00-\x1f]*)")?\]')
_PLAIN_VALUE = re.compile(r'[ \t]*[A-Za-z][A-Za-z0-9-]*(?:[ \t]*=[ \t]*(?:[^"\\#;\x00-\x1f]*|"[^"\\\x00-\x1f]*"))?')
_PLAIN_COMMENT = re.compile(r"[ \t]*(?:[#;][^\x00-\x08\x0b-\x1f]*)?")

_INCLUDES = frozenset(("include.path", "includeif.*.path"))
"""Keys whose value is the path of an included configuration file."""


@dataclass(frozen=True, slots=True)
class ConfigLine:
    """One line with its continuation lines.

    Args:
        text: The whole text, without the last line end.
        key: `section.name`, or `section.*.name` if there is a subsection, in lower case; empty: no variable.
        value: The value that git reads; empty for a name without a value.
    """

    text: str
    key: str = ""
    value: str = ""

    def __str__(self) -> str:
        return f"{self.key}={self.value}"


class GitConfig:
    """The lines of one file. Invalid lines are skipped, since some version of git may still obey the rest.

    Attributes:
        is_plain: True if the whole file has the form that git itself writes; only then is it certain that git reads it
            the same way.
        lines: The lines of the file.
    """

    def __init__(self, text: str) -> None:
        self.lines: list[ConfigLine] = []
        self.is_plain = True
        self._read(text)

    def hooks(self) -> tuple[str, ...]:
        """Return the hook folders that it names."""
        return self.values("core.hookspath")

    def included(self) -> tuple[str, ...]:
        """Return the configuration files that it includes, whatever the condition."""
        return tuple(line.value for line in self.lines if line.key in _INCLUDES and line.value)

    def values(self, key: str) -> tuple[str, ...]:
        """Return the non-empty values of a key."""
        return tuple(line.value for line in self.lines if line.key == key and line.value)

    def _read(self, text: str) -> None:
        lines = text.removesuffix("\n").split("\n")
        section = ""
        at = 0
        while at < len(lines):
            raw = lines[at]
            at += 1
            rest = raw.removeprefix("\ufeff").removesuffix("\r")
            while header := _HEADER.match(rest):
                name, dot, _ = header[1].lower().partition(".")
                section = f"{name}.*" if dot or header[2] is not None else name
                rest = rest[header.end() :]
            key = _KEY.match(rest) if section else None
            if key is None:
                self.is_plain &= bool(_PLAIN_COMMENT.fullmatch(raw) or _PLAIN_HEADER.fullmatch(raw))
                self.lines.append(ConfigLine(raw))
                continue
            self.is_plain &= bool(_PLAIN_VALUE.fullmatch(raw))
            value, end = _read_value(rest[key.end() :], lines, at) if key[2] else ("", at)
            self.lines.append(ConfigLine("\n".join([raw, *lines[at:end]]), f"{section}.{key[1].lower()}", value))
            at = end


def _read_value(text: str, lines: Sequence[str], at: int) -> tuple[str, int]:
    """Read the value after the `=` of a line, resolving quotes and escapes, up to a comment.

    Args:
        text: The rest of the line after the `=`.
        lines: All lines.
        at: Number of the next line, which continues this one if this one ends with a backslash.
    Returns:
        The value, and the number of the line after it.
    """
    value: list[str] = []
    length = 0  # without trailing space
    is_quoted = False
    place = 0
    while place < len(text):
        character = text[place]
        place += 1
        if character == "\\" and place == len(text):
            text = lines[at].removesuffix("\r") if at < len(lines) else ""
            place = 0
            at += 1
            length = len(value)
            continue
        if character in _SPACE and not is_quoted:
            value += [character] if value else []
            continue
        if character in "#;" and not is_quoted:
            break
        if character == "\\":
            value.append(_ESCAPES.get(text[place], text[place]))
            place += 1
        elif character == '"':
            is_quoted = not is_quoted
        else:
            value.append(character)
        length = len(value)
    return "".join(value[:length]), min(at, len(lines))


def read_gitdir(text: str) -> str:
    """Return the folder that a file named `.git` refers to, as written there; empty if none."""
    name = text.removeprefix("gitdir: ").rstrip("\r\n")  # as git reads it
    return "" if "\0" in name else name


def global_config_files() -> tuple[str, ...]:
    """Return the configuration files for all repositories: the system's and the user's."""
    home = os.path.expanduser("~")  # noqa: PTH111
    config = os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    return "/etc/gitconfig", f"{config}/git/config", f"{home}/.gitconfig"
