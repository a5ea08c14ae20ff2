"""What a person may allow for later along with one call, from narrow to wide; each says in full what it means."""

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from agentcore.api.definition import Effect
from agentcore.host.policy.authority import PERSONS, Decision
from agentcore.host.policy.grants import GrantOffer, GrantScope
from agentcore.net.url_pattern import origin_of
from agentcore.rules.call_facts import CallFacts
from agentcore.rules.command_pattern import WRAPPERS, escaped, plain_words

_SCOPES: tuple[GrantScope, ...] = ("session", "always")
_READS_AND_WRITES: frozenset[Effect] = frozenset(("read", "write"))
_SUBCOMMAND = re.compile(r"[a-z][a-z-]*")
_ARGUMENT_CHARS = 500
"""A longer argument is no pattern that a person can read."""

_Patterns = dict[str, str]


def offers_for(facts: CallFacts, decision: Decision, roots: tuple[str, ...]) -> tuple[GrantOffer, ...]:
    """The offers for a call that is asked about; none for what always asks, and where a rule asks.

    Args:
        facts: The call.
        decision: Why it is asked about.
        roots: Real paths of the workspace roots: what is wider than one of them is not offered.
    """
    is_by_default = decision.by == "untrusted" or decision.by.startswith("mode:")
    if not is_by_default or facts.is_protected or "dangerous" in facts.effects or facts.principal.kind in PERSONS:
        return ()
    found = list(_patterns(facts, roots))
    return tuple(GrantOffer(scope, facts.definition.name, patterns) for scope in _SCOPES for patterns in found)


def host_offers(facts: CallFacts) -> tuple[GrantOffer, ...]:
    """What an approval grants by itself where only writes are asked about: further reading from the same hosts."""
    if facts.mode != "ask_writes" or not facts.is_previewed or not facts.effects <= frozenset(("read", "egress")):
        return ()
    origins = {origin for url in facts.urls if (origin := origin_of(url)) is not None}
    return tuple(GrantOffer("session", "*", {"url": origin}) for origin in sorted(origins))


def _patterns(facts: CallFacts, roots: tuple[str, ...]) -> Iterator[_Patterns]:
    if facts.command is not None:
        yield from _of_command(facts.command, facts)
    elif facts.is_previewed and facts.urls:
        yield from _of_urls(facts.urls)
    elif facts.paths and facts.are_paths_certain:
        yield from _of_paths(facts.paths, roots)
    elif facts.effects <= _READS_AND_WRITES:
        yield {}
    else:
        yield from _of_arguments(facts.arguments)


def _of_command(command: str, facts: CallFacts) -> Iterator[_Patterns]:
    cwd = None if facts.preview is None else facts.preview.cwd
    where = {} if cwd is None else {"cwd": escaped(cwd)}
    if len(command) <= _ARGUMENT_CHARS:
        yield {"command": escaped(command), **where}
    words = plain_words(command)
    # a program with a subcommand is one thing to do; an interpreter or a wrapper with anything behind it is all things
    if words and len(words) > 1 and words[0] not in WRAPPERS and _SUBCOMMAND.fullmatch(words[1]):
        yield {"command": f"{escaped(words[0])} {words[1]} *", **where}


def _of_urls(urls: tuple[str, ...]) -> Iterator[_Patterns]:
    origins = {origin_of(url) for url in urls}
    if len(origins) == 1 and (origin := origins.pop()) is not None:
        yield {"url": origin}


def _of_paths(paths: tuple[str, ...], roots: tuple[str, ...]) -> Iterator[_Patterns]:
    if len(set(paths)) == 1:
        yield {"path": escaped(paths[0])}
    folder = PurePosixPath(paths[0]).parent
    is_inside = any(folder.is_relative_to(root) for root in roots)
    if is_inside and all(PurePosixPath(path).is_relative_to(folder) for path in paths):
        yield {"path": f"{escaped(str(folder))}/**"}


def _of_arguments(arguments: dict[str, Any]) -> Iterator[_Patterns]:
    texts = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        for name, value in arguments.items()
        if value is not None and not isinstance(value, list | tuple)
    }
    is_whole = len(texts) == sum(value is not None for value in arguments.values())
    # under a name of these, a pattern would mean what the tool touches, and this one does not say
    is_clear = texts.keys().isdisjoint(("path", "command", "url", "cwd"))
    if texts and is_whole and is_clear and all(len(text) <= _ARGUMENT_CHARS for text in texts.values()):
        yield {name: escaped(text) for name, text in texts.items()}
