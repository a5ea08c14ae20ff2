"""Database migrations: the ordered steps that build the schema.

Never change a step that has been on the main branch, not even its white space: a test holds a digest of each. Add
another step instead. A file's `user_version` is the number of steps it has been through.
"""

import sqlite3

from agentcore.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AddMissingColumn:
    """Adds a column to a table if it is missing; plain SQL has no statement for this.

    Args:
        definition: Type and constraints of the column, as in `ALTER TABLE`.
    """

    table: str
    column: str
    definition: str

    def execute(self, connection: sqlite3.Connection) -> None:
        """Add the column unless it exists."""
        found = {row[1] for row in connection.execute(f"PRAGMA table_info({self.table})")}
        if self.column not in found:
            connection.execute(f"ALTER TABLE {self.table} ADD COLUMN {self.column} {self.definition}")


Statement = str | AddMissingColumn

_RECORD = (
    """
    CREATE TABLE record (
        seq INTEGER PRIMARY KEY,
        time_ms INTEGER NOT NULL,
        kind TEXT NOT NULL,
        call_id TEXT NOT NULL,
        parent_call_id TEXT,
        tool TEXT NOT NULL,
        module TEXT NOT NULL,
        session_id TEXT NOT NULL,
        principal_kind TEXT NOT NULL,
        principal_id TEXT NOT NULL,
        arguments_digest TEXT NOT NULL,
        decision TEXT NOT NULL,
        decided_by TEXT NOT NULL,
        outcome TEXT NOT NULL,
        duration_ms ANY CHECK (typeof(duration_ms) IN ('integer', 'real', 'null')),
        resource_id TEXT,
        arguments TEXT NOT NULL,
        hash BLOB NOT NULL
    ) STRICT
    """,
    "CREATE INDEX record_by_tool ON record (tool)",
    "CREATE INDEX record_by_module ON record (module)",
    "CREATE INDEX record_by_session ON record (session_id)",
    # nearly all rows are 'ok': they are found by walking the table, and cost no index entry
    "CREATE INDEX record_by_failure ON record (outcome) WHERE outcome <> 'ok'",
    (
        "CREATE TRIGGER record_is_not_changed BEFORE UPDATE ON record"
        " BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END"
    ),
    (
        "CREATE TRIGGER record_is_not_shortened BEFORE DELETE ON record"
        " BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END"
    ),
    # the end of the chain, so that rows missing at the end are noticed too
    "CREATE TABLE record_head (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL, hash BLOB NOT NULL) STRICT",
    """
    CREATE TABLE open_calls (
        call_id TEXT NOT NULL,
        time_ms INTEGER NOT NULL,
        row TEXT NOT NULL,
        PRIMARY KEY (call_id, time_ms)
    ) STRICT, WITHOUT ROWID
    """,
)

_ARTIFACTS = (
    """
    CREATE TABLE artifacts (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        artifact_id TEXT NOT NULL UNIQUE,
        mime TEXT NOT NULL,
        name TEXT NOT NULL,
        size_bytes INTEGER NOT NULL,
        charged_bytes INTEGER NOT NULL,
        created_at_ms INTEGER NOT NULL,
        session_id TEXT NOT NULL,
        call_id TEXT NOT NULL
    ) STRICT
    """,
    "CREATE TABLE artifact_usage (id INTEGER PRIMARY KEY CHECK (id = 1), charged_bytes INTEGER NOT NULL) STRICT",
    "INSERT INTO artifact_usage VALUES (1, 0)",
    (
        "CREATE TRIGGER artifact_is_charged AFTER INSERT ON artifacts"
        " BEGIN UPDATE artifact_usage SET charged_bytes = charged_bytes + NEW.charged_bytes; END"
    ),
    (
        "CREATE TRIGGER artifact_is_credited AFTER DELETE ON artifacts"
        " BEGIN UPDATE artifact_usage SET charged_bytes = charged_bytes - OLD.charged_bytes; END"
    ),
)

_PAGE_SESSIONS = (
    """
    CREATE TABLE page_sessions (
        session_id TEXT PRIMARY KEY,
        audience TEXT NOT NULL,
        cookie_hash BLOB NOT NULL UNIQUE,
        header_hash BLOB NOT NULL,
        created_at_ms INTEGER NOT NULL,
        last_used_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
)

_CHAT = (
    """
    CREATE TABLE chat_sessions (
        session_id TEXT PRIMARY KEY,
        owner TEXT NOT NULL,
        user_id TEXT NOT NULL,
        agent_id TEXT NOT NULL,
        model TEXT NOT NULL,
        title TEXT NOT NULL,
        page TEXT,
        client_tools TEXT,
        steps INTEGER NOT NULL,
        tokens INTEGER NOT NULL,
        is_running INTEGER NOT NULL,
        created_at_ms INTEGER NOT NULL,
        last_used_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX chat_sessions_by_owner ON chat_sessions (owner, last_used_at_ms)",
    """
    CREATE TABLE chat_messages (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        session_id TEXT NOT NULL REFERENCES chat_sessions (session_id),
        time_ms INTEGER NOT NULL,
        message TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX chat_messages_by_session ON chat_messages (session_id, number)",
    """
    CREATE TABLE chat_calls (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        session_id TEXT NOT NULL REFERENCES chat_sessions (session_id),
        tool_id TEXT NOT NULL,
        tool_name TEXT NOT NULL,
        arguments TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('client', 'server')),
        state TEXT NOT NULL CHECK (state IN ('new', 'waiting', 'approved', 'rejected', 'running', 'done', 'settled')),
        call_id TEXT NOT NULL,
        definition_digest TEXT NOT NULL,
        answered_by TEXT NOT NULL,
        result TEXT,
        expires_at_ms INTEGER,
        UNIQUE (session_id, tool_id)
    ) STRICT
    """,
    "CREATE INDEX chat_calls_open ON chat_calls (session_id) WHERE state <> 'settled'",
)

_APPROVALS = (
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
    # in the transaction that says that a call begins, so that its approval is used up exactly then; ids stand there as
    # JSON text, within quotes
    (
        "CREATE TRIGGER approval_is_used AFTER INSERT ON open_calls"
        " BEGIN DELETE FROM approvals WHERE call_id = substr(NEW.call_id, 2, length(NEW.call_id) - 2); END"
    ),
    """
    CREATE TABLE approval_grants (
        grant_id TEXT PRIMARY KEY,
        scope TEXT NOT NULL CHECK (scope IN ('session', 'always', 'host')),
        session_id TEXT NOT NULL,
        principal_kind TEXT NOT NULL,
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

_APPROVER_KEYS = (
    """
    CREATE TABLE approver_keys (
        name TEXT PRIMARY KEY,
        key_hash BLOB NOT NULL UNIQUE,
        created_at_ms INTEGER NOT NULL,
        last_used_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
)

_CHAT_PAGE = (
    "ALTER TABLE chat_sessions ADD COLUMN todos TEXT",
    "ALTER TABLE chat_sessions ADD COLUMN found_tools TEXT",
    "ALTER TABLE chat_sessions ADD COLUMN input_tokens INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE chat_sessions ADD COLUMN output_tokens INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE chat_sessions ADD COLUMN requests INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE chat_sessions ADD COLUMN summary TEXT",
    "ALTER TABLE chat_sessions ADD COLUMN summarised_before INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX chat_sessions_by_use ON chat_sessions (last_used_at_ms, session_id)",
    (
        "ALTER TABLE chat_messages ADD COLUMN kind TEXT NOT NULL DEFAULT 'said'"
        " CHECK (kind IN ('said', 'told', 'notice'))"
    ),
    "ALTER TABLE chat_calls ADD COLUMN envelope TEXT",
    # trigrams find parts of words, and words of languages that put no space between them
    "CREATE VIRTUAL TABLE chat_search USING fts5 (session_id UNINDEXED, text, tokenize = 'trigram')",
    """
    INSERT INTO chat_search (rowid, session_id, text)
    SELECT number, session_id, said FROM (
        SELECT number, session_id, (
            SELECT group_concat(json_extract(part.value, '$.content'), char(10))
            FROM json_each(message, '$[0].parts') AS part
            WHERE json_extract(part.value, '$.part_kind') IN ('user-prompt', 'text')
        ) AS said FROM chat_messages
    ) WHERE said IS NOT NULL
    """,
)

_TABS = (
    """
    CREATE TABLE tabs (
        place INTEGER PRIMARY KEY,
        tab_id TEXT NOT NULL UNIQUE,
        workspace_id TEXT NOT NULL,
        resource_id TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        is_pinned INTEGER NOT NULL,
        created_at_ms INTEGER NOT NULL,
        last_active_at_ms INTEGER NOT NULL
    ) STRICT
    """,
)

_MODULE_SOURCES = (
    """
    CREATE TABLE module_sources (
        module TEXT NOT NULL,
        source TEXT NOT NULL,
        verdict TEXT NOT NULL CHECK (verdict IN ('chosen', 'refused')),
        version TEXT NOT NULL,
        before TEXT NOT NULL,
        since_ms INTEGER NOT NULL,
        decided_by TEXT NOT NULL,
        PRIMARY KEY (module, source)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE UNIQUE INDEX module_sources_chosen ON module_sources (module) WHERE verdict = 'chosen'",
)

_KEY_SCOPES = (
    # what keys could do before there were scopes, but for pairing others and confirming changes of the policy
    "ALTER TABLE approver_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT 'approve'",
    "ALTER TABLE approver_keys ADD COLUMN kind TEXT NOT NULL DEFAULT 'program'",
    "ALTER TABLE approver_keys ADD COLUMN origin TEXT NOT NULL DEFAULT ''",
    # what paired clients allowed for later ends with their keys, under the name that they have from now on
    """
    UPDATE approval_grants SET granted_by = 'client:' || substr(granted_by, 10)
    WHERE granted_by LIKE 'approver:%' AND substr(granted_by, 10) IN (SELECT name FROM approver_keys)
    """,
)

_CLOSED_TABS = (
    # JSON: what a resource showed last and how another is opened in its place; null where nothing opens one
    "ALTER TABLE tabs ADD COLUMN last_seen TEXT",
    "CREATE TABLE tab_icons (icon_id TEXT PRIMARY KEY, mime TEXT NOT NULL, data BLOB NOT NULL) STRICT, WITHOUT ROWID",
)

_SYSTEM_MESSAGE = (
    # JSON: what a person chose for what the model is told before the conversation
    "ALTER TABLE chat_sessions ADD COLUMN system TEXT",
    "ALTER TABLE chat_sessions ADD COLUMN cached_tokens INTEGER NOT NULL DEFAULT 0",
)

_UNTRUSTED_ARTIFACTS = (
    # of those from before nobody knows
    "ALTER TABLE artifacts ADD COLUMN is_untrusted INTEGER NOT NULL DEFAULT 1",
)

_COMPACTION = (
    # what the model is told in a message's place since it was made shorter
    "ALTER TABLE chat_messages ADD COLUMN short TEXT",
    # JSON: what was learned of the session's models, by name
    "ALTER TABLE chat_sessions ADD COLUMN model_scales TEXT",
    # those from before do not say what in them was untrusted; what they were made of is still there
    "UPDATE chat_sessions SET summary = NULL, summarised_before = 0",
)

_ATTACHMENTS = (
    # who sent it; those that calls made have none
    "ALTER TABLE artifacts ADD COLUMN owner TEXT NOT NULL DEFAULT ''",
    # number: of the message that holds it; 0: of one that is to be sent
    """
    CREATE TABLE artifact_holds (
        artifact_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        number INTEGER NOT NULL,
        PRIMARY KEY (artifact_id, session_id, number)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX artifact_holds_by_number ON artifact_holds (number)",
    "CREATE INDEX artifact_holds_by_session ON artifact_holds (session_id)",
    (
        "CREATE TRIGGER message_lets_go AFTER DELETE ON chat_messages"
        " BEGIN DELETE FROM artifact_holds WHERE number = OLD.number; END"
    ),
    (
        "CREATE TRIGGER session_lets_go AFTER DELETE ON chat_sessions"
        " BEGIN DELETE FROM artifact_holds WHERE session_id = OLD.session_id; END"
    ),
    (
        "CREATE TRIGGER artifact_is_gone AFTER DELETE ON artifacts"
        " BEGIN DELETE FROM artifact_holds WHERE artifact_id = OLD.artifact_id; END"
    ),
)

_CHAT_QUEUE = (
    """
    CREATE TABLE chat_queue (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        session_id TEXT NOT NULL REFERENCES chat_sessions (session_id),
        message_id TEXT NOT NULL UNIQUE,
        text TEXT NOT NULL,
        attachments TEXT NOT NULL,
        is_steering INTEGER NOT NULL,
        created_at_ms INTEGER NOT NULL,
        model TEXT NOT NULL,
        agent_id TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX chat_queue_by_session ON chat_queue (session_id, position)",
    # whether what waits there waits for a person to let it go on
    "ALTER TABLE chat_sessions ADD COLUMN queue_paused INTEGER NOT NULL DEFAULT 0",
)

_CONTEXT = (
    # JSON: how full the model's context was after its last answer
    "ALTER TABLE chat_sessions ADD COLUMN context TEXT",
)

_MESSAGE_CONTEXT = (
    # JSON: the page and the client's tools that a message brings
    "ALTER TABLE chat_queue ADD COLUMN page TEXT",
    "ALTER TABLE chat_queue ADD COLUMN client_tools TEXT",
    # the same, as the model had them with a message; page_shown: what a person sees of the page
    "ALTER TABLE chat_messages ADD COLUMN page TEXT",
    "ALTER TABLE chat_messages ADD COLUMN client_tools TEXT",
    "ALTER TABLE chat_messages ADD COLUMN page_shown TEXT",
)

_CLIENT_CALLS = (
    # whether a person is to be asked before the client runs it; of those from before nobody has said so
    "ALTER TABLE chat_calls ADD COLUMN needs_approval INTEGER NOT NULL DEFAULT 1",
)

_CALL_WORDS = (
    # what a call does, as its tool says it to the person
    "ALTER TABLE chat_calls ADD COLUMN words TEXT NOT NULL DEFAULT ''",
)

_MCP_SESSIONS = (
    # handshake: JSON, what client and server told each other; narrowing: JSON, what the connection asks of itself
    """
    CREATE TABLE mcp_sessions (
        session_id TEXT PRIMARY KEY,
        principal TEXT NOT NULL,
        handshake TEXT NOT NULL,
        narrowing TEXT NOT NULL,
        last_used_at_ms INTEGER NOT NULL
    ) STRICT
    """,
)

_SEEN_DEFINITIONS = (
    # of modules whose definitions need a person: the whole of each, as it was shown
    """
    CREATE TABLE seen_definitions (
        module TEXT NOT NULL,
        tool TEXT NOT NULL,
        definition TEXT NOT NULL,
        verdict TEXT NOT NULL CHECK (verdict IN ('accepted', 'refused')),
        PRIMARY KEY (module, tool, verdict)
    ) STRICT, WITHOUT ROWID
    """,
)

_SEEN_DEFINITIONS_IN_ORDER = (
    # SQLite 3.40 takes a sound file for broken where a table without a rowid has a column before one of its key
    """
    CREATE TABLE seen_definitions_in_order (
        module TEXT NOT NULL,
        tool TEXT NOT NULL,
        verdict TEXT NOT NULL CHECK (verdict IN ('accepted', 'refused')),
        definition TEXT NOT NULL,
        PRIMARY KEY (module, tool, verdict)
    ) STRICT
    """,
    """
    INSERT INTO seen_definitions_in_order (module, tool, verdict, definition)
    SELECT module, tool, verdict, definition FROM seen_definitions
    """,
    "DROP TABLE seen_definitions",
    "ALTER TABLE seen_definitions_in_order RENAME TO seen_definitions",
)

_OTHER_MACHINES = (
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
    # the host on another machine that a person chose for the session; empty: the server; null: as its agent says
    "ALTER TABLE chat_sessions ADD COLUMN host TEXT",
)

_USED_TWICE: tuple[Statement, ...] = ()
"""For an hour, step 22 was two steps on the main branch, and files that were opened then have this number."""

_REPAIR: tuple[Statement, ...] = (
    # Steps 3, 12 and 22 were changed while they were on the main branch already. Files that went through an earlier
    # form of them have the right number and lack something; in all others, this changes nothing.
    # Step 22 made only the column at first on one branch, and only the table on another one.
    """
    CREATE TABLE IF NOT EXISTS host_keys (
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
    AddMissingColumn("chat_sessions", "host", "TEXT"),
    # Step 3: grants did not say whose calls they hold for, so such a grant holds for none. The trigger compared ids
    # with and without their quotes, and no approval was ever used up.
    AddMissingColumn("approval_grants", "principal_kind", "TEXT NOT NULL DEFAULT ''"),
    "DELETE FROM approval_grants WHERE principal_kind = ''",
    "DROP TRIGGER IF EXISTS approval_is_used",
    (
        "CREATE TRIGGER approval_is_used AFTER INSERT ON open_calls"
        " BEGIN DELETE FROM approvals WHERE call_id = substr(NEW.call_id, 2, length(NEW.call_id) - 2); END"
    ),
    # Step 12: summaries from before that do not say what in them was untrusted were still there
    """
    UPDATE chat_sessions SET summary = NULL, summarised_before = 0
    WHERE summary IS NOT NULL
    AND (CASE WHEN json_valid(summary) THEN json_extract(summary, '$[0].metadata.summary.sources') END) IS NULL
    """,
)

_RESOURCE_INDEXES = (
    # the index that the next resource of a type gets in a session
    """
    CREATE TABLE resource_indexes (
        session_id TEXT NOT NULL,
        resource_type TEXT NOT NULL,
        next_index INTEGER NOT NULL,
        PRIMARY KEY (session_id, resource_type)
    ) STRICT, WITHOUT ROWID
    """,
    # as far as the record knows of those from before; an id is the type, the session and the index
    """
    INSERT INTO resource_indexes (session_id, resource_type, next_index)
    SELECT session_id, substr(resource_id, 1, cut - 1), max(CAST(number AS INTEGER)) + 1 FROM (
        SELECT session_id, resource_id, cut, substr(resource_id, cut + length(session_id) + 2) AS number FROM (
            SELECT session_id, resource_id, instr(resource_id, '_' || session_id || '_') AS cut
            FROM record WHERE resource_id IS NOT NULL
        )
    )
    WHERE cut > 1 AND number <> '' AND number NOT GLOB '*[^0-9]*' AND length(number) < 10
    GROUP BY 1, 2
    """,
)

_ARTIFACT_ACCOUNTS = (
    # whose quota it takes: a client's, a mounted server's, another machine's; empty: the user's
    "ALTER TABLE artifacts ADD COLUMN account TEXT NOT NULL DEFAULT ''",
    "UPDATE artifacts SET account = owner WHERE owner LIKE 'client:%'",
    "CREATE INDEX artifacts_by_account ON artifacts (account, number)",
    "CREATE TABLE artifact_account_usage (account TEXT PRIMARY KEY, charged_bytes INTEGER NOT NULL) STRICT",
    (
        "INSERT INTO artifact_account_usage (account, charged_bytes)"
        " SELECT account, sum(charged_bytes) FROM artifacts GROUP BY account"
    ),
    (
        "CREATE TRIGGER artifact_is_charged_to_account AFTER INSERT ON artifacts BEGIN"
        " INSERT INTO artifact_account_usage (account, charged_bytes) VALUES (NEW.account, NEW.charged_bytes)"
        " ON CONFLICT (account) DO UPDATE SET charged_bytes = charged_bytes + excluded.charged_bytes; END"
    ),
    (
        "CREATE TRIGGER artifact_is_credited_to_account AFTER DELETE ON artifacts BEGIN"
        " UPDATE artifact_account_usage SET charged_bytes = charged_bytes - OLD.charged_bytes"
        " WHERE account = OLD.account; END"
    ),
)

_SESSION_MARKS = (
    # names the frames around untrusted text in the session; random, so that nobody who writes such text knows it
    "ALTER TABLE chat_sessions ADD COLUMN mark TEXT NOT NULL DEFAULT ''",
    "UPDATE chat_sessions SET mark = lower(hex(randomblob(8)))",
)

_HOSTS_IN_CHATS = (
    # whether the user allowed the host to use chats: history, summary, to-do list, models, agents
    "ALTER TABLE host_keys ADD COLUMN may_use_chats INTEGER NOT NULL DEFAULT 0",
)

_GRANT_USE = (
    # the chat in which a grant was given; empty: given before this was stored
    "ALTER TABLE approval_grants ADD COLUMN given_in TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE approval_grants ADD COLUMN last_used_at_ms INTEGER",
)

_RECORD_SEGMENTS = (
    "CREATE INDEX record_by_call ON record (call_id)",
    "CREATE INDEX record_by_parent ON record (parent_call_id) WHERE parent_call_id IS NOT NULL",
    # ranges of rows that were moved to files, and those whose files have been deleted since
    """
    CREATE TABLE record_segments (
        number INTEGER PRIMARY KEY,
        first_seq INTEGER NOT NULL,
        last_seq INTEGER NOT NULL,
        previous_hash BLOB NOT NULL,
        head BLOB NOT NULL,
        first_ms INTEGER NOT NULL,
        last_ms INTEGER NOT NULL,
        stored_bytes INTEGER NOT NULL,
        deleted_at_ms INTEGER
    ) STRICT
    """,
    # of the rows in those files
    "CREATE TABLE record_clients (client TEXT PRIMARY KEY, calls INTEGER NOT NULL, last_ms INTEGER NOT NULL) STRICT",
    "DROP TRIGGER record_is_not_shortened",
    (
        "CREATE TRIGGER record_is_not_shortened BEFORE DELETE ON record"
        " WHEN OLD.seq > (SELECT coalesce(max(last_seq), 0) FROM record_segments)"
        " BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END"
    ),
)

_TURN_TIME = (
    # how long the session's current turn has worked
    "ALTER TABLE chat_sessions ADD COLUMN worked_ms INTEGER NOT NULL DEFAULT 0",
)

_CHAT_STARTS = (
    # what modules told models when the session began, as JSON text
    "ALTER TABLE chat_sessions ADD COLUMN chat_starts TEXT",
)

MIGRATIONS: tuple[tuple[Statement, ...], ...] = (
    _RECORD + _ARTIFACTS + _PAGE_SESSIONS,
    _CHAT,
    _APPROVALS,
    _APPROVER_KEYS,
    _CHAT_PAGE,
    _TABS,
    _MODULE_SOURCES,
    _KEY_SCOPES,
    _CLOSED_TABS,
    _SYSTEM_MESSAGE,
    _UNTRUSTED_ARTIFACTS,
    _COMPACTION,
    _ATTACHMENTS,
    _CHAT_QUEUE,
    _CONTEXT,
    _MESSAGE_CONTEXT,
    _CLIENT_CALLS,
    _CALL_WORDS,
    _MCP_SESSIONS,
    _SEEN_DEFINITIONS,
    _SEEN_DEFINITIONS_IN_ORDER,
    _OTHER_MACHINES,
    _USED_TWICE,
    _REPAIR,
    _RESOURCE_INDEXES,
    _ARTIFACT_ACCOUNTS,
    _SESSION_MARKS,
    _HOSTS_IN_CHATS,
    _RECORD_SEGMENTS,
    _TURN_TIME,
    _GRANT_USE,
    _CHAT_STARTS,
)
"""The statements of each step, in order."""


def run_migrations(connection: sqlite3.Connection, version: int, last: int = len(MIGRATIONS)) -> None:
    """Run the migrations after schema version `version` up to `last`, in the transaction that is open."""
    for statements in MIGRATIONS[version:last]:
        for statement in statements:
            if isinstance(statement, AddMissingColumn):
                statement.execute(connection)
            else:
                connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {last}")
