"""The live picture for views in MCP clients: one call, one picture."""

import asyncio
import json
from base64 import b64decode
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest
import pytest_asyncio

from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import running_server

STARTS_HOSTS = True
pytestmark = pytest.mark.spec("B4")
LIMIT_S = 60
VIEW = "view-number-one"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory, browser_program):
    config = {"config": {"chrome": {"allow_private": True}}}
    async with running_server(HostPlan(("browser",), config), tmp_path_factory.mktemp("server")) as client:
        yield client


@pytest_asyncio.fixture(loop_scope="module")
async def act(server, request):
    session = request.node.name.replace("_", "-")[:60]

    async def run(tool, /, **arguments):
        return (await server.running.outcome(tool, arguments, session_id=session)).unwrap()

    return run


@pytest.fixture
def look(act):
    async def run(view=VIEW, **arguments):
        async with asyncio.timeout(LIMIT_S):
            return (await act("browser_live_picture", view=view, **arguments)).data

    return run


@pytest.fixture
def screencast_of(server):
    """The frames of a page, by its resource."""

    def find(resource_id):
        engine = server.running.host.modules.records["browser"].plugin.engine
        (tab,) = [tab for tab in engine.tabs.values() if tab.resource_id == resource_id]
        return engine.get_screencast(tab)

    return find


@asynccontextmanager
async def driving(server, page):
    """A person who drives the page."""
    async with server.ws_connect(f"/api/modules/browser/preview/{page}") as socket, asyncio.timeout(LIMIT_S):
        await socket.send_str(json.dumps({"type": "take"}))
        while True:
            message = await socket.receive()
            if isinstance(message.data, str) and json.loads(message.data).get("driver") == "you":
                break
        yield


async def test_picture_is_given_once_and_the_next_one_when_the_page_has_changed(act, look, site):
    page = (await act("browser_navigate", url=site.url("/"))).data["resourceId"]
    first = await look()
    assert (first["state"], first["resourceId"], first["title"]) == ("open", page, "Home")
    assert b64decode(first["picture"])[:3] == b"\xff\xd8\xff"
    assert len(b64decode(first["picture"])) < 100_000
    assert (first["width"], first["height"]) == (1280, 720)
    looking = asyncio.create_task(look(resourceId=page))
    await act("browser_navigate", url=site.url("/second"))
    seen = [await looking]
    while seen[-1]["title"] != "Second" or "picture" not in seen[-1]:
        seen.append(await look())
    assert seen[-1]["picture"] != first["picture"]


@pytest.mark.more
async def test_page_that_never_rests_gives_pictures_ever_more_slowly(act, look, site):
    await act("browser_navigate", url=site.url("/animation"))
    loop, times = asyncio.get_running_loop(), []
    while len(times) < 5:
        if "picture" in await look():
            times.append(loop.time())
    between = [later - earlier for earlier, later in pairwise(times)]
    # never sooner, but for what the one before was late on its way; how much later is the machine's affair
    assert [gap > least for gap, least in zip(between, (0.3, 0.42, 0.57, 0.77), strict=True)] == [True] * 4


@pytest.mark.more
async def test_view_that_came_last_has_the_page(act, look, site):
    await act("browser_navigate", url=site.url("/"))
    assert "picture" in await look()
    before = asyncio.create_task(look())
    assert "picture" in await look("view-number-two")
    assert (await before)["state"] == "elsewhere"
    assert (await look())["state"] == "elsewhere"
    assert "picture" in await look("view-number-three")


@pytest.mark.more
async def test_nothing_is_shown_while_a_person_drives(server, act, look, site):
    page = (await act("browser_navigate", url=site.url("/animation"))).data["resourceId"]
    assert "picture" in await look()
    async with driving(server, page):
        while (seen := await look())["state"] != "driven":
            pass
        assert seen == {"resourceId": page, "state": "driven"}
    while "picture" not in (seen := await look()):
        pass
    assert seen["state"] == "open"


@pytest.mark.more
async def test_dialog_of_the_page_is_told(act, look, site):
    await act("browser_navigate", url=site.url("/dialogs"))
    await act("browser_click", selector="#confirm")
    while "dialog" not in (seen := await look()):
        pass
    assert seen["dialog"]
    await act("browser_handle_dialog", accept=True)


@pytest.mark.more
async def test_page_that_is_closed_ends_the_waiting_and_starts_nothing(act, look, site):
    assert await look() == {"state": "closed"}
    page = (await act("browser_navigate", url=site.url("/"))).data["resourceId"]
    while "picture" in await look():
        pass  # it comes to rest
    waiting = asyncio.create_task(look())
    await act("browser_tabs", action="close", resourceId=page)
    assert (await waiting)["state"] == "closed"
    assert await look() == {"state": "closed"}
    assert (await act("browser_get_state")).data["running"] is False


@pytest.mark.more
@pytest.mark.in_server("looks at objects of the module")
async def test_frames_flow_while_somebody_asks_and_are_large_only_for_who_needs_them(
    server, act, look, site, screencast_of
):
    page = (await act("browser_navigate", url=site.url("/"))).data["resourceId"]
    screencast = screencast_of(page)
    assert screencast.width is None
    await look()
    assert screencast.width == 800
    async with driving(server, page):
        assert screencast.width == 1920
    async with asyncio.timeout(LIMIT_S):
        while screencast.width != 800:
            await asyncio.sleep(0.01)
        while screencast.width is not None:
            await asyncio.sleep(0.01)
    assert "picture" in await look()


async def test_own_chat_shows_its_live_preview_and_not_this_view(server):
    """Which is for clients that have no other."""
    async with server.get("/api/sessions/any/views/browser_navigate") as answer:
        assert (answer.status, (await answer.json())["error"]["type"]) == (404, "view_not_found")
