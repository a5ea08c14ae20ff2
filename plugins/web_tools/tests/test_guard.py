"""What must not be reached is refused: as it is written, at each redirect, and when it is dialled."""

import socket

import pytest
from aiohttp import web

from agentcore.api import ToolError
from agentcore.api.tool_context import Principal


@pytest.fixture
def names(monkeypatch):
    """What names lead to, instead of what the machine's resolver says; looked up anew each time."""
    known: dict[str, list[str]] = {}
    ask = socket.getaddrinfo

    def look_up(host, port, family=0, type=0, proto=0, flags=0):  # noqa: A002
        if host not in known:
            return ask(host, port, family, type, proto, flags)
        addresses = known[host]
        address = addresses.pop(0) if len(addresses) > 1 else addresses[0]
        kind = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [(kind, socket.SOCK_STREAM, 6, "", (address, port, 0, 0) if ":" in address else (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return known


@pytest.mark.spec("S6")
@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f.1",
        "0177.1",
        "[::1]",
        "[::ffff:7f00:1]",
        "①②⑦.0.0.1",
        "%31%32%37.1",
    ],
)
async def test_no_spelling_of_this_machine_is_fetched(serve, start, host) -> None:
    asked = []

    async def answer(request):
        asked.append(request)
        return web.Response(text="secret")

    site = await serve({"/": answer})
    running = await start(allow_private=False)
    with pytest.raises(ToolError) as caught:
        await running.call("web_fetch", url=site.replace("127.0.0.1", host))
    assert caught.value.type == "url_blocked"
    assert asked == []


@pytest.mark.spec("S6")
async def test_redirect_to_a_blocked_host_is_refused(serve, start) -> None:
    asked = []

    async def inside(request):
        asked.append(request)
        return web.Response(text="secret")

    private = (await serve({"/": inside})).rpartition(":")[2]

    async def sending_on(request):
        return web.Response(status=302, headers={"Location": f"http://0x7f.0.0.2:{private}/"})

    running = await start(blocked_hosts=["127.0.0.2"])
    with pytest.raises(ToolError) as caught:
        await running.call("web_fetch", url=await serve({"/": sending_on}))
    assert caught.value.context["reason"] == "blocked_host"
    assert caught.value.untrusted
    assert asked == []


@pytest.mark.spec("S6")
@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "10.1.2.3", "169.254.169.254", "::ffff:127.0.0.1", "fe80::1"])
@pytest.mark.in_server("what names lead to is said by a function that stands in for the resolver's")
async def test_name_that_leads_to_a_private_address_is_refused_when_it_is_dialled(names, start, address) -> None:
    names["innocent.example"] = [address]
    running = await start(allow_private=False)
    with pytest.raises(ToolError) as caught:
        await running.call("web_fetch", url="http://innocent.example/")
    assert caught.value.type == "url_blocked"
    assert address in caught.value.message


@pytest.mark.spec("S6")
@pytest.mark.in_server("what names lead to is said by a function that stands in for the resolver's")
async def test_name_that_is_rebound_between_two_requests_is_refused(names, serve, start) -> None:
    asked = []

    async def answer(request):
        asked.append(request)
        return web.Response(text="secret")

    port = (await serve({"/": answer})).rpartition(":")[2]
    names["rebound.example"] = ["127.0.0.1", "127.0.0.2"]
    running = await start(blocked_hosts=["127.0.0.2"])
    await running.call("web_fetch", url=f"http://rebound.example:{port}/")
    with pytest.raises(ToolError) as caught:
        await running.call("web_fetch", url=f"http://rebound.example:{port}/")
    assert caught.value.context["reason"] == "blocked_host"
    assert len(asked) == 1


@pytest.mark.spec("S2", "S6")
async def test_server_that_runs_the_tool_is_never_fetched(agentcore_client) -> None:
    client = await agentcore_client(modules=["web_tools"], config={"config": {"web_tools": {"allow_private": True}}})
    for host in ("127.0.0.1", "localhost", "2130706433", "[::ffff:7f00:1]"):
        await refuse_own_address(client, host)


@pytest.mark.spec("S2", "S6")
@pytest.mark.in_server("what names lead to is said by a function that stands in for the resolver's")
async def test_name_that_leads_to_the_server_is_never_fetched(names, agentcore_client) -> None:
    client = await agentcore_client(modules=["web_tools"], config={"config": {"web_tools": {"allow_private": True}}})
    names["me.example"] = ["127.0.0.1"]
    await refuse_own_address(client, "me.example")


async def refuse_own_address(client, host: str) -> None:
    """Have the server's own address fetched, spelled in some way: it is refused as such."""
    arguments = {"arguments": {"url": f"http://{host}:{client.server.port}/api/tools"}}
    answer = await client.post("/api/tools/web_fetch/call", json=arguments)
    error = (await answer.json())["error"]
    assert (error["type"], error["context"]["reason"]) == ("url_blocked", "own_address")


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://example.com/", "example.com", "http://user:pass@example.com/"]
)
async def test_what_is_no_plain_address_of_the_web_is_refused(failure, url) -> None:
    assert (await failure(url)).type == "url_blocked"


async def test_refused_call_is_not_asked_about(start) -> None:
    running = await start(allow_private=False)
    running.answer_approvals(approve=True)
    outcome = await running.outcome("web_fetch", {"url": "http://127.0.0.1/"}, principal=Principal("chat"))
    assert outcome.error.type == "url_blocked"
    assert running.asked == []


async def test_person_sees_the_normalised_address_before_a_model_fetches_it(serve, start) -> None:
    async def answer(request):
        return web.Response(text="hello")

    site = await serve({"/": answer})
    running = await start()
    running.answer_approvals(approve=True)
    url = site.replace("127.0.0.1", "0x7f.1")
    outcome = await running.outcome("web_fetch", {"url": url}, principal=Principal("chat"))
    assert outcome.unwrap().data["text"] == "hello"
    assert running.asked[0].preview.urls == (f"{site}/",)
