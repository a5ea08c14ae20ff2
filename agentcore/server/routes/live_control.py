"""Routes for a page's permission to act through a module's own routes."""

from typing import Annotated, Literal

from pydantic import Field

from agentcore.encoding import to_json
from agentcore.server.body_models import StrictWireModel
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.route_table import ServerRoute


class ControlView(StrictWireModel):
    """Whether who asks may act."""

    state: Annotated[
        Literal["granted", "waiting", "needed"],
        Field(description="`needed`: nobody was asked, or it was refused, or nobody decided in time."),
    ]
    change_id: Annotated[str | None, Field(description="What waits; `policy.decided` tells how it ends.")] = None
    expires_at: Annotated[int | None, Field(description="When it ends undecided, in milliseconds since 1970.")] = None


async def show_control(exchange: Exchange) -> Answer:
    """Send whether the page may act."""
    state = exchange.parts.live_control.get_state(exchange.principal, exchange.path_values["name"])
    return Answer(to_json(state.to_json()))


async def ask_for_control(exchange: Exchange) -> Answer:
    """Ask the user to confirm, unless a request is already pending."""
    state = exchange.parts.live_control.request_control(exchange.principal, exchange.path_values["name"])
    return Answer(to_json(state.to_json()))


_ONE = "/api/live-control/{name}"

ROUTES = (
    ServerRoute(
        "GET", _ONE, show_control, "Whether this page may act through a module's own routes.", answer=ControlView
    ),
    ServerRoute(
        "POST",
        _ONE,
        ask_for_control,
        "Have a person confirm that this page may type and click through a module's own routes. Watching needs none "
        "of it.",
        action="call",
        answer=ControlView,
    ),
)
