"""Routes for the tab strip: which tabs it has, their order, and what happens to the resource of a closed tab."""

from http import HTTPStatus
from typing import Annotated

from pydantic import Field

from agentcore.core.resources.last_seen import LastSeen
from agentcore.encoding import to_json
from agentcore.server.body_models import StrictWireModel
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.route_table import ServerRoute
from agentcore.server.routes.resources import FOR_GOOD, IconQuery

_TITLE_CHARS = 80


class ShownResource(StrictWireModel):
    """The resource that is looked at."""

    resource_id: Annotated[str, Field(max_length=200)]
    tab_id: Annotated[
        str | None, Field(max_length=64, description="A closed tab that becomes the resource's, in its place.")
    ] = None


class TabChange(StrictWireModel):
    """What to change of a tab."""

    pinned: bool | None = None
    title: Annotated[
        str | None, Field(max_length=_TITLE_CHARS, description="Another name; empty: the resource's own.")
    ] = None
    before: Annotated[str | None, Field(max_length=64, description="The tab to stand before; empty: at the end.")] = (
        None
    )


class TabView(StrictWireModel):
    """One tab: which resource, and how it shows. What the resource is and does stands in `/api/resources`."""

    tab_id: str
    workspace_id: str
    resource_id: str
    title: str | None
    pinned: bool
    created_at: int
    last_active_at: int
    closed: Annotated[
        LastSeen | None, Field(description="Its resource ended without being closed: how it was, and how to open it.")
    ]


class TabsView(StrictWireModel):
    """The tabs from left to right."""

    tabs: list[TabView]


class ClosedTab(StrictWireModel):
    """What closing a tab did."""

    ok: bool
    released: Annotated[bool, Field(description="Whether the resource ended with its tab.")]


async def list_tabs(exchange: Exchange) -> Answer:
    """Send the tabs in their order."""
    return Answer(to_json({"tabs": [tab.to_json() for tab in exchange.core.tabs.list_tabs()]}))


async def show_tab(exchange: Exchange) -> Answer:
    """Bring a resource's tab to the front; it is created if there is none."""
    shown: ShownResource = exchange.body
    return Answer(
        to_json((await exchange.core.tabs.show_resource(shown.resource_id, in_place_of=shown.tab_id)).to_json())
    )


async def send_icon(exchange: Exchange) -> Answer:
    """Send the icon of a closed tab's resource, if it is still the one that the URL names."""
    query: IconQuery = exchange.query
    icon = exchange.core.tabs.find_icon(exchange.path_values["id"], query.v)
    return Answer(icon.data, HTTPStatus.OK, icon.mime, FOR_GOOD if query.v else {})


async def change_tab(exchange: Exchange) -> Answer:
    """Pin, move or rename a tab."""
    change: TabChange = exchange.body
    tab = await exchange.core.tabs.change_tab(
        exchange.path_values["id"], is_pinned=change.pinned, title=change.title, before=change.before
    )
    return Answer(to_json(tab.to_json()))


async def close_tab(exchange: Exchange) -> Answer:
    """Close a tab; its resource is closed unless the tab is pinned or the resource keeps running."""
    return Answer(to_json({"ok": True, "released": await exchange.core.tabs.close_tab(exchange.path_values["id"])}))


_ONE = "/api/tabs/{id}"

ROUTES = (
    ServerRoute("GET", "/api/tabs", list_tabs, "The tabs of the page, in their order.", answer=TabsView),
    ServerRoute(
        "POST",
        "/api/tabs",
        show_tab,
        "Bring the tab of a resource to the front.",
        action="call",
        body=ShownResource,
        answer=TabView,
    ),
    ServerRoute(
        "GET",
        f"{_ONE}/icon",
        send_icon,
        "The picture by which the resource of a closed tab was known.",
        query=IconQuery,
        content_type="image/*",
    ),
    ServerRoute("PATCH", _ONE, change_tab, "Pin, move or rename a tab.", action="call", body=TabChange, answer=TabView),
    ServerRoute(
        "DELETE",
        _ONE,
        close_tab,
        "Close a tab, and end its resource unless that is to go on.",
        action="call",
        answer=ClosedTab,
    ),
)
