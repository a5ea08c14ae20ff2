"""Estimates the tokens of a text without a model's own vocabulary, which would have to be downloaded.

The rates were fitted to OpenAI's two newest vocabularies for prose, Chinese, code, JSON, logs and keys, with errors of
less than a sixth, and raised by a tenth. The error is nearly constant within a session, and is corrected by the
provider's counts.
"""

import math
import re
from collections.abc import Sequence

from agentcore.chat.model.offered_tools import OfferedTool
from agentcore.encoding import to_json
from agentcore.tool_formats.dialects import DIALECTS

_TOOL_TOKENS = 12

_WORD = re.compile(r"[A-Za-z]+")
_DIGITS = re.compile(r"\d+")
_SPACE_BEFORE_DIGIT = re.compile(r"\s\d")
_MARKS = re.compile(r"[!-/:-@\[-`{-~]+")
_RANDOM = re.compile(r"[A-Za-z0-9+/_-]{24,}")
"""Longer than words of a language: keys, digests, Base64."""

_USUAL_LETTERS = 7
"""Words up to this length are usually one token."""

_DIGITS_A_TOKEN = 3
_LETTER_MORE = 0.15
_MARKS_ONE = 0.85
_MARK_MORE = 0.15
_LINE_END = 0.6
_DIGIT_APART = 0.9
_RANDOM_CHAR = 0.3
_IDEOGRAPH = 1.05
_FOREIGN = 0.5
_IDEOGRAPHS_FROM = 0x2E80
_MARGIN = 1.1


def text_tokens(text: str) -> int:
    """Estimate the tokens of a text; linear in its length, about 12 ms for 100,000 characters."""
    words = _WORD.findall(text)
    marks = _MARKS.findall(text)
    total = len(words) + _LETTER_MORE * sum(len(word) - _USUAL_LETTERS for word in words if len(word) > _USUAL_LETTERS)
    total += sum(-(-len(digits) // _DIGITS_A_TOKEN) for digits in _DIGITS.findall(text))
    total += _DIGIT_APART * len(_SPACE_BEFORE_DIGIT.findall(text)) + _LINE_END * text.count("\n")
    total += (_MARKS_ONE - _MARK_MORE) * len(marks) + _MARK_MORE * sum(map(len, marks))
    total += _RANDOM_CHAR * sum(map(len, _RANDOM.findall(text)))
    if not text.isascii():
        total += sum(_IDEOGRAPH if ord(each) >= _IDEOGRAPHS_FROM else _FOREIGN for each in text if not each.isascii())
    return math.ceil(_MARGIN * total)


def tools_tokens(tools: Sequence[OfferedTool]) -> int:
    """Estimate the tokens of tool definitions."""
    dialect = DIALECTS["portable"]
    shortest = ((tool, tool.schema.lower_to(dialect).schema) for tool in tools)
    return sum(
        _TOOL_TOKENS
        + text_tokens(f"{tool.name} {dialect.shorten_description(tool.description)} {to_json(schema).decode()}")
        for tool, schema in shortest
    )
