"""Resources, which survive calls and are acted on by them: browser pages, terminals."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import Any, Literal, Protocol

from agentcore.api.result import Image
from agentcore.late_dataclasses import dataclass

ResourceEvent = Literal["log", "progress", "screenshot", "error"]
Reopening = tuple[str, Mapping[str, Any]]
"""A tool and its arguments: the call that opens a resource again which ended without being closed."""

SERVICE_TYPE = "service"
"""Type of a resource that is a command's listening port; its `last_url` is its address on loopback.

Tools of its session may open that address: `UrlPolicy.with_services`. One that this machine cannot reach has the status
`failed`, and its title is the reason, as a clause, which those tools report."""

ResourceStatus = Literal["starting", "ready", "busy", "failed", "finished", "closed"]
"""`finished`: its work has ended, and its output can be read until it is released."""


@dataclass(slots=True)
class Resource:
    """One resource. Its id is a name and no permission: every use is checked against the caller's session.

    Args:
        resource_id: Opaque everywhere except where it is created.
        resource_type: `browser`, `terminal`, ….
        session_id: The session that owns it.
        index: Counted per session and type from 0.
        adapter_type: How it is driven, named by its owner (`playwright`, `pty`).
        status: Its state.
        last_url: The last address it showed, if it shows addresses. The first resource that replaces those that
            ended without being closed (with the server, their host or their module) has the address of the first of
            these.
        lost_by: Why the resource whose last address it has ended, as a clause: `its host 'farm.one' was lost`. Empty:
            that one ended with the server, or there is none.
        title: Its own title, such as the title of a page.
        icon: A small icon, such as the icon of a page's site.
        icon_id: Changes with `icon`; empty without one.
        keep_running: True if closing its tab does not end it.
        created_at_ms: Milliseconds since 1970.
        last_used_at_ms: Milliseconds since 1970.
        reopening: The call that opens a replacement, once it has ended without being closed; None: there is none.
        keys: Other names for it, such as `{"tabId": "t3"}`, for tools whose `ResourceUse` has a `key`.
    """

    resource_id: str
    resource_type: str
    session_id: str
    index: int
    adapter_type: str = ""
    status: ResourceStatus = "starting"
    last_url: str | None = None
    keep_running: bool = False
    created_at_ms: int = 0
    last_used_at_ms: int = 0
    keys: dict[str, str] = field(default_factory=dict)
    title: str | None = None
    icon: Image | None = None
    icon_id: str = ""
    reopening: Reopening | None = None
    lost_by: str = ""

    @property
    def short_id(self) -> str:
        """Its name for models, unique in its session: `terminal_0`. Tools accept it in place of the id."""
        return f"{self.resource_type}_{self.index}"

    def to_json(self) -> dict[str, Any]:
        """The resource on the wire."""
        return {
            "resourceId": self.resource_id,
            "resourceType": self.resource_type,
            "chatSessionId": self.session_id,
            "index": self.index,
            "adapterType": self.adapter_type,
            "status": self.status,
            "lastUrl": self.last_url,
            "title": self.title,
            "icon": self.icon_id or None,
            "keepRunning": self.keep_running,
            "createdAt": self.created_at_ms,
            "lastUsedAt": self.last_used_at_ms,
        }


@dataclass(frozen=True, slots=True)
class ResourceUpdate:
    """New properties of a resource; those that are None stay. See `Resources.update`."""

    status: ResourceStatus | None = None
    last_url: str | None = None
    title: str | None = None
    icon: Image | None = None
    keep_running: bool | None = None
    keys: Mapping[str, str] | None = None
    reopening: Reopening | None = None


class Resources(Protocol):
    """A module's view of the resource registry: it makes, changes and releases its own."""

    def create(
        self,
        resource_type: str,
        session_id: str,
        *,
        adapter_type: str = "",
        keys: Mapping[str, str] | None = None,
        on_release: Callable[[Resource], Awaitable[None]] | None = None,
        former_id: str | None = None,
    ) -> Resource:
        """Create the session's next resource of a type; `on_release` ends the object behind it.

        Args:
            former_id: The id that it had before a restart of the server or the module that it survived: it
                gets the same id, so that calls that wait for approval still find it. An id that was never used for
                this type and session, or is in use, is ignored.
        Raises:
            ToolError: `too_many_resources`.
        """
        ...

    def adopt(self, resource_id: str, on_release: Callable[[Resource], Awaitable[None]]) -> Resource:
        """Adopt a resource that the core created for a call (`ResourceUse.create`), and set how it ends.

        Raises:
            ToolError: `resource_not_found`.
        """
        ...

    def get(self, resource_id: str) -> Resource:
        """The resource.

        Raises:
            ToolError: `resource_not_found`.
        """
        ...

    def list(self, *, session_id: str | None = None, resource_type: str | None = None) -> list[Resource]:
        """Return the module's resources in creation order, filtered."""
        ...

    def update(
        self,
        resource_id: str,
        *,
        status: ResourceStatus | None = None,
        last_url: str | None = None,
        title: str | None = None,
        icon: Image | None = None,
        keep_running: bool | None = None,
        keys: Mapping[str, str] | None = None,
        reopening: Reopening | None = None,
    ) -> Resource:
        """Change the given properties and publish `resource.stateChanged`.

        Args:
            status: `finished` removes its tab, unless that is pinned.
            reopening: A tool and its arguments (16 KiB of JSON at most): the call that opens a replacement
                once it has ended without being closed. Its tab stays as closed then, and one click makes
                the call, whose result names the new resource (`ToolResult.resource_id`, or the one that it acts on).
                An empty name removes it.
            icon: An image file of at most 128 KiB; one without data removes the icon.
        Raises:
            ToolError: `resource_not_found`.
            ValueError: The icon is too large, or no image; the arguments are too large.
        """
        ...

    def emit(self, resource_id: str, event: ResourceEvent, data: Mapping[str, Any]) -> None:
        """Publish `resource.<event>` for one resource; the core itself publishes log, progress and images of calls on
        it."""
        ...

    async def release(self, resource_id: str, reason: str = "") -> None:
        """Call the resource's `on_release`, end its waiting calls, and remove it. Unknown ids are ignored.

        Args:
            reason: For calls that still name it, instead of "there is none": what happened to it and what to do, as one
                sentence (4,096 characters at most).
        """
        ...
