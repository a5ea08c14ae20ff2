"""What a tab stores of its resource: its last state, and the call that opens a replacement."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from agentcore.api import Resource


class LastSeen(BaseModel, defer_build=True):
    """The last known state of a resource, as it is stored and sent."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)

    resource_type: str
    chat_session_id: str
    index: int
    title: str | None = None
    last_url: str | None = None
    icon: Annotated[str | None, Field(description="Changes with the picture at `/api/tabs/{id}/icon`.")] = None
    tool: Annotated[str, Field(description="The tool that opens another one in its place …")]
    arguments: Annotated[dict[str, Any], Field(description="… with these arguments, in its session, on its host.")]
    host: Annotated[str, Field(description="The host or pool where it was; empty: the server.")] = ""
    lost_by: Annotated[str, Field(description="What became of it; empty: it ended with the server.")] = ""

    @classmethod
    def from_resource(cls, resource: Resource, host: str) -> Self | None:
        """Return the state of a resource on a host; None: nothing can open a replacement."""
        if resource.reopening is None:
            return None
        tool, arguments = resource.reopening
        return cls(
            resource_type=resource.resource_type,
            chat_session_id=resource.session_id,
            index=resource.index,
            title=resource.title,
            last_url=resource.last_url,
            icon=resource.icon_id or None,
            tool=tool,
            arguments=dict(arguments),
            host=host,
        )
