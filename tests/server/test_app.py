"""From a request to its answer, whatever happens on the way."""

import json
import re

import pytest
from aiohttp.test_utils import TestServer

from agentcore.server.app import create_app
from agentcore.server.http.server_limits import TimeLimits
from agentcore.server.route_table import load_all_routes
from agentcore.server.routes import ROUTE_GROUPS
from tests.support.waiting import wait_until


@pytest.mark.spec("M6")
async def test_defect_of_the_server_is_an_error_object_and_no_500(make_server):
    server = await make_server()
    await server.host.store.database._reader.close()
    status, answer = await server.get("/api/calls")
    assert (status, answer["error"]["type"]) == (424, "internal_error")
    assert "Traceback" not in json.dumps(answer)
    assert (await server.get("/api/health"))[0] == 200
    server.host.store.record.many_rows.set()
    await wait_until(lambda: server.host.record_keeper.problems == {"tidy": "the database is closed"})


async def test_host_can_be_served_twice(make_server):
    server = await make_server()
    async with TestServer(create_app(server.host)) as second:
        response = await server.client.get(f"http://127.0.0.1:{second.port}/api/health")
        assert (response.status, await response.json()) == (200, {"status": "ok"})
    assert (await server.get("/api/health"))[0] == 200


async def test_application_learns_its_port_and_answers_to_no_other(make_server):
    server = await make_server()
    await server.get("/api/health")
    assert server.app.dispatcher.parts.addresses.port == server.port
    status, _ = await server.get("/api/health", headers={"Host": f"127.0.0.1:{server.port + 1}"})
    assert status == 421


async def test_event_streams_of_an_application_end_with_it_alone(make_server):
    server = await make_server()
    async with TestServer(create_app(server.host)) as second:
        url = f"http://127.0.0.1:{second.port}/api/events"
        response = await server.client.get(url)
    assert b"events.reset" not in await response.read()
    assert not server.app.dispatcher.parts.events.is_closed


ODD_SEGMENTS = ["x", "%00", "%ff", "..", "%2e%2e", "a" * 5000, "%F0%9F%98%80", "'\"<script>", "{name}", "~", "%"]
ODD_BODIES = [
    b"",
    b"null",
    b"[]",
    b"{}",
    b'{"arguments": null}',
    b'{"code": "\\u0000"}',
    b'"\xf0\x9f\x98\x80"',
    b"1e400",
]


@pytest.mark.slow
@pytest.mark.spec("M6")
@pytest.mark.spec("S1")
@pytest.mark.parametrize("group", sorted({route.group for route in load_all_routes(ROUTE_GROUPS)}))
async def test_nothing_that_is_sent_makes_a_500(make_server, group):
    server = await make_server(limits=TimeLimits(body=1, heartbeat=1))
    if group == "events":
        server.app.dispatcher.parts.events.close()
    for route in load_all_routes(ROUTE_GROUPS):
        if route.group == group:
            await send_nonsense(server, route)


async def send_nonsense(server, route):
    for segment in ODD_SEGMENTS if "{" in route.path else ["x"]:
        path = re.sub(r"\{[^}]*\}", lambda _, segment=segment: segment, route.path)
        for body in ODD_BODIES if route.body is not None else [b""]:
            lines = ("Content-Type: application/json", f"Content-Length: {len(body)}")
            head = server.head(*lines, start=f"{route.method} {path}?{segment}={segment} HTTP/1.1")
            answer = await server.raw(head + body)
            assert answer.startswith(b"HTTP/1.1 ")
            assert int(answer[9:12]) < 500, (path, body, answer)
            assert b"Traceback (most" not in answer
            assert b"internal_error" not in answer, (path, body, answer)
