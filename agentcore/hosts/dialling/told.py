"""What a server tells a host that dials in, each message read strictly, once."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class _ServerMessage(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, alias_generator=to_camel)


class Origins(_ServerMessage):
    """The server's own addresses, which browsers of this host must not open."""

    own_origins: list[str]


class HelloReply(Origins):
    """A server has taken a host up.

    Args:
        keep_minutes: How long to keep what lives here without a server, by type of resource; empty name: all others.
    """

    keep_minutes: dict[str, Annotated[float, Field(gt=0)]]


class PairCode(_ServerMessage):
    """A server shows by which code a person lets this host in."""

    code: Annotated[str, Field(min_length=1, max_length=100)]
    expires_at: int


class PairKey(_ServerMessage):
    """A person has let this host in: the key by which it is known from now on."""

    key: Annotated[str, Field(min_length=20, max_length=1_000, pattern=r"^achk_[A-Za-z0-9_-]+$")]
