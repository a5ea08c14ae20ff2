"""Patterns of shell commands in rules.

A command has endless spellings in a shell: for allowing, only plain commands match; for denying, each visible part of a
command is checked; and what is known only when the command runs is a reason to ask.
"""

import re
import shlex
from collections.abc import Iterator
from fnmatch import fnmatchcase

from agentcore.approval_rules.shell_commands import find_programs, inner_commands, inner_lines
from agentcore.approval_rules.shell_syntax import UNKNOWN

_SPECIAL = frozenset(";&|<>$`(){}\\!#\n\r")
_SPECIAL_IN_DOUBLE_QUOTES = frozenset("$`\\!\n\r")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_BORDER = re.compile(r"[;&|\n\r(){}`<>]|\$\(")
_QUOTES = str.maketrans("", "", "'\"\\")
_WILDCARD = re.compile(r"[*?\[]")
_CLASS_OF_ONE = re.compile(r"\[([^\]])\]")


class CommandPattern:
    """A pattern in which `*` matches anything; ` *` at the end also matches nothing.

    Args:
        pattern: For instance `git status *`.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = " ".join(pattern.split())
        self._literal = _literal_text(pattern)
        words = self._pattern.split(" ")
        self._named_words = next((at for at, word in enumerate(words) if _WILDCARD.search(word)), len(words))
        self._literal_start = _WILDCARD.split(self._pattern, maxsplit=1)[0].casefold()

    def matches(self, command: str, *, surely: bool) -> bool:
        """Return True if the pattern matches a command.

        Args:
            command: The command line for the shell.
            surely: Match only a single plain command, without operators, expansions of variables or redirections, that
                runs no program which the pattern does not match or name; or exactly the text of a pattern without
                wildcards. Otherwise any visible part of the command.
        """
        if not surely:
            return any(self._matches_text(text, is_folded=True) for text in _visible_parts(command))
        if self._literal is not None and command == self._literal:
            return True
        words = split_plain_command(command)
        if words is None or (_has_parent_step(words) and ".." not in self._pattern):
            return False
        if not find_programs(command).is_resolved:
            return False
        if self._literal is not None:
            return tuple(words) == _split_words(self._literal)
        return self._matches_text(normalise_command(command, words), is_folded=False) and self._covers_inner(words)

    def may_match(self, command: str) -> bool:
        """Return True if the pattern matches a part of a command, or may do so with what is known only when it runs."""
        if self.matches(command, surely=False):
            return True
        found = find_programs(command)
        if not found.is_resolved:
            return True
        starts = (" ".join(words).partition(UNKNOWN) for words in found.commands)
        return any(
            known.casefold().startswith(self._literal_start) or self._literal_start.startswith(known.casefold())
            for known, unknown, _ in starts
            if unknown
        )

    def _covers_inner(self, words: list[str], offset: int = 0) -> bool:
        """Return True if the pattern names, or matches, each command that a command runs."""
        for inner in inner_commands(words):
            start = offset + inner.start
            is_covered = start < self._named_words or self._matches_text(" ".join(inner.words), is_folded=False)
            if not is_covered or not self._covers_inner(list(inner.words), start):
                return False
        return all(self.matches(line, surely=True) for line in inner_lines(words))

    def _matches_text(self, text: str, *, is_folded: bool) -> bool:
        pattern = self._pattern
        if is_folded:
            text = text.casefold()
            pattern = pattern.casefold()
        return fnmatchcase(text, pattern) or (pattern.endswith(" *") and fnmatchcase(text, pattern[:-2]))


def split_plain_command(command: str) -> list[str] | None:
    """Return the words of a single plain command; None if it is more, or its words are not known before it runs."""
    quote = ""
    for character in command:
        if character < " " and character not in "\t\n\r":
            return None
        if quote == "'":
            quote = "" if character == "'" else quote
        elif character in (_SPECIAL_IN_DOUBLE_QUOTES if quote else _SPECIAL):
            return None
        elif character in "'\"" and quote in ("", character):
            quote = "" if quote else character
    if quote:
        return None
    words = shlex.split(command)
    return None if not words or _ASSIGNMENT.match(words[0]) else words


def normalise_command(command: str, words: list[str]) -> str:
    """Return a plain command with single spaces between words, with quotes normalised if it has any."""
    return shlex.join(words) if "'" in command or '"' in command else " ".join(words)


def escape_pattern(text: str) -> str:
    """Return the pattern that matches exactly this text."""
    return re.sub(r"([*?\[])", r"[\1]", text)


def _visible_parts(command: str) -> Iterator[str]:
    """Yield every part that may be a command itself, without quotes, folders of programs and assignments.

    Parts between separators are listed whatever the quotes around them: a program may run them all the same.
    """
    yield " ".join(command.split())
    for part in _BORDER.split(command):
        words = part.translate(_QUOTES).split()
        while words and _ASSIGNMENT.match(words[0]):
            words = words[1:]
        if words:
            yield " ".join(_strip_program_folder(words))
    for found in find_programs(command).commands:
        yield " ".join(found)


def _strip_program_folder(words: list[str]) -> list[str]:
    return [words[0].rpartition("/")[2] or words[0], *words[1:]]


def _has_parent_step(words: list[str]) -> bool:
    return any(".." in word.split("/") for word in words)


def _literal_text(pattern: str) -> str | None:
    """Return the only text that a pattern matches; None if it has wildcards."""
    without = _CLASS_OF_ONE.sub("", pattern)
    if any(character in without for character in "*?["):
        return None
    return _CLASS_OF_ONE.sub(r"\1", pattern)


def _split_words(text: str) -> tuple[str, ...] | None:
    words = split_plain_command(text)
    return None if words is None else tuple(words)
