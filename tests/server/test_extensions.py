"""Browser extensions at the gate: by id, with the key that was paired from them, on some routes, and nothing else."""

import asyncio
import base64
import hashlib
import json
from pathlib import Path

import aiohttp
import pytest

from agentcore.config.app_json import OWN_EXTENSION
from agentcore.server.route_table import load_all_routes
from agentcore.server.routes import ROUTE_GROUPS
from tests.server.approving import Notes, a_client, approver, new_code, page, paired
from tests.server.shelf import Shelf

pytestmark = pytest.mark.spec("S1", "K11")

LIMIT_S = 60
ORIGIN = f"chrome-extension://{OWN_EXTENSION}"
OTHER = "chrome-extension://abcdefghijklmnopabcdefghijklmnop"
FOREIGN = "chrome-extension://ponmlkjihgfedcbaponmlkjihgfedcba"


@pytest.fixture
async def server(agentcore_client):
    extensions = [OWN_EXTENSION, OTHER.removeprefix("chrome-extension://")]
    return await agentcore_client([Notes, Shelf], config={"server": {"extensions": extensions}})


@pytest.fixture
async def person(server):
    return await approver(server)


class Extension:
    """What an extension asks, as Chromium sends it."""

    def __init__(self, server, origin=ORIGIN):
        self.address = str(server.make_url("")).rstrip("/")
        self.origin, self.key = origin, ""

    def headers(self, **more):
        key = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        return {"Origin": self.origin, "Sec-Fetch-Site": "cross-site", **key, **more}

    async def send(self, method, path, body=None, headers=None):
        """The answer: status, JSON if it has any, headers."""
        shown = self.headers() if headers is None else headers
        async with (
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client,
            client.request(method, self.address + path, json=body, headers=shown) as response,
        ):
            text = await response.text()
            return response.status, json.loads(text) if text else None, response.headers

    async def pair(self, person, scopes, name="panel"):
        asked = await self.send("POST", "/api/approvers", {"code": await new_code(person), "name": name})
        decision = {"approved": True, "scopes": list(scopes)}
        assert (await person.ask("POST", f"/api/pairings/{asked[1]['pairingId']}/decision", decision))[0] == 200
        self.key = (await self.send("POST", "/api/approvers/key", {"ticket": asked[1]["ticket"]}))[1]["key"]
        return self


def readable(headers, origin=ORIGIN):
    """Whether the browser hands an answer to code of an origin, and no cookie with it."""
    shown = headers.getall("Access-Control-Allow-Origin", [])
    assert "Access-Control-Allow-Credentials" not in headers
    assert not shown or headers["Vary"] == "Origin"
    return shown == [origin]


def refused(answer, error_type, origin=ORIGIN):
    status, document, headers = answer
    assert (document["error"]["type"], readable(headers, origin)) == (error_type, True), answer
    return status


async def test_extension_is_paired_and_reads_its_answers(server, person):
    """By code, as its browser sends it; errors and streams are for it to read, too."""
    extension = await Extension(server).pair(person, ["chat", "tab"])
    status, whoami, headers = await extension.send("GET", "/api/session")
    assert (status, whoami["id"], whoami["scopes"], readable(headers)) == (200, "panel", ["chat", "tab"], True)
    assert refused(await extension.send("GET", "/api/sessions/unknown"), "forbidden") == 403
    assert refused(await extension.send("POST", "/api/sessions", {"nothing": 1}), "invalid_body") == 400
    session_id = (await extension.send("POST", "/api/sessions", {}))[1]["sessionId"]
    path = f"{extension.address}/api/events?session_id={session_id}"
    async with (
        aiohttp.ClientSession() as client,
        asyncio.timeout(LIMIT_S),
        client.get(path, headers=extension.headers()) as stream,
    ):
        assert (stream.status, readable(stream.headers)) == (200, True)
        assert (await stream.content.readline()).startswith(b"retry:")


async def test_extension_without_a_key_pairs_and_sees_that_the_server_is_there(server):
    extension = Extension(server)
    status, _, headers = await extension.send("GET", "/api/health")
    assert (status, readable(headers)) == (200, True)
    assert refused(await extension.send("POST", "/api/approvers", {"code": "x", "name": "y"}), "invalid_code") == 401
    for method, path in (("GET", "/api/session"), ("POST", "/api/sessions"), ("GET", "/api/shelf")):
        assert refused(await extension.send(method, path, {}), "unauthorized") == 401


@pytest.mark.parametrize(
    "origin", [FOREIGN, "http://evil.example", ORIGIN.upper(), f"{ORIGIN}/", f"{ORIGIN}:80", "null"]
)
async def test_other_origins_stay_foreign_and_read_nothing(server, person, origin):
    extension = await Extension(server).pair(person, ["chat"])
    for method, path in (("GET", "/api/session"), ("OPTIONS", "/api/session"), ("GET", "/api/health")):
        headers = {**extension.headers(), "Origin": origin, "Access-Control-Request-Method": "GET"}
        status, answer, headers = await extension.send(method, path, headers=headers)
        assert (status, answer["error"]["type"]) == (403, "foreign_origin")
        assert not [name for name in headers if name.lower().startswith("access-control-")]


async def test_extension_shows_its_key_and_nothing_else_counts(server, person):
    """Neither the log-in of the page nor the API token, alone or together with each other."""
    extension, browser = Extension(server), await page(server)
    log_in = {"Cookie": browser.cookie, "X-Agentcore-Session": browser.value}
    token = {"Authorization": f"Bearer {server.running.host.state.token.get_secret_value()}"}
    for shown in (log_in, token, log_in | token):
        for path in ("/api/session", "/api/shelf", "/api/unknown"):
            assert refused(await extension.send("GET", path, headers=extension.headers(**shown)), "unauthorized") == 401


async def test_key_counts_where_it_was_paired(server, person):
    """Neither another extension's, nor a program's, nor one's own from somewhere else."""
    extension = await Extension(server).pair(person, ["chat"])
    of_program = await paired(a_client(server), person, "script", ["chat"])
    other = Extension(server, OTHER)
    other.key = extension.key
    assert refused(await other.send("GET", "/api/session"), "unauthorized", OTHER) == 401
    assert (
        refused(await extension.send("GET", "/api/session", headers=extension.headers(**of_program)), "unauthorized")
        == 401
    )
    key = {"Authorization": f"Bearer {extension.key}"}
    for elsewhere in ({}, {"Origin": extension.address}, {"Sec-Fetch-Site": "same-origin"}):
        status, answer, _ = await extension.send("GET", "/api/session", headers={**key, **elsewhere})
        assert (status, answer["error"]["type"]) == (401, "unauthorized")
    assert (await extension.send("GET", "/api/session", headers=of_program))[0] == 200


async def test_extension_that_may_read_pages_of_the_host_shows_no_origin(server, person):
    """Chromium leaves it out of what is only read then, and says so as no page can; the rules are the same."""
    extension = await Extension(server).pair(person, ["chat"])
    shown = {"Authorization": f"Bearer {extension.key}", "Sec-Fetch-Site": "none"}
    assert (await extension.send("GET", "/api/session", headers=shown))[0] == 200
    for method, path, error_type in (
        ("GET", "/api/approvers", "forbidden"),
        ("GET", "/api/chat/system", "foreign_origin"),
        ("POST", "/api/sessions", "foreign_origin"),
    ):
        assert (await extension.send(method, path, headers=shown))[1]["error"]["type"] == error_type


async def test_extension_uses_the_routes_of_chats_and_approvals(server, person):
    """What is not on this list needs a reason to be put there."""
    listed = {f"{route.method} {route.path}" for route in load_all_routes(ROUTE_GROUPS) if route.is_for_extensions}
    of_sessions = {each for each in listed if "/api/sessions" in each}
    assert not {each for each in of_sessions if each.endswith("/command")}
    assert listed - of_sessions == {
        "GET /api/health",
        "POST /api/approvers",
        "POST /api/approvers/key",
        "GET /api/session",
        "GET /api/chat",
        "GET /api/tools",
        "GET /api/tools/texts",
        "GET /api/calls/{id}/output",
        "POST /api/v1/agent/chat",
        "GET /api/events",
        "GET /api/approvals",
        "GET /api/approvals/{id}/examples",
        "POST /api/approvals/{id}/decision",
        "POST /api/approvals/{id}/edit",
        "POST /api/artifacts",
        "GET /api/artifacts/{id}",
        "GET /api/artifacts/{id}/search",
        "GET /api/stop",
        "POST /api/stop",
        "POST /api/resume",
    }
    extension = await Extension(server).pair(person, ["approve", "chat", "tab"])
    for route in load_all_routes(ROUTE_GROUPS):
        if not route.is_for_extensions:
            path = route.path.replace("{", "").replace("...}", "").replace("}", "")
            assert refused(await extension.send(route.method, path), "foreign_origin") == 403, route


async def test_preflight_is_answered_to_extensions(server):
    extension = Extension(server)
    wanted = {
        "Access-Control-Request-Method": "PATCH",
        "Access-Control-Request-Headers": "authorization,content-type,last-event-id",
        "Access-Control-Request-Private-Network": "true",
    }
    status, _, headers = await extension.send("OPTIONS", "/api/sessions/s1", headers=extension.headers(**wanted))
    assert (status, readable(headers)) == (204, True)
    assert "PATCH" in headers["Access-Control-Allow-Methods"]
    allowed = {name.strip().lower() for name in headers["Access-Control-Allow-Headers"].split(",")}
    assert {"authorization", "content-type", "last-event-id", "accept"} <= allowed
    assert headers["Access-Control-Allow-Private-Network"] == "true"


async def test_approval_view_knows_no_extensions(server, person):
    extension = await Extension(server).pair(person, ["approve", "chat", "tab"])
    extension.address = server.approval_address
    for method, path in (("GET", "/api/approvals"), ("OPTIONS", "/api/approvals"), ("GET", "/api/health")):
        status, answer, headers = await extension.send(method, path)
        assert (status, answer["error"]["type"]) == (403, "foreign_origin")
        assert "Access-Control-Allow-Origin" not in headers


async def test_module_route_is_for_clients_of_its_scope(server, person):
    of_tab = await Extension(server).pair(person, ["tab"])
    status, seen, headers = await of_tab.send("GET", "/api/shelf")
    assert (status, seen, readable(headers)) == (200, {"kind": "client", "id": "panel", "scopes": ["tab"]}, True)
    assert refused(await of_tab.send("POST", "/api/shelf/closed", {}), "forbidden") == 403
    of_chat = await Extension(server).pair(person, ["chat"], "other")
    assert refused(await of_chat.send("GET", "/api/shelf"), "forbidden") == 403
    assert (await server.get("/api/shelf")).status == 200
    described = (await (await server.get("/api/openapi.json")).json())["paths"]
    assert {"clientKey": ["tab"]} in described["/api/shelf"]["get"]["security"]
    assert {"clientKey": ["tab"]} not in described["/api/shelf/closed"]["post"]["security"]


async def test_socket_takes_the_key_as_a_subprotocol_until_it_is_revoked(server, person):
    extension = await Extension(server).pair(person, ["tab"])
    protocols = ("agentcore", f"agentcore.key.{extension.key}")
    url = f"{extension.address}/api/shelf/socket"
    async with aiohttp.ClientSession() as client, asyncio.timeout(LIMIT_S):
        async with client.ws_connect(url, protocols=protocols, origin=ORIGIN) as socket:
            assert socket.protocol == "agentcore"
            await socket.send_str("hello")
            assert await socket.receive_str() == "hello"
            for wrong in ({"origin": OTHER}, {"origin": FOREIGN}, {}):
                with pytest.raises(aiohttp.WSServerHandshakeError):
                    await client.ws_connect(url, protocols=protocols, **wrong)
            await person.ask("DELETE", "/api/approvers/panel")
            assert (await socket.receive()).type is not aiohttp.WSMsgType.TEXT
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await client.ws_connect(url, protocols=protocols, origin=ORIGIN)


def test_default_is_the_extension_of_the_manifest():
    manifest = json.loads((Path(__file__).parents[2] / "extension/manifest.json").read_text())
    digest = hashlib.sha256(base64.b64decode(manifest["key"])).hexdigest()[:32]
    assert "".join("abcdefghijklmnop"[int(digit, 16)] for digit in digest) == OWN_EXTENSION
