"""What outlives the process: the state folder, the record of calls, artifacts, page sessions."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentcore.store.artifacts.artifacts import ArtifactStore
    from agentcore.store.chat.rows import ChatCallRow, ChatMessageRow, ChatSessionRow, NewMessage
    from agentcore.store.chat.store import ChatStore
    from agentcore.store.credentials.client_keys import ClientKeys
    from agentcore.store.credentials.page_sessions import PageSessions
    from agentcore.store.record.call_row import CallRow, RecordedRow
    from agentcore.store.record.query import RecordFilter
    from agentcore.store.record.record import Record
    from agentcore.store.state.state_dir import StateDir
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
    "ClientKeys": "credentials.client_keys",
    "ArtifactStore": "artifacts.artifacts",
    "CallRow": "record.call_row",
    "ChatCallRow": "chat.rows",
    "ChatMessageRow": "chat.rows",
    "ChatSessionRow": "chat.rows",
    "ChatStore": "chat.store",
    "NewMessage": "chat.rows",
    "PageSessions": "credentials.page_sessions",
    "Record": "record.record",
    "RecordFilter": "record.query",
    "RecordedRow": "record.call_row",
    "StateDir": "state.state_dir",
    "Store": "store",
}


def __getattr__(name: str) -> object:
    # at first use: the command line looks at the state folder of a running server, and needs no database for that
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
