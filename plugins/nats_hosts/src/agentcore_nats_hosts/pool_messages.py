"""Messages between servers and hosts of a pool outside their links, each read strictly, once."""

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from agentcore.api.host_kinds import HOST_NAME, LABEL, LABELS, LinkError

Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9]{8,64}$")]
MemberName = Annotated[str, Field(pattern=HOST_NAME)]
Label = Annotated[str, Field(pattern=LABEL)]


class _PoolMessage(BaseModel, defer_build=True):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, alias_generator=to_camel, validate_by_name=True)

    def encode(self) -> bytes:
        """As it is sent."""
        return self.model_dump_json(by_alias=True).encode()


Read = TypeVar("Read", bound=_PoolMessage)


class Announcement(_PoolMessage):
    """The announcement of a host.

    Args:
        protocol: Its protocol over links.
        instance: The start of its program.
        capacity: How many resources it can have.
        used: How many it has, including reserved ones.
        is_drained: True if the user has drained it.
        links: Its link to each server.
    """

    member: MemberName
    instance: Id
    protocol: Annotated[str, Field(max_length=100)]
    version: Annotated[str, Field(max_length=100)] = ""
    labels: Annotated[list[Label], Field(max_length=LABELS)] = []
    capacity: Annotated[int, Field(ge=1)]
    used: Annotated[int, Field(ge=0)]
    is_drained: bool = False
    links: Annotated[dict[Id, Id], Field(max_length=1_000)] = {}


class ServerSign(_PoolMessage):
    """A server is there."""

    server: Id


class OpenLink(_PoolMessage):
    """A server requests a link to a host.

    Args:
        modules: The modules of the host that it uses.
    """

    server: Id
    link: Id
    protocol: Annotated[str, Field(max_length=100)]
    modules: Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=200)]


class DrainRequest(_PoolMessage):
    """The user drains a host, or lets it accept new work again."""

    on: bool


class PlacementRequest(_PoolMessage):
    """A server looks for a host that accepts new work for a session.

    Args:
        question: Identifies the request in the subject of the reply, which begins with the replying host.
    """

    server: Id
    question: Id
    session: Annotated[str, Field(max_length=500)]


class PlacementReply(_PoolMessage):
    """The host of this subject accepts it; `is_full`: it has no free capacity."""

    is_full: bool = False


def read_pool_message(model: type[Read], data: bytes) -> Read:
    """A message.

    Raises:
        LinkError: It is none of these.
    """
    try:
        return model.model_validate_json(data)
    except ValidationError as exc:
        raise LinkError(f"no {model.__name__} of a pool: {exc.errors()[0]['msg']}") from None
