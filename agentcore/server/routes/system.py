"""Routes for the server itself: health, API description, and emergency stop."""

from typing import Literal

from pydantic import BaseModel

from agentcore.core.storage_usage import StorageKind
from agentcore.encoding import to_json
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.route_table import ServerRoute


class Health(BaseModel, defer_build=True):
    """The server answers."""

    status: Literal["starting", "ok"]
    """`starting` until the modules have started, or have failed to."""


class Stopped(BaseModel, defer_build=True):
    """What the emergency stop ended."""

    calls: int
    resources: int
    rejected: int


class StoredPartView(BaseModel, defer_build=True):
    """One kind of stored data; `atLimit` says what happens at a limit, and null that there is none."""

    kind: StorageKind
    usedBytes: int  # noqa: N815 - the wire
    limitBytes: int | None  # noqa: N815
    limitDays: int | None  # noqa: N815
    atLimit: Literal["oldest_deleted", "reported"]  # noqa: N815
    count: int | None
    oldestMs: int | None  # noqa: N815
    problems: list[str]


class StorageView(BaseModel, defer_build=True):
    """What the state folder holds, in bytes, and the free space of its disk."""

    folder: str
    databaseBytes: int  # noqa: N815
    freeBytes: int  # noqa: N815
    parts: list[StoredPartView]


class StopState(BaseModel, defer_build=True):
    """Whether calls are refused since an emergency stop."""

    stopped: bool


async def get_health(exchange: Exchange) -> Answer:
    """Send whether the server has started, and nothing else, because the route is open to everyone."""
    return Answer(b'{"status":"ok"}' if exchange.core.has_started else b'{"status":"starting"}')


async def get_openapi(exchange: Exchange) -> Answer:
    """Send the API description, which is generated again when routes of modules have changed."""
    cache = exchange.parts.cache
    of_modules = exchange.core.routes
    version = str(of_modules.version).encode()
    if cache.get("openapi.version") != version:
        cache["openapi"] = to_json(await exchange.parts.describe(tuple(of_modules)))
        cache["openapi.version"] = version
    return Answer(cache["openapi"])


async def show_stop(exchange: Exchange) -> Answer:
    """Send whether calls are refused; changes are published as `stop.changed`."""
    return Answer(to_json({"stopped": exchange.core.calls.stopped is not None}))


async def show_storage(exchange: Exchange) -> Answer:
    """Send what the state folder holds, and what limits it."""
    return Answer(to_json((await exchange.core.measure_storage()).to_json()))


async def stop_calls(exchange: Exchange) -> Answer:
    """End all calls and resources and refuse calls until the user resumes, in the approval view or at the terminal."""
    return Answer(to_json(await exchange.core.emergency_stop(exchange.principal)))


async def resume_calls(exchange: Exchange) -> Answer:
    """Accept calls again after an emergency stop."""
    exchange.core.resume_after_stop(exchange.principal)
    return await show_stop(exchange)


_HEALTH = ServerRoute(
    "GET",
    "/api/health",
    get_health,
    "Whether the server answers, and its modules have started.",
    action=None,
    answer=Health,
    is_for_extensions=True,
)
_SHOW_STORAGE = ServerRoute(
    "GET",
    "/api/storage",
    show_storage,
    "What the state folder holds: sizes, limits and problems.",
    answer=StorageView,
)
_SHOW_STOP = ServerRoute(
    "GET",
    "/api/stop",
    show_stop,
    "Whether everything was stopped.",
    action="identify",
    answer=StopState,
    is_for_extensions=True,
)
_RESUME = ServerRoute(
    "POST",
    "/api/resume",
    resume_calls,
    "Take calls again after an emergency stop; for a person in the approval view, or a client that they paired for it.",
    action="resume",
    answer=StopState,
    is_for_extensions=True,
)

APPROVAL_ROUTES = (_HEALTH, _SHOW_STOP, _RESUME)

ROUTES = (
    _HEALTH,
    ServerRoute("GET", "/api/openapi.json", get_openapi, "This description, routes of modules included."),
    _SHOW_STORAGE,
    _SHOW_STOP,
    _RESUME,
    ServerRoute(
        "POST",
        "/api/stop",
        stop_calls,
        "Emergency stop: end all calls and resources, reject what waits, take no more calls.",
        action="stop",
        answer=Stopped,
        is_for_extensions=True,
    ),
)
