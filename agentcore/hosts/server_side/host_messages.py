"""Messages of a host, each read strictly, once; results of calls, which are many, are read by their link.

An invalid message raises a `LinkError`, which ends the link: an honest host has validated what its modules pass.
"""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError
from pydantic.alias_generators import to_camel

from agentcore.api.operation import Operation
from agentcore.api.resource import Resource
from agentcore.core.module_code.plain_values import plain_text
from agentcore.hosts.wire.frames import LinkError
from agentcore.hosts.wire.operation_messages import decode_request
from agentcore.hosts.wire.values import Number, resource_of
from agentcore.limits import TEXT_READ_CHARS

_FAULT_CHARS = 300

Text = Annotated[str, Field(max_length=TEXT_READ_CHARS)]
Id = Annotated[str, Field(min_length=1, max_length=1_000)]
Json = dict[str, Any]
M = TypeVar("M", bound="HostMessage")


class HostMessage(BaseModel):
    """One message of a host; a newer host may send more fields."""

    model_config = ConfigDict(
        strict=True, extra="ignore", frozen=True, alias_generator=to_camel, protected_namespaces=()
    )


class Nothing(HostMessage):
    """A message without fields."""


class Goodbye(HostMessage):
    """A host ends the link.

    Args:
        is_over: True if its program ends: its resources do not come back.
    """

    reason: str = ""
    is_over: bool = False


class Pong(HostMessage):
    """A sign of life."""

    n: Number


class Progress(HostMessage):
    """Progress of a call."""

    n: Number
    kind: Id
    fraction: float | None = None
    message: str = ""
    level: str = "info"
    text: str = ""


# -- resources -------------------------------------------------------------------------------------------------------


class OfResource(HostMessage):
    """A resource of one of the host's modules, new or changed."""

    resource: Annotated[Resource, PlainValidator(resource_of)]


class CreateResource(OfResource):
    """A module has created a resource."""

    owner: Id


class Icon(HostMessage):
    """The icon of a resource."""

    mime: Text
    base64: str


class Reopening(HostMessage):
    """The call that opens a resource again."""

    tool: Text
    arguments: Json


class UpdateResource(OfResource):
    """A resource is another than it was."""

    icon: Icon | None = None
    reopening: Reopening | None = None


class SurvivingResource(CreateResource, UpdateResource):
    """A resource that has gone on without a server."""


class ResourceEvent(HostMessage):
    """Something happened to a resource."""

    resource_id: Id
    event: Id
    data: Json


class ReleaseResource(HostMessage):
    """A resource has ended."""

    resource_id: Id
    reason: Text


# -- messages of modules
# -------------------------------------------------------------------------------------------------


class OfModule(HostMessage):
    """A message of a module, by the number of its start."""

    module: Number


class LivingResources(OfModule):
    """All resources that a module has which has gone on without a server."""

    living: list[Id]


class QuarantinedFile(HostMessage):
    """A control file that was taken out of effect."""

    path: Text
    aside: Text
    why: Text
    instead: Text


class ControlFilesReport(HostMessage):
    """What the user has to know of the control files of the host's workspace."""

    modules: Annotated[list[Number], Field(max_length=1_000)]
    quarantined: Annotated[list[QuarantinedFile], Field(max_length=1_000)]
    limit: Text
    advice: Text


class Subscribe(OfModule):
    """A subscription to events."""

    subscription: Number
    pattern: Text


class Unsubscribe(OfModule):
    """The end of it."""

    subscription: Number


class Blocked(OfModule):
    """A module blocked the event loop of its host."""

    tool: Text
    place: Text
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class LoginState(HostMessage):
    """The state of a login."""

    state: Text
    said: Text
    address: Text


class Login(OfModule):
    """The state of a module's login."""

    status: LoginState


LocalizedText = Text | dict[str, Text]


class RequirementInfo(HostMessage):
    """The description of a requirement; its fields are those of `agentcore.api.RequirementInfo`."""

    model_config = ConfigDict(alias_generator=None)

    name: Text
    title: LocalizedText
    purpose: LocalizedText
    command: Text
    installs: LocalizedText
    download_bytes: Number
    is_required: bool
    is_installable: bool


class DeclareRequirement(OfModule):
    """A module declares what it needs on its machine."""

    info: RequirementInfo


class RequirementProgress(OfModule):
    """How far an installation is."""

    name: Text
    text: LocalizedText
    fraction: float | None


class AddRoute(OfModule):
    """A route that a module answers."""

    route: Number
    method: Text
    path: Text
    kind: Text
    scope: Text | None
    body: Json | None
    query: Json | None
    watching: Json | None


class RemoveRoute(OfModule):
    """A route that it does not answer any more."""

    route: Number


# -- open streams and sockets of a route
# ---------------------------------------------------------------------------------


class OfChannel(HostMessage):
    """Something about a stream or a WebSocket."""

    channel: Number


class StreamChunk(OfChannel):
    """A chunk of a stream, or a message of a WebSocket."""

    text: str | None = None
    blob: Number | None = None


class Room(OfChannel):
    """Credit for the sender of a channel."""

    size: Number


class CloseChannel(OfChannel):
    """No more is sent; `broken`: though there was more. A WebSocket is closed with the code and the reason."""

    broken: bool = False
    code: Annotated[int, Field(ge=1000, le=4999)] = 1000
    reason: Text = ""


def read_host_message(model: type[M], message: Mapping[str, Any]) -> M:
    """A message as what it has to be.

    Raises:
        LinkError: It is something else.
    """
    try:
        return model.model_validate(message)
    except ValidationError as exc:
        raise LinkError(_describe_error(exc)) from None


def read_answer(model: type[M], answer: Any, where: str) -> M:
    """Validate the reply of a host.

    Raises:
        TypeError: It has the wrong type.
    """
    try:
        return model.model_validate(answer)
    except ValidationError as exc:
        raise TypeError(f"{where}: {_describe_error(exc)}") from None


def read_request(operation: Operation, message: Mapping[str, Any]) -> dict[str, Any]:
    """Validate a request of an operation, and return its arguments.

    Raises:
        TypeError: It is invalid; that is the answer.
    """
    try:
        return decode_request(operation, message)
    except ValidationError as exc:
        raise TypeError(f"{operation.name}: {_describe_error(exc)}") from None


def read_notice(operation: Operation, message: Mapping[str, Any]) -> dict[str, Any]:
    """The same of an operation without an answer.

    Raises:
        LinkError: It is invalid.
    """
    try:
        return decode_request(operation, message)
    except ValidationError as exc:
        raise LinkError(_describe_error(exc)) from None


def _describe_error(exc: ValidationError) -> str:
    problem = exc.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(map(str, problem["loc"]))
    return plain_text(f"{place}: {problem['msg']}"[:_FAULT_CHARS])
