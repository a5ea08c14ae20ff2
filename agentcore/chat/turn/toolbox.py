"""The tools of one conversation: those offered to the model, and those that it finds by searching if there are many."""

import itertools
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from agentcore.chat.chat_limits import FOUND_TOOLS, FOUND_TOOLS_KEPT, MODULE_SHARE, OFFERED_TOOLS
from agentcore.chat.model.offered_tools import OfferedTool
from agentcore.chat.skills.offered import READ_SKILL, Skill, read_skill_text
from agentcore.chat.texts import result_text
from agentcore.chat.turn.context_shares import DefinitionBudget
from agentcore.chat.turn.tool_search import extract_words, search_tools, summary_line
from agentcore.errors import ToolError
from agentcore.near_names import near_names, shorten_name
from agentcore.tool_formats.formats import LoweredSchema

FIND_TOOLS = "find_tools"
"""The tool that finds tools; the name is reserved."""

OWN_TOOLS = frozenset((FIND_TOOLS, READ_SKILL))
"""Tools that the chat carries out itself; they touch nothing but the session, and need no approval."""


class OwnResult(NamedTuple):
    """The result of one of the chat's own tools.

    Args:
        text: For the model.
        data: For programs.
    """

    text: str
    data: dict[str, Any]


class Toolbox:
    """The tools that a model may call, in a stable order so that the provider's cache stays valid.

    Args:
        tools: All tools that it may use.
        found: Names of the tools that it found before, in that order.
        skills: The skills that it may read.
        budget: The tokens that the definitions of its tools may have; None: the size of its context is unknown.
    """

    def __init__(
        self,
        tools: Sequence[OfferedTool],
        found: Sequence[str],
        skills: Sequence[Skill] = (),
        budget: DefinitionBudget | None = None,
    ) -> None:
        self._skills = skills
        self._all = {tool.name: tool for tool in tools}
        self.found = [name for name in found if name in self._all]
        server = [tool for tool in self._all.values() if tool.kind == "server"]
        self._budget = budget
        client = [tool for tool in self._all.values() if tool.kind == "client"]
        chosen = set(choose_tools(server, budget=None if budget is None else budget.minus(client)))
        self._hidden = [tool for tool in server if tool.name not in chosen]
        self._first = {name: tool for name, tool in self._all.items() if tool.kind == "client" or name in chosen}

    @property
    def modules(self) -> list[str]:
        """The modules of the server tools that the model may use, in the order of the tools.

        In a context that is too small for all tools, only those of the offered ones: what modules say of the use of
        their tools is of no use without them.
        """
        if self._hidden and self._budget is not None and self._budget.is_tiny:
            return []
        usable = self._all if self._budget is None or not self._hidden else self.get_offered_tools()
        return list(dict.fromkeys(tool.module for tool in usable.values() if tool.module))

    def get_offered_tools(self) -> dict[str, OfferedTool]:
        """Return the tools to offer to the model now, by name."""
        given = dict(self._first)
        if self._skills:
            given[READ_SKILL] = _create_skill_tool()
        if not self._hidden or (self._budget is not None and self._budget.is_tiny):
            return given
        given[FIND_TOOLS] = self._create_find_tool()
        return given | {name: self._all[name] for name in self._fitting_found() if name not in given}

    def _fitting_found(self) -> list[str]:
        """Return the names of the found tools; in a small context, the newest that fit beside the others."""
        if self._budget is None:
            return self.found
        newest = [self._all[name] for name in reversed(self.found)]
        fitting = {tool.name for tool in self._budget.take_fitting(newest)}
        return [name for name in self.found if name in fitting]

    def run_own_tool(self, name: str, arguments: Mapping[str, Any], limit_chars: int) -> OwnResult:
        """Run one of `OWN_TOOLS`.

        Args:
            limit_chars: Maximum length of the text.
        Raises:
            ToolError: `invalid_arguments`, `skill_not_found`, `skill_file_not_found`, `skill_file_not_text`.
        """
        if name == READ_SKILL:
            return OwnResult(*read_skill_text(self._skills, arguments, limit_chars))
        data = self._find_tools(arguments)
        return OwnResult(json.dumps(data, ensure_ascii=False), data)

    def _find_tools(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Search for tools that are not offered yet, and offer the found ones to the model from now on.

        A query that is a name, possibly misspelled, also finds the tools of similar names.

        Raises:
            ToolError: `invalid_arguments`.
        """
        query = arguments.get("query")
        if not isinstance(query, str) or not extract_words(query):
            raise ToolError("invalid_arguments", f"query must say in words what the tool should do; got {query!r:.100}")
        alike = near_names(query, self._all) if len(query.split()) == 1 else []
        ranked = [*map(self._all.__getitem__, alike), *search_tools(self._all.values(), query, len(self._all))]
        matches = list(dict.fromkeys(tool.name for tool in ranked))
        offered = self.get_offered_tools()
        new = [name for name in matches if name not in offered][:FOUND_TOOLS]
        for name in new:
            self._add_found(name)
        found = [{"name": name, "description": summary_line(self._all[name])} for name in new]
        if given := [name for name in matches if name in offered][:FOUND_TOOLS]:
            return {"found": found, "already_offered": given}
        return {"found": found} if found else {"found": [], "note": self._format_hint("found_none")}

    def _add_found(self, name: str) -> None:
        """Offer a tool from now on; one that was found before and had no room becomes the newest."""
        self.found = [*(each for each in self.found if each != name), name][-FOUND_TOOLS_KEPT:]

    def take_hidden(self, name: str) -> OfferedTool | None:
        """Return a tool that the model calls without having searched for it, and offer it from now on.

        Returns:
            None if there is no such tool, or if the model cannot search for tools.
        """
        tool = self._all.get(name)
        if tool is None or FIND_TOOLS not in self.get_offered_tools():
            return None
        self._add_found(name)
        return tool

    def create_unknown_tool_error(self, name: str) -> ToolError:
        """Return the error for a call of a tool that the model does not have; it names those of similar names."""
        offered = self.get_offered_tools()
        can_search = FIND_TOOLS in offered
        near = near_names(name, self._all if can_search else offered)
        if near:
            hint = f"did you mean {' or '.join(map(repr, near))}?"
        else:
            hint = f"{'find one with find_tools, or ' if can_search else ''}call one that is listed, by its exact name"
        return ToolError("unknown_tool", f"there is no tool {shorten_name(name)[:100]!r}; {hint}", tool=name[:100])

    def _format_hint(self, key: str) -> str:
        """Return a text about the tools that the model has to search for."""
        modules = ", ".join(dict.fromkeys(tool.module for tool in self._hidden))
        return result_text(key, count=len(self._hidden), modules=modules)

    def _create_find_tool(self) -> OfferedTool:
        query = {"type": "string", "description": result_text("find_query")}
        parameters = {"type": "object", "properties": {"query": query}, "required": ["query"]}
        return OfferedTool(FIND_TOOLS, self._format_hint("find_tools"), LoweredSchema(parameters), "server")


def _create_skill_tool() -> OfferedTool:
    properties = {
        "name": {"type": "string", "description": result_text("read_skill_name")},
        "file": {"type": "string", "description": result_text("read_skill_file")},
        "start_line": {"type": "integer", "description": result_text("read_skill_start")},
        "start_char": {"type": "integer", "description": result_text("read_skill_start_char")},
    }
    parameters = {"type": "object", "properties": properties, "required": ["name"]}
    return OfferedTool(READ_SKILL, result_text("read_skill"), LoweredSchema(parameters), "server")


def choose_tools(
    tools: Sequence[OfferedTool], limit: int = OFFERED_TOOLS, budget: DefinitionBudget | None = None
) -> list[str]:
    """Return the names of the server tools to offer, the most important first.

    Each module's first three are among them; then come those that the agent's patterns name, then rank 0, then the
    other ranks in turn over the modules. If there are so many modules that their first three exceed the limit, these
    come after rank 0; if their definitions exceed the budget, no module has a share.
    """
    by_wish = sorted(tools, key=lambda tool: (not tool.is_named, tool.rank))
    shares = [name for row in _interleave_modules(by_wish, MODULE_SHARE) for name in row]
    named = [tool.name for tool in by_wish if tool.is_named]
    foremost = [tool.name for tool in by_wish if tool.rank == 0]
    ranks = itertools.groupby(sorted(tools, key=attrgetter("rank")), key=attrgetter("rank"))
    further = [name for _, same in ranks for row in _interleave_modules(same) for name in row]
    requested = [*named, *foremost, *shares] if len(shares) > limit else [*shares, *named, *foremost]
    chosen = list(dict.fromkeys([*requested, *further]))[:limit]
    if budget is None:
        return chosen
    by_name = {tool.name: tool for tool in tools}
    if budget.allows([by_name[name] for name in chosen]):
        return chosen
    foremost_first = dict.fromkeys([*named, *foremost, *further])
    return [tool.name for tool in budget.take_fitting([by_name[name] for name in foremost_first][:limit])]


def _interleave_modules(tools: Iterable[OfferedTool], most: int | None = None) -> Iterator[list[str]]:
    """Yield names in turn over the modules: the first of each, the second of each, …; at most `most` of each."""
    queues: dict[str, list[str]] = {}
    for tool in tools:
        queues.setdefault(tool.module, []).append(tool.name)
    for row in itertools.zip_longest(*(queue[:most] for queue in queues.values())):
        yield [name for name in row if name is not None]


def callable_tools(may_use: Callable[[str], bool], offered: Collection[str]) -> Callable[[str], bool]:
    """Return which tools a result may tell the model to call: the offered ones, and the others if it can find them."""
    return may_use if FIND_TOOLS in offered else offered.__contains__
