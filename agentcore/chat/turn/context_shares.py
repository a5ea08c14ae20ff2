"""Shares of a model's context, where its size is known: for definitions of tools, a result, and instructions."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Self
from weakref import WeakKeyDictionary

from agentcore.chat.chat_limits import (
    FOLDER_SHARE,
    RESULT_CHARS_A_TOKEN,
    RESULT_CHARS_MIN,
    TINY_CONTEXT_TOKENS,
    TOOLS_SHARE,
)
from agentcore.chat.model.offered_tools import OfferedTool
from agentcore.chat.settings import AgentConfig
from agentcore.chat.turn.text_tool_call_format import WrittenForm, format_signature
from agentcore.chat.turn.token_estimate import text_tokens, tools_tokens
from agentcore.core.calls.call import ModelReader
from agentcore.late_dataclasses import dataclass
from agentcore.limits import MODEL_CHARS
from agentcore.tool_formats.formats import LoweredSchema

_SIZES: WeakKeyDictionary[LoweredSchema, int] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class DefinitionBudget:
    """The tokens that the definitions of a model's server tools may have.

    Args:
        tokens: How many.
        is_written: True if the model writes its calls, and gets a line for each tool.
    """

    tokens: int
    is_written: bool = False

    @property
    def is_tiny(self) -> bool:
        """True if the context has room for a few tools, and nothing else."""
        return self.tokens < TOOLS_SHARE * TINY_CONTEXT_TOKENS

    @classmethod
    def from_window(cls, window: int | None, written_form: WrittenForm | None) -> Self | None:
        """Return the share of a context; None if its size is unknown."""
        return None if window is None else cls(int(TOOLS_SHARE * window), written_form == "tag")

    def minus(self, tools: Sequence[OfferedTool]) -> "DefinitionBudget":
        """Return what other tools leave, at least half."""
        return replace(self, tokens=max(self.tokens - self._measure(tools), self.tokens // 2))

    def allows(self, tools: Sequence[OfferedTool]) -> bool:
        """True if the definitions of these tools fit together."""
        return self._measure(tools) <= self.tokens

    def take_fitting(self, tools: Iterable[OfferedTool]) -> list[OfferedTool]:
        """Return the tools that fit, in their order, and at least the first; one that is too large is skipped."""
        taken: list[OfferedTool] = []
        left = self.tokens
        for tool in tools:
            size = self._measure((tool,))
            if size <= left or not taken:
                taken.append(tool)
                left -= size
        return taken

    def _measure(self, tools: Iterable[OfferedTool]) -> int:
        if self.is_written:
            return sum(text_tokens(format_signature(tool)) for tool in tools)
        return sum(map(_definition_tokens, tools))


def _definition_tokens(tool: OfferedTool) -> int:
    if tool.schema not in _SIZES:
        _SIZES[tool.schema] = tools_tokens((tool,))
    return _SIZES[tool.schema]


def fit_reader(reader: ModelReader, agent: AgentConfig, result_tokens: int | None) -> ModelReader:
    """Return the reader of results with the limit that the model's context sets.

    Args:
        reader: The model.
        agent: Its settings may say how much of a result it gets.
        result_tokens: What the model's context has room for; None: the size of its context is unknown.
    """
    chars = agent.result_chars
    if result_tokens is not None and (most := result_tokens * RESULT_CHARS_A_TOKEN) < MODEL_CHARS:
        most = max(most, RESULT_CHARS_MIN)
        chars = min(chars or most, most)
    return replace(reader, result_chars=chars)


def folder_chars(window: int | None) -> int | None:
    """Return how many characters of a file of instructions a model gets; None if the size of its context is unknown."""
    return None if window is None else int(FOLDER_SHARE * window * RESULT_CHARS_A_TOKEN)
