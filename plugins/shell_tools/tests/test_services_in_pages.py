"""Pages of a session may be those of its services, which are commands of its own that listen."""

import sys

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from agentcore.api import ToolError
from agentcore.api.tool_context import Principal
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.spec("R2"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="services are found in /proc"),
    pytest.mark.in_server("the server knows the services of a session"),
]

SERVE = f"{sys.executable} -m http.server 0 --bind"


@pytest.fixture
async def host(agentcore_host, tmp_path, chromium):
    root = tmp_path / "root"
    root.mkdir()
    (root / "index.html").write_text("<title>Own</title><script src='late.js'></script><p>A page of the session.</p>")
    (root / "late.js").write_text("document.title = 'Own, with its script'")
    config = {"config": {"shell_tools": {"sandbox": "off"}, "chrome": {"allow_private": False}}}
    return await agentcore_host(modules=["browser", "shell_tools"], config=config, roots=[root])


async def serve_in_session(host, bind="127.0.0.1", session_id="s1"):
    arguments = {"command": f"{SERVE} {bind}", "background": True}
    (await host.outcome("bash", arguments, session_id=session_id)).unwrap()
    await wait_until(lambda: host.host.resources.list_services(session_id))
    return host.host.resources.list_services(session_id)[0].url


async def navigate(host, url, session_id="s1", **rest):
    return await host.outcome("browser_navigate", {"url": url}, session_id=session_id, **rest)


@pytest.mark.parametrize("bind", ["127.0.0.1", "0.0.0.0", "::"])
async def test_page_of_a_service_is_opened_with_all_that_it_loads(host, bind):
    url = await serve_in_session(host, bind)
    shown = (await navigate(host, url)).unwrap()
    assert shown.data["title"] == "Own, with its script"


@pytest.mark.more
async def test_service_is_refused_to_other_sessions_and_other_ports_to_all(host):
    url = await serve_in_session(host)
    (await navigate(host, url)).unwrap()
    asked = []

    async def answer(request):
        asked.append(request)
        return web.Response(text="secret")

    app = web.Application()
    app.router.add_get("/", answer)
    async with TestServer(app, host="127.0.0.1") as other:
        for address, session_id in ((url, "s2"), (str(other.make_url("/")), "s1")):
            outcome = await navigate(host, address, session_id)
            assert outcome.error is not None
            assert outcome.error.context["reason"] == "private_address"
    assert asked == []


@pytest.mark.more
async def test_page_of_the_session_reaches_no_other_port_by_itself(host, tmp_path):
    asked = []

    async def answer(request):
        asked.append(request)
        return web.Response(text="secret", headers={"Access-Control-Allow-Origin": "*"})

    app = web.Application()
    app.router.add_get("/", answer)
    async with TestServer(app, host="127.0.0.1") as other:
        script = f"fetch('{other.make_url('/')}').then(() => document.title = 'read', () => document.title = 'refused')"
        (tmp_path / "root" / "late.js").write_text(script)
        (await navigate(host, await serve_in_session(host))).unwrap()

        async def title():
            shown = (await host.outcome("browser_get_state", {}, session_id="s1")).unwrap()
            return shown.data["title"]

        async def has_tried():
            return await title() in ("read", "refused")

        await wait_until(has_tried)
        assert await title() == "refused"
    assert asked == []


@pytest.mark.more
async def test_approval_names_the_service(host):
    url = await serve_in_session(host)
    host.answer_approvals(approve=True)
    assert (await navigate(host, url, principal=Principal("chat", "s1"))).ok
    assert host.asked[0].preview.services == ("service_0",)


@pytest.mark.more
async def test_service_that_has_ended_is_refused_again(host):
    url = await serve_in_session(host)
    (await navigate(host, url)).unwrap()
    (terminal,) = host.host.resources.list(resource_type="terminal")
    await host.host.resources.release(terminal.resource_id)
    await wait_until(lambda: not host.host.resources.list_services("s1"))
    with pytest.raises(ToolError, match="private network"):
        (await navigate(host, url)).unwrap()
