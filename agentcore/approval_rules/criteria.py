"""The kinds of criteria of an approval rule, one class each, and `KINDS`, the table of all of them.

To add a kind, write its class and add it to `KINDS` (and to `OFFERED`, if the user may allow later calls by it). The
model and the JSON Schema of app.json, rules, grants, offers, trials, explanations, the approval view and the terminal
are all generated from the table and contain no kind's name.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol

from pydantic import AfterValidator, Strict, StringConstraints

from agentcore.approval_rules.command_pattern import CommandPattern, escape_pattern, split_plain_command
from agentcore.approval_rules.programs import find_action
from agentcore.files.path_pattern import PathPattern
from agentcore.files.path_text import PathText
from agentcore.late_dataclasses import dataclass
from agentcore.net.url_pattern import UrlPattern, origin_of

if TYPE_CHECKING:  # app.json is read without the module API, whose import would delay the command line
    from agentcore.approval_rules.call_facts import CallFacts

Caller = Literal["chat", "mcp", "host", "module", "view", "page", "token", "cli"]
"""Kinds of principals that call tools."""

Patterns = Mapping[str, str]
"""Patterns of a grant: by the key of a kind, or else by the name of an argument."""

_READS_AND_WRITES: frozenset[str] = frozenset(("read", "write"))
_SERVICES = {"en": "Service", "zh": "服务"}
"""Label of the session's services that a call reaches: no rule is about them, the user sees them."""

_PATTERN_CHARS = 500
"""Maximum length of an offered pattern, so that the user can read it."""


class Criterion(ABC):
    """A kind of criterion; an instance holds its pattern in one rule or grant.

    Attributes:
        key: Its key in a rule of app.json.
        field: Type of the pattern in app.json, with its validators.
        description: Meaning of the pattern, for the JSON Schema of app.json.
        absent: The pattern of a rule that does not use this criterion.
        label: Label by language for a call's values of this kind; empty: they are not shown separately.
        looks_at_paths: True if it needs the paths that arguments resolve to.
        holds_always: True if calls are matched against it even in rules that do not use it.
    """

    key: ClassVar[str]
    field: ClassVar[Any]
    description: ClassVar[str]
    absent: ClassVar[Any] = None
    label: ClassVar[Mapping[str, str]] = {}
    looks_at_paths: ClassVar[bool] = False
    holds_always: ClassVar[bool] = False

    def __init__(self, pattern: Any, roots: Sequence[str]) -> None:
        self.pattern = pattern

    @abstractmethod
    def find_mismatch(self, facts: "CallFacts", *, surely: bool) -> str | None:
        """Return the reason why a call does not match, or None if it matches.

        Args:
            facts: The call.
            surely: True to allow: everything that the call touches must match, each in an unambiguous spelling. False
                to ask or deny: one possible match is enough.
        """

    def may_match(self, facts: "CallFacts") -> bool:
        """Return True if a call matches, or if that is known only when it runs."""
        return self.find_mismatch(facts, surely=False) is None

    @classmethod
    def extract_values(cls, facts: "CallFacts") -> Sequence[str]:
        """Return the call's values of this kind."""
        return ()

    @classmethod
    def suggest_patterns(cls, facts: "CallFacts", roots: Sequence[str]) -> Iterable[Patterns] | None:
        """Return patterns by which later calls like this one may be allowed, from narrow to wide.

        None: the call has no value of this kind, and another kind describes its effect.
        """
        return None


class _Matcher(Protocol):
    def matches(self, text: str, /, *, surely: bool) -> bool: ...


class TextCriterion(Criterion):
    """A kind whose pattern is one text, matched against texts of the call.

    It can be used in grants, where its key takes precedence over an argument of that name.

    Attributes:
        unknown: Reason for no match if the call has no known value.
        uncertain: Reason for no match with `surely` if the call's known values may be incomplete.
        mismatch: Reason for no match if the values differ; the pattern is appended.
    """

    unknown: ClassVar[str]
    uncertain: ClassVar[str] = ""
    mismatch: ClassVar[str]

    def __init__(self, pattern: Any, roots: Sequence[str]) -> None:
        super().__init__(pattern, roots)
        self._matcher = self.compile(pattern, roots)

    @classmethod
    @abstractmethod
    def compile(cls, pattern: str, roots: Sequence[str]) -> _Matcher:
        """Compile the pattern; `roots` are the real paths of the workspace roots."""

    def _matcher_for(self, facts: "CallFacts") -> _Matcher:
        """Return the matcher for a call; on another machine the roots differ."""
        return self._matcher if not facts.host else self.compile(self.pattern, facts.host_roots)

    @classmethod
    def is_certain(cls, facts: "CallFacts") -> bool:
        """Return True if the extracted values are all values of this kind that the call has."""
        return True

    def find_mismatch(self, facts: "CallFacts", *, surely: bool) -> str | None:
        values = self.extract_values(facts)
        if not values:
            return self.unknown
        if surely and not self.is_certain(facts):
            return self.uncertain
        matcher = self._matcher_for(facts)
        found = [matcher.matches(value, surely=surely) for value in values]
        return None if (all(found) if surely else any(found)) else f"{self.mismatch} {self.pattern}"


class Tool(Criterion):
    """Criterion: the tool's name."""

    key = "tool"
    field = Annotated[str, StringConstraints(min_length=1, max_length=200)]
    description = "Pattern of the tool's name."
    absent = "*"

    def find_mismatch(self, facts: "CallFacts", *, surely: bool) -> str | None:
        return None if fnmatchcase(facts.definition.name, self.pattern) else f"it is for {self.pattern}"


class TouchedPath(TextCriterion):
    """Criterion: the paths that a call touches."""

    key = "path"
    field = PathText | None
    description = (
        "Pattern of paths that the call touches, links followed, as in .gitignore: relative to the roots, or absolute. "
        "To allow, all paths have to match; else one is enough."
    )
    label: ClassVar[Mapping[str, str]] = {"en": "Touches", "zh": "涉及"}
    looks_at_paths = True
    unknown = "which paths it touches is not known"
    uncertain = "the tool does not say which paths it touches"
    mismatch = "the path is not in"
    compile = PathPattern

    @classmethod
    def extract_values(cls, facts: "CallFacts") -> Sequence[str]:
        return facts.paths

    @classmethod
    def is_certain(cls, facts: "CallFacts") -> bool:
        return facts.are_paths_certain

    @classmethod
    def suggest_patterns(cls, facts: "CallFacts", roots: Sequence[str]) -> Iterable[Patterns] | None:
        paths = facts.paths
        if not paths or not facts.are_paths_certain:
            return None
        found = [escape_pattern(paths[0])] if len(set(paths)) == 1 else []
        folder = PurePosixPath(paths[0]).parent
        is_inside = any(folder.is_relative_to(root) for root in roots)
        if is_inside and all(PurePosixPath(path).is_relative_to(folder) for path in paths):
            found.append(f"{escape_pattern(str(folder))}/**")
        return [{cls.key: pattern} for pattern in found]


class Command(TextCriterion):
    """Criterion: the shell command that a call runs; the user sees it among the arguments."""

    key = "command"
    field = Annotated[str, StringConstraints(min_length=1)] | None
    description = (
        "Pattern of the shell command. To allow, it has to be one plain command; else a part of it that matches is "
        "enough, and what is known only when it runs is asked about."
    )
    unknown = "it runs no command"
    mismatch = "the command is not like"

    def __init__(self, pattern: Any, roots: Sequence[str]) -> None:
        super().__init__(pattern, roots)
        self._pattern = CommandPattern(pattern)

    @classmethod
    def compile(cls, pattern: str, roots: Sequence[str]) -> CommandPattern:
        return CommandPattern(pattern)

    @classmethod
    def extract_values(cls, facts: "CallFacts") -> Sequence[str]:
        return () if facts.command is None else (facts.command,)

    def find_mismatch(self, facts: "CallFacts", *, surely: bool) -> str | None:
        why = super().find_mismatch(facts, surely=surely)
        if why is not None and surely and super().find_mismatch(facts, surely=False) is None:
            return f"the command is more than one plain command like {self.pattern}"
        if why is not None and not surely and self.may_match(facts):
            return f"what the command runs is known only when it runs; it is asked about, as it may be {self.pattern}"
        return why

    def may_match(self, facts: "CallFacts") -> bool:
        return facts.command is not None and self._pattern.may_match(facts.command)

    @classmethod
    def suggest_patterns(cls, facts: "CallFacts", roots: Sequence[str]) -> Iterable[Patterns] | None:
        command = facts.command
        if command is None:
            return None
        found = [escape_pattern(command)] if len(command) <= _PATTERN_CHARS else []
        prefix = find_action(split_plain_command(command) or [])
        if prefix:
            found.append(f"{' '.join(prefix)} *")
        where = {} if facts.cwd is None else {WorkingFolder.key: escape_pattern(facts.cwd)}
        return [{cls.key: pattern, **where} for pattern in found]


class WorkingFolder(TextCriterion):
    """Criterion: the folder that a command runs in."""

    key = "cwd"
    field = PathText | None
    description = "Pattern of the folder that a command runs in."
    label: ClassVar[Mapping[str, str]] = {"en": "Runs in", "zh": "运行于"}
    unknown = "where it runs is not known"
    mismatch = "it does not run in"
    compile = PathPattern

    @classmethod
    def extract_values(cls, facts: "CallFacts") -> Sequence[str]:
        return () if facts.cwd is None else (facts.cwd,)


def _check_url(text: str) -> str:
    UrlPattern(text)
    return text


class Url(TextCriterion):
    """Criterion: the addresses that a call contacts."""

    key = "url"
    field = Annotated[str, AfterValidator(_check_url)] | None
    description = "Pattern of the address: a host such as *.example.com, or https://example.com/docs/*."
    label: ClassVar[Mapping[str, str]] = {"en": "Contacts", "zh": "联系"}
    unknown = "which addresses it contacts is not known"
    uncertain = "the tool does not say which addresses it contacts"
    mismatch = "the address is not like"

    @classmethod
    def compile(cls, pattern: str, roots: Sequence[str]) -> UrlPattern:
        return UrlPattern(pattern)

    @classmethod
    def extract_values(cls, facts: "CallFacts") -> Sequence[str]:
        return facts.urls

    @classmethod
    def is_certain(cls, facts: "CallFacts") -> bool:
        return facts.is_previewed

    @classmethod
    def suggest_patterns(cls, facts: "CallFacts", roots: Sequence[str]) -> Iterable[Patterns] | None:
        if not facts.is_previewed or not facts.urls:
            return None
        origins = {origin_of(url) for url in facts.urls}
        return [{cls.key: origin} for origin in origins if origin is not None and len(origins) == 1]


class Arguments(Criterion):
    """Criterion: further arguments of any name; in a grant, each is a separate pattern."""

    key = "arguments"
    field = dict[str, str]
    description = "Patterns of further arguments, by name; what is no text, as JSON."
    absent: ClassVar[Any] = {}

    def find_mismatch(self, facts: "CallFacts", *, surely: bool) -> str | None:
        for name, pattern in self.pattern.items():
            if name not in facts.arguments:
                return f"it has no argument {name}"
            value = facts.arguments[name]
            found = [fnmatchcase(_to_text(each), pattern) for each in (value if _is_list(value) else [value])]
            if not (bool(found) and all(found) if surely else any(found)):
                return f"{name} is not like {pattern}"
        return None

    @classmethod
    def suggest_patterns(cls, facts: "CallFacts", roots: Sequence[str]) -> Iterable[Patterns] | None:
        if facts.effects <= _READS_AND_WRITES:
            return [{}]
        arguments = {name: value for name, value in facts.arguments.items() if value is not None}
        texts = {name: _to_text(value) for name, value in arguments.items()}
        # under the key of a kind, a pattern would match what the call touches, which this call does not state
        is_clear = texts.keys().isdisjoint(GRANTED) and not any(map(_is_list, arguments.values()))
        if not texts or not is_clear or any(len(text) > _PATTERN_CHARS for text in texts.values()):
            return []
        return [{name: escape_pattern(text) for name, text in texts.items()}]


class Effects(TextCriterion):
    """Criterion: what a call does, as its tool says; with `read`, calls that only read."""

    key = "effects"
    field = Literal["read", "write", "egress", "execute", "dangerous"] | None
    description = (
        "What the call does: read, write, egress (reach the network), execute, or dangerous. To allow, it has to do "
        "nothing else; else one of its effects is enough."
    )
    unknown = "what it does is not known"
    mismatch = "it does not just"

    @classmethod
    def compile(cls, pattern: str, roots: Sequence[str]) -> _Matcher:
        return _NamePattern(pattern)

    @classmethod
    def extract_values(cls, facts: "CallFacts") -> Sequence[str]:
        return sorted(facts.effects)


class Agents(Criterion):
    """Criterion: the agent that makes the call."""

    key = "agents"
    field = Annotated[tuple[str, ...], Strict(False)]
    description = "Agents whose calls are meant; none named: all."
    absent = ()

    def find_mismatch(self, facts: "CallFacts", *, surely: bool) -> str | None:
        # permissions of an agent do not extend to foreign machines that work for it; denials do
        is_own = not (surely and facts.is_from_other_machine)
        is_meant = is_own and any(fnmatchcase(facts.agent_id, agent) for agent in self.pattern)
        return None if is_meant else f"it is for agents: {', '.join(self.pattern)}"


class RunsOn(TextCriterion):
    """Criterion: the host on another machine where a call runs."""

    key = "on_host"
    field = Annotated[str, StringConstraints(min_length=1, max_length=100)] | None
    description = (
        "Pattern of the host on another machine where the call runs; `*`: any, and the server too. Without it a rule "
        "that allows is for the server alone, and one that asks or denies is for all."
    )
    holds_always = True
    unknown = "it runs on the server"
    mismatch = "it does not run on a host like"

    @classmethod
    def compile(cls, pattern: str | None, roots: Sequence[str]) -> _Matcher:
        return _NamePattern(pattern or "")

    @classmethod
    def extract_values(cls, facts: "CallFacts") -> Sequence[str]:
        return (facts.host,) if facts.host else ()

    def find_mismatch(self, facts: "CallFacts", *, surely: bool) -> str | None:
        if self.pattern is None:
            # a permission for one machine does not apply to another
            return f"it is for the server, and the call runs on host {facts.host}" if surely and facts.host else None
        return None if self.pattern == "*" else super().find_mismatch(facts, surely=surely)


class _NamePattern:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    def matches(self, text: str, /, *, surely: bool) -> bool:
        return fnmatchcase(text, self._pattern)


class Callers(Criterion):
    """Criterion: the kind of principal that calls."""

    key = "callers"
    field = Annotated[tuple[Caller, ...], Strict(False)]
    description = "Who calls: models in the chat, MCP clients, …, or persons; none named: all."
    absent = ()

    def find_mismatch(self, facts: "CallFacts", *, surely: bool) -> str | None:
        # a foreign machine calls for itself and for its caller: a denial of either applies, but only permissions of the
        # machine itself
        kinds = {facts.principal.kind} if surely else {facts.principal.kind, facts.on_behalf_of}
        is_meant = not kinds.isdisjoint(self.pattern)
        return None if is_meant else f"it is for calls of: {', '.join(self.pattern)}"


Kinds = tuple[type[Criterion], ...]

KINDS: Kinds = (Tool, TouchedPath, Command, WorkingFolder, Url, Effects, Arguments, RunsOn, Agents, Callers)
"""All kinds, in the order in which they are displayed."""

OFFERED: tuple[type[Criterion], ...] = (Command, Url, TouchedPath, Arguments)
"""Kinds by which later calls may be allowed: the first one that the call has is used."""

GRANTED = frozenset(kind.key for kind in KINDS if issubclass(kind, TextCriterion))
"""Keys of kinds used in grants; any other key in a grant is the name of an argument."""


class Criteria:
    """The criteria of one rule or grant: a call must match all of them.

    Args:
        patterns: Patterns by the keys of their kinds, as in a rule of app.json.
        roots: Real paths of the workspace roots.
    Raises:
        ValueError: A pattern of addresses is invalid.
    """

    def __init__(self, patterns: Mapping[str, Any], roots: Sequence[str]) -> None:
        self._criteria = [
            kind(patterns.get(kind.key, kind.absent), roots)
            for kind in KINDS
            if kind.key in patterns or kind.holds_always
        ]
        self.looks_at_paths = any(criterion.looks_at_paths for criterion in self._criteria)
        self._names_tool = bool(patterns.get(Tool.key, Tool.absent).strip("*?"))

    @classmethod
    def of_grant(cls, tool: str, patterns: Patterns, roots: Sequence[str]) -> "Criteria":
        """Return the criteria of a grant: the tool's name and its patterns."""
        kinds = {key: pattern for key, pattern in patterns.items() if key in GRANTED}
        arguments = {name: pattern for name, pattern in patterns.items() if name not in GRANTED}
        return cls({Tool.key: tool, **kinds, Arguments.key: arguments}, roots)

    def find_mismatch(self, facts: "CallFacts", *, surely: bool) -> str | None:
        """Return the reason why a call does not match, as `Criterion.find_mismatch` does, or None if it matches."""
        if facts.touches_session_only and not self._names_tool:
            return "it names no tool, and the call touches its own session only"
        for criterion in self._criteria:
            if (why := criterion.find_mismatch(facts, surely=surely)) is not None:
                return why
        return None

    def may_match(self, facts: "CallFacts") -> bool:
        """Return True if a call matches all criteria, or if that is known only when it runs."""
        if facts.touches_session_only and not self._names_tool:
            return False
        return all(criterion.may_match(facts) for criterion in self._criteria)


@dataclass(frozen=True)
class Touched:
    """A call's values of one kind, for display to the user."""

    key: str
    label: Mapping[str, str]
    values: tuple[str, ...]


def list_touched(facts: "CallFacts") -> list[Touched]:
    """Return what a call would touch, by kind, for the kinds that are shown separately."""
    found = ((kind, tuple(kind.extract_values(facts))) for kind in KINDS)
    touched = [Touched(kind.key, kind.label, values) for kind, values in found if kind.label and values]
    services = () if facts.preview is None else facts.preview.services
    return [*touched, *([Touched("services", _SERVICES, services)] if services else [])]


def suggest_patterns(facts: "CallFacts", roots: Sequence[str]) -> Iterable[Patterns]:
    """Return patterns by which later calls like this one may be allowed, from narrow to wide.

    Args:
        facts: The call.
        roots: Real paths of the workspace roots; nothing wider than one of them is offered.
    """
    found = (kind.suggest_patterns(facts, facts.host_roots if facts.host else roots) for kind in OFFERED)
    patterns = next((patterns for patterns in found if patterns is not None), ())
    where = {RunsOn.key: escape_pattern(facts.host)} if facts.host else {}
    return [{**each, **where} for each in patterns]


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
