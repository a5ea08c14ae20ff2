"""Globs as regular expressions of RE2, which takes linear time whatever the pattern; names are as callers see them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import re2  # type: ignore[import-untyped]

from agentcore.api import ToolError

_ALTERNATIVES_LIMIT = 256
_SPANNING = len("**")
_PLAIN = re.compile(r"[\w.-]+")
_SPECIAL = frozenset("\\.+*?()|[]{}^$#&-~")


class Matcher(Protocol):
    """Tells which paths, relative and with `/`, match."""

    def __call__(self, path: str) -> bool:
        """Whether one path matches."""
        ...

    def among(self, paths: list[str]) -> list[str]:
        """Those of many paths that match; no path holds a line end."""
        ...


class _Everything:
    def __call__(self, path: str) -> bool:
        return True

    def among(self, paths: list[str]) -> list[str]:
        return paths


class _Ending:
    """Paths by how they end, as the frequent `**/*.py` says it: no engine is quicker."""

    def __init__(self, ending: str) -> None:
        self._ending = ending

    def __call__(self, path: str) -> bool:
        return path.endswith(self._ending)

    def among(self, paths: list[str]) -> list[str]:
        ending = self._ending
        return [path for path in paths if path.endswith(ending)]


class _Shape:
    """Paths by regular expressions, one by one or, quicker, all in one text with a line for each."""

    def __init__(self, regexes: Sequence[str]) -> None:
        regex = "|".join(regexes)
        self._matches = re2.compile(regex, _options(dot_nl=True)).fullmatch
        self._lines = re2.compile(f"(?m)^(?:{regex})$", _options(never_nl=True))

    def __call__(self, path: str) -> bool:
        return self._matches(path) is not None

    def among(self, paths: list[str]) -> list[str]:
        found: list[str] = self._lines.findall("\n".join(paths))
        return found


class _Not:
    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def __call__(self, path: str) -> bool:
        return not self._matcher(path)

    def among(self, paths: list[str]) -> list[str]:
        return [path for path in paths if not self._matcher(path)]


@dataclass(frozen=True, slots=True)
class GlobError(Exception):
    """A glob that cannot be read.

    Args:
        reason: What is wrong with it.
        position: Where, in characters from 0.
    """

    reason: str
    position: int


def compile_glob(pattern: str) -> Matcher:
    """A matcher of whole relative paths: `*` and `?` stay within a name, `**` spans folders, `[a-z]`, `{a,b}`.

    Raises:
        ToolError: `invalid_glob`.
    """
    pattern = pattern.removeprefix("./")
    simple = _by_ending(pattern)
    if simple is not None:
        return simple
    return _Shape([as_regex(pattern)])


def compile_filter(pattern: str) -> Matcher:
    """A matcher in the manner of ripgrep's `--glob`: without a slash at any depth; a leading `!` excludes.

    Raises:
        ToolError: `invalid_glob`.
    """
    is_negated = pattern.startswith("!")
    bare = pattern[is_negated:].rstrip("/")
    anchored = bare.lstrip("/") if "/" in bare else f"**/{bare}"
    found = _Shape([as_regex(part, pattern) for part in (anchored, f"{anchored}/**")])
    return _Not(found) if is_negated else found


def as_regex(glob: str, shown: str | None = None) -> str:
    """A glob as a regular expression for whole paths.

    Raises:
        ToolError: `invalid_glob`, with the position.
    """
    try:
        return _Translation(glob).regex()
    except GlobError as exc:
        shown = glob if shown is None else shown
        message = f"The glob {shown!r} cannot be read: {exc.reason} (character {exc.position + 1})."
        raise ToolError("invalid_glob", message, pattern=shown, position=exc.position) from exc


def _by_ending(pattern: str) -> Matcher | None:
    """The frequent `**/*.ending`, without a regular expression."""
    rest = pattern.removeprefix("**/")
    if pattern == "**" or (rest != pattern and rest in ("*", "**")):
        return _Everything()
    ending = rest.removeprefix("*")
    if rest in (pattern, ending) or not _PLAIN.fullmatch(ending):
        return None
    return _Ending(ending)


def _options(**values: bool) -> Any:
    options = re2.Options()
    options.log_errors, options.never_capture = False, True
    for name, value in values.items():
        setattr(options, name, value)
    return options


class _Translation:
    """One glob on its way to a regular expression."""

    def __init__(self, glob: str) -> None:
        self._glob = glob
        self._at = 0
        self._alternatives = 0

    def regex(self) -> str:
        parts = []
        while self._at < len(self._glob):
            parts.append(self._next(in_braces=False))
        return "".join(parts)

    def _next(self, *, in_braces: bool) -> str:
        glob, at = self._glob, self._at
        character = glob[at]
        self._at += 1
        if character == "*":
            return self._stars(at, in_braces=in_braces)
        if character == "?":
            return "[^/]"
        if character == "[":
            return self._set(at)
        if character == "{":
            return self._braces(at)
        if character == "\\":
            if self._at >= len(glob):
                raise GlobError("it ends with a backslash", at)
            self._at += 1
            return _literal(glob[at + 1])
        return _literal(character)

    def _stars(self, at: int, *, in_braces: bool) -> str:
        glob = self._glob
        end = at
        while end < len(glob) and glob[end] == "*":
            end += 1
        self._at = end
        before, after = glob[at - 1 : at], glob[end : end + 1]
        is_begun = before in ("", "/") or (in_braces and before in "{,")
        is_ended = after == "" or (in_braces and after in ",}" and before == "/")
        if end - at != _SPANNING or not is_begun or not (is_ended or after == "/"):
            return "[^/]*"
        if is_ended:
            return ".+" if before == "/" else ".*"
        self._at = end + 1
        return "(?:.*/)?"

    def _set(self, at: int) -> str:
        glob = self._glob
        start = at + 1
        is_negated = glob[start : start + 1] in ("!", "^")
        start += is_negated
        end = glob.find("]", start + 1)  # a `]` in the first place stands for itself
        if end < 0:
            raise GlobError("`[` without `]`", at)
        self._at = end + 1
        items = _set_items(glob[start:end], at)
        return f"[^/{items}]" if is_negated else f"[{items}]"

    def _braces(self, at: int) -> str:
        alternatives = [""]
        while self._at < len(self._glob):
            character = self._glob[self._at]
            if character == "}":
                self._at += 1
                return f"(?:{'|'.join(alternatives)})"
            if character == ",":
                self._at += 1
                self._alternatives += 1
                if self._alternatives > _ALTERNATIVES_LIMIT:
                    raise GlobError(f"more than {_ALTERNATIVES_LIMIT} alternatives", at)
                alternatives.append("")
            else:
                alternatives[-1] += self._next(in_braces=True)
        raise GlobError("`{` without `}`", at)


def _set_items(text: str, at: int) -> str:
    items: list[str] = []
    place = 0
    while place < len(text):
        first = text[place]
        if text[place + 1 : place + 2] == "-" and place + 2 < len(text):
            last = text[place + 2]
            if first > last:
                raise GlobError(f"the range {first}-{last} runs backwards", at)
            items += _range_items(first, last)
            place += 3
        else:
            if first != "/":
                items.append(_literal(first))
            place += 1
    if not items:
        raise GlobError("a set that matches nothing", at)
    return "".join(items)


def _range_items(first: str, last: str) -> Iterable[str]:
    """A range of characters, without the slash."""
    if first <= "/" <= last:
        before, after = chr(ord("/") - 1), chr(ord("/") + 1)
        return [f"{_literal(a)}-{_literal(b)}" for a, b in ((first, before), (after, last)) if a <= b]
    return [f"{_literal(first)}-{_literal(last)}"]


def _literal(character: str) -> str:
    return f"\\{character}" if character in _SPECIAL else character
