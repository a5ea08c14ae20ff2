"""What a host answers, and how it greets, each read strictly, once."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from agentcore.hosts.places.messages import HostMessage, Id, Json, Number, Text


class FoundModule(HostMessage):
    """What is registered for a host's interpreter under the name of a module."""

    value: Text
    metadata: Text
    file: Text
    package: Text


class FoundModules(HostMessage):
    """All that is."""

    found: Annotated[list[FoundModule], Field(max_length=100)]


class Loaded(HostMessage):
    """What a host says of a module that it has loaded."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, alias_generator=None)

    attributes: Json
    description: Text
    config_key: str | None
    settings: Json | None


class InvalidSetting(HostMessage):
    """What is wrong with one setting, as pydantic says it."""

    type: Text
    loc: list[str | int]
    msg: Text


class InvalidSettings(HostMessage):
    """What is wrong with settings."""

    faults: Annotated[list[InvalidSetting], Field(max_length=1_000)]


class Left(HostMessage):
    """What a module has left behind; None: others share its code, and run."""

    left: Annotated[list[Text] | None, Field(max_length=1_000)]


class Defined(HostMessage):
    """The tools of a module."""

    tools: list[Any]
    problems: list[Text]


class Reported(HostMessage):
    """What a module says of how it is just now."""

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
    """What an argument can be."""

    values: list[str]


class Asked(HostMessage):
    """What a module answers to the same module on the server.

    Args:
        failed: What it raised instead.
        blob: Its bytes, which came before.
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
    """A module that has gone on without a server, or that a host has started by itself, with its tools.

    Args:
        instructions: What its module gives models to read while it runs, beside what its class declares.
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
    """A host greets; one that has gone on without a server says what it holds.

    Args:
        instance: Of one on another machine: another one with each start of its program.
        platform: The system of its machine.
        workspace: The folders there that its tools may touch.
        has_more: Whether `members` are left out, of one that is not paired, and can be asked for.
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
