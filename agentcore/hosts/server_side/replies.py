"""Replies of a host, and its greeting, each read strictly, once."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from agentcore.hosts.server_side.host_messages import HostMessage, Id, Json, Number, Text


class FoundModule(HostMessage):
    """A module that is registered for a host's interpreter under a name."""

    value: Text
    metadata: Text
    file: Text
    package: Text


class FoundModules(HostMessage):
    """All that is."""

    found: Annotated[list[FoundModule], Field(max_length=100)]


class Loaded(HostMessage):
    """A module that a host has loaded."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, alias_generator=None)

    attributes: Json
    description: Text
    config_key: str | None
    settings: Json | None


class InvalidSetting(HostMessage):
    """An error of one setting, in pydantic's form."""

    type: Text
    loc: list[str | int]
    msg: Text


class InvalidSettings(HostMessage):
    """Errors of settings."""

    faults: Annotated[list[InvalidSetting], Field(max_length=1_000)]


class Left(HostMessage):
    """What a module has left behind; None: running modules share its code."""

    left: Annotated[list[Text] | None, Field(max_length=1_000)]


class Defined(HostMessage):
    """The tools of a module."""

    tools: list[Any]
    problems: list[Text]


class Reported(HostMessage):
    """A module's report on its current status."""

    facts: dict[str, str]
    log: Text
    original_names: dict[str, str]


class Checked(HostMessage):
    """The state of a requirement."""

    is_met: bool
    text: Text | dict[str, Text]


class Files(HostMessage):
    """The files of a module's element in the page, with their sizes."""

    files: dict[str, Number]


class Completed(HostMessage):
    """Suggestions for an argument."""

    values: list[str]


class Asked(HostMessage):
    """The answer of a module to the same module on the server.

    Args:
        failed: The error that it raised instead.
        blob: Its bytes, which were sent before.
    """

    answer: Json = Field(default_factory=dict)
    failed: Json | None = None
    blob: Number | None = None


class Answered(HostMessage):
    """The head of a route's answer."""

    status: Annotated[int, Field(ge=200, le=599)]
    mime: Text
    headers: dict[str, Text]
    streams: bool = False
    blob: Number | None = None
    body: Any = None


# -- greeting --------------------------------------------------------------------------------------------------------


class RunningModule(Loaded):
    """A module that kept running without a server, or that a host has started itself, with its tools.

    Args:
        instructions: Instructions for models that it set while running, beside those of its class.
    """

    name: Id
    module: Number
    fingerprint: Text
    tools: Annotated[list[Any], Field(max_length=10_000)] = Field(default_factory=list)
    instructions: Text = ""


class PendingCall(HostMessage):
    """A call that has gone on, or ended, without a server."""

    call: Id
    n: Number
    left_ms: float


class FailedModule(HostMessage):
    """A module that a host could not start."""

    name: Id
    reason: Text


class Hello(HostMessage):
    """The greeting of a host; one that kept running without a server lists what it has.

    Args:
        instance: Of a foreign machine: changes with each start of its program.
        platform: The system of its machine.
        workspace: The folders there that its tools may touch.
        has_more: True if `members` are left out, of one that is not paired, and can be requested.
    """

    protocol: Id
    name: Id
    pid: Annotated[int, Field(gt=0, le=2**31)]
    version: Annotated[str, Field(max_length=100)] = ""
    highest: Annotated[int, Field(ge=0, le=2**48)] = 0
    greeting: Json = Field(default_factory=dict)
    members: list[RunningModule] = Field(default_factory=list)
    calls: list[PendingCall] = Field(default_factory=list)
    instance: Annotated[str, Field(max_length=100)] = ""
    platform: Annotated[str, Field(max_length=200)] = ""
    workspace: Annotated[list[Text], Field(max_length=100)] = Field(default_factory=list)
    failed: Annotated[list[FailedModule], Field(max_length=1_000)] = Field(default_factory=list)
    has_more: bool = False
