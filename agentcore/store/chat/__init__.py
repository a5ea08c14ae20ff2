"""Chats: sessions, messages, calls, and the search in them."""

from agentcore.store.chat.queue import MessageTime, PersonMessage, StoredQueue
from agentcore.store.chat.rows import (
    BroughtRow,
    CallKind,
    ChatCallRow,
    ChatCallState,
    ChatMessageRow,
    ChatSessionRow,
    MessageKind,
    NewMessage,
    StoredCompaction,
    ToldMessage,
    UsedTokens,
)
from agentcore.store.chat.store import ChatStore
