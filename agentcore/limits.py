"""The limits of the core, one constant each. Each has a structured error and appears in the metrics."""

RESULT_BYTES = 2 * 1024 * 1024
"""Maximum size of the text, and of the structured data, of a result."""

RESULT_BLOCKS = 1_000
"""Maximum number of content blocks of a result: each takes time on the event loop, however small it is."""

RESULT_PARTS = 200_000
"""Maximum number of values in the structured data of a result."""

LINK_MESSAGE_PARTS = 400_000
"""Maximum number of values in a message of a host: a result or the definitions of a module, with the envelope."""

RESULT_HEAD_CHARS = 16 * 1024
"""Length of the start of a text that stays in the result when the text becomes an artifact."""

MODEL_CHARS = 25_000
"""Text of a result sent to a model, unless its tool or agent sets another limit; programs get the whole text."""

MODEL_CHARS_MIN = 2_000
"""Minimum that a tool or an agent can set: the sentence on what was omitted has to fit as well."""

MODEL_CHARS_MAX = 1_000_000
"""Maximum that a tool or an agent can set."""

MODEL_IMAGE_BYTES = 3_750_000
"""Maximum size of an image for a model: providers accept 5 MB of base64 (https://docs.anthropic.com/en/docs/vision)."""

IMAGE_BYTES = 8 * 1024 * 1024
"""Maximum size of an image of a result."""

UPLOAD_BYTES = 32 * 1024 * 1024
"""Maximum size of a file uploaded as an attachment."""

RECORD_BYTES = 1 << 30
"""Maximum size of the record of calls, unless app.json sets another limit; the oldest rows are deleted beyond it."""

CHATS_BYTES = 1 << 30
"""Size of all chats from which on it is reported; only the user deletes chats."""

RECORD_DAYS = 365
"""Maximum age of rows of the record, unless app.json sets another limit."""

CALLS_IN_FLIGHT = 256
"""Maximum number of calls that run or wait at one time."""

CLIENT_CALLS_IN_FLIGHT = 32
"""Maximum number of calls per MCP client that run or wait at one time, unless app.json sets another limit."""

MCP_WAIT_SECONDS = 50.0
"""How long an MCP call stays open while approval is pending: many clients time out after 60 s."""

CLIENT_TOOLS_LISTED = 48
"""Maximum number of tools listed for an MCP client, unless app.json sets another; it finds the others."""

MCP_TOOLS_WAIT_SECONDS = 5.0
"""How long a client's list of tools waits for modules that are starting: clients give a start 10 s or more."""

CLIENT_RESULTS_KEPT = 256
"""Maximum number of results per MCP client that are kept for an equal call after its connection was lost."""

CLIENT_RESULTS_KEPT_BYTES = 16 * 1024 * 1024
"""Maximum total size of these results; beyond it the oldest are dropped, and repeating their calls returns an error."""

CALL_NESTING = 8
"""Maximum nesting of tools that call tools."""

ASK_HOST_BYTES = 4 * 1024 * 1024
"""Maximum size of a module's request to itself on another machine, of the answer, and of the bytes with each."""

STORED_BYTES = 16 * 1024 * 1024
"""Maximum size of what a module stores under one name."""

RESOURCE_QUEUE = 100
"""Maximum number of calls that wait for one resource."""

RESOURCES_PER_SESSION = 100
"""Maximum number of live resources per session and type, in the server and on each host."""

RESOURCE_INDEXES_AHEAD = 1_000
"""How far beyond the next free index the index of a resource may be that a host has created by itself."""

RESOURCES_REMEMBERED = 100
"""Number of closed resources for which the reason is kept."""

REASON_CHARS = 4096
"""Maximum length of the reason why a resource was closed."""

REOPENING_BYTES = 16 * 1024
"""Maximum size of the arguments of the call that reopens a closed resource, as JSON."""

CLOSED_TABS = 20
"""Number of tabs kept of resources that ended with an earlier server; the most recently viewed are kept."""

ICON_BYTES = 128 * 1024
"""Maximum size of the icon of a resource."""

TOOL_ICON_BYTES = 16 * 1024
"""Maximum size of an icon of a tool; lists of tools include them."""

TOOL_ICONS = 4
"""Maximum number of icons of a tool: for light and dark, small and large."""

READABLE_RESOURCES = 1_000
"""Maximum number of resources that a tool reads and clients list; each list of a client contains all of them."""

RESOURCE_URI_CHARS = 4_000
"""Maximum length of the URI of such a resource, and of one that a client reads."""

APPROVALS_WAITING = 200
"""Maximum number of calls that wait for approval."""

APPROVALS_WAITING_PER_CALLER = 32
"""Limit per caller (a chat, a client, a host). The same number is reserved for the user's own calls."""

APPROVALS_WAITING_BYTES_PER_CALLER = 16 * 1024 * 1024
"""Maximum total size of the waiting calls' arguments and previews per caller, as JSON text."""

EDITS_KEPT = 8
"""Versions of a waiting call with arguments edited by the user; only the newest can be approved."""

POLICY_CHANGES_WAITING = 20
"""Maximum number of policy changes waiting for the user, per requester: a kind of credential, or a paired client."""

PAIRINGS_WAITING = 16
"""Maximum number of clients that have shown a code and wait for the user, or have not fetched their key yet."""

HOSTS_WAITING = 16
"""Maximum number of concurrent connections of unpaired hosts on other machines."""

HOSTS_WAITING_PER_ADDRESS = 4
"""Limit per address."""

HOST_OFFER_BYTES = 4 * 1024 * 1024
"""Maximum size of all modules of an unpaired host with their definitions, requested once the user has entered its code.
"""

APPROVAL_SECONDS = 600.0
"""How long a call waits for approval."""

CALL_SECONDS = 600.0
"""Maximum time limit that a caller may request, unless the settings set another one."""

PREVIEW_SECONDS = 2.0
"""Time limit of a preview; a slower one counts as failed."""

PREVIEWS_PER_CALLER = 2
"""Maximum number of concurrent previews per caller (a chat, a client, a host, the user); others wait in order."""

PREVIEW_THREAD_SECONDS = 30.0
"""How long a preview in a thread counts as running after its time limit, if the thread does not end."""

PREVIEW_CHARS = 4 * 1024 * 1024
"""Maximum length of all text of a preview: the same as for a call's arguments."""

PREVIEW_ENTRIES = 10_000
"""Maximum number of paths, or of addresses, of a preview."""

COMPLETION_SECONDS = 2.0
"""Time limit for completing an argument: the user continues typing meanwhile."""

COMPLETION_VALUES = 100
"""Maximum number of values of a completion, as in MCP."""

COMPLETION_VALUE_CHARS = 1_000
"""Maximum length of such a value; longer ones are omitted."""

COMPLETIONS_IN_FLIGHT = 8
"""Maximum number of concurrent completions per module; further ones return nothing."""

CANCEL_GRACE_SECONDS = 1.0
"""How long a cancelled call may clean up before it is abandoned."""

STOP_GRACE_SECONDS = 5.0
"""How long running calls may continue when their module or the server stops."""

IMPORT_SECONDS = 30.0
"""Time limit for importing one module."""

HOOK_SECONDS = 10.0
"""Time limit of hooks that only return a value."""

EVENTS_KEPT = 10_000
"""Number of past events that a client can catch up on."""

EVENTS_KEPT_BYTES = 32 * 1024 * 1024
"""Maximum size of these events as JSON text."""

MODULE_EVENTS_KEPT_BYTES = 4 * 1024 * 1024
"""Limit per module, or for all modules of a host on another machine together."""

PROGRESS_INTERVAL_SECONDS = 0.05
"""Minimum interval between progress events of a call."""

WATCHED_PER_SESSION = 100
"""Maximum number of resources that a session of an MCP client can subscribe to."""

LOG_CHARS = 2_000
"""Maximum length of a log message of a call to its client."""

LOGS_PER_CALL = 1_000
"""Maximum number of log messages of a call to its client."""

PROGRESS_CHARS = 2_000
"""Maximum length of a progress message."""

OUTPUT_EVENT_CHARS = 8_000
"""Maximum length of the output in one event of a call; of longer output, the end is sent."""

OUTPUT_KEPT_CHARS = 32_000
"""Length of the end of a call's output that is kept while it runs, for pages opened meanwhile."""

OUTPUT_INTERVAL_SECONDS = 0.2
"""Minimum interval between output events of a call."""

ARGUMENTS_DEPTH = 100
"""Maximum nesting of objects and lists in the arguments of a model's call."""

ARGUMENTS_RECORDED_CHARS = 4_096
"""Maximum length of a call's arguments in the record."""

SCHEMA_NODES = 10_000
"""Maximum number of nodes of an external JSON Schema with its references expanded."""

SCHEMA_DEPTH = 200
"""Maximum nesting of schema nodes, and length of chains of references."""

LOWERED_PARTS = 3_000
"""Maximum number of nodes of a tool's schema as sent to a model, with its references expanded."""

LOWERED_DEPTH = 40
"""Maximum nesting of a tool's schema as sent to a model."""

SCHEMA_PATTERN_BYTES = 1024 * 1024
"""Maximum memory of a compiled pattern of a schema, which limits compiling to a few milliseconds."""

VALIDATION_ERRORS = 20
"""Maximum number of invalid fields named by an error."""

VALIDATION_STEPS = 3_000_000
"""Maximum number of schema nodes times values checked against them: about 0.25 s, during which nothing else is served.
"""

EXPLAINED_STEPS = 20_000
"""Above it at most the first invalid field is named: the validator collects all errors before it yields one."""

LOOP_BLOCKED_SECONDS = 0.25
"""A module that blocks the event loop for longer is named in a warning."""

EXIT_SECONDS = 3.0
"""Time limit for functions registered for the exit of the process."""

LEFTOVERS_NAMED = 20
"""Maximum number of leftovers of a module that are named; the others are only counted."""

LOOP_BEAT_SECONDS = LOOP_BLOCKED_SECONDS / 2
"""Interval of the check that the event loop is running."""

LOOP_BLOCKED_END_SECONDS = 30.0
"""A module that blocks the event loop for this long ends the server."""

LOOP_TURN_SECONDS = 0.05
"""Maximum time that one turn of the event loop adds to deadlines; a longer block is not charged to any call."""

WORKER_THREADS = 320
"""Threads for sync tools and file work; more than calls in flight, so that hung ones do not starve the others."""

PLAIN_CHARS = 1024 * 1024
"""Maximum length of text in a value other than a result from a module: a schema, the data of an event."""

PLAIN_PARTS = 100_000
"""Maximum number of values within such a value."""

PLAIN_DEPTH = 60
"""Maximum nesting of such a value."""

ERROR_CHARS = 64 * 1024
"""Maximum length of an error message of a module, and separately of its context."""

MODULE_INSTRUCTIONS_CHARS = 1_000
"""Maximum length of a module's instructions to models on the use of its tools."""

FOREIGN_INSTRUCTIONS_CHARS = 2_000
"""Maximum length of another program's instructions on the use of its tools that a module passes on."""

CHAT_START_CHARS = 8_000
"""Maximum length of what a module tells models when a chat begins, and separately of the untrusted part of it."""

TEXT_READ_CHARS = 64 * 1024
"""Maximum length of a text in which a module describes itself: a description, a note."""

MODULE_NOTES = 100
"""Maximum number of diagnostics of a module about its environment."""

MODULE_REQUIREMENTS = 20
"""Maximum number of requirements that a module may declare."""

DEFINITION_BYTES = 256 * 1024
"""Maximum size of a tool definition as JSON."""

VIEW_CHARS = 4 * 1024 * 1024
"""Maximum length of the document of a tool's view in the chat."""

VIEW_SOURCES = 50
"""Maximum number of sources that a view declares for one purpose."""

DEFINITION_PARTS = 10_000
"""Maximum number of values in the schemas of a definition, such as the choices of an argument."""

MODULE_PARTS = 100_000
"""Maximum number of such values in all definitions of a module together."""

REFRESHES_AT_ONCE = 10
"""How often a module's tools are read again without delay when it reports changes in quick succession."""

REFRESH_INTERVAL_SECONDS = 10.0
"""Interval between further readings; changes reported meanwhile count as one."""

TOOLS_PER_MODULE = 2_000
"""Maximum number of tools of a module."""

TOOL_SECONDS_MAX = 24 * 3600.0
"""Maximum time limit of a tool's own; the server's limit for calls applies too."""

INIT_SECONDS_MAX = 3600.0
"""Maximum time limit for `init` that a module may request."""

SOURCE_FILES_READ = 500
"""Maximum number of a module's source files that are read to show what it would add to the page."""

SOURCE_BYTES_READ = 1024 * 1024
"""Maximum size of one of these files."""
