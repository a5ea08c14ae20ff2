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
    EventType("call.started", "callId, tool, module", "A module starts to carry out a call."),
    EventType("call.progress", "callId, message, fraction?", "Progress of a call; `fraction` is from 0 to 1."),
    EventType(
        "call.output",
        "callId, text, end",
        "Output of a running call, a chunk of at most 8,000 characters; `end` is the number of characters so far. "
        "`GET /api/calls/{id}/output` returns the end of all output.",
        is_kept=False,
    ),
    EventType(
        "call.finished",
        "callId, tool, module, outcome, durationMs",
        "A call has ended; `outcome` is `ok` or the type of its error.",
    ),
    EventType("tools.changed", "tools", "The tool list changed; `tools` is the new count."),
    EventType(
        "tools.servedChanged",
        "module, address",
        "The content that a module serves to MCP clients under an address changed.",
        is_kept=False,
    ),
    EventType("module.stateChanged", "module, state, reason", "The state of a module changed."),
    EventType("requirement.declared", "name, module", "A module declared what it needs on the machine."),
    EventType(
        "requirement.changed",
        "name, host, state",
        "The state of a requirement of modules on the machine changed: `met`, `missing`, `installing`.",
    ),
    EventType(
        "requirement.progress",
        "name, text, fraction",
        "Progress of an installation: `text` is a text or one for each language, `fraction` is from 0 to 1, or null.",
    ),
    EventType(
        "host.stateChanged",
        "host, state, reason",
        "The state of a host changed: `stopped`, `starting`, `running`, `failed`; for one on another machine also "
        "`away`, `draining`, `drained`, `disconnected`.",
    ),
    EventType("hosts.changed", "host", "A host on another machine was paired or removed."),
    EventType("module.blocked", "module, tool, durationMs", "Code of a module blocked the event loop."),
    EventType(
        "resource.stateChanged",
        "resourceId, resourceType, chatSessionId, index, adapterType, status, lastUrl, title, icon, keepRunning, "
        "createdAt, lastUsedAt, host?, lostBy?",
        "A resource was created, has changed, or has ended (`status` is `closed`); `host` is set if it is on another "
        "machine, `lostBy` is the reason if it ended without being closed.",
    ),
    EventType(
        "workspace.quarantined",
        "modules, host, files",
        "Confined programs of these modules created or changed files that decide what runs outside the sandbox; each "
        "of `files` has `path`, `aside` (its new path; empty: it could not be moved), `why` and `instead`.",
    ),
    EventType("resource.progress", "resourceId, callId?, message?, fraction?, …", "Progress of a call on a resource."),
    EventType(
        "resource.log", "resourceId, callId?, tool?, outcome?, durationMs?, …", "A call on a resource has ended."
    ),
    EventType(
        "resource.screenshot",
        "resourceId, callId?, mime?, artifactId?, …",
        "An image from a call on a resource; `artifactId` is null if it is in the result itself.",
        is_kept=False,
    ),
    EventType("resource.error", "resourceId, …", "An error of a resource, as its module reports it."),
    EventType("tabs.changed", "", "The list of tabs should be read again."),
    EventType("approval.requested", "callId, tool, expiresAt", "A call waits for the user's approval."),
    EventType(
        "approval.changed",
        "callId, changes",
        "A waiting call changed and needs a new decision; `changes`: `tool`, `target`, `rules`.",
    ),
    EventType("approval.decided", "callId, approved, by", "The user decided on a call."),
    EventType("approval.question", "questionId", "The question that waits in a session changed; null: there is none."),
    EventType("approval.withdrawn", "callId", "A waiting call was withdrawn by its caller."),
    EventType("grant.given", "grantId, tool", "The user allowed later calls along with an approval."),
    EventType("grant.revoked", "grantId", "A grant was revoked."),
    EventType("policy.requested", "changeId, kind, subject, expiresAt", "A policy change waits for the user."),
    EventType("policy.decided", "changeId, outcome, by", "A policy change was applied, refused, or dropped."),
    EventType("pairing.requested", "pairingId, name, expiresAt", "A client requests pairing."),
    EventType("pairing.decided", "pairingId, outcome, by", "The pairing of a client was decided."),
    EventType("clients.changed", "name, connected", "An MCP client connected, or a connection of it ended."),
    EventType("approvers.changed", "name, outcome", "A client was paired, or its key revoked."),
    EventType("settings.changed", "module, paths", "Settings were written; `module` is null for those of app.json."),
    EventType("stop.changed", "stopped, by", "The emergency stop was used or lifted."),
    EventType(
        "session.message",
        "number, role, text, calls?, attachments?, page?, thread?",
        "A message that is not from a model, in the form of the message list.",
    ),
    EventType("session.content", "content, thread?", "A chunk of the response."),
    EventType("session.thinking", "content, thread?", "A chunk of the model's reasoning."),
    EventType(
        "session.progress",
        "turn",
        "A request to the model starts: `turn` says how much of its limits the turn has used (`steps`, `tokens`, "
        "`seconds`, `maxSteps`, `maxTokens`, `maxSeconds`).",
    ),
    EventType(
        "session.modelWait",
        "wait, thread?",
        "The provider cannot answer before `wait.until` (milliseconds since 1970); `wait.reason` is `rate_limited`, "
        "`loading` or `unavailable`. With `reading`, it has read `wait.readTokens` of `wait.promptTokens` of the "
        "request. Null: the request is sent again, or was read.",
    ),
    EventType(
        "session.toolCall", "tool_call, thread?", "A call that the model requests, in the wire format of the chat."
    ),
    EventType(
        "session.toolState",
        "toolId, state, callId?, expiresAt?, reason?, needsApproval?, answeredBy?, thread?",
        "The state of a call: `new` before approval is requested, `waiting`, `running`. For a client's call that the "
        "user approved, `needsApproval` is false, and `answeredBy` names who approved it.",
    ),
    EventType("session.toolResult", "tool_result, thread?", "The result of a call, in the wire format of the chat."),
    EventType(
        "session.compacted",
        "number, compaction, thread?",
        "The context of the model was compacted: `shortenedResults`, `cutParts`, `replacedMessages`, `summary?`, "
        "`tokensBefore`, `tokensAfter`; the message of this number shows that to the user.",
    ),
    EventType("session.error", "error, thread?", "An error in a turn."),
    EventType(
        "session.finished",
        "message, usage, waiting, thread?",
        "The turn ended; the end of a request that was answered during the turn of another one is sent to its client "
        "only.",
    ),
    EventType("session.rewound", "number", "This message and all later ones were removed."),
    EventType(
        "session.queue",
        "messages, isPaused",
        "All queued messages of the user: `messageId`, `text`, `attachments`, `when`, "
        "`createdAt`, `page`; `isPaused` is true while the queue waits until the user resumes it.",
    ),
    EventType("session.todos", "todos", "The session's to-do list."),
    EventType("session.question", "question", "A tool's question to the user; null when there is none any more."),
    EventType(
        "session.changed",
        "title, agentId?, model?, mode?, ownMode?, host?, ownHost?, userId?, createdAt?, lastUsedAt?, isRunning?, "
        "waiting?, questions?, todos?, question?, usage?, context?",
        "A session has changed; omitted fields are unchanged.",
    ),
    EventType("session.deleted", "", "A session was deleted."),
    EventType("events.reset", "", "Events were lost: lists should be read again.", is_kept=False),
)

ENVELOPE = frozenset(("id", "type", "time", "sessionId"))
"""The fields that every event has, `sessionId` where it belongs to one; no event has others under these names."""

OWN_TOPICS = frozenset(event.name.partition(".")[0] for event in EVENT_TYPES)
"""The prefixes of the server's own event types; modules cannot publish events with these."""

NOT_KEPT = frozenset(event.name for event in EVENT_TYPES if not event.is_kept)
"""The events that a client that resumes does not get."""
