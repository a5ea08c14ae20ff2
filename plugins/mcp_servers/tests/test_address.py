"""Servers at an address, in the real host: the example over HTTP, and one that answers as a test says."""

import json
import socket

import pytest
from aiohttp import web

from tests.support.waiting import wait_until


@pytest.fixture
def run_example(load_beside, serving):
    """Run the example over HTTP at a port, in a block; each time it is a new one, which knows no session."""
    return lambda port: serving(load_beside("example_server").server.streamable_http_app(), port)


async def test_a_server_at_an_address_is_a_module(mount, run_example, unused_tcp_port):
    async with run_example(unused_tcp_port):
        host = await mount({"type": "http", "url": f"http://127.0.0.1:{unused_tcp_port}/mcp"})
        assert (await host.call("example_add", a=2, b=3)).data == {"result": 5}
        await host.host.modules.disable("mcp_example")


@pytest.mark.more
async def test_a_session_that_the_server_has_forgotten_is_made_anew_and_the_call_sent_once_more(
    mount, run_example, unused_tcp_port
):
    async with run_example(unused_tcp_port):
        host = await mount({"url": f"http://127.0.0.1:{unused_tcp_port}/mcp"})
    async with run_example(unused_tcp_port):
        assert (await host.call("example_add", a=2, b=3)).data == {"result": 5}
        await host.host.modules.disable("mcp_example")


async def test_a_server_that_cannot_be_reached_is_the_reason(mount, unused_tcp_port):
    host = await mount({"url": f"http://127.0.0.1:{unused_tcp_port}/mcp"}, is_failure_expected=True)
    waiting = host.host.modules.get_record("mcp_example").waiting
    assert waiting.reason == "retry"
    assert "connect" in waiting.said.lower()


async def test_a_server_whose_name_is_not_known_waits_for_the_network(mount, answering, monkeypatch):
    monkeypatch.setattr("agentcore_mcp_servers.server._FIRST_PAUSE", 3600)
    is_there = []
    look_up = socket.getaddrinfo

    def look_up_later(host, *arguments, **options):
        if host != "later.test":
            return look_up(host, *arguments, **options)
        if not is_there:
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return look_up("127.0.0.1", *arguments, **options)

    async def answer(request, asked):
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}})

    monkeypatch.setattr(socket, "getaddrinfo", look_up_later)
    url = (await answering(answer)).replace("127.0.0.1", "later.test")
    host = await mount({"url": url}, is_failure_expected=True)
    record = host.host.modules.get_record("mcp_example")
    assert record.waiting.reason == "network"
    is_there.append(True)
    await wait_until(lambda: record.waiting is None and record.withheld)


async def test_the_metadata_of_a_cloud_is_no_server(mount):
    host = await mount({"url": "http://169.254.169.254/mcp"}, is_failure_expected=True)
    assert "its address is refused" in host.host.modules.get_record("mcp_example").reason


async def test_an_answer_that_is_too_long_ends_its_call(mount, answering):
    async def answer(request, asked):
        text = {"content": [{"type": "text", "text": "x" * 20_000_000}]}
        return web.Response(
            body=json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": text}), content_type="application/json"
        )

    host = await mount({"url": await answering(answer)})
    outcome = await host.outcome("example_go")
    assert not outcome.ok


async def test_an_error_of_http_ends_its_call_alone(mount, answering):
    async def answer(request, asked):
        return web.Response(status=503)

    host = await mount({"url": await answering(answer)})
    outcome = await host.outcome("example_go")
    assert outcome.error.type == "server_refused"


async def test_headers_of_the_block_are_sent_and_masked(mount, answering):
    async def answer(request, asked):
        said = {"content": [{"type": "text", "text": request.headers["X-Key"]}]}
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "result": said})

    host = await mount({"url": await answering(answer), "headers": {"X-Key": "shh"}})
    assert (await host.call("example_go")).blocks()[0].text == "shh"


async def test_a_result_of_the_newest_revision_that_does_not_say_what_it_is_is_whole(mount, answering):
    async def answer(request, asked):
        assert request.headers["Mcp-Protocol-Version"] == "2026-07-28"
        result = {"content": [{"type": "text", "text": "done"}]}
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "result": result})

    host = await mount({"url": await answering(answer, is_stateless=True)})
    assert (await host.call("example_go")).blocks()[0].text == "done"


@pytest.mark.parametrize("value", ["hunter22\nhunter33", "hunter22\n", " hunter22", "hunter22\x00", "hunter22\u4e2d"])
async def test_a_value_that_no_header_may_have_is_refused_before_it_is_sent_and_not_shown(mount, answering, value):
    async def answer(request, asked):
        raise AssertionError("nothing may be sent")

    host = await mount({"url": await answering(answer), "headers": {"X-Key": value}}, is_failure_expected=True)
    reason = host.host.modules.get_record("mcp_example").reason
    assert "the value of the header 'X-Key'" in reason
    assert "hunter" not in reason


@pytest.mark.parametrize("later", ["127.0.0.1", "169.254.169.254"])
async def test_the_address_that_is_dialled_is_checked_not_only_the_one_that_was_looked_up(
    mount, answering, monkeypatch, later
):
    """A name leads to the server when it is looked up, and elsewhere when the connection is made."""

    async def answer(request, asked):
        result = {"content": [{"type": "text", "text": "reached"}]}
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "result": result})

    looked_up = []
    look_up = socket.getaddrinfo

    def rebind(host, *arguments, **options):
        if host != "rebind.test":
            return look_up(host, *arguments, **options)
        looked_up.append(host)
        return look_up("127.0.0.1" if len(looked_up) == 1 else later, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", rebind)
    url = (await answering(answer)).replace("127.0.0.1", "rebind.test")
    is_same = later == "127.0.0.1"
    host = await mount({"url": url}, is_failure_expected=not is_same)
    if is_same:
        assert (await host.call("example_go")).blocks()[0].text == "reached"
    else:
        assert "hands out this machine's credentials" in host.host.modules.get_record("mcp_example").waiting.said
    assert len(looked_up) >= 2
