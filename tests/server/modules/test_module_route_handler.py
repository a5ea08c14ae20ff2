"""Routes of modules: our request in, our response out; whatever the module does, the server goes on."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import aiohttp
import pytest
from pydantic import BaseModel, ConfigDict

from agentcore.api import Module, Request, Response, Runtime, ToolError
from agentcore.server.http.server_limits import WEBSOCKET_BYTES, TimeLimits


class Point(BaseModel):
    """A body."""

    model_config = ConfigDict(extra="forbid")

    x: int
    y: int = 0


class Wanted(BaseModel):
    """A query."""

    size: int = 1


class Site(Module):
    """Serves whatever a test gives it."""

    name = "site"
    claims = ("/api/elsewhere",)

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.left = asyncio.Event()

    def serve(self, path: str, answer: Callable[[Request], Awaitable[Response | None]] | Response, **options):
        """Add a route whose requests are kept."""

        async def handle(request: Request) -> Response | None:
            self.requests.append(request)
            return answer if isinstance(answer, Response) else await answer(request)

        return self.runtime.add_route(options.pop("method", "GET"), path, handle, **options)

    def init(self, runtime: Runtime) -> None:
        """Nothing to get ready."""


@pytest.fixture
def site():
    return Site()


SERVER = {"modules": ["site"], "limits": TimeLimits(module_answer=0.2)}


async def described(bare_server):
    _, description = await bare_server.get("/api/openapi.json")
    return description


@pytest.mark.spec("K6")
async def test_routes_of_modules_are_described_with_their_module_as_tag(bare_server, site):
    site.serve("points/{name}", Response({}), method="POST", body=Point, query=Wanted)
    site.serve("/api/elsewhere/talk", Response({}), kind="websocket")
    paths = (await described(bare_server))["paths"]
    post = paths["/api/modules/site/points/{name}"]["post"]
    assert (post["tags"], post["security"]) == (["site"], [{"token": []}, {"pageCookie": [], "pageHeader": []}])
    assert {(each["in"], each["name"]) for each in post["parameters"]} == {("path", "name"), ("query", "size")}
    assert post["requestBody"]["content"]["application/json"]["schema"]["required"] == ["x"]
    assert "101" in paths["/api/elsewhere/talk"]["get"]["responses"]


@pytest.mark.spec("K6")
async def test_description_follows_the_routes_of_modules(bare_server, site):
    route = site.serve("hello", Response({}))
    assert "/api/modules/site/hello" in (await described(bare_server))["paths"]
    route.remove()
    assert "/api/modules/site/hello" not in (await described(bare_server))["paths"]


@pytest.mark.spec("K6")
async def test_models_of_modules_keep_their_names_apart_and_one_without_a_schema_harms_nothing(bare_server, site):
    class CallBody(BaseModel):
        """A body that a model of the server's shares its name with."""

        point: Point

    class Odd(BaseModel):
        """A body that JSON Schema has no words for."""

        model_config = ConfigDict(arbitrary_types_allowed=True)

        work: Callable[[], int]

    site.serve("call", Response({}), method="POST", body=CallBody)
    site.serve("odd", Response({}), method="POST", body=Odd)
    description = await described(bare_server)
    body = description["paths"]["/api/modules/site/call"]["post"]["requestBody"]["content"]["application/json"]
    assert body["schema"]["properties"]["point"] == {"$ref": "#/components/schemas/site.Point"}
    assert "site.Point" in description["components"]["schemas"]
    assert "CallBody" in description["components"]["schemas"]
    odd = description["paths"]["/api/modules/site/odd"]["post"]["requestBody"]["content"]["application/json"]
    assert odd["schema"] == {}


@pytest.mark.spec("K6")
@pytest.mark.spec("M7")
async def test_route_answers_below_the_modules_path_and_at_a_claimed_one(bare_server, site):
    site.serve("hello/{who}", Response({"said": "hello"}, status=201, headers={"X-Own": "yes"}))
    site.serve("/api/elsewhere/x", Response([1, 2]))
    async with bare_server.client.get(f"{bare_server.url}/api/modules/site/hello/you%20there?a=1") as response:
        assert (response.status, await response.json()) == (201, {"said": "hello"})
        assert response.headers["X-Own"] == "yes"
    assert await bare_server.get("/api/elsewhere/x") == (200, [1, 2])
    request = site.requests[0]
    assert request.path_values == {"who": "you there"}
    assert request.query == {"a": "1"}
    assert (request.method, request.principal.kind, request.body) == ("GET", "token", None)


@pytest.mark.spec("S1")
async def test_credentials_do_not_reach_a_module(bare_server, site):
    site.serve("x", Response({}))
    headers = {"Cookie": "a=b", "X-Agentcore-Session": "secret", "X-Other": "seen"}
    await bare_server.get("/api/modules/site/x", headers=headers)
    seen = site.requests[0].headers
    assert seen["x-other"] == "seen"
    assert not {"authorization", "cookie", "x-agentcore-session"} & set(seen)


@pytest.mark.spec("S1")
async def test_module_route_is_closed_without_a_credential(bare_server, site):
    site.serve("x", Response({}))
    status, _ = await bare_server.answer_to(bare_server.head(start="GET /api/modules/site/x HTTP/1.1", token=False))
    assert status == 401
    assert site.requests == []


async def test_body_and_query_are_validated_by_the_routes_models(bare_server, site):
    site.serve("p", Response({}), method="POST", body=Point, query=Wanted)
    assert (await bare_server.post("/api/modules/site/p?size=3", {"x": 1}))[0] == 200
    assert site.requests[0].body == Point(x=1)
    assert site.requests[0].query == Wanted(size=3)
    for path, body, error_type in (
        ("p", {"x": "a"}, "invalid_body"),
        ("p", {"x": 1, "z": 2}, "invalid_body"),
        ("p?size=big", {"x": 1}, "invalid_query"),
    ):
        status, answer = await bare_server.post(f"/api/modules/site/{path}", body)
        assert (status, answer["error"]["type"]) == (400, error_type)
    assert len(site.requests) == 1


async def test_bodies_without_a_model_are_json_or_bytes(bare_server, site):
    site.serve("p", Response({}), method="PUT")
    url = f"{bare_server.url}/api/modules/site/p"
    async with (
        bare_server.client.put(url, json=[1]),
        bare_server.client.put(url, data=b"raw"),
        bare_server.client.put(url),
    ):
        assert [request.body for request in site.requests] == [[1], b"raw", None]


async def test_bytes_and_empty_answers(bare_server, site):
    site.serve("b", Response(b"\x00\x01", mime="image/png"))
    site.serve("n", Response(status=204))
    async with bare_server.client.get(f"{bare_server.url}/api/modules/site/b") as response:
        assert (response.content_type, await response.read()) == ("image/png", b"\x00\x01")
    async with bare_server.client.get(f"{bare_server.url}/api/modules/site/n") as response:
        assert (response.status, await response.read()) == (204, b"")


@pytest.mark.spec("S1")
async def test_headers_of_the_gate_cannot_be_replaced(bare_server, site):
    own = {
        "Content-Security-Policy": "default-src *",
        "X-Content-Type-Options": "off",
        "Cache-Control": "public",
        "Access-Control-Allow-Origin": "*",
        "Set-Cookie": f"{bare_server.host.state.cookie_name('page')}=x",
        "Content-Length": "3",
        "Connection": "upgrade",
    }
    site.serve("h", Response(b"<script>", mime="text/html", headers=own))
    async with bare_server.client.get(f"{bare_server.url}/api/modules/site/h") as response:
        assert await response.read() == b"<script>"
        assert response.headers.getall("Content-Security-Policy") != ["default-src *"]
        assert response.headers.getall("X-Content-Type-Options") == ["nosniff"]
        assert response.headers.getall("Cache-Control") == ["no-store"]
        assert not {"Access-Control-Allow-Origin", "Set-Cookie"} & set(response.headers)


@pytest.mark.spec("M6")
async def test_tool_error_of_a_route_is_an_error_object(bare_server, site):
    async def fail(request: Request) -> Response:
        raise ToolError("too_cold", "put on a coat", degrees=-3)

    site.serve("f", fail)
    status, answer = await bare_server.get("/api/modules/site/f")
    assert status == 400
    assert answer["error"] == {
        "type": "too_cold",
        "message": "put on a coat",
        "context": {"degrees": -3},
        "retryable": False,
    }


@pytest.mark.spec("S4")
@pytest.mark.parametrize(
    "failure",
    [ZeroDivisionError("secret"), SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), MemoryError()],
)
async def test_any_other_failure_is_contained(bare_server, site, failure):
    async def fail(request: Request) -> Response:
        raise failure

    site.serve("f", fail)
    status, answer = await bare_server.get("/api/modules/site/f")
    assert status < 500
    assert answer["error"]["type"] == "internal_error"
    assert "secret" not in str(answer)
    assert (await bare_server.get("/api/health"))[0] == 200


@pytest.mark.parametrize(
    "answer",
    [Response(status=99), Response(status=700), Response({}, headers={"X-A": "a\r\nX-B: b"}), {"no": "response"}],
)
async def test_answer_that_is_none_is_a_defect_of_the_module(bare_server, site, answer):
    async def give(request: Request):
        return answer

    site.serve("f", give)
    status, said = await bare_server.get("/api/modules/site/f")
    assert (status, said["error"]["type"]) == (424, "internal_error")


@pytest.mark.spec("S4")
async def test_route_that_does_not_answer_is_cut_off(bare_server, site):
    async def hang(request: Request) -> Response:
        await asyncio.Event().wait()
        raise AssertionError

    site.serve("f", hang)
    status, answer = await bare_server.get("/api/modules/site/f")
    assert (status, answer["error"]["type"]) == (424, "timeout")


@pytest.mark.spec("K6")
async def test_route_vanishes_with_its_module(bare_server, site):
    site.serve("x", Response({}))
    await bare_server.host.modules.disable("site")
    status, answer = await bare_server.get("/api/modules/site/x")
    assert (status, answer["error"]["type"]) == (404, "not_found")


async def test_wrong_method_names_the_right_ones(bare_server, site):
    site.serve("x", Response({}))
    async with bare_server.client.delete(f"{bare_server.url}/api/modules/site/x") as response:
        assert (response.status, response.headers["Allow"]) == (405, "GET")


def endless(site: Site, *, fails_after: int | None = None):
    async def give(request: Request) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            try:
                count = 0
                while True:
                    yield b"piece;"
                    count += 1
                    if count == fails_after:
                        raise ZeroDivisionError
                    await asyncio.sleep(0)
            finally:
                site.left.set()

        return Response(pieces(), mime="text/plain")

    return give


@pytest.mark.spec("K6")
async def test_stream_ends_when_its_route_is_removed(bare_server, site):
    route = site.serve("s", endless(site), kind="stream")
    async with bare_server.client.get(f"{bare_server.url}/api/modules/site/s") as response, asyncio.timeout(30):
        assert (await response.content.readexactly(12)) == b"piece;piece;"
        route.remove()
        assert (await response.content.read()).endswith(b"piece;")
        await site.left.wait()


async def test_stream_that_fails_is_broken_off(bare_server, site):
    site.serve("s", endless(site, fails_after=3), kind="stream")
    async with bare_server.client.get(f"{bare_server.url}/api/modules/site/s") as response:
        with pytest.raises(aiohttp.ClientPayloadError):
            await response.content.read()


async def test_stream_whose_reader_leaves_is_ended(bare_server, site):
    site.serve("s", endless(site), kind="stream")
    response = await bare_server.client.get(f"{bare_server.url}/api/modules/site/s")
    await response.content.readexactly(6)
    response.close()
    async with asyncio.timeout(30):
        await site.left.wait()


@pytest.fixture
async def echo(bare_server, site):
    """A WebSocket that says everything back."""

    async def talk(request: Request) -> None:
        try:
            async for message in request.socket:
                if message == "fail":
                    raise ZeroDivisionError
                if message == "refuse":
                    raise ToolError("refused", "no")
                await request.socket.send(message)
        finally:
            site.left.set()

    return site.serve("ws", talk, kind="websocket")


@pytest.mark.spec("K6")
async def test_websocket_talks_in_text_and_bytes(bare_server, echo):
    async with bare_server.client.ws_connect(f"{bare_server.url}/api/modules/site/ws") as socket:
        await socket.send_str("hello")
        assert await socket.receive_str() == "hello"
        await socket.send_bytes(b"\x00")
        assert await socket.receive_bytes() == b"\x00"


async def test_websocket_of_a_page_shows_its_session_as_a_subprotocol(bare_server, echo):
    session = await bare_server.host.store.page_sessions.exchange_code(
        bare_server.host.store.page_sessions.create_code()
    )
    headers = {"Cookie": f"{bare_server.host.state.cookie_name('page')}={session.cookie}"}
    protocols = ("agentcore", f"agentcore.session.{session.header}")
    async with aiohttp.ClientSession(headers=headers) as page:
        async with page.ws_connect(f"{bare_server.url}/api/modules/site/ws", protocols=protocols) as socket:
            assert socket.protocol == "agentcore"
            await socket.send_str("hello")
            assert await socket.receive_str() == "hello"
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await page.ws_connect(f"{bare_server.url}/api/modules/site/ws", protocols=("agentcore",))
    assert refused.value.status == 401


@pytest.mark.spec("S1")
async def test_websocket_of_a_foreign_page_is_refused(bare_server, echo):
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await bare_server.client.ws_connect(f"{bare_server.url}/api/modules/site/ws", origin="http://evil.example")
    assert refused.value.status == 403


@pytest.mark.spec("S1")
async def test_websocket_message_over_the_bound_ends_the_connection(bare_server, echo, site):
    async with bare_server.client.ws_connect(f"{bare_server.url}/api/modules/site/ws", max_msg_size=0) as socket:
        await socket.send_bytes(b"x" * (WEBSOCKET_BYTES + 1))
        message = await socket.receive(timeout=30)
        assert (message.type, socket.close_code) == (aiohttp.WSMsgType.CLOSE, 1009)


@pytest.mark.parametrize(("said", "code"), [("fail", 1011), ("refuse", 1008)])
async def test_failure_closes_the_websocket_with_a_code(bare_server, echo, said, code):
    async with bare_server.client.ws_connect(f"{bare_server.url}/api/modules/site/ws") as socket:
        await socket.send_str(said)
        await socket.receive(timeout=30)
        assert socket.close_code == code


@pytest.mark.spec("K6")
async def test_websocket_ends_when_its_module_is_disabled(bare_server, echo, site):
    async with bare_server.client.ws_connect(f"{bare_server.url}/api/modules/site/ws") as socket:
        await socket.send_str("hello")
        await socket.receive_str()
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            group.create_task(bare_server.host.modules.disable("site"))
            await socket.receive()
        assert socket.close_code == 1001
    assert site.left.is_set()


@pytest.mark.slow
async def test_handler_whose_other_side_leaves_is_ended(bare_server, site):
    async def wait(request: Request) -> None:
        try:
            await request.socket.send("ready")
            await asyncio.Event().wait()
        finally:
            site.left.set()

    site.serve("ws", wait, kind="websocket")
    socket = await bare_server.client.ws_connect(f"{bare_server.url}/api/modules/site/ws")
    await socket.receive_str()
    socket._writer.transport.abort()
    async with asyncio.timeout(30):
        await site.left.wait()


async def test_plain_request_to_a_websocket_is_told_so(bare_server, echo):
    status, answer = await bare_server.get("/api/modules/site/ws")
    assert (status, answer["error"]["type"]) == (426, "upgrade_required")
    status, answer = await bare_server.answer_to(
        bare_server.head("Upgrade: websocket", "Sec-WebSocket-Version: 1", start="GET /api/modules/site/ws HTTP/1.1")
    )
    assert (status, answer["ok"]) == (426, False)
