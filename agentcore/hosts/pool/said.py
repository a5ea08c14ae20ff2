"""What servers and hosts of a pool tell each other beside their links, each message read strictly, once."""

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from agentcore.config.hosts import HOST_NAME, LABEL, LABELS
from agentcore.hosts.wire.frames import LinkError

Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9]{8,64}$")]
MemberName = Annotated[str, Field(pattern=HOST_NAME)]
Label = Annotated[str, Field(pattern=LABEL)]


class _PoolMessage(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, alias_generator=to_camel, validate_by_name=True)

    def encode(self) -> bytes:
        """As it is sent."""
        return self.model_dump_json(by_alias=True).encode()


Read = TypeVar("Read", bound=_PoolMessage)


class Announcement(_PoolMessage):
    """A host is there.

    Args:
        protocol: What it speaks over links.
        instance: The start of its program.
        capacity: How many resources may live in it.
        used: How many do, with those that it has promised room.
        is_drained: Whether it takes nothing new, as a person has said.
        links: The link that it has to each server.
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
    """A server wants a link to a host.

    Args:
        modules: Those of the host's that it wants.
    """

    server: Id
    link: Id
    protocol: Annotated[str, Field(max_length=100)]
    modules: Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=200)]


class DrainRequest(_PoolMessage):
    """A person wants a host to take nothing new, or to do so again."""

    on: bool


class PlacementRequest(_PoolMessage):
    """A server looks for a host that takes something new for a session.

    Args:
        question: Names the question in the subject of its answer, which begins with the host that gives it.
    """

    server: Id
    question: Id
    session: Annotated[str, Field(max_length=500)]


class PlacementReply(_PoolMessage):
    """The host at whose subject this is said takes it; `is_full`: it has no room just now."""

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
