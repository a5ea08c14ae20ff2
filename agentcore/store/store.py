"""Everything that survives the process, opened and closed together."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from agentcore.late_dataclasses import dataclass
from agentcore.store.approvals.approval_store import ApprovalStore
from agentcore.store.artifacts.artifact_store import ArtifactStore
from agentcore.store.chat.chat_store import ChatStore
from agentcore.store.credentials.client_keys import ClientKeys
from agentcore.store.credentials.host_keys import HostKeys
from agentcore.store.credentials.page_sessions import PageSessions
from agentcore.store.database.database import Database
from agentcore.store.mcp_sessions import McpSessionStore
from agentcore.store.module_sources import ModuleSources
from agentcore.store.record.call_row import CallRow, make_notice_row
from agentcore.store.record.record import Record
from agentcore.store.record.segments import segments_folder
from agentcore.store.resource_indexes import ResourceIndexStore
from agentcore.store.seen_definitions import SeenDefinitions
from agentcore.store.state.state_dir import StateDir
from agentcore.store.tab_store import TabStore


@dataclass(frozen=True, slots=True)
class Store:
    """The stores of one state folder."""

    database: Database
    record: Record
    artifacts: ArtifactStore
    page_sessions: PageSessions
    approval_sessions: PageSessions
    client_keys: ClientKeys
    host_keys: HostKeys
    chats: ChatStore
    approvals: ApprovalStore
    tabs: TabStore
    resource_indexes: ResourceIndexStore
    module_sources: ModuleSources
    mcp_sessions: McpSessionStore
    seen_definitions: SeenDefinitions

    @classmethod
    @asynccontextmanager
    async def open(
        cls, state_dir: StateDir, *, goes_on: Callable[[CallRow], bool] = lambda row: False
    ) -> AsyncIterator["Store"]:
        """Open all stores of a state folder that this process holds; on exit, everything added is on disk.

        A broken database, its artifacts and the older parts of its record are quarantined, and new ones are created:
        `database.broken_path` names the location, and the first row of the new record reports it.

        Args:
            goes_on: Returns True if a call that the last process left open may continue without it.
        Raises:
            DatabaseTooNewError: A later version of agentcore wrote the database.
            StateDirError: The artifact folder cannot be used.
            sqlite3.Error: The disk or the permissions do not allow it.
        """
        async with Database.open(state_dir.database_path) as database, Record.open(database, goes_on=goes_on) as record:
            if database.broken_path is not None:
                await asyncio.to_thread(_quarantine_folder, segments_folder(database.path), database.broken_path)
                record.append(make_notice_row("database_broken", kept_as=database.broken_path.name))
                await asyncio.to_thread(_quarantine_folder, state_dir.artifacts_path, database.broken_path)
            yield cls(
                database,
                record,
                await ArtifactStore.open(database, state_dir.artifacts_path),
                await PageSessions.open(database, "page"),
                await PageSessions.open(database, "approval"),
                await ClientKeys.open(database),
                await HostKeys.open(database),
                ChatStore(database),
                ApprovalStore(database),
                TabStore(database),
                ResourceIndexStore(database),
                ModuleSources(database),
                McpSessionStore(database),
                SeenDefinitions(database),
            )


def _quarantine_folder(folder: Path, broken_database: Path) -> None:
    """Quarantine files that belong to a broken database; otherwise the new one would delete them as unknown."""
    if folder.exists():
        folder.rename(broken_database.with_name(f"{broken_database.stem}-{folder.name}"))
