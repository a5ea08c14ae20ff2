"""The first line that a client sends on a pipe."""

from pydantic import BaseModel, ConfigDict, Field

TOOLS_WAIT_SECONDS_MAX = 60.0
"""Maximum time for which a client's list of tools waits for modules that are starting."""


WAITING_MARK = "notifications/agentcore/waiting"
"""A notification for the relay itself, which passes it on to no client: `id` of a request, and `isWaiting`."""


class PipeConnectRequest(BaseModel, defer_build=True):
    """The first line of a client: its key, and what it asks of itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str = Field(max_length=200)
    tools: str = Field(default="", max_length=4000)
    wait_s: float | None = Field(default=None, gt=0, le=86_400)
    tools_wait_s: float | None = Field(default=None, ge=0, le=TOOLS_WAIT_SECONDS_MAX)
    waits_silently: bool = False
    session: str = Field(default="", pattern=r"^[A-Za-z0-9_-]{0,64}$")
