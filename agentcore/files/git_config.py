"""Git's configuration as git reads it (git-config(1), and `git_parse_source` of its config.c)."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

_HEADER = re.compile(r'[ \t]*\[[ \t]*([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\]|\\.)*)")?[ \t]*\]')
_KEY = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(=?)")
_SPACE = " \t\r\v\f"
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}

_PLAIN_HEADER = re.compile(r'\[([A-Za-z0-9-]+)(?: "([^"\\\x00-\x1f]*)")?\]')
_PLAIN_VALUE = re.compile(r'[ \t]*[A-Za-z][A-Za-z0-9-]*(?:[ \t]*=[ \t]*(?:[^"\\#;\x00-\x1f]*|"[^"\\\x00-\x1f]*"))?')
_PLAIN_COMMENT = re.compile(r"[ \t]*(?:[#;][^\x00-\x08\x0b-\x1f]*)?")

_INCLUDES = frozenset(("include.path", "includeif.*.path"))
"""Keys whose value is a path of further configuration."""


@dataclass(frozen=True, slots=True)
class ConfigLine:
    """One line, with those that continue it.

    Args:
        text: All of it, without its last line end.
        key: `section.name`, or `section.*.name` where the section has a subsection, in small letters; empty: none.
        value: What git reads; empty for a name without a value.
    """

    text: str
    key: str = ""
    value: str = ""

    def __str__(self) -> str:
        return f"{self.key}={self.value}"


class GitConfig:
    """The lines of one file. What git would refuse is left out: it may still obey the rest in another version.

    Attributes:
        is_plain: True when all of it has the form in which git itself writes. Only then is it certain that git reads it
            as this does.
        lines: Its lines.
    """

    def __init__(self, text: str) -> None:
        self.lines: list[ConfigLine] = []
        self.is_plain = True
        self._read(text)

    def hooks(self) -> tuple[str, ...]:
        """The folders of hooks that it names."""
        return self.values("core.hookspath")

    def included(self) -> tuple[str, ...]:
        """The files of further configuration that it names, whatever the condition."""
        return tuple(line.value for line in self.lines if line.key in _INCLUDES and line.value)

    def values(self, key: str) -> tuple[str, ...]:
        """The values under a key that are not empty."""
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
    """Read what follows the `=` of a line: quotes and escapes are resolved, and a comment ends it.

    Args:
        lines: All lines.
        at: The number of the next one, which continues this one where that ends with a backslash.
    Returns:
        The value, and the number of the line after it.
    """
    value: list[str] = []
    length = 0  # without space at the end
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
    """The folder that a file named `.git` leads to, as it spells that; empty: none."""
    name = text.removeprefix("gitdir: ").rstrip("\r\n")  # as git reads it
    return "" if "\0" in name else name


def global_config_files() -> tuple[str, ...]:
    """The configuration that holds in all repositories: the system's, and the user's."""
    home = os.path.expanduser("~")  # noqa: PTH111
    config = os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    return "/etc/gitconfig", f"{config}/git/config", f"{home}/.gitconfig"
