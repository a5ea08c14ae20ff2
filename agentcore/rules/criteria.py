"""Which calls a rule or a grant means: patterns of the tool, of what the call touches, and of its arguments."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Self

from agentcore.files.path_pattern import PathPattern
from agentcore.net.url_pattern import UrlPattern
from agentcore.rules.call_facts import CallFacts
from agentcore.rules.command_pattern import CommandPattern

Check = Callable[[CallFacts, bool], str | None]
"""Takes a call and whether it must match surely; gives why it does not, or None."""


@dataclass(frozen=True)
class Criteria:
    """Patterns that a call has to match, each of them.

    To allow, a call has to match surely: every path and every address that it touches, each spelled in the one way that
    cannot mean anything else. To ask or to deny, it is enough that one of them may be meant.

    Args:
        tool: Pattern of the tool's name.
        patterns: By `path`, `command`, `url`, `cwd`, or else the name of an argument.
        checks: The same, compiled.
    """

    tool: str
    patterns: Mapping[str, str]
    checks: tuple[Check, ...] = field(default=(), repr=False, compare=False)

    @classmethod
    def compile(
        cls, tool: str, patterns: Mapping[str, str], roots: Sequence[str], arguments: Mapping[str, str] | None = None
    ) -> Self:
        """Compile patterns.

        Args:
            tool: Pattern of the tool's name.
            patterns: By `path`, `command`, `url`, `cwd`, or else the name of an argument.
            roots: Real paths of the workspace roots.
            arguments: Further patterns, which mean arguments whatever their names are.
        Raises:
            ValueError: A pattern of addresses is none.
        """
        checks = [_check_of(name, pattern, roots) for name, pattern in patterns.items()]
        checks += [_argument_check(name, pattern) for name, pattern in (arguments or {}).items()]
        return cls(tool, {**(arguments or {}), **patterns}, tuple(checks))

    @property
    def looks_at_paths(self) -> bool:
        """Whether it has a pattern of paths."""
        return "path" in self.patterns

    def differs(self, facts: CallFacts, *, surely: bool) -> str | None:
        """Why a call is not meant; None: it is."""
        if not fnmatchcase(facts.definition.name, self.tool):
            return f"it is for {self.tool}"
        for check in self.checks:
            if (why := check(facts, surely)) is not None:
                return why
        return None


def _check_of(name: str, pattern: str, roots: Sequence[str]) -> Check:
    match name:
        case "path":
            return _path_check(PathPattern(pattern, roots), pattern)
        case "cwd":
            return _cwd_check(PathPattern(pattern, roots), pattern)
        case "command":
            return _command_check(CommandPattern(pattern), pattern)
        case "url":
            return _url_check(UrlPattern(pattern), pattern)
        case _:
            return _argument_check(name, pattern)


def _path_check(pattern: PathPattern, text: str) -> Check:
    def check(facts: CallFacts, surely: bool) -> str | None:
        if not facts.paths:
            return "which paths it touches is not known"
        if surely and not facts.are_paths_certain:
            return "the tool does not say which paths it touches"
        found = [pattern.matches(path, surely=surely) for path in facts.paths]
        return None if (all(found) if surely else any(found)) else f"the path is not in {text}"

    return check


def _cwd_check(pattern: PathPattern, text: str) -> Check:
    def check(facts: CallFacts, surely: bool) -> str | None:
        cwd = None if facts.preview is None else facts.preview.cwd
        if cwd is None:
            return "where it runs is not known"
        return None if pattern.matches(cwd, surely=surely) else f"it does not run in {text}"

    return check


def _command_check(pattern: CommandPattern, text: str) -> Check:
    def check(facts: CallFacts, surely: bool) -> str | None:
        if facts.command is None:
            return "it runs no command"
        if pattern.matches(facts.command, surely=surely):
            return None
        if surely and pattern.matches(facts.command, surely=False):
            return f"the command is more than one plain command like {text}"
        return f"the command is not like {text}"

    return check


def _url_check(pattern: UrlPattern, text: str) -> Check:
    def check(facts: CallFacts, surely: bool) -> str | None:
        if not facts.urls:
            return "which addresses it contacts is not known"
        if surely and not facts.is_previewed:
            return "the tool does not say which addresses it contacts"
        found = [pattern.matches(url, surely=surely) for url in facts.urls]
        return None if (all(found) if surely else any(found)) else f"the address is not like {text}"

    return check


def _argument_check(name: str, pattern: str) -> Check:
    def check(facts: CallFacts, surely: bool) -> str | None:
        if name not in facts.arguments:
            return f"it has no argument {name}"
        value = facts.arguments[name]
        values = value if isinstance(value, list | tuple) else [value]
        found = [fnmatchcase(_text(each), pattern) for each in values]
        matches = bool(found) and all(found) if surely else any(found)
        return None if matches else f"{name} is not like {pattern}"

    return check


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
