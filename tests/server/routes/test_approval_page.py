"""The approval view's own origin: who gets in, what can be decided there, and who cannot, whatever they show."""

import aiohttp
import pytest

from agentcore.api import tool
from agentcore.core.calls.call import CallRequest
from tests.server.approving import MODEL, Browser, Notes, approver, let_wait, page, send_again

SERVER = {"modules": [Notes]}

pytestmark = pytest.mark.spec("S2")


@pytest.fixture
async def person(server):
    return await approver(server)


def digest_of(server, call_id):
    return server.running.host.approvals.find_pending(call_id).request.digest


async def approve(server, asker, call_id, **body):
    body = {"approved": True, "digest": digest_of(server, call_id), **body}
    return await asker.ask("POST", f"/api/approvals/{call_id}/decision", body)


async def test_waiting_call_is_shown_whole(server, person):
    call_id = await let_wait(server, "x" * 5000 + "\u202e")
    status, waiting = await person.ask("GET", "/api/approvals")
    (call,) = waiting["calls"]
    assert status == 200
    assert (call["callId"], call["tool"], call["module"], call["sessionId"]) == (call_id, "note_write", "notes", "s1")
    assert call["arguments"] == {"text": "x" * 5000 + "\u202e"}
    assert call["askedBy"] == {"kind": "chat", "id": "s1", "name": ""}
    assert call["effects"] == ["write"]
    assert (call["preview"]["paths"], call["preview"]["cwd"]) == (["/notes/today.md"], "/notes")
    assert call["preview"]["diff"].startswith("--- a/today.md")
    assert call["inputSchema"]["properties"]["text"]["description"] == "What it says."
    assert call["reason"]
    assert call["expiresAt"] is None


async def test_approved_call_runs_once_and_a_replayed_decision_finds_nothing(server, person):
    call_id = await let_wait(server)
    digest = digest_of(server, call_id)
    assert await approve(server, person, call_id) == (200, {"ok": True})
    again = await person.ask("POST", f"/api/approvals/{call_id}/decision", {"approved": True, "digest": digest})
    assert (again[0], again[1]["error"]["type"]) == (404, "approval_not_found")
    assert (await send_again(server, call_id)).ok
    assert (await send_again(server, call_id)).error.type == "approval_not_found"
    again = await person.ask("POST", f"/api/approvals/{call_id}/decision", {"approved": True, "digest": digest})
    assert again[1]["error"]["type"] == "approval_not_found"


async def test_rejected_call_never_runs(server, person):
    call_id = await let_wait(server)
    status, _ = await person.ask("POST", f"/api/approvals/{call_id}/decision", {"approved": False})
    assert status == 200
    assert (await send_again(server, call_id)).error.type == "approval_denied"


async def test_approval_of_what_was_shown_before_the_target_changed_stays_refused(server, person, monkeypatch):
    call_id = await let_wait(server)

    async def shown():
        _, waiting = await person.ask("GET", "/api/approvals")
        return next(call for call in waiting["calls"] if call["callId"] == call_id)

    before = await shown()
    monkeypatch.setattr("tests.server.approving._diff", lambda text: "another diff")
    decision = f"/api/approvals/{call_id}/decision"
    for _ in range(2):  # the second one is the same request again, of which nobody has seen the answer
        status, answer = await person.ask("POST", decision, {"approved": True, "digest": before["digest"]})
        assert (status, answer["error"]["type"]) == (409, "approval_changed")
    now = await shown()
    assert now["preview"]["diff"] == "another diff"
    assert await person.ask("POST", decision, {"approved": True, "digest": now["digest"]}) == (200, {"ok": True})
    assert (await send_again(server, call_id)).ok


async def test_approval_of_other_arguments_than_were_shown_is_refused(server, person):
    call_id = await let_wait(server)
    status, answer = await approve(server, person, call_id, digest="0" * 64)
    assert (status, answer["error"]["type"]) == (409, "approval_changed")
    assert (await approve(server, person, call_id))[0] == 200
    assert (await send_again(server, call_id, text="sell the house")).error.type == "approval_denied"


async def test_offer_that_was_not_made_is_not_taken(server, person):
    call_id = await let_wait(server)
    status, answer = await approve(server, person, call_id, offer=99)
    assert (status, answer["error"]["type"]) == (404, "offer_not_found")


async def test_neither_token_nor_page_session_decides(server, person):
    call_id = await let_wait(server)
    token = {"Authorization": f"Bearer {server.running.host.state.token.get_secret_value()}"}
    for asker, headers in ((await page(server), {}), (Browser(str(server.make_url("")).rstrip("/")), token)):
        body = {"approved": True, "digest": digest_of(server, call_id)}
        answer = await asker.ask("POST", f"/api/approvals/{call_id}/decision", body, headers=headers)
        assert (answer[0], answer[1]["error"]["type"]) == (403, "approval_denied")
    assert server.running.host.approvals.find_pending(call_id).verdict is None


@pytest.mark.spec("S1")
async def test_token_opens_nothing_on_the_approval_origin(server, person):
    token = {"Authorization": f"Bearer {server.running.host.state.token.get_secret_value()}"}
    bare = Browser(server.approval_address)
    for method, path in (("GET", "/api/approvals"), ("POST", "/api/session/code"), ("POST", "/api/approvers/code")):
        assert (await bare.ask(method, path, {}, headers=token))[0] == 401


@pytest.mark.spec("S1", "K4")
async def test_session_of_one_origin_opens_nothing_on_the_other(server, person):
    of_page = await page(server)
    there = Browser(server.approval_address, of_page.cookie, of_page.value)
    assert (await there.ask("GET", "/api/approvals"))[0] == 401
    renamed = of_page.cookie.partition("=")[2]
    there.cookie = f"{person.cookie.partition('=')[0]}={renamed}"
    assert (await there.ask("GET", "/api/approvals"))[0] == 401
    here = Browser(of_page.address, person.cookie, person.value)
    assert (await here.ask("GET", "/api/tools"))[0] == 401


@pytest.mark.spec("S1", "K4")
async def test_cookie_alone_as_any_port_of_the_machine_gets_it_opens_nothing(server, person):
    alone = Browser(person.address, person.cookie)
    assert (await alone.ask("GET", "/api/approvals"))[0] == 401
    assert (await Browser(person.address, "", person.value).ask("GET", "/api/approvals"))[0] == 401


@pytest.mark.spec("S1")
async def test_other_hosts_and_origins_are_refused_also_the_page_s_own(server, person):
    call_id = await let_wait(server)
    path, body = f"/api/approvals/{call_id}/decision", {"approved": True, "digest": digest_of(server, call_id)}
    page_origin = str(server.make_url("")).rstrip("/")
    for headers, status in (
        ({"Host": page_origin.removeprefix("http://")}, 421),
        ({"Host": "rebound.example"}, 421),
        ({"Origin": page_origin}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ):
        assert (await person.ask("POST", path, body, headers=headers))[0] == status
    assert (await person.ask("GET", "/api/approvals", headers={"Sec-Fetch-Site": "same-site"}))[0] == 403
    assert server.running.host.approvals.find_pending(call_id).verdict is None


async def test_codes_for_the_approval_view_are_made_by_who_can_approve_and_nobody_else(server, person):
    status, answer = await person.ask("POST", "/api/session/code", {})
    assert status == 200
    assert await Browser(server.approval_address).log_in(answer["code"]) == 200
    assert await Browser(server.approval_address).log_in(answer["code"]) == 401
    token_code = await (await server.post("/api/session/code")).json()
    assert await Browser(server.approval_address).log_in(token_code["code"]) == 401


@pytest.mark.spec("S1")
async def test_documents_may_be_framed_by_the_page_only_and_the_page_by_nobody(server):
    framed = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Dest": "iframe"}
    async with aiohttp.ClientSession() as client, client.get(server.approval_address, headers=framed) as response:
        policy = dict(part.split(" ", 1) for part in response.headers["Content-Security-Policy"].split("; "))
        text = await response.text()
    origin = str(server.make_url("")).rstrip("/")
    assert response.status == 200
    assert origin in policy["frame-ancestors"].split()
    assert all(source.startswith("http://") for source in policy["frame-ancestors"].split())
    assert policy["default-src"] == "'none'"
    assert origin in text
    document = await server.get("/")
    own = dict(part.split(" ", 1) for part in document.headers["Content-Security-Policy"].split("; "))
    assert server.approval_address in own["frame-src"].split()
    assert own["frame-ancestors"] == "'none'"


async def test_no_module_has_a_script_or_a_route_there(server, person):
    for path in ("/modules/notes/main.js", "/api/modules/notes/anything", "/api/tools", "/api/settings"):
        assert (await person.ask("GET", path))[0] == 404


@pytest.mark.spec("S7")
async def test_person_resumes_after_an_emergency_stop_and_token_and_page_do_not(server, person):
    await server.post("/api/stop", json={})
    assert (await server.post("/api/resume", json={})).status == 403
    assert (await (await page(server)).ask("POST", "/api/resume", {}))[0] == 403
    assert server.running.host.calls.stopped
    assert await person.ask("POST", "/api/resume", {}) == (200, {"stopped": False})
    assert server.running.host.calls.stopped is None


async def test_log_out_ends_the_session(server, person):
    assert (await person.ask("DELETE", "/api/session"))[0] == 200
    assert (await person.ask("GET", "/api/approvals"))[0] == 401


@pytest.mark.spec("S1", "K4")
async def test_declared_names_of_page_and_approval_view_belong_together(agentcore_client):
    """As behind a proxy, or where SSH forwards the two ports to others."""
    names = {"hosts": ["agent.example.com", "127.0.0.1:9000"], "approval_hosts": ["ask.example.com", "127.0.0.1:9001"]}
    server = await agentcore_client([Notes], config={"server": names})
    for host, origin, counterpart in (
        ("agent.example.com", "https://agent.example.com", "https://ask.example.com"),
        ("127.0.0.1:9000", "http://127.0.0.1:9000", "http://127.0.0.1:9001"),
    ):
        document = await server.get("/", headers={"Host": host})
        assert counterpart in document.headers["Content-Security-Policy"]
        assert f'name="agentcore-approval-origin" content="{counterpart}"' in await document.text()
        framed = Browser(server.approval_address)
        async with (
            aiohttp.ClientSession() as client,
            client.get(framed.address, headers={"Host": counterpart.partition("//")[2]}) as response,
        ):
            assert origin in response.headers["Content-Security-Policy"]
            assert f'content="{origin}"' in await response.text()


async def test_chat_call_is_answered_with_an_approver_key_and_not_with_the_token(server):
    """The rest of the way, with a model, is the chat's own; here who may answer is seen."""
    key = await server.running.host.store.client_keys.create_key("panel", ["approve"])
    body = {"role": "function", "session_id": "nobody", "message": '{"toolId": "x", "approved": true}'}
    response = await server.post("/api/v1/agent/chat", json=body, headers={"Authorization": f"Bearer {key}"})
    assert response.status == 200
    assert "session_not_found" in await response.text()


class Scripts(Notes):
    """Runs scripts of a model in the page."""

    name = "scripts"
    runs_scripts_in_page = True

    @tool(read_only=True)
    async def notes_count(self) -> int:
        """Count."""
        return len(self.written)

    @tool(effects=("dangerous",))
    async def script_run(self) -> str:
        """Run a script."""
        return "ran"


@pytest.mark.spec("K3")
async def test_calls_of_a_page_wait_once_a_script_of_a_model_ran_there_unless_they_only_read(agentcore_client):
    server = await agentcore_client([Scripts])
    of_page, person = await page(server), await approver(server)
    body = {"arguments": {"text": "mine"}}
    assert (await of_page.ask("POST", "/api/tools/note_write/call", body))[1]["ok"]
    assert (await of_page.ask("POST", "/api/tools/notes_count/call", {"arguments": {}}))[1]["ok"]
    assert (await of_page.ask("POST", "/api/tools/note_write/call", body))[1]["ok"]
    assert (await (await server.post("/api/tools/script_run/call", json={"arguments": {}})).json())["ok"]
    assert (await of_page.ask("POST", "/api/tools/notes_count/call", {"arguments": {}}))[1]["ok"]
    waiting = (await of_page.ask("POST", "/api/tools/note_write/call", body))[1]
    assert waiting["error"]["type"] == "approval_required"
    (call,) = (await person.ask("GET", "/api/approvals"))[1]["calls"]
    assert (call["askedBy"]["kind"], call["rule"], call["offers"]) == ("page", "page_scripts", [])
    assert (await approve(server, person, waiting["callId"]))[0] == 200
    again = await of_page.ask("POST", "/api/tools/note_write/call", {**body, "call_id": waiting["callId"]})
    assert again[1]["ok"]
    token = await server.post("/api/tools/note_write/call", json=body)
    assert (await token.json())["ok"]
    await server.running.host.modules.disable("scripts")


async def test_edited_arguments_run_and_those_that_cannot_run_leave_the_call_waiting(server, person):
    call_id = await let_wait(server)
    path = f"/api/approvals/{call_id}/edit"
    status, answer = await person.ask("POST", path, {"arguments": {"txt": "x"}})
    assert (status, answer["error"]["type"]) == (400, "invalid_arguments")
    assert answer["error"]["context"]["errors"]
    status, edited = await person.ask("POST", path, {"arguments": {"text": "buy bread"}})
    assert (status, edited["arguments"]) == (200, {"text": "buy bread"})
    assert "+buy bread" in edited["preview"]["diff"]
    assert (await approve(server, person, call_id, digest=edited["digest"]))[0] == 200
    outcome = await send_again(server, call_id)
    assert outcome.ok
    assert server.running.host.modules.get_record("notes").plugin.written == ["buy bread"]


async def test_arguments_that_were_not_shown_cannot_be_approved(server, person):
    call_id = await let_wait(server)
    status, answer = await approve(server, person, call_id, arguments={"text": "buy bread"})
    assert (status, answer["error"]["type"]) == (400, "invalid_body")
    status, answer = await approve(server, person, call_id, digest="0" * 64)
    assert (status, answer["error"]["type"]) == (409, "approval_changed")
    await person.ask("POST", f"/api/approvals/{call_id}/edit", {"arguments": {"text": "buy bread"}})
    assert (await approve(server, person, call_id))[0] == 200
    assert (await send_again(server, call_id)).ok
    assert server.running.host.modules.get_record("notes").plugin.written == ["buy milk"]


async def test_reason_of_a_no_reaches_the_caller(server, person):
    call_id = await let_wait(server)
    body = {"approved": False, "reason": " we have milk "}
    assert (await person.ask("POST", f"/api/approvals/{call_id}/decision", body))[0] == 200
    outcome = await send_again(server, call_id)
    assert (outcome.error.type, outcome.error.context["reason"]) == ("approval_denied", "we have milk")


async def test_only_who_may_approve_may_edit(server):
    call_id = await let_wait(server)
    body = {"arguments": {"text": "buy bread"}}
    status, answer = await (await page(server)).ask("POST", f"/api/approvals/{call_id}/edit", body)
    assert (status, answer["error"]["type"]) == (403, "approval_denied")


async def test_offer_that_was_made_is_taken_and_the_next_such_call_runs(server, person):
    call_id = await let_wait(server)
    (call,) = (await person.ask("GET", "/api/approvals"))[1]["calls"]
    number = next(n for n, offer in enumerate(call["offers"]) if offer["scope"] == "session")
    assert (await approve(server, person, call_id, offer=number))[0] == 200
    assert (await send_again(server, call_id)).ok
    request = CallRequest("note_write", {"text": "more"}, MODEL, session_id="s1")
    assert (await server.running.host.run_call(request)).ok
