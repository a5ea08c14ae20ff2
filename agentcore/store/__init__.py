"""What outlives the process: the state folder, the record of calls, artifacts, page sessions."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentcore.store.artifacts import ArtifactStore
    from agentcore.store.call_row import CallRow, RecordedRow
    from agentcore.store.chat_rows import ChatCallRow, ChatMessageRow, ChatSessionRow, NewMessage
    from agentcore.store.chat_store import ChatStore
    from agentcore.store.client_keys import ClientKeys
    from agentcore.store.page_sessions import PageSessions
    from agentcore.store.record import Record
    from agentcore.store.record_query import RecordFilter
    from agentcore.store.state_dir import StateDir
    from agentcore.store.store import Store

__all__ = [
    "ArtifactStore",
    "CallRow",
    "ChatCallRow",
    "ChatMessageRow",
    "ChatSessionRow",
    "ChatStore",
    "ClientKeys",
    "NewMessage",
    "PageSessions",
    "Record",
    "RecordFilter",
    "RecordedRow",
    "StateDir",
    "Store",
]

_HOMES = {
    "ClientKeys": "client_keys",
    "ArtifactStore": "artifacts",
    "CallRow": "call_row",
    "ChatCallRow": "chat_rows",
    "ChatMessageRow": "chat_rows",
    "ChatSessionRow": "chat_rows",
    "ChatStore": "chat_store",
    "NewMessage": "chat_rows",
    "PageSessions": "page_sessions",
    "Record": "record",
    "RecordFilter": "record_query",
    "RecordedRow": "call_row",
    "StateDir": "state_dir",
    "Store": "store",
}


def __getattr__(name: str) -> object:
    # at first use: the command line looks at the state folder of a running server, and needs no database for that
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
