"""Groups of routes, which are imported when one of their paths is requested."""

import subprocess
import sys

import pytest

from agentcore.server.route_table import RouteGroup, load_all_routes, path_beginning
from agentcore.server.routes import APPROVAL_GROUPS, APPS_GROUPS, ROUTE_GROUPS

_GROUPS = [*ROUTE_GROUPS, *APPROVAL_GROUPS, *APPS_GROUPS]
_START = """
import asyncio, sys
from agentcore.server.route_table import ServerRoutes
from agentcore.server.routes import ROUTE_GROUPS

def loaded():
    return sorted(name for name in sys.modules if name.startswith("agentcore.server.routes."))

async def look_up():
    routes = ServerRoutes(ROUTE_GROUPS)
    assert loaded() == [], loaded()
    assert routes.find_route("GET", "/api/tabs") is None
    assert await asyncio.gather(*(routes.import_routes("/api/tabs") for _ in range(3))) == [True] * 3
    assert routes.find_route("GET", "/api/tabs")[0].path == "/api/tabs"
    assert "agentcore.server.routes.tabs" in loaded() and "agentcore.server.routes.tools" not in loaded()
    assert not await routes.import_routes("/api/tabs/x") and not await routes.import_routes("/nothing/here")

asyncio.run(look_up())
"""


@pytest.mark.parametrize("group", _GROUPS, ids=lambda group: f"{group.file}:{group.table}")
def test_each_path_of_a_group_begins_as_the_group_says(group: RouteGroup) -> None:
    assert {path_beginning(route.path) for route in group.load_routes()} == set(group.beginnings)


@pytest.mark.parametrize("groups", [ROUTE_GROUPS, APPROVAL_GROUPS, APPS_GROUPS])
def test_no_two_routes_of_an_origin_are_for_the_same_request(groups: tuple[RouteGroup, ...]) -> None:
    served = [(route.method, route.path) for route in load_all_routes(groups)]

    assert len(served) == len(set(served))


def test_a_file_is_imported_at_the_first_request_for_its_routes() -> None:
    subprocess.run([sys.executable, "-c", _START], check=True)
