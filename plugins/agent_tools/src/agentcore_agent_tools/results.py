"""Types of the tools' structured results, with field names as on the wire."""

from typing import NotRequired, TypedDict


class TodoItem(TypedDict):
    """One thing to do."""

    id: str
    content: str
    status: str


class TodoList(TypedDict):
    """The list as it stands."""

    todos: list[TodoItem]
    completed: int
    total: int


class StoredMemory(TypedDict):
    """One memory; `updatedAt` in milliseconds since 1970.

    `preference`: whether it is sent in every chat. `savedAfter`: the sources of untrusted content that the model had
    read when it saved it.
    """

    key: str
    content: str
    updatedAt: int
    preference: bool
    savedAfter: list[str]


class MemoryResult(TypedDict, total=False):
    """What was saved, the key of what was deleted, or what was found, of `total`."""

    memory: StoredMemory
    deleted: str
    memories: list[StoredMemory]
    total: int


class UserAnswer(TypedDict):
    """What the person answered, and whether that was one of the options."""

    answer: str
    isOption: bool


class AgentReport(TypedDict):
    """What a sub-agent reported."""

    report: str


class CompactedHistory(TypedDict):
    """How many messages the summary stands for, and how many turns stayed."""

    replacedMessages: int
    keptTurns: int
    summary: str


class ArtifactLine(TypedDict):
    """One line of an artifact, by its number from 1."""

    line: int
    text: str


class ArtifactResult(TypedDict):
    """What is known of an artifact, and of what was done with it."""

    artifactId: str
    name: str
    mime: str
    sizeBytes: int
    offset: NotRequired[int]
    lines: NotRequired[int]
    bytes: NotRequired[int]
    totalLines: NotRequired[int]
    matches: NotRequired[list[ArtifactLine]]
    total: NotRequired[int]
    path: NotRequired[str]


class SessionResource(TypedDict):
    """A process, a page or another resource of the session; tools accept both ids."""

    resourceId: str
    shortId: str
    resourceType: str
    status: str
    title: NotRequired[str]
    lastUrl: NotRequired[str]
    host: NotRequired[str]


class RunningAgent(TypedDict):
    """A sub-agent that runs: the call that it works for, how deep it is nested, and the start of its prompt."""

    callId: str
    depth: int
    prompt: str


class SessionArtifact(TypedDict):
    """An artifact of the session."""

    artifactId: str
    name: str
    mime: str
    sizeBytes: int


class RunningList(TypedDict):
    """Everything that belongs to a session; of artifacts the newest."""

    resources: list[SessionResource]
    subAgents: list[RunningAgent]
    artifacts: list[SessionArtifact]


class KnownHost(TypedDict):
    """A machine beside the server; `state` is `running`, `away`, `draining`, `drained` or `disconnected`."""

    name: str
    state: str
    platform: str
    folders: list[str]
    modules: list[str]


class HostList(TypedDict):
    """The machines beside the server."""

    hosts: list[KnownHost]
