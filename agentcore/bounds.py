"""One constant for each bound of the host. Each has a structured error and shows in the metrics."""

RESULT_BYTES = 2 * 1024 * 1024
"""Text, and structured data, of one result."""

RESULT_BLOCKS = 1_000
"""Content blocks of one result: each costs time on the event loop, however little it holds."""

RESULT_PARTS = 200_000
"""Values within the structured data of one result."""

LINK_MESSAGE_PARTS = 400_000
"""Values within one message of a host: a result's, or the definitions of a module, and what is around them."""

RESULT_HEAD_CHARS = 16 * 1024
"""What stays in the result of a text that became an artifact."""

MODEL_CHARS = 25_000
"""Text of one result that a model gets, unless its tool or its agent says otherwise; programs get the whole."""

MODEL_CHARS_MIN = 2_000
"""The least that a tool or an agent may say: a sentence on what is left out has to fit as well."""

MODEL_CHARS_MAX = 1_000_000
"""The most that a tool or an agent may say."""

MODEL_IMAGE_BYTES = 3_750_000
"""One image that a model is shown: providers take 5 MB of base64 (https://docs.anthropic.com/en/docs/vision)."""

IMAGE_BYTES = 8 * 1024 * 1024
"""One image of a result."""

UPLOAD_BYTES = 32 * 1024 * 1024
"""One file that is sent to be attached to a message."""

CALLS_IN_FLIGHT = 256
"""Calls that run or wait at one time."""

CLIENT_CALLS_IN_FLIGHT = 32
"""Calls of one client over MCP that run or wait at one time, unless app.json says otherwise."""

MCP_WAIT_SECONDS = 50.0
"""How long a call over MCP stays open while a person is asked: many clients give up after 60 s."""

CLIENT_RESULTS_KEPT = 256
"""Results of one client over MCP that wait for an equal call after its connection was lost."""

CLIENT_RESULTS_KEPT_BYTES = 16 * 1024 * 1024
"""Their size together; of more, the oldest are dropped, and their calls sent again get an error."""

CALL_NESTING = 8
"""Tools that call tools that call tools."""

ASK_HOST_BYTES = 4 * 1024 * 1024
"""What a module asks itself on another machine, its answer, and the bytes with each."""

STORED_BYTES = 16 * 1024 * 1024
"""What a module stores under one name."""

RESOURCE_QUEUE = 100
"""Calls that wait for one resource."""

RESOURCES_PER_SESSION = 100
"""Living resources of one session and type, at the server and on each host."""

RESOURCE_INDEXES_AHEAD = 1_000
"""How far beyond the next free index that of a resource may be which a host has made by itself."""

RESOURCES_REMEMBERED = 100
"""Resources that are gone, of which is known why."""

REASON_CHARS = 4096
"""Why a resource is gone."""

REOPENING_BYTES = 16 * 1024
"""The arguments of the call that opens a closed resource again, as JSON."""

CLOSED_TABS = 20
"""Tabs of resources that ended with an earlier server; those that were looked at last are kept."""

ICON_BYTES = 128 * 1024
"""The icon of one resource."""

TOOL_ICON_BYTES = 16 * 1024
"""One icon of a tool; lists of tools carry them."""

TOOL_ICONS = 4
"""Icons of one tool: for light and dark, small and large."""

APPROVALS_WAITING = 200
"""Calls that wait for the user."""

APPROVALS_WAITING_PER_CALLER = 32
"""Limit per caller (a chat, a client, a host). The same number is reserved for the user's own calls."""

APPROVALS_WAITING_BYTES_PER_CALLER = 16 * 1024 * 1024
"""Their arguments and previews together, as JSON text."""

EDITS_KEPT = 8
"""Versions of one waiting call with arguments of a person, of which the newest can be approved."""

POLICY_CHANGES_WAITING = 20
"""Changes of what is allowed that wait for the user, of each who asks: a kind of credential, or one paired client."""

PAIRINGS_WAITING = 16
"""Clients that have shown a code and wait for a person, or for their key to be fetched."""

HOSTS_WAITING = 16
"""Connections of hosts of other machines that are not paired, at one time."""

HOSTS_WAITING_PER_ADDRESS = 4
"""Limit per address."""

HOST_OFFER_BYTES = 4 * 1024 * 1024
"""All modules of a host that is not paired, with their definitions: asked for once the user has typed its code."""

APPROVAL_SECONDS = 600.0
"""How long a call waits for a person."""

CALL_SECONDS = 600.0
"""The longest time limit that a caller may ask for, unless the settings say otherwise."""

PREVIEW_SECONDS = 2.0
"""Time limit of a preview; a slower one counts as failed."""

PREVIEWS_PER_CALLER = 2
"""Previews of one caller (a chat, a client, a host, the user) at one time; further ones wait in their order."""

PREVIEW_THREAD_SECONDS = 30.0
"""How long a preview in a thread counts as running after its time limit, if the thread does not end."""

PREVIEW_CHARS = 4 * 1024 * 1024
"""All text of one preview: as much as a call's arguments may have."""

PREVIEW_ENTRIES = 10_000
"""Paths, or addresses, of one preview."""

COMPLETION_SECONDS = 2.0
"""Time limit of completing an argument: a person goes on typing."""

COMPLETION_VALUES = 100
"""Values of one completion at most, as MCP has it."""

COMPLETION_VALUE_CHARS = 1_000
"""Length of one such value; a longer one is left out."""

COMPLETIONS_IN_FLIGHT = 8
"""Completions that one module works on at one time; beyond, nothing is completed."""

CANCEL_GRACE_SECONDS = 1.0
"""How long a cancelled call may clean up before it is abandoned."""

STOP_GRACE_SECONDS = 5.0
"""How long running calls may go on when their module, or the server, stops."""

IMPORT_SECONDS = 30.0
"""Time limit for importing one module."""

HOOK_SECONDS = 10.0
"""Time limit of the hooks that only answer."""

EVENTS_KEPT = 10_000
"""Events that a client can catch up on."""

EVENTS_KEPT_BYTES = 32 * 1024 * 1024
"""The same as JSON text."""

MODULE_EVENTS_KEPT_BYTES = 4 * 1024 * 1024
"""Limit per module, or for all modules of a host on another machine together."""

PROGRESS_INTERVAL_SECONDS = 0.05
"""Progress of one call is published at most this often."""

WATCHED_PER_SESSION = 100
"""Resources that one session of an MCP client watches."""

LOG_CHARS = 2_000
"""One message of a call to the client that makes it."""

LOGS_PER_CALL = 1_000
"""Messages of one call to the client that makes it."""

PROGRESS_CHARS = 2_000
"""The message of one progress."""

OUTPUT_EVENT_CHARS = 8_000
"""What a call has written since the last event of it; of more, the end."""

OUTPUT_KEPT_CHARS = 32_000
"""The end of what a call has written, kept while it runs for pages that open meanwhile."""

OUTPUT_INTERVAL_SECONDS = 0.2
"""What one call writes is told at most this often."""

ARGUMENTS_DEPTH = 100
"""Objects and lists within each other in the arguments of one call of a model."""

ARGUMENTS_RECORDED_CHARS = 4_096
"""Arguments of one call that the record keeps for reading."""

SCHEMA_NODES = 10_000
"""Parts of a JSON Schema from outside, with what it refers to in its place."""

SCHEMA_DEPTH = 200
"""Parts within each other, and references that lead from one to the next."""

LOWERED_PARTS = 3_000
"""Parts of a tool's schema as a model gets it, with what it refers to in its place."""

LOWERED_DEPTH = 40
"""Parts within each other of a tool's schema as a model gets it."""

SCHEMA_PATTERN_BYTES = 1024 * 1024
"""Memory of one compiled pattern of a schema; compiling takes a few milliseconds then."""

VALIDATION_ERRORS = 20
"""Wrong fields that one error names."""

VALIDATION_STEPS = 3_000_000
"""Parts of a JSON Schema times values that are held against them; some 0.25 s, in which nobody else is served."""

EXPLAINED_STEPS = 20_000
"""Of more of them, the first wrong field is named at most: the validator collects all of them before it gives one."""

LOOP_BLOCKED_SECONDS = 0.25
"""A module that holds the event loop longer is named in a warning."""

EXIT_SECONDS = 3.0
"""How long functions may run that were registered for the exit of the process."""

LEFTOVERS_NAMED = 20
"""Things that a module has left behind which are named; more are only counted."""

LOOP_BEAT_SECONDS = LOOP_BLOCKED_SECONDS / 2
"""How often it is seen that the event loop turns."""

LOOP_BLOCKED_END_SECONDS = 30.0
"""A module that holds the event loop so long ends the server."""

LOOP_TURN_SECONDS = 0.05
"""What one turn of the event loop counts at most in deadlines; what holds it longer takes nobody's time."""

WORKER_THREADS = 320
"""Threads for sync tools and file work; more than calls in flight, so that hung ones do not starve the rest."""

PLAIN_CHARS = 1024 * 1024
"""Text in one value that a module hands over, other than a result: a schema, the data of an event."""

PLAIN_PARTS = 100_000
"""Values within one value that a module hands over."""

PLAIN_DEPTH = 60
"""Nesting of one value that a module hands over."""

ERROR_CHARS = 64 * 1024
"""The message of an error of a module, and as much again of its context."""

MODULE_INSTRUCTIONS_CHARS = 1_000
FOREIGN_INSTRUCTIONS_CHARS = 2_000
"""What a module passes on of how the tools of another program are used."""
"""What a module says to models about the use of its tools."""

TEXT_READ_CHARS = 64 * 1024
"""One text that a module says of itself: a description, a note."""

MODULE_NOTES = 100
"""What one module may say about its surroundings."""

MODULE_REQUIREMENTS = 20
"""Requirements that one module may declare."""

DEFINITION_BYTES = 256 * 1024
"""One definition of a tool, as JSON."""

VIEW_CHARS = 4 * 1024 * 1024
"""The document of one tool's view in the chat."""

VIEW_SOURCES = 50
"""Sources that a view declares for one purpose."""

DEFINITION_PARTS = 10_000
"""Values of one definition's schemas, such as the choices of an argument."""

MODULE_PARTS = 100_000
"""The same of all tools of one module together."""

REFRESHES_AT_ONCE = 10
"""So often a module's tools are read again at once, if it says in quick succession that they changed."""

REFRESH_INTERVAL_SECONDS = 10.0
"""The time between two such readings beyond; what it says meanwhile is one change."""

TOOLS_PER_MODULE = 2_000
"""Tools of one module."""

TOOL_SECONDS_MAX = 24 * 3600.0
"""The time limit that a tool may have of its own; the server's bound for calls counts too."""

INIT_SECONDS_MAX = 3600.0
"""The limit of `init` that a module may ask for."""

SOURCE_FILES_READ = 500
"""Files of a module's source that are read to show what it would add to the page."""

SOURCE_BYTES_READ = 1024 * 1024
"""The largest of these files."""
