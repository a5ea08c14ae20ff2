"""The tools of one conversation: those that its model is given, and those that it finds when there are many."""

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from agentcore.chat.bounds import FOUND_TOOLS, FOUND_TOOLS_KEPT, OFFERED_TOOLS
from agentcore.chat.model.offered_tools import OfferedTool
from agentcore.chat.texts import Locale, text
from agentcore.errors import ToolError

FIND_TOOLS = "find_tools"
"""The tool that finds tools; no module may have one of this name."""

_WORD = re.compile(r"[a-z0-9]+|[^\x00-\x7f]+")
_NAME_PART, _NAME, _SUMMARY, _DESCRIPTION = 6, 4, 2, 1


class Toolbox:
    """What a model may call, in an order that stays, so that a provider's cache of it holds.

    Args:
        tools: All tools that it may have.
        modules: Modules of the server's tools, by the tools' names.
        found: Names of what was found before, in that order.
        locale: Language of what the model reads.
    """

    def __init__(
        self, tools: Sequence[OfferedTool], modules: Mapping[str, str], found: Sequence[str], locale: Locale
    ) -> None:
        self._all = {tool.name: tool for tool in tools}
        self._modules, self._locale = modules, locale
        self.found = [name for name in found if name in self._all]
        self._first = self._choose() if len(self._all) > OFFERED_TOOLS else list(self._all.values())

    def offered(self) -> dict[str, OfferedTool]:
        """What the model is given now, by name."""
        if len(self._first) == len(self._all):
            return dict(self._all)
        given = {tool.name: tool for tool in (*self._first, self._finder())}
        return given | {name: self._all[name] for name in self.found if name not in given}

    def find(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Look for tools, and give the model what is found from now on.

        Raises:
            ToolError: `invalid_arguments`.
        """
        query = arguments.get("query")
        if not isinstance(query, str) or not (words := _words(query)):
            raise ToolError("invalid_arguments", f"query must say in words what the tool should do; got {query!r:.100}")
        scored = [(_score(tool, words), tool) for tool in self._all.values()]
        best = sorted((entry for entry in scored if entry[0]), key=lambda entry: -entry[0])[:FOUND_TOOLS]
        names = [tool.name for _, tool in best]
        given = {tool.name for tool in self._first}
        added = [name for name in names if name not in given and name not in self.found]
        self.found = [*self.found, *added][-FOUND_TOOLS_KEPT:]
        return {"found": [{"name": tool.name, "description": _summary(tool)} for _, tool in best]}

    def _choose(self) -> list[OfferedTool]:
        """The client's tools, and of each module of the server its first ones, in turn, while there is room."""
        client = [tool for tool in self._all.values() if tool.kind == "client"]
        queues: dict[str, list[str]] = {}
        for name, tool in self._all.items():
            if tool.kind == "server":
                queues.setdefault(self._modules[name], []).append(name)
        in_turn = (name for row in itertools.zip_longest(*queues.values()) for name in row if name is not None)
        room = max(OFFERED_TOOLS - 1 - len(client), 0)
        chosen = set(itertools.islice(in_turn, room)) | {tool.name for tool in client}
        return [tool for name, tool in self._all.items() if name in chosen]

    def _finder(self) -> OfferedTool:
        given = {tool.name for tool in self._first}
        hidden = [name for name in self._all if name not in given]
        modules = ", ".join(dict.fromkeys(self._modules[name] for name in hidden))
        query = {"type": "string", "description": text(self._locale, "find_query")}
        parameters = {"type": "object", "properties": {"query": query}, "required": ["query"]}
        description = text(self._locale, "find_tools", count=len(hidden), modules=modules)
        return OfferedTool(FIND_TOOLS, description, parameters, "server")


def not_offered(name: str, offered: Collection[str]) -> ToolError:
    """The model called a tool that it was not given."""
    hint = "find one with find_tools, or call" if FIND_TOOLS in offered else "call"
    message = f"there is no tool {name[:100]!r} among those given here; {hint} one that is listed, by its exact name"
    return ToolError("unknown_tool", message, tool=name[:100])


def _words(query: str) -> list[str]:
    """The words of a query; of a language without spaces, each two characters that stand together."""
    found: list[str] = []
    for run in _WORD.findall(query.lower()):
        is_whole = run.isascii() or len(run) == 1
        found += [run] if is_whole else (run[start : start + 2] for start in range(len(run) - 1))
    return found


def _score(tool: OfferedTool, words: Sequence[str]) -> int:
    name, summary, description = tool.name.lower(), _summary(tool).lower(), tool.description.lower()
    parts = set(_WORD.findall(name))
    return sum(
        (_NAME_PART if word in parts else _NAME if word in name else 0)
        + (_SUMMARY if word in summary else _DESCRIPTION if word in description else 0)
        for word in words
    )


def _summary(tool: OfferedTool) -> str:
    return tool.description.partition("\n")[0]
