"""Steps of the schema as they were on the main branch before they were changed, by the commit that had them.

The commits b3b28811 up to the parent of 5fe25ecc had `STEP_22_AT_0182BB5A` as step 22 and `STEP_22_AT_068900B0` as 23.
"""

STEP_3_AT_390AE931 = (
    "ALTER TABLE chat_sessions ADD COLUMN mode TEXT",
    """
    CREATE TABLE approvals (
        call_id TEXT PRIMARY KEY,
        session_id TEXT NOT NULL,
        request TEXT NOT NULL,
        verdict TEXT,
        expires_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    (
        "CREATE TRIGGER approval_is_used AFTER INSERT ON open_calls"
        " BEGIN DELETE FROM approvals WHERE call_id = NEW.call_id; END"
    ),
    """
    CREATE TABLE approval_grants (
        grant_id TEXT PRIMARY KEY,
        scope TEXT NOT NULL CHECK (scope IN ('session', 'always', 'host')),
        session_id TEXT NOT NULL,
        tool TEXT NOT NULL,
        arguments TEXT NOT NULL,
        granted_by TEXT NOT NULL,
        granted_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE untrusted_sources (
        session_id TEXT NOT NULL,
        source TEXT NOT NULL,
        seen_at_ms INTEGER NOT NULL,
        accepted_by TEXT,
        PRIMARY KEY (session_id, source)
    ) STRICT, WITHOUT ROWID
    """,
)

STEP_12_AT_8AE6B0AE = (
    "ALTER TABLE chat_messages ADD COLUMN short TEXT",
    "ALTER TABLE chat_sessions ADD COLUMN model_scales TEXT",
)

STEP_22_AT_068900B0 = (
    """
    CREATE TABLE host_keys (
        name TEXT PRIMARY KEY,
        key_hash BLOB NOT NULL UNIQUE,
        paired_at_ms INTEGER NOT NULL,
        last_seen_ms INTEGER NOT NULL,
        address TEXT NOT NULL,
        platform TEXT NOT NULL,
        version TEXT NOT NULL,
        is_shut INTEGER NOT NULL,
        is_drained INTEGER NOT NULL
    ) STRICT
    """,
)

STEP_22_AT_0182BB5A = ("ALTER TABLE chat_sessions ADD COLUMN host TEXT",)
