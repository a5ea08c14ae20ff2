"""All events that the server itself publishes, with their fields. The table in docs/http-api.md is generated from it.

A module's events begin with its name; the module chooses their fields.
"""

from typing import NamedTuple


class EventType(NamedTuple):
    """One event.

    Args:
        fields: Its own fields beside `id`, `type`, `time` and `sessionId`; `?` marks optional ones,
            `…` stands for fields that its publisher chooses.
        meaning: When it is published, and the meaning of its fields.
        is_kept: True if a client that resumes gets it.
    """

    name: str
    fields: str
    meaning: str
    is_kept: bool = True


EVENT_TYPES = (
    EventType("call.started", "callId, tool, module", "A module begins with a call."),
    EventType("call.progress", "callId, message, fraction?", "How far a call is; `fraction` is from 0 to 1."),
    EventType(
        "call.output",
        "callId, text, end",
        "What a call writes while it runs, a piece of at most 8,000 characters; `end` is how many there were with it. "
        "`GET /api/calls/{id}/output` has the end of all.",
        is_kept=False,
    ),
    EventType(
        "call.finished",
        "callId, tool, module, outcome, durationMs",
        "A call has ended; `outcome` is `ok` or the type of its error.",
    ),
    EventType("tools.changed", "tools", "There are other tools now; `tools` is their number."),
    EventType(
        "tools.servedChanged",
        "module, address",
        "What a module serves to clients of MCP under an address is something else now.",
        is_kept=False,
    ),
    EventType("module.stateChanged", "module, state, reason", "A module is in another state."),
    EventType("requirement.declared", "name, module", "A module declared what it needs on the machine."),
    EventType(
        "requirement.changed",
        "name, host, state",
        "What modules need on the machine was found, is missing or is being installed: `met`, `missing`, `installing`.",
    ),
    EventType(
        "requirement.progress",
        "name, text, fraction",
        "How far an installation is: `text` is a text or one for each language, `fraction` is from 0 to 1, or null.",
    ),
    EventType(
        "host.stateChanged",
        "host, state, reason",
        "A host, in which modules run, is in another state: `stopped`, `starting`, `running`, `failed`; of one on "
        "another machine `away`, `draining`, `drained`, `disconnected` too.",
    ),
    EventType("hosts.changed", "host", "A host on another machine was let in, or forgotten."),
    EventType("module.blocked", "module, tool, durationMs", "Code of a module has held the whole server."),
    EventType(
        "resource.stateChanged",
        "resourceId, resourceType, chatSessionId, index, adapterType, status, lastUrl, title, icon, keepRunning, "
        "createdAt, lastUsedAt, host?, lostBy?",
        "A resource was made, has changed, or has ended (`status` is `closed`); `host` is there where it is on another "
        "machine, `lostBy` says what became of one that ended without being closed.",
    ),
    EventType(
        "workspace.quarantined",
        "modules, host, files",
        "Confined programs of these modules made or changed files that decide what runs outside of the sandbox; each "
        "of `files` has `path`, `aside` (where it is now; empty: it could not be moved), `why` and `instead`.",
    ),
    EventType("resource.progress", "resourceId, callId?, message?, fraction?, …", "How far a call on a resource is."),
    EventType(
        "resource.log", "resourceId, callId?, tool?, outcome?, durationMs?, …", "A call on a resource has ended."
    ),
    EventType(
        "resource.screenshot",
        "resourceId, callId?, mime?, artifactId?, …",
        "A picture that a call on a resource gave; `artifactId` is null where it stands in the result itself.",
        is_kept=False,
    ),
    EventType("resource.error", "resourceId, …", "What went wrong with a resource, as its module says it."),
    EventType("tabs.changed", "", "The list of tabs should be read anew."),
    EventType("approval.requested", "callId, tool, expiresAt", "A call waits for a person."),
    EventType(
        "approval.changed",
        "callId, changes",
        "A call that waits is another one now and is asked about again; `changes`: `tool`, `target`, `rules`.",
    ),
    EventType("approval.decided", "callId, approved, by", "A person has decided on a call."),
    EventType("approval.withdrawn", "callId", "Nobody wants a call any more that waited for a person."),
    EventType(
        "policy.requested", "changeId, kind, subject, expiresAt", "A change of what is allowed waits for a person."
    ),
    EventType(
        "policy.decided", "changeId, outcome, by", "A change of what is allowed was applied, refused, or dropped."
    ),
    EventType("pairing.requested", "pairingId, name, expiresAt", "A client wants to be paired."),
    EventType("pairing.decided", "pairingId, outcome, by", "Somebody has decided on a client."),
    EventType("approvers.changed", "name, outcome", "A client was paired, or its key revoked."),
    EventType("settings.changed", "module, paths", "Settings were written; `module` is null for those of app.json."),
    EventType("stop.changed", "stopped, by", "The emergency stop was used, or lifted."),
    EventType(
        "session.message",
        "number, role, text, calls?, attachments?, page?, thread?",
        "A message that is no model's, as it is listed.",
    ),
    EventType("session.content", "content, thread?", "A piece of the answer."),
    EventType("session.thinking", "content, thread?", "A piece of what the model thinks."),
    EventType("session.toolCall", "tool_call, thread?", "A call that the model wants, as on the wire of the chat."),
    EventType(
        "session.toolState",
        "toolId, state, callId?, expiresAt?, reason?, needsApproval?, answeredBy?, thread?",
        "How far a call is: `new` while a person is about to be asked, `waiting`, `running`. Of a client's call that a "
        "person lets it run, `needsApproval` false, and who that was.",
    ),
    EventType("session.toolResult", "tool_result, thread?", "How a call ended, as on the wire of the chat."),
    EventType(
        "session.compacted",
        "number, compaction, thread?",
        "What the model is told was made shorter: `shortenedResults`, `cutParts`, `replacedMessages`, `summary?`, "
        "`tokensBefore`, `tokensAfter`; the message of this number says so to the person.",
    ),
    EventType("session.error", "error, thread?", "What went wrong in a turn."),
    EventType(
        "session.finished",
        "message, usage, waiting, thread?",
        "The turn ended; the end of a request that was answered while another one's turn goes on is told to its client "
        "alone.",
    ),
    EventType("session.rewound", "number", "This message and all after it are gone."),
    EventType(
        "session.queue",
        "messages, isPaused",
        "The person's messages that wait for their turn, all of them: `messageId`, `text`, `attachments`, `when`, "
        "`createdAt`, `page`; whether they are held until a person lets them go on.",
    ),
    EventType("session.todos", "todos", "The session's list of things to do."),
    EventType("session.question", "question", "What a tool asks the person; null when there is nothing more."),
    EventType(
        "session.changed",
        "title, agentId?, model?, mode?, ownMode?, host?, ownHost?, userId?, createdAt?, lastUsedAt?, isRunning?, "
        "waiting?, todos?, question?, usage?, context?",
        "A session has changed; fields that are not there are as they were.",
    ),
    EventType("session.deleted", "", "A session was forgotten."),
    EventType("events.reset", "", "Events are missing for good: lists should be read anew.", is_kept=False),
)

ENVELOPE = frozenset(("id", "type", "time", "sessionId"))
"""The fields that every event has, `sessionId` where it belongs to one; no event has others under these names."""

OWN_TOPICS = frozenset(event.name.partition(".")[0] for event in EVENT_TYPES)
"""The prefixes of the server's own event types; modules cannot publish events with these."""

NOT_KEPT = frozenset(event.name for event in EVENT_TYPES if not event.is_kept)
"""The events that a client that resumes does not get."""
