"""Chats: sessions, messages, calls, and search."""

from agentcore.store.chat.chat_rows import (
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
from agentcore.store.chat.chat_store import ChatStore
from agentcore.store.chat.message_queue import MessageTime, StoredQueue, UserMessage
