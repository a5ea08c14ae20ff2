"""Context that a client provides for a turn: the user's current page, and the tools that it runs."""

import json
from collections.abc import Sequence
from functools import cached_property

from agentcore.chat.chat_limits import PAGE_TITLE_CHARS, PAGE_URL_CHARS
from agentcore.chat.client_messages import ClientTool, PageInfo
from agentcore.chat.session.session_view import PageView
from agentcore.late_dataclasses import dataclass
from agentcore.store.chat.chat_rows import BroughtRow, ChatSessionRow
from agentcore.store.chat.message_queue import UserMessage


@dataclass(frozen=True)
class ClientContext:
    """Page and client tools of a turn, as stored; parsed at first use.

    Args:
        page_json: JSON text; None: there is no page.
        tools_json: JSON text; None: there are no tools.
    """

    page_json: str | None = None
    tools_json: str | None = None

    @classmethod
    def from_session(cls, session: ChatSessionRow) -> "ClientContext":
        """Return the context of a session's current turn."""
        return cls(session.page, session.client_tools)

    @cached_property
    def page(self) -> PageInfo | None:
        """The page; None: there is none."""
        return None if self.page_json is None else PageInfo.model_validate_json(self.page_json)

    @cached_property
    def tools(self) -> tuple[ClientTool, ...]:
        """The client's tools."""
        return tuple(ClientTool.model_validate(tool) for tool in json.loads(self.tools_json or "[]"))

    def with_message(self, message: UserMessage, *, joins: bool) -> "ClientContext":
        """Return the context that applies from a message on.

        Args:
            message: What it provides replaces the previous context.
            joins: True if it joins a running turn: what it omits is kept.
        """
        before = self if joins else ClientContext()
        page = before.page_json if message.page is None else message.page
        return ClientContext(page, before.tools_json if message.client_tools is None else message.client_tools)

    def to_row(self) -> BroughtRow:
        """Return the context as stored with a message."""
        shown = None if self.page is None else build_page_view(self.page)
        return BroughtRow(self.page_json, self.tools_json, None if shown is None else shown.model_dump_json())


def dump_page(page: PageInfo | None) -> str | None:
    """Serialise a page for the store."""
    return None if page is None else page.model_dump_json()


def dump_client_tools(tools: Sequence[ClientTool] | None) -> str | None:
    """Serialise a client's tools for the store."""
    return None if tools is None else json.dumps([tool.model_dump() for tool in tools], ensure_ascii=False)


def build_page_view(page: PageInfo) -> PageView | None:
    """Return what the user sees of a page sent with a message; None if the client sent no details."""
    if page == PageInfo():
        return None
    return PageView(
        url=(page.url or "")[:PAGE_URL_CHARS],
        title=" ".join((page.title or "").split())[:PAGE_TITLE_CHARS],
        elements=len(page.elements),
        selected_chars=len(page.selectedText or ""),
    )
