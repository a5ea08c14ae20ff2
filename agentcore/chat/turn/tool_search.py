"""Finds tools by matching the words of a query against their names, descriptions and arguments."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from agentcore.chat.model.offered_tools import OfferedTool

_WORD = re.compile(r"[a-z0-9]+|[^\W_a-z0-9]+")
_NAME = 6.0
_SUMMARY = 3.0
_ARGUMENT = 2.0
_DESCRIPTION = 1.0
_BEGINNING = 0.5
_BEGINNING_CHARS = 4
_LEAST_OF_BEST = 0.3
_STEM_CHARS = 3
_ENDINGS = ("ing", "ed", "es", "s")
_SAYS_NOTHING = """
    a an and any are as at be by can do does for from get give have how i if in into is it its let make me my need of on
    one or our out please so some something that the their them then there these they this those to tool up us use want
    was we what when where which will with would you your
"""
_COMMON = frozenset(_SAYS_NOTHING.split())


def search_tools(tools: Iterable[OfferedTool], query: str, limit: int) -> list[OfferedTool]:
    """Return the tools that match a query, best first.

    A word weighs more the fewer tools contain it, and by its position: in the name, the first line, the argument names,
    the rest. Tools that score far below the best one are left out.
    """
    entries = [(tool, _index_tool(tool)) for tool in tools]
    spread = Counter(word for _, index in entries for word in index)
    requested = dict.fromkeys(extract_words(query))
    scored = [(_score_tool(requested, index, spread, len(entries)), tool) for tool, index in entries]
    best = sorted((entry for entry in scored if entry[0]), key=lambda entry: -entry[0])[:limit]
    return [tool for score, tool in best if score >= best[0][0] * _LEAST_OF_BEST]


def summary_line(tool: OfferedTool) -> str:
    """Return the first line of a tool's description."""
    return tool.description.partition("\n")[0]


def extract_words(text: str) -> list[str]:
    """Return the significant words, stemmed; in languages without spaces, each pair of adjacent characters."""
    found: list[str] = []
    for run in _WORD.findall(text.lower()):
        if run.isascii():
            found += [] if run in _COMMON else [_stem(run)]
        else:
            found += [run] if len(run) == 1 else (run[start : start + 2] for start in range(len(run) - 1))
    return found


def _stem(word: str) -> str:
    """Return the common part of `drag`, `drags`, `dragged` and `dragging`; need not be a word."""
    ending = next((end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= _STEM_CHARS), "")
    stem = word.removesuffix(ending)
    stem = stem[:-1] if len(stem) > _STEM_CHARS and stem[-1] == stem[-2] else stem
    return stem.removesuffix("e") if len(stem) > _STEM_CHARS else stem


def _index_tool(tool: OfferedTool) -> dict[str, float]:
    """Return the words of a tool with their weights."""
    properties: Mapping[str, Any] = tool.schema.schema.get("properties") or {}
    said = [part.get("description", "") for part in properties.values() if isinstance(part, Mapping)]
    first, _, rest = tool.description.partition("\n")
    index: dict[str, float] = {}
    for weight, texts in (
        (_NAME, [tool.name]),
        (_SUMMARY, [first]),
        (_ARGUMENT, properties),
        (_DESCRIPTION, [rest, *filter(_is_text, said)]),
    ):
        for word in set(extract_words(" ".join(texts))):
            index[word] = index.get(word, 0.0) + weight
    return index


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _score_tool(wanted: Iterable[str], index: Mapping[str, float], spread: Mapping[str, int], count: int) -> float:
    return sum(_score_word(word, index, spread, count) for word in wanted)


def _score_word(word: str, index: Mapping[str, float], spread: Mapping[str, int], count: int) -> float:
    """Return the score of one query word; if it only shares its beginning with a word of the tool, half of that."""
    if word in index:
        return index[word] * math.log(1 + count / spread[word])
    if len(word) < _BEGINNING_CHARS:
        return 0.0
    near = (known for known in index if len(known) >= _BEGINNING_CHARS and _is_prefix_of_other(word, known))
    return max((_BEGINNING * index[known] * math.log(1 + count / spread[known]) for known in near), default=0.0)


def _is_prefix_of_other(word: str, other: str) -> bool:
    return word.startswith(other) or other.startswith(word)
