"""Messages of a server to a host that dials in, each read strictly, once."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class _ServerMessage(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, alias_generator=to_camel)


class Origins(_ServerMessage):
    """The server's own addresses, which browsers of this host must not open."""

    own_origins: list[str]


class HelloReply(Origins):
    """A server has accepted a host.

    Args:
        keep_minutes: How long to keep resources without a server, by type of resource; empty name: all others.
    """

    keep_minutes: dict[str, Annotated[float, Field(gt=0)]]


class PairCode(_ServerMessage):
    """The code that the user enters at the server to pair this host."""

    code: Annotated[str, Field(min_length=1, max_length=100)]
    expires_at: int


class PairKey(_ServerMessage):
    """The user has paired this host: its key from now on."""

    key: Annotated[str, Field(min_length=20, max_length=1_000, pattern=r"^achk_[A-Za-z0-9_-]+$")]
