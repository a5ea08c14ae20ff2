"""Live previews over the WebSocket: frames, taking over, handing back."""

import asyncio
import json
from contextlib import asynccontextmanager

import aiohttp
import pytest
import pytest_asyncio

from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import running_server

STARTS_HOSTS = True
pytestmark = pytest.mark.spec("B4")
LIMIT_S = 60


@asynccontextmanager
async def serving(folder, **settings):
    config = {"config": {"chrome": {"allow_private": True, **settings}}}
    async with running_server(HostPlan(("browser", "chrome"), config), folder) as client:
        yield client


@asynccontextmanager
async def where(place, elsewhere, program):
    """Settings that say where the browser is."""
    if place == "here":
        yield {}
    elif place == "attached":
        async with elsewhere.somebodys_browser(program) as person:
            yield {"cdp_endpoint": person.endpoint}
    else:
        async with elsewhere.run_server("--unsafe") as server:
            yield {"playwright_endpoint": server.endpoint, "executable": program, "sandbox": False}


ELSEWHERE = [pytest.param(place, marks=pytest.mark.more) for place in ("attached", "playwright")]
everywhere = pytest.mark.parametrize("place", ["here", "attached", "playwright"], indirect=True, scope="module")
here_first = pytest.mark.parametrize("place", ["here", *ELSEWHERE], indirect=True, scope="module")
"""Where the browser is; all that is done in a picture is tried everywhere by one test, the rest in `make test-more`."""


@pytest.fixture(scope="module")
def place(request):
    """Where the browser is."""
    return request.param


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def preview_server(place, elsewhere, browser_program, tmp_path_factory):
    async with (
        where(place, elsewhere, browser_program) as settings,
        serving(tmp_path_factory.mktemp("server"), **settings) as client,
    ):
        yield client


@pytest_asyncio.fixture(loop_scope="module")
async def act(preview_server, request):
    session = request.node.originalname.replace("_", "-")[:60]

    async def run(tool, /, **arguments):
        return (await preview_server.running.outcome(tool, arguments, session_id=session)).unwrap()

    return run


class Viewer:
    """One who looks on."""

    def __init__(self, socket):
        self.socket = socket
        self.state = {}
        self.errors = []
        self.frames = 0

    async def until(self, condition, *, says_shown=True):
        async with asyncio.timeout(LIMIT_S):
            while not condition(self):
                message = await self.socket.receive()
                if message.type is aiohttp.WSMsgType.BINARY:
                    assert message.data[:2] == b"\xff\xd8"
                    self.frames += 1
                    if says_shown:
                        await self.send(type="shown")
                elif message.type is aiohttp.WSMsgType.TEXT:
                    told = json.loads(message.data)
                    if told["type"] == "state":
                        self.state = told
                    elif told["type"] == "error":
                        self.errors.append(told["error"]["type"])
                else:
                    raise AssertionError(f"the preview ended: {message}")

    async def send(self, **message):
        await self.socket.send_str(json.dumps(message))


@asynccontextmanager
async def viewing(server, resource_id):
    async with server.ws_connect(f"/api/modules/browser/preview/{resource_id}") as socket:
        yield Viewer(socket)


@here_first
async def test_frames_flow_and_stop_for_who_does_not_keep_up(preview_server, act, site):
    page = (await act("browser_navigate", url=site.url("/animation"))).data["resourceId"]
    async with viewing(preview_server, page) as quick, viewing(preview_server, page) as slow:
        await quick.until(lambda viewer: viewer.frames >= 10)
        await slow.until(lambda viewer: viewer.frames >= 2, says_shown=False)
        one_more = asyncio.create_task(slow.until(lambda viewer: viewer.frames > 2, says_shown=False))
        await quick.until(lambda viewer: viewer.frames >= 20)
        assert not one_more.done()
        one_more.cancel()
        assert quick.state["url"] == site.url("/animation")


@everywhere
async def test_person_takes_over_and_the_agent_waits_and_is_told(preview_server, act, site):
    """A person clicks and types; a call that comes meanwhile runs after it was handed back, and says what changed."""
    page = (await act("browser_navigate", url=site.url("/animation"))).data["resourceId"]
    async with viewing(preview_server, page) as viewer:
        await viewer.until(lambda viewer: viewer.frames >= 1)
        await viewer.send(type="mouseDown", x=70, y=220)
        await viewer.send(type="take")
        await viewer.until(lambda viewer: viewer.state.get("driver") == "you")
        waiting = asyncio.create_task(
            act("browser_evaluate", script="[document.title, document.getElementById('i').value]")
        )
        for kind in ("mouseMove", "mouseDown", "mouseUp"):
            await viewer.send(type=kind, x=70, y=220)
        await viewer.until(lambda viewer: viewer.state["title"] == "clicked")
        for kind in ("mouseDown", "mouseUp"):
            await viewer.send(type=kind, x=60, y=310)
        await viewer.send(type="keyDown", key="A")
        await viewer.send(type="keyUp", key="A")
        await viewer.send(type="text", text="da 你好")
        await viewer.send(type="wheel", x=60, y=310, deltaY=10)
        await viewer.send(type="navigate", url="file:///etc/passwd")
        await viewer.until(lambda viewer: viewer.errors == ["url_blocked"])
        assert not waiting.done()
        await viewer.send(type="giveBack")
        result = await waiting
    assert result.data["value"] == ["clicked", "Ada 你好"]
    assert "Ada 你好" in result.data["changedByPerson"]


@pytest.mark.more
@here_first
async def test_only_one_person_drives_and_leaving_hands_back(preview_server, act, site):
    page = (await act("browser_navigate", url=site.url("/animation"))).data["resourceId"]
    async with viewing(preview_server, page) as first:
        await first.send(type="take")
        await first.until(lambda viewer: viewer.state.get("driver") == "you")
        async with viewing(preview_server, page) as second:
            await second.send(type="take")
            await second.until(lambda viewer: viewer.errors == ["page_is_driven"])
            await second.send(type="nonsense")
            await second.until(lambda viewer: viewer.errors == ["page_is_driven", "invalid_arguments"])
    assert (await act("browser_evaluate", script="1")).data["value"] == 1


@pytest.mark.more
@here_first
async def test_person_answers_a_dialog(preview_server, act, site):
    page = (await act("browser_navigate", url=site.url("/dialogs"))).data["resourceId"]
    async with viewing(preview_server, page) as viewer:
        await act("browser_click", selector="#confirm")
        await viewer.until(lambda viewer: viewer.state.get("dialog"))
        await viewer.send(type="dialog", accept=True)
        await viewer.until(lambda viewer: viewer.state["dialog"] is None)
    assert "confirm true" in (await act("browser_get_dom", selector="#out")).data["dom"]


@pytest.mark.more
@here_first
async def test_preview_of_a_page_that_is_closed_ends(preview_server, act, site):
    page = (await act("browser_navigate", url=site.url("/"))).data["resourceId"]
    async with viewing(preview_server, page) as viewer:
        await viewer.until(lambda viewer: viewer.frames >= 1)
        await act("browser_tabs", action="close")
        with pytest.raises(AssertionError, match="the preview ended"):
            await viewer.until(lambda _: False)
    async with viewing(preview_server, page) as viewer:
        assert (await viewer.socket.receive()).data == 4404


@pytest.mark.spec("B10")
async def test_browser_without_screencast_is_shown_by_screenshots(elsewhere, browser_program, tmp_path, site):
    """A change of the page is seen, and the person's mouse reaches it."""
    async with (
        elsewhere.somebodys_browser(browser_program) as person,
        elsewhere.without_screencast(person) as endpoint,
        serving(tmp_path, cdp_endpoint=endpoint) as server,
    ):
        page = (await server.running.call("browser_navigate", url=site.url("/animation"))).data["resourceId"]
        async with viewing(server, page) as viewer:
            await viewer.until(lambda viewer: viewer.frames >= 3)
            await viewer.send(type="take")
            await viewer.until(lambda viewer: viewer.state.get("driver") == "you")
            for kind in ("mouseMove", "mouseDown", "mouseUp"):
                await viewer.send(type=kind, x=70, y=220)
            await viewer.until(lambda viewer: viewer.state["title"] == "clicked")
        async with viewing(server, page) as viewer:
            await viewer.until(lambda viewer: viewer.frames >= 1)
