"""Paired clients: a short code becomes a key that approves, until it is revoked."""

import pytest

from tests.server.approving import Browser, Notes, approver, let_wait, page, send_again

pytestmark = pytest.mark.spec("S2")


@pytest.fixture
async def server(agentcore_client):
    return await agentcore_client([Notes])


@pytest.fixture
async def person(server):
    return await approver(server)


@pytest.fixture
def client(server):
    return Browser(str(server.make_url("")).rstrip("/"))


async def pair(client, person, name="panel"):
    code = (await person.ask("POST", "/api/approvers/code", {}))[1]["code"]
    return await client.ask("POST", "/api/approvers", {"code": code, "name": name})


async def test_paired_client_approves_with_its_key(server, person, client):
    status, answer = await pair(client, person)
    assert (status, answer["name"]) == (200, "panel")
    shown = {"Authorization": f"Bearer {answer['key']}"}
    assert (await client.ask("GET", "/api/session", headers=shown))[1] == {"kind": "approver", "id": "panel"}

    call_id = await let_wait(server)
    digest = (await client.ask("GET", "/api/approvals", headers=shown))[1]["calls"][0]["digest"]
    body = {"approved": True, "digest": digest}
    assert (await client.ask("POST", f"/api/approvals/{call_id}/decision", body, headers=shown))[0] == 200
    assert (await send_again(server, call_id)).ok


@pytest.mark.spec("K3")
async def test_approver_key_calls_no_tools_and_changes_no_modules(person, client):
    shown = {"Authorization": f"Bearer {(await pair(client, person))[1]['key']}"}
    for path, body in (
        ("/api/tools/note_write/call", {"arguments": {"text": "x"}}),
        ("/api/modules/notes/disable", {}),
        ("/api/v1/agent/chat", {"message": "hello", "session_id": "s9"}),
    ):
        status, answer = await client.ask("POST", path, body, headers=shown)
        assert (status, answer["error"]["type"]) == (403, "forbidden")


async def test_code_pairs_once_and_may_be_typed_in_lower_case(person, client):
    code = (await person.ask("POST", "/api/approvers/code", {}))[1]["code"]
    assert (await client.ask("POST", "/api/approvers", {"code": code.lower(), "name": "panel"}))[0] == 200
    status, answer = await client.ask("POST", "/api/approvers", {"code": code, "name": "other"})
    assert (status, answer["error"]["type"]) == (401, "invalid_code")


async def test_neither_token_nor_page_makes_a_pairing_code(server):
    assert (await server.post("/api/approvers/code", json={})).status == 403
    assert (await (await page(server)).ask("POST", "/api/approvers/code", {}))[0] == 403


@pytest.mark.spec("K11")
async def test_wrong_pairing_codes_of_a_stranger_lock_nobody_out(server, person, client):
    code = (await person.ask("POST", "/api/approvers/code", {}))[1]["code"]
    guesses = [await client.ask("POST", "/api/approvers", {"code": f"AAAAA-{n:05}", "name": "x"}) for n in range(100)]
    assert {(status, answer["error"]["type"]) for status, answer in guesses} == {(401, "invalid_code")}
    assert (await client.ask("POST", "/api/approvers", {"code": code, "name": "panel"}))[0] == 200


@pytest.mark.parametrize("name", ["", "a b", "../x", "\u202e", "x" * 41])
async def test_name_that_could_deceive_is_refused(person, client, name):
    code = (await person.ask("POST", "/api/approvers/code", {}))[1]["code"]
    status, answer = await client.ask("POST", "/api/approvers", {"code": code, "name": name})
    assert status == 400
    assert answer["error"]["type"] in ("invalid_name", "invalid_body")


async def test_name_of_a_paired_client_is_taken(person, client):
    await pair(client, person)
    status, answer = await pair(client, person)
    assert (status, answer["error"]["type"]) == (409, "approver_exists")


async def test_so_many_clients_are_paired_and_no_more(server, person, client):
    keys = server.running.host.store.approver_keys
    for number in range(32):
        await keys.add(f"client-{number}")
    status, answer = await pair(client, person)
    assert (status, answer["error"]["type"]) == (400, "too_many_approvers")


async def test_revoked_client_is_out_at_once_and_stays_out(server, person, client):
    shown = {"Authorization": f"Bearer {(await pair(client, person))[1]['key']}"}
    assert [each["name"] for each in (await person.ask("GET", "/api/approvers"))[1]["approvers"]] == ["panel"]
    assert (await person.ask("DELETE", "/api/approvers/panel"))[0] == 200
    assert (await client.ask("GET", "/api/approvals", headers=shown))[0] == 401
    status, answer = await person.ask("DELETE", "/api/approvers/panel")
    assert (status, answer["error"]["type"]) == (404, "approver_not_found")
    assert (await person.ask("GET", "/api/approvers"))[1] == {"approvers": []}


async def test_pairing_and_revoking_are_recorded_without_the_key(server, person, client):
    key = (await pair(client, person))[1]["key"]
    await person.ask("DELETE", "/api/approvers/panel")
    calls = (await (await server.get("/api/calls?kind=notice")).json())["calls"]
    assert [row["outcome"] for row in calls][:2] == ["approver_revoked", "approver_paired"]
    assert key not in str(calls)
