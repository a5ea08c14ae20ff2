"""Texts that modules give to the model of a new chat, stored with the chat so that its prefix stays the same."""

from typing import Self

from pydantic import BaseModel, ConfigDict

from agentcore.core.core import Core
from agentcore.store.chat.chat_rows import ChatSessionRow


class StartText(BaseModel, defer_build=True):
    """The text that one module gave to a new chat.

    Attributes:
        module: Its name.
        title: Its title for the user.
        tool: Only models that may call this tool get the text.
        text: The text.
        untrusted: More text, which content from outside may have caused.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    module: str
    title: str
    tool: str
    text: str
    untrusted: str

    @property
    def part_id(self) -> str:
        """The id of its part of the system message."""
        return f"start:{self.module}"


class ChatStarts(BaseModel, defer_build=True):
    """The texts of all modules when the chat began."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    told: tuple[StartText, ...] = ()

    @classmethod
    def from_modules(cls, core: Core) -> Self:
        """Return what the modules that are ready tell a chat that begins now."""
        told = [
            StartText(module=module.name, title=module.manifest.title, **start._asdict())
            for module in core.registry.records.values()
            for start in module.chat_starts
        ]
        return cls(told=tuple(told))

    @classmethod
    def from_session(cls, session: ChatSessionRow, core: Core) -> Self:
        """Return what the chat began with; what it would begin with, if no turn of it has begun yet."""
        if session.chat_starts is None:
            return cls.from_modules(core)
        return cls.model_validate_json(session.chat_starts)
