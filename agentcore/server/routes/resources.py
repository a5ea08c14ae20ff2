"""Routes for resources: listing, changing and closing them."""

from http import HTTPStatus
from typing import Annotated

from pydantic import Field

from agentcore.api.resource import ResourceUpdate
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.server.body_models import StrictWireModel
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.route_table import ServerRoute

FOR_GOOD = {"Cache-Control": "private, max-age=604800, immutable"}
"""Headers of content whose URL changes with it."""


class ResourcesQuery(StrictWireModel):
    """Which resources are wanted."""

    resource_type: Annotated[str | None, Field(max_length=64)] = None
    chat_session_id: Annotated[str | None, Field(max_length=64)] = None


class IconQuery(StrictWireModel):
    """Which icon is wanted."""

    v: Annotated[
        str, Field(max_length=64, description="The `icon` of the resource, so that the picture can be cached.")
    ] = ""


class ResourceChange(StrictWireModel):
    """What to change of a resource."""

    keep_running: Annotated[bool, Field(description="Whether it goes on when its tab is closed.")]


async def list_resources(exchange: Exchange) -> Answer:
    """Send the resources in the order of their creation."""
    query: ResourcesQuery = exchange.query
    found = exchange.core.resources.list(session_id=query.chat_session_id, resource_type=query.resource_type)
    return Answer(to_json({"resources": [exchange.core.resources.to_json(resource) for resource in found]}))


async def send_icon(exchange: Exchange) -> Answer:
    """Send the icon of a resource, if it is still the one that the URL names."""
    resource = exchange.core.resources.get(exchange.path_values["id"])
    query: IconQuery = exchange.query
    if resource.icon is None or query.v not in ("", resource.icon_id):
        raise ToolError("icon_not_found", f"the resource {resource.resource_id!r} has no icon {query.v}".rstrip())
    return Answer(resource.icon.data, HTTPStatus.OK, resource.icon.mime, FOR_GOOD if query.v else {})


async def change_resource(exchange: Exchange) -> Answer:
    """Set whether a resource keeps running without a tab."""
    change: ResourceChange = exchange.body
    resource = exchange.core.resources.update(
        exchange.path_values["id"], ResourceUpdate(keep_running=change.keep_running)
    )
    return Answer(to_json(exchange.core.resources.to_json(resource)))


async def release_resource(exchange: Exchange) -> Answer:
    """Close a resource; calls that wait for it end with `resource_not_found`."""
    resource = exchange.core.resources.get(exchange.path_values["id"])
    await exchange.core.resources.release(resource.resource_id)
    return Answer(to_json({"ok": True}))


ROUTES = (
    ServerRoute(
        "GET", "/api/resources", list_resources, "Living resources: browsers, terminals.", query=ResourcesQuery
    ),
    ServerRoute(
        "GET",
        "/api/resources/{id}/icon",
        send_icon,
        "The picture by which a resource is known, such as a site's icon.",
        query=IconQuery,
        content_type="image/*",
    ),
    ServerRoute(
        "PATCH",
        "/api/resources/{id}",
        change_resource,
        "Have a resource go on, or end, when its tab is closed.",
        action="call",
        body=ResourceChange,
    ),
    ServerRoute(
        "DELETE", "/api/resources/{id}", release_resource, "End a resource and what stands behind it.", action="call"
    ),
)
