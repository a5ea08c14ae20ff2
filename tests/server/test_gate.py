"""Who comes in: Host, then Origin and fetch metadata, then a credential; all else is refused."""

import pytest

from agentcore.server.route_table import load_all_routes
from agentcore.server.routes import ROUTE_GROUPS

LOGIN = '{"code": "x"}'


SERVER = {"app": {"server": {"port": 0, "hosts": ["agent.example.com", "127.0.0.1:9000"]}}}


def asked(server, *lines: str, start: str = "GET /api/tools HTTP/1.1", host: str | None = None) -> bytes:
    hosts = [f"Host: {host or f'127.0.0.1:{server.port}'}"] if host != "" else []
    shown = [start, *hosts, "Connection: close", f"Authorization: Bearer {server.token}", *lines]
    return ("\r\n".join(shown) + "\r\n\r\n").encode()


@pytest.mark.spec("S1")
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1.evil.example",
        "localhost",
        "0.0.0.0:PORT",
        "[::1]:PORT",
        "agent.example.com:PORT",
        "agent.example.com.",
        "127.0.0.1:PORT@evil.example",
        "user@127.0.0.1:PORT",
    ],
)
@pytest.mark.parametrize("start", ["GET /api/tools HTTP/1.1", "GET / HTTP/1.1", "GET /api/health HTTP/1.1"])
async def test_foreign_host_is_misdirected_on_every_route(shared_bare_server, host, start):
    request = asked(shared_bare_server, host=host.replace("PORT", str(shared_bare_server.port)), start=start)
    status, answer = await shared_bare_server.answer_to(request)
    assert (status, answer["error"]["type"]) == (421, "misdirected_request")


@pytest.mark.spec("S1")
async def test_missing_or_double_host_is_refused(shared_bare_server):
    good = f"Host: 127.0.0.1:{shared_bare_server.port}"
    for lines in ([], [good, good], [good, "Host: evil.example"]):
        status, _ = await shared_bare_server.answer_to(asked(shared_bare_server, *lines, host=""))
        assert status in {400, 421}


@pytest.mark.parametrize(
    "host", ["127.0.0.1:PORT", "localhost:PORT", "LOCALHOST:PORT", "agent.example.com", "127.0.0.1:9000"]
)
async def test_own_and_declared_hosts_are_taken(shared_bare_server, host):
    status, _ = await shared_bare_server.answer_to(
        asked(shared_bare_server, host=host.replace("PORT", str(shared_bare_server.port)))
    )
    assert status == 200


async def test_absolute_target_does_not_stand_in_for_the_host(shared_bare_server):
    start = f"GET http://127.0.0.1:{shared_bare_server.port}/api/tools HTTP/1.1"
    status, answer = await shared_bare_server.answer_to(asked(shared_bare_server, start=start, host="evil.example"))
    assert (status, answer["error"]["type"]) == (400, "invalid_request")


@pytest.mark.spec("S1")
@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "https://127.0.0.1:PORT",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        "http://agent.example.com",
        "http://127.0.0.1:PORT, http://evil.example",
        "",
    ],
)
@pytest.mark.parametrize("start", ["GET /api/tools HTTP/1.1", "POST /api/session HTTP/1.1", "GET / HTTP/1.1"])
async def test_foreign_origin_is_refused_on_every_route(shared_bare_server, origin, start):
    request = asked(shared_bare_server, f"Origin: {origin.replace('PORT', str(shared_bare_server.port))}", start=start)
    status, answer = await shared_bare_server.answer_to(request)
    assert (status, answer["error"]["type"]) == (403, "foreign_origin")


@pytest.mark.parametrize("origin", ["http://127.0.0.1:PORT", "https://agent.example.com", "http://127.0.0.1:9000"])
async def test_own_origins_are_taken(shared_bare_server, origin):
    status, _ = await shared_bare_server.answer_to(
        asked(shared_bare_server, f"Origin: {origin.replace('PORT', str(shared_bare_server.port))}")
    )
    assert status == 200


@pytest.mark.spec("S1")
@pytest.mark.parametrize(
    ("start", "site", "is_taken"),
    [
        ("GET /api/tools HTTP/1.1", "same-origin", True),
        ("GET /api/tools HTTP/1.1", "none", True),
        ("GET /api/tools HTTP/1.1", "same-site", False),
        ("GET /api/tools HTTP/1.1", "cross-site", False),
        ("GET /api/events HTTP/1.1", "cross-site", False),
        ("DELETE /api/session HTTP/1.1", "same-site", False),
        ("DELETE /api/session HTTP/1.1", "none", False),
        ("DELETE /api/resources/x HTTP/1.1", "same-origin", True),
        ("GET /static/app.js HTTP/1.1", "cross-site", True),
    ],
)
async def test_fetch_metadata_of_other_sites_is_refused(shared_bare_server, start, site, is_taken):
    answer = await shared_bare_server.raw(asked(shared_bare_server, f"Sec-Fetch-Site: {site}", start=start))
    assert (b" 403 " not in answer.split(b"\r\n")[0]) == is_taken
    assert is_taken or b"foreign_origin" in answer


@pytest.mark.spec("S1")
@pytest.mark.spec("K4")
@pytest.mark.parametrize("route", load_all_routes(ROUTE_GROUPS), ids=lambda route: f"{route.method} {route.path}")
async def test_every_route_is_closed_unless_it_is_meant_to_be_open(shared_bare_server, route):
    open_paths = {"/", "/static/{path...}", "/modules/{name}/{path...}", "/api/health"}
    path = route.path.replace("{path...}", "x.js").replace("{", "").replace("}", "")
    answer = await shared_bare_server.raw(shared_bare_server.head(start=f"{route.method} {path} HTTP/1.1", token=False))
    exchanges_a_code = (route.method, route.path) in {
        ("POST", "/api/session"),
        ("POST", "/api/approvers"),
        ("POST", "/api/approvers/key"),
        # a machine that nobody has let in says there what it brings, and shows a code
        ("GET", "/api/hosts/socket"),
    }
    is_open = route.path in open_paths or exchanges_a_code
    assert (b" 401 " in answer.split(b"\r\n")[0]) == (not is_open)


@pytest.mark.spec("S1")
@pytest.mark.parametrize(
    "line",
    [
        "Authorization: Bearer wrong",
        "Authorization: Bearer ",
        "Authorization: TOKEN",
        "Authorization: Basic TOKEN",
        "Authorization: Bearer TOKENx",
        "X-Agentcore-Session: TOKEN",
        "Cookie: NAME=TOKEN",
        "X-Token: TOKEN",
    ],
)
async def test_only_the_token_as_bearer_is_a_credential(shared_bare_server, line):
    shown = line.replace("TOKEN", shared_bare_server.token)
    shown = shown.replace("NAME", shared_bare_server.host.state.cookie_name("page"))
    status, answer = await shared_bare_server.answer_to(shared_bare_server.head(shown, token=False))
    assert (status, answer["error"]["type"]) == (401, "unauthorized")


@pytest.mark.spec("S1")
@pytest.mark.parametrize("name", ["token", "access_token", "session", "code"])
async def test_credential_in_a_query_is_none(shared_bare_server, name):
    start = f"GET /api/calls?{name}={shared_bare_server.token} HTTP/1.1"
    status, answer = await shared_bare_server.answer_to(shared_bare_server.head(start=start, token=False))
    assert (status, answer["error"]["type"]) == (401, "unauthorized")


async def test_nobody_learns_without_a_credential_what_exists(shared_bare_server):
    for path in ("/api/nothing", "/api/modules/x/y", "/.git/config", "/favicon.ico"):
        status, answer = await shared_bare_server.answer_to(
            shared_bare_server.head(start=f"GET {path} HTTP/1.1", token=False)
        )
        assert (status, answer["error"]["type"]) == (401, "unauthorized")


async def test_unknown_path_and_wrong_method_are_said(shared_bare_server):
    status, answer = await shared_bare_server.get("/api/nothing")
    assert (status, answer["error"]["type"]) == (404, "not_found")
    async with shared_bare_server.client.post(f"{shared_bare_server.url}/api/tools", json={}) as response:
        assert response.status == 405
        assert response.headers["Allow"] == "GET, HEAD"
        assert (await response.json())["error"]["type"] == "method_not_allowed"
    async with shared_bare_server.client.options(f"{shared_bare_server.url}/api/tools") as response:
        assert response.status == 405
        assert not [name for name in response.headers if name.lower().startswith("access-control")]


@pytest.mark.spec("S1")
@pytest.mark.parametrize(
    "path", ["/", "/api/health", "/api/tools", "/api/nothing", "/static/app.js", "/static/none.js"]
)
async def test_every_answer_carries_the_security_headers(shared_bare_server, path):
    async with shared_bare_server.client.get(shared_bare_server.url + path) as response:
        headers = response.headers
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Opener-Policy"] == headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Cache-Control"] in {"no-store", "no-cache"}
    assert "Server" not in headers


async def test_head_is_get_without_the_body(shared_bare_server):
    async with shared_bare_server.client.head(f"{shared_bare_server.url}/api/tools") as response:
        assert response.status == 200
        assert int(response.headers["Content-Length"]) > 0
        assert await response.read() == b""
