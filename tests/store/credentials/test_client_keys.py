"""Keys of paired clients, and those that were made before keys had scopes."""

import sqlite3
from hashlib import sha256
from pathlib import Path

import pytest

from agentcore.store.credentials.client_keys import ClientKeys
from agentcore.store.database.database import Database
from agentcore.store.database.schema import run_migrations

pytestmark = pytest.mark.spec("K11")

_STEPS_BEFORE_SCOPES = 6


async def test_key_of_before_scopes_approves_and_what_it_allowed_ends_with_it(database_path: Path) -> None:
    """Made by hand, as the version before wrote it."""
    key = "acap_of_before"
    with sqlite3.connect(database_path) as old:
        run_migrations(old, 0, _STEPS_BEFORE_SCOPES)
        old.execute("INSERT INTO approver_keys VALUES ('panel', ?, 1, 1)", (sha256(key.encode()).digest(),))
        for number, by in enumerate(("approver:panel", "approver:approval_1", "terminal")):
            grant = (f"g_{number}", "always", "", "chat", "note_add", "{}", by, number)
            old.execute("INSERT INTO approval_grants VALUES (?, ?, ?, ?, ?, ?, ?, ?)", grant)
    old.close()
    async with Database.open(database_path) as database:
        keys = await ClientKeys.open(database)
        known = await keys.find_by_key(key)
        assert known is not None
        client = known.principal
        assert (client.kind, client.id, client.scopes) == ("client", "panel", {"approve"})
        await keys.revoke_client("panel", lambda: None)
        left = await database.read(lambda c: c.execute("SELECT granted_by FROM approval_grants").fetchall())
    assert sorted(left) == [("approver:approval_1",), ("terminal",)]


async def test_client_whose_revocation_could_not_be_stored_is_out_and_can_be_revoked_again(database: Database) -> None:
    keys = await ClientKeys.open(database)
    key = await keys.create_key("panel", ["chat"])
    await database.write(lambda c: c.execute("ALTER TABLE approval_grants RENAME TO elsewhere"))
    with pytest.raises(sqlite3.Error):
        await keys.revoke_client("panel", lambda: None)
    assert await keys.find_by_key(key) is None
    assert [known.name for known in keys.list_clients()] == ["panel"]
    await database.write(lambda c: c.execute("ALTER TABLE elsewhere RENAME TO approval_grants"))
    await keys.revoke_client("panel", lambda: None)
    assert keys.list_clients() == []
    assert (await ClientKeys.open(database)).list_clients() == []


async def test_key_keeps_its_scopes_over_a_restart(database: Database) -> None:
    key = await (await ClientKeys.open(database)).create_key("panel", ["chat", "tab"], kind="extension", origin="x://y")
    again = await ClientKeys.open(database)
    client = await again.find_by_key(key)
    assert client is not None
    assert client.scopes == {"chat", "tab"}
    (known,) = again.list_clients()
    assert (known.kind, known.origin) == ("extension", "x://y")
