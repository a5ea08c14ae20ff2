"""The services of a session, which are commands of its own that listen, may be read without `allow_private`."""

import sys

import pytest
from aiohttp import web

from agentcore.api import ToolError
from agentcore.api.tool_context import Principal
from agentcore.approval_rules.criteria import list_touched
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.spec("R2"),
    pytest.mark.processes,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="services are found in /proc"),
    pytest.mark.in_server("the server knows the services of a session"),
]

SERVE = f"{sys.executable} -m http.server 0 --bind"


@pytest.fixture
async def host(agentcore_host, tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "index.html").write_text("<p>A page of the session.</p>")
    config = {"config": {"shell_tools": {"sandbox": "off"}}}
    return await agentcore_host(modules=["web_tools", "shell_tools"], config=config, roots=[tmp_path / "root"])


@pytest.fixture
async def service(host):
    """Start a server in a session, and return its address."""

    async def start(bind="127.0.0.1", session_id="s1"):
        arguments = {"command": f"{SERVE} {bind}", "background": True}
        (await host.outcome("bash", arguments, session_id=session_id)).unwrap()
        known = host.host.resources
        await wait_until(lambda: known.list_services(session_id))
        return known.list_services(session_id)[0].url

    return start


async def fetch(host, url, session_id="s1"):
    return (await host.outcome("web_fetch", {"url": url}, session_id=session_id)).unwrap()


@pytest.mark.parametrize("bind", ["127.0.0.1", "0.0.0.0", "::1", "::"])
async def test_service_of_the_session_is_read_in_every_usual_spelling(host, service, bind):
    url = await service(bind)
    shown = await fetch(host, url)
    assert "A page of the session." in shown.data["text"]
    if ":" not in bind:
        port = url.rpartition(":")[2]
        assert "A page of the session." in (await fetch(host, f"http://localhost:{port}")).data["text"]


async def test_service_of_another_session_and_other_ports_stay_refused(host, service, serve):
    url = await service()

    async def answer(request):
        return web.Response(text="secret")

    site = await serve({"/": answer})
    for address, session_id in ((url, "s2"), (site, "s1")):
        with pytest.raises(ToolError) as caught:
            await fetch(host, address, session_id)
        assert (caught.value.type, caught.value.context["reason"]) == ("url_blocked", "private_address")


async def test_own_address_stays_refused_also_where_a_service_names_it(host, service):
    url = await service()
    host.host.own_origins.declare("page", [url.rstrip("/")])
    with pytest.raises(ToolError) as caught:
        await fetch(host, url)
    assert caught.value.context["reason"] == "own_address"


async def test_service_that_has_ended_is_refused_again(host, service):
    url = await service()
    (terminal,) = host.host.resources.list(resource_type="terminal")
    await host.host.resources.release(terminal.resource_id)
    await wait_until(lambda: not host.host.resources.list_services("s1"))
    with pytest.raises(ToolError) as caught:
        await fetch(host, url)
    assert caught.value.type == "url_blocked"


async def test_name_that_leads_to_the_service_is_refused(host, service, monkeypatch):
    url = await service()
    port = int(url.rstrip("/").rpartition(":")[2])
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("127.0.0.1", port))])
    with pytest.raises(ToolError) as caught:
        await fetch(host, f"http://example.com:{port}/")
    assert caught.value.context["reason"] == "private_address"


async def test_approval_names_the_service(host, service):
    url = await service()
    host.answer_approvals(approve=True)
    outcome = await host.outcome("web_fetch", {"url": url}, principal=Principal("chat", "s1"), session_id="s1")
    assert outcome.ok
    (asked,) = host.asked
    assert asked.preview.urls == (url,)
    assert asked.preview.services == ("service_0",)
    assert [each.values for each in list_touched(asked.facts) if each.key == "services"] == [("service_0",)]


@pytest.mark.usefixtures("bubblewrap")
async def test_refusal_of_a_service_in_a_sandbox_without_network_says_why_it_is_out_of_reach(agentcore_host, tmp_path):
    (tmp_path / "confined").mkdir()
    config = {"config": {"shell_tools": {"sandbox": "require", "network": False}}}
    host = await agentcore_host(modules=["web_tools", "shell_tools"], config=config, roots=[tmp_path / "confined"])
    (await host.outcome("bash", {"command": f"{SERVE} 127.0.0.1", "background": True}, session_id="s1")).unwrap()
    await wait_until(lambda: host.host.resources.list_services("s1"))
    (known,) = host.host.resources.list_services("s1")
    for url in (known.url, known.url.replace("127.0.0.1", "localhost")):
        with pytest.raises(
            ToolError, match=r"service_0, which cannot be reached: port .* `network` of shell_tools"
        ) as caught:
            await fetch(host, url)
        assert (caught.value.type, caught.value.context["reason"]) == ("url_blocked", "private_address")
