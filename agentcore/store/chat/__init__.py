"""Chats: sessions, messages, calls, and search."""

from agentcore.store.chat.message_queue import MessageTime, StoredQueue, UserMessage
from agentcore.store.chat.rows import (
    BroughtRow,
    CallKind,
    ChatCallRow,
    ChatCallState,
    ChatMessageRow,
    ChatSessionRow,
    ContextMessage,
    MessageKind,
    NewMessage,
    StoredCompaction,
    UsedTokens,
)
from agentcore.store.chat.store import ChatStore
