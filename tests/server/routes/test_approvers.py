"""Paired clients: a short code and a person's word become a key with scopes, until it is revoked."""

import asyncio

import aiohttp
import pytest

from agentcore.api import Module, tool
from agentcore.core.calls.call import CallRequest
from agentcore.server.route_table import load_all_routes
from agentcore.server.routes import ROUTE_GROUPS
from tests.server.approving import MODEL, Notes, a_client, approver, let_wait, new_code, page, pair, paired, send_again

SERVER = {"modules": [Notes]}

pytestmark = pytest.mark.spec("K11", "S2")

LIMIT_S = 60


@pytest.fixture
async def person(server):
    return await approver(server)


@pytest.fixture
def client(server):
    return a_client(server)


async def decide(person, pairing_id, *scopes):
    return await person.ask(
        "POST", f"/api/pairings/{pairing_id}/decision", {"approved": bool(scopes), "scopes": list(scopes)}
    )


async def test_paired_client_approves_with_its_key(server, person, client):
    shown = await paired(client, person)
    whoami = {"kind": "client", "id": "panel", "scopes": ["approve"]}
    assert (await client.ask("GET", "/api/session", headers=shown))[1] == whoami

    call_id = await let_wait(server)
    digest = (await client.ask("GET", "/api/approvals", headers=shown))[1]["calls"][0]["digest"]
    body = {"approved": True, "digest": digest}
    assert (await client.ask("POST", f"/api/approvals/{call_id}/decision", body, headers=shown))[0] == 200
    assert (await send_again(server, call_id)).ok


async def test_person_sees_who_wants_a_key_and_chooses_its_scopes(person, client):
    """The client gets what the person chose, and not what it asked for."""
    wish = {"code": await new_code(person), "name": "panel", "kind": "program", "scopes": ["approve", "tab"]}
    status, asked = await client.ask("POST", "/api/approvers", wish, headers={"Origin": client.address})
    (shown,) = (await person.ask("GET", "/api/approvals"))[1]["pairings"]
    assert (status, shown["pairingId"], shown["name"], shown["kind"]) == (202, asked["pairingId"], "panel", "program")
    assert (shown["origin"], shown["scopes"]) == (client.address, ["approve", "tab"])

    assert (await decide(person, asked["pairingId"], "chat"))[0] == 200
    answer = (await client.ask("POST", "/api/approvers/key", {"ticket": asked["ticket"]}))[1]
    assert (answer["name"], answer["scopes"], answer["key"][:5]) == ("panel", ["chat"], "acap_")
    (known,) = (await person.ask("GET", "/api/approvers"))[1]["approvers"]
    assert (known["name"], known["scopes"], known["origin"]) == ("panel", ["chat"], client.address)


async def test_client_waits_for_the_word_of_the_person(server, person, client):
    """It may ask before: the request stays open, and the key comes when the person has decided."""
    body = {"code": await new_code(person), "name": "panel"}
    asked = (await client.ask("POST", "/api/approvers", body))[1]
    waiting = asyncio.create_task(client.ask("POST", "/api/approvers/key", {"ticket": asked["ticket"]}))
    assert (await person.ask("GET", "/api/approvers"))[1] == {"approvers": []}
    await decide(person, asked["pairingId"], "approve")
    async with asyncio.timeout(LIMIT_S):
        assert (await waiting)[1]["state"] == "paired"


async def test_key_is_given_once(person, client):
    body = {"code": await new_code(person), "name": "panel"}
    asked = (await client.ask("POST", "/api/approvers", body))[1]
    await decide(person, asked["pairingId"], "approve")
    ticket = {"ticket": asked["ticket"]}
    answers = await asyncio.gather(*(client.ask("POST", "/api/approvers/key", ticket) for _ in range(4)))
    assert sorted(status for status, _ in answers) == [200, 404, 404, 404]
    assert {answer["error"]["type"] for status, answer in answers if status == 404} == {"pairing_not_found"}


async def test_refused_client_gets_no_key(server, person, client):
    body = {"code": await new_code(person), "name": "panel", "scopes": ["approve"]}
    asked = (await client.ask("POST", "/api/approvers", body))[1]
    await decide(person, asked["pairingId"])
    status, answer = await client.ask("POST", "/api/approvers/key", {"ticket": asked["ticket"]})
    assert (status, answer["error"]["type"]) == (403, "pairing_refused")
    assert (await person.ask("GET", "/api/approvers"))[1] == {"approvers": []}
    assert (await person.ask("GET", "/api/approvals"))[1]["pairings"] == []
    status, answer = await decide(person, asked["pairingId"], "approve")
    assert (status, answer["error"]["type"]) == (404, "pairing_not_found")


async def test_key_without_a_scope_is_not_made(person, client):
    body = {"code": await new_code(person), "name": "panel"}
    asked = (await client.ask("POST", "/api/approvers", body))[1]
    path = f"/api/pairings/{asked['pairingId']}/decision"
    for scopes in ([], ["everything"]):
        status, answer = await person.ask("POST", path, {"approved": True, "scopes": scopes})
        assert (status, answer["error"]["type"]) == (400, "invalid_body")


@pytest.mark.spec("S7")
async def test_emergency_stop_refuses_clients_that_wait(server, person, client):
    body = {"code": await new_code(person), "name": "panel"}
    asked = (await client.ask("POST", "/api/approvers", body))[1]
    assert (await (await server.post("/api/stop", json={})).json())["rejected"] == 1
    assert (await client.ask("POST", "/api/approvers/key", {"ticket": asked["ticket"]}))[0] == 403


@pytest.mark.parametrize("scopes", [["approve"], ["chat"], ["tab"], ["approve", "chat", "tab"]])
async def test_no_key_pairs_revokes_or_confirms_what_is_allowed(server, person, client, scopes):
    """Whatever its scopes, a client that is revoked leaves nothing behind that it could have made for itself."""
    shown = await paired(client, person, "panel", scopes)
    of_page = await page(server)
    change = {"expected": (await of_page.ask("GET", "/api/settings"))[1]["digest"]}
    change["changes"] = [{"path": "/approvals/mode", "value": "allow"}]
    status, answer = await of_page.ask("PUT", "/api/settings", change)
    change_id = answer["error"]["context"]["changeId"]
    other = {"code": await new_code(person), "name": "other"}
    asked = (await client.ask("POST", "/api/approvers", other))[1]
    for method, path, body in (
        ("POST", "/api/approvers/code", {}),
        ("POST", "/api/session/code", {}),
        ("POST", f"/api/pairings/{asked['pairingId']}/decision", {"approved": True, "scopes": ["approve"]}),
        ("POST", f"/api/policy-changes/{change_id}/decision", {"approved": True}),
        ("PUT", "/api/settings", change),
        ("DELETE", "/api/approvers/panel", None),
        ("GET", "/api/approvers", None),
    ):
        status, answer = await client.ask(method, path, body, headers=shown)
        assert (path, status, answer["error"]["type"]) == (path, 403, "forbidden")
    assert len(server.running.host.policy_changes.waiting) == 1
    assert [each["name"] for each in (await person.ask("GET", "/api/approvers"))[1]["approvers"]] == ["panel"]


OPEN_TO = {
    "approve": {
        ("GET", "/api/session"),
        ("DELETE", "/api/session"),
        ("GET", "/api/stop"),
        ("POST", "/api/stop"),
        ("POST", "/api/resume"),
        ("GET", "/api/approvals"),
        ("GET", "/api/approvals/{id}/examples"),
        ("POST", "/api/approvals/{id}/decision"),
        ("POST", "/api/approvals/{id}/edit"),
        ("POST", "/api/approvals/sessions/{session_id}/answer"),
        ("POST", "/api/v1/agent/chat"),
        ("GET", "/api/events"),
    },
    "chat": {
        ("GET", "/api/session"),
        ("DELETE", "/api/session"),
        ("GET", "/api/stop"),
        ("GET", "/api/approvals"),
        ("GET", "/api/approvals/{id}/examples"),
        ("POST", "/api/approvals/{id}/decision"),
        ("POST", "/api/approvals/{id}/edit"),
        ("POST", "/api/approvals/sessions/{session_id}/answer"),
        ("POST", "/api/v1/agent/chat"),
        ("POST", "/api/artifacts"),
        ("GET", "/api/artifacts/{id}"),
        ("GET", "/api/artifacts/{id}/search"),
        ("GET", "/api/events"),
        ("GET", "/api/chat"),
        ("GET", "/api/tools"),
        ("GET", "/api/tools/texts"),
        ("GET", "/api/calls/{id}/output"),
        ("GET", "/api/sessions"),
        ("POST", "/api/sessions"),
        ("GET", "/api/sessions/{session_id}"),
        ("PATCH", "/api/sessions/{session_id}"),
        ("POST", "/api/sessions/{session_id}/edit"),
        ("POST", "/api/sessions/{session_id}/retry"),
        ("DELETE", "/api/sessions/{session_id}"),
        ("GET", "/api/sessions/{session_id}/messages"),
        ("GET", "/api/sessions/{session_id}/system"),
        ("POST", "/api/sessions/{session_id}/messages"),
        ("GET", "/api/sessions/{session_id}/queue"),
        ("PATCH", "/api/sessions/{session_id}/queue"),
        ("PATCH", "/api/sessions/{session_id}/queue/{message_id}"),
        ("DELETE", "/api/sessions/{session_id}/queue/{message_id}"),
        ("POST", "/api/sessions/{session_id}/stop"),
        ("POST", "/api/sessions/{session_id}/reject"),
        ("POST", "/api/sessions/{session_id}/answer"),
    },
    "tab": {
        ("GET", "/api/session"),
        ("DELETE", "/api/session"),
        ("GET", "/api/stop"),
        ("GET", "/api/sessions/names"),
    },
}
"""What each scope is good for; all else is refused, routes to come included."""


@pytest.mark.parametrize("scope", OPEN_TO)
async def test_key_opens_what_its_scope_is_for_and_nothing_else(server, person, client, scope):
    shown = await paired(client, person, "panel", [scope])
    for route in load_all_routes(ROUTE_GROUPS):
        if route.action is None or (scope == "approve" and route.path == "/api/stop" and route.method == "POST"):
            continue
        mine = "x"
        if scope == "chat":
            mine = (await client.ask("POST", "/api/sessions", {}, headers=shown))[1]["sessionId"]
        path = route.path.replace("{path...}", "x").replace("{session_id}", mine)
        if route.path == "/api/events":
            path += f"?session_id={mine}"
        url = client.address + path.replace("{", "").replace("}", "")
        async with (
            aiohttp.ClientSession() as http,
            http.request(route.method, url, json={} if route.body else None, headers=shown) as response,
        ):
            said = "" if response.content_type == "text/event-stream" else await response.text()
        is_open = not (response.status == 403 and '"forbidden"' in said)
        assert is_open == ((route.method, route.path) in OPEN_TO[scope]), (route.method, route.path, said)


@pytest.mark.spec("K3")
async def test_key_calls_no_tools_and_changes_no_modules(person, client):
    shown = await paired(client, person)
    for path, body in (
        ("/api/tools/note_write/call", {"arguments": {"text": "x"}}),
        ("/api/modules/notes/disable", {}),
        ("/api/v1/agent/chat", {"message": "hello", "session_id": "s9"}),
    ):
        status, answer = await client.ask("POST", path, body, headers=shown)
        assert (status, answer["error"]["type"]) == (403, "forbidden")


async def test_code_asks_once_and_may_be_typed_as_people_type(person, client):
    code = await new_code(person)
    typed = code.lower().replace("-", " ")
    assert (await client.ask("POST", "/api/approvers", {"code": typed, "name": "panel"}))[0] == 202
    status, answer = await client.ask("POST", "/api/approvers", {"code": code, "name": "other"})
    assert (status, answer["error"]["type"]) == (401, "invalid_code")


async def test_neither_token_nor_page_makes_a_pairing_code(server):
    assert (await server.post("/api/approvers/code", json={})).status == 403
    assert (await (await page(server)).ask("POST", "/api/approvers/code", {}))[0] == 403


async def test_neither_token_nor_page_pairs_the_client_that_waits(server, person, client):
    asked = (await client.ask("POST", "/api/approvers", {"code": await new_code(person), "name": "panel"}))[1]
    assert (await decide(await page(server), asked["pairingId"], "approve"))[0] == 403
    body = {"approved": True, "scopes": ["approve"]}
    assert (await server.post(f"/api/pairings/{asked['pairingId']}/decision", json=body)).status == 403


async def test_wrong_codes_and_tickets_of_a_stranger_lock_nobody_out(server, person, client):
    code = await new_code(person)
    guesses = [await client.ask("POST", "/api/approvers", {"code": f"AAAAA-{n:05}", "name": "x"}) for n in range(100)]
    assert {(status, answer["error"]["type"]) for status, answer in guesses} == {(401, "invalid_code")}
    guesses = [await client.ask("POST", "/api/approvers/key", {"ticket": f"acpt_{n}"}) for n in range(30)]
    assert {(status, answer["error"]["type"]) for status, answer in guesses} == {(404, "pairing_not_found")}
    assert (await client.ask("POST", "/api/approvers", {"code": code, "name": "panel"}))[0] == 202


async def test_five_wrong_secrets_void_a_pairing_code(server, person, client):
    code = await new_code(person)
    for number in range(5):
        guess = f"{code[:6]}{number:05}"
        assert (await client.ask("POST", "/api/approvers", {"code": guess, "name": "panel"}))[0] == 401
    assert (await client.ask("POST", "/api/approvers", {"code": code, "name": "panel"}))[0] == 401


@pytest.mark.parametrize("name", ["", "a b", "../x", "\u202e", "x" * 41])
async def test_name_that_could_deceive_is_refused(person, client, name):
    status, answer = await client.ask("POST", "/api/approvers", {"code": await new_code(person), "name": name})
    assert status == 400
    assert answer["error"]["type"] in ("invalid_name", "invalid_body")


async def test_name_of_a_paired_client_is_taken_and_the_code_goes_on(person, client):
    await pair(client, person)
    body = {"code": await new_code(person), "name": "panel"}
    status, answer = await client.ask("POST", "/api/approvers", body)
    assert (status, answer["error"]["type"]) == (409, "approver_exists")
    assert (await client.ask("POST", "/api/approvers", {**body, "name": "other"}))[0] == 202


async def test_names_of_clients_are_not_told_to_who_has_no_code(person, client):
    await pair(client, person)
    status, answer = await client.ask("POST", "/api/approvers", {"code": "AAAAA-AAAAA", "name": "panel"})
    assert (status, answer["error"]["type"]) == (401, "invalid_code")


async def test_so_many_clients_are_paired_and_no_more(server, person, client):
    keys = server.running.host.store.client_keys
    for number in range(32):
        await keys.create_key(f"client-{number}", ["approve"])
    status, answer = await client.ask("POST", "/api/approvers", {"code": await new_code(person), "name": "panel"})
    assert (status, answer["error"]["type"]) == (400, "too_many_approvers")


async def test_so_many_clients_wait_and_no_more(server, person, client):
    for number in range(16):
        body = {"code": await new_code(person), "name": f"client-{number}"}
        assert (await client.ask("POST", "/api/approvers", body))[0] == 202
    status, answer = await client.ask("POST", "/api/approvers", {"code": await new_code(person), "name": "panel"})
    assert (status, answer["error"]["type"]) == (400, "too_many_waiting")


async def test_revoked_client_is_out_at_once_and_stays_out(server, person, client):
    shown = await paired(client, person)
    assert [each["name"] for each in (await person.ask("GET", "/api/approvers"))[1]["approvers"]] == ["panel"]
    assert (await person.ask("DELETE", "/api/approvers/panel"))[0] == 200
    assert (await client.ask("GET", "/api/approvals", headers=shown))[0] == 401
    status, answer = await person.ask("DELETE", "/api/approvers/panel")
    assert (status, answer["error"]["type"]) == (404, "approver_not_found")
    assert (await person.ask("GET", "/api/approvers"))[1] == {"approvers": []}


async def test_event_stream_of_a_revoked_client_ends(server, person, client):
    shown = await paired(client, person)
    async with (
        aiohttp.ClientSession() as http,
        http.get(f"{client.address}/api/events", headers=shown) as stream,
    ):
        await stream.content.readline()
        await person.ask("DELETE", "/api/approvers/panel")
        async with asyncio.timeout(LIMIT_S):
            await stream.content.read()
        await let_wait(server)
        assert server.running.host.events.last_id


@pytest.mark.spec("S1")
async def test_event_stream_of_a_browser_that_logs_out_ends(server):
    browser = await page(server)
    shown = {"Cookie": browser.cookie, "X-Agentcore-Session": browser.value}
    async with (
        aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http,
        http.get(f"{browser.address}/api/events", headers=shown) as stream,
    ):
        await stream.content.readline()
        assert (await browser.ask("DELETE", "/api/session"))[0] == 200
        async with asyncio.timeout(LIMIT_S):
            await stream.content.read()


async def test_approving_client_follows_what_waits_and_nothing_else(server, person, client):
    shown = await paired(client, person)
    async with (
        aiohttp.ClientSession() as http,
        http.get(f"{client.address}/api/events", headers=shown) as stream,
    ):
        await stream.content.readline()
        server.running.host.events.publish(
            "session.message", {"number": 1, "role": "user", "text": "secret"}, session_id="s1"
        )
        await let_wait(server)
        server.running.host.events.publish("stop.changed", {"stopped": False, "by": "cli"})
        types = []
        async with asyncio.timeout(LIMIT_S):
            while "stop.changed" not in types:
                line = (await stream.content.readline()).decode()
                if line.startswith("event: "):
                    types.append(line.removeprefix("event: ").strip())
    assert types == ["approval.requested", "stop.changed"]


async def test_what_a_client_allowed_for_later_ends_with_it(server, person, client):
    shown = await paired(client, person)
    call_id = await let_wait(server)
    (waiting,) = (await client.ask("GET", "/api/approvals", headers=shown))[1]["calls"]
    always = [offer["scope"] for offer in waiting["offers"]].index("always")
    body = {"approved": True, "digest": waiting["digest"], "offer": always}
    assert (await client.ask("POST", f"/api/approvals/{call_id}/decision", body, headers=shown))[0] == 200
    assert (await (await server.get("/api/approvals/grants")).json())["grants"][0]["grantedBy"] == "client:panel"
    await person.ask("DELETE", "/api/approvers/panel")
    assert await (await server.get("/api/approvals/grants")).json() == {"grants": [], "rules": []}
    assert await server.running.host.store.approvals.load_grants() == []
    await let_wait(server)


class Post(Module):
    """Sends notes."""

    @tool(effects=["egress"])
    async def note_send(self, text: str) -> str:
        """Send a note."""
        return "sent"


async def test_what_a_client_said_of_untrusted_content_ends_with_it(agentcore_client):
    """A source that it accepted keeps nothing suspended any more: that allows later calls, as a grant does."""
    server = await agentcore_client([Post])
    person, client = await approver(server), a_client(server)
    shown = await paired(client, person)

    async def send():
        request = CallRequest("note_send", {"text": "buy milk"}, MODEL, session_id="s1")
        return await server.running.host.run_call(request)

    async def approve(headers=None, **more):
        (call,) = (await client.ask("GET", "/api/approvals", headers=shown))[1]["calls"]
        who, body = person if headers is None else client, {"approved": True, "digest": call["digest"], **more}
        assert (await who.ask("POST", f"/api/approvals/{call['callId']}/decision", body, headers=headers))[0] == 200

    await send()
    await approve(offer=1)
    await server.running.host.policy.record_untrusted_source("s1", "evil.example")
    assert (await send()).error.type == "approval_required"
    await approve(shown)
    assert (await send()).ok
    assert (await person.ask("DELETE", "/api/approvers/panel"))[0] == 200
    assert (await send()).error.type == "approval_required"
    (kept,) = await server.running.host.store.approvals.load_sources()
    assert (kept.source, kept.accepted_by) == ("evil.example", None)


async def test_pairing_and_revoking_are_recorded_without_the_key(server, person, client):
    key = (await pair(client, person))["key"]
    await person.ask("DELETE", "/api/approvers/panel")
    calls = (await (await server.get("/api/calls?kind=notice")).json())["calls"]
    assert [row["outcome"] for row in calls][:2] == ["approver_revoked", "approver_paired"]
    assert calls[1]["decided_by"].startswith("approver:")
    assert '"scopes": ["approve"]' in calls[1]["arguments"]
    assert key not in str(calls)
