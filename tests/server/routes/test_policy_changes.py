"""Changes of what is allowed: asked for by page or token, applied once a person confirms them, and only then."""

import json

import pytest

from agentcore.api.tool_context import Principal
from agentcore.core.approvals.policy_changes import PolicyChanges, Proposal
from agentcore.core.calls.call import CallRequest
from agentcore.errors import ToolError
from tests.server.approving import MODEL, Notes, approver, page

SERVER = {"modules": [Notes]}

pytestmark = [pytest.mark.spec("S2"), pytest.mark.spec("K3")]

CLOCK = '''
from agentcore.api import Module, tool

class Clock(Module):
    """The time."""

    @tool(read_only=True)
    async def clock_now(self) -> str:
        """Return the time."""
        return "now"
'''


@pytest.fixture
async def person(server):
    return await approver(server)


def app_json(server):
    return json.loads(server.running.host.config.file.read_text())


async def ask_for(asker, path="/approvals/mode", value="allow"):
    digest = (await asker.ask("GET", "/api/settings"))[1]["digest"]
    return await asker.ask("PUT", "/api/settings", {"expected": digest, "changes": [{"path": path, "value": value}]})


async def decide(asker, change_id, *, approved=True, **headers):
    path = f"/api/policy-changes/{change_id}/decision"
    return await asker.ask("POST", path, {"approved": approved}, **headers)


async def test_change_is_shown_with_its_diff_and_applied_when_confirmed(server, person):
    status, answer = await ask_for(await page(server))
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")
    assert "approvals" not in app_json(server)
    (change,) = (await person.ask("GET", "/api/approvals"))[1]["changes"]
    assert change["changeId"] == answer["error"]["context"]["changeId"]
    assert (change["kind"], change["subject"], change["paths"]) == ("settings", "app.json", ["/approvals/mode"])
    assert change["askedBy"]["kind"] == "page"
    assert any(line.startswith("+") and "allow" in line for line in change["diff"][0]["text"].splitlines())
    assert await decide(person, change["changeId"]) == (200, {"ok": True})
    assert app_json(server)["approvals"] == {"mode": "allow"}
    request = CallRequest("note_write", {"text": "x"}, MODEL, session_id="s1")
    assert (await server.running.host.run_call(request)).ok
    assert (await (await server.get("/api/settings")).json())["waitsForRestart"] == []
    status, answer = await decide(person, change["changeId"])
    assert (status, answer["error"]["type"]) == (404, "change_not_found")


async def test_refused_change_is_never_applied(server, person):
    change_id = (await ask_for(await page(server)))[1]["error"]["context"]["changeId"]
    assert (await decide(person, change_id, approved=False))[0] == 200
    assert (await decide(person, change_id))[0] == 404
    assert "approvals" not in app_json(server)


async def test_neither_page_nor_token_confirms(server):
    of_page = await page(server)
    change_id = (await ask_for(of_page))[1]["error"]["context"]["changeId"]
    token = {"Authorization": f"Bearer {server.running.host.state.token.get_secret_value()}"}
    for headers in ({}, token):
        status, _ = await decide(of_page, change_id, headers=headers)
        assert status == 403
    assert server.running.host.policy_changes.waiting
    assert "approvals" not in app_json(server)


async def test_change_of_a_file_that_changed_meanwhile_is_not_applied(server, person):
    change_id = (await ask_for(await page(server)))[1]["error"]["context"]["changeId"]
    file = server.running.host.config.file
    file.write_text(json.dumps({**app_json(server), "locale": "zh"}))
    status, answer = await decide(person, change_id)
    assert (status, answer["error"]["type"]) == (409, "config_changed")
    assert "approvals" not in app_json(server)


@pytest.mark.spec("K11")
async def test_paired_client_does_not_confirm_a_change(server, person):
    change_id = (await ask_for(await page(server)))[1]["error"]["context"]["changeId"]
    key = await server.running.host.store.client_keys.create_key("panel", ["approve"])
    shown = {"Authorization": f"Bearer {key}"}
    path = f"/api/policy-changes/{change_id}/decision"
    status, answer = await (await page(server)).ask("POST", path, {"approved": True}, headers=shown)
    assert (status, answer["error"]["type"]) == (403, "forbidden")
    assert "approvals" not in app_json(server)
    assert (await decide(person, change_id))[0] == 200


async def test_decisions_are_recorded_with_who_asked_and_who_decided(server, person):
    first = (await ask_for(await page(server)))[1]["error"]["context"]["changeId"]
    await decide(person, first, approved=False)
    rows = (await (await server.get("/api/calls?kind=notice")).json())["calls"]
    assert (rows[0]["outcome"], rows[0]["principal_kind"]) == ("policy_refused", "page")
    assert rows[0]["decided_by"].startswith("approver:")


async def test_module_that_the_page_enables_waits_and_with_the_token_it_does_not(agentcore_client):
    server = await agentcore_client()
    modules = server.running.host.config.file.parent / "modules"
    modules.mkdir()
    (modules / "clock.py").write_text(CLOCK)
    status, answer = await (await page(server)).ask("POST", "/api/modules/clock/enable", {})
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")
    assert "clock" not in server.running.host.modules.records
    person = await approver(server)
    (change,) = (await person.ask("GET", "/api/approvals"))[1]["changes"]
    assert (change["kind"], change["subject"]) == ("module", "clock")
    assert '"clock"' in change["diff"][0]["text"]
    assert (await decide(person, answer["error"]["context"]["changeId"]))[0] == 200
    assert server.running.host.modules.get_record("clock").state == "ready"
    assert app_json(server)["modules"] == ["clock"]
    assert (await server.post("/api/modules/clock/disable", json={})).status == 200
    assert (await (await server.post("/api/modules/clock/enable", json={})).json())["state"] == "ready"


@pytest.fixture
async def clock(agentcore_client):
    """A server with a local module that is ready; `file` is its code."""
    server = await agentcore_client()
    server.file = server.running.host.config.file.parent / "modules" / "clock.py"
    server.file.parent.mkdir()
    server.file.write_text(CLOCK)
    await enable(server)
    return server


async def enable(server):
    answer = await server.post("/api/modules/clock/enable", json={})
    assert (await answer.json())["state"] == "ready"


async def said(server):
    answer = await server.post("/api/tools/clock_now/call", json={})
    return (await answer.json())["content"][0]["text"]


async def test_page_disables_a_module_and_loads_the_same_code_anew_without_a_question(clock):
    of_page = await page(clock)
    before = clock.running.host.modules.get_record("clock").plugin
    status, module = await of_page.ask("POST", "/api/modules/clock/reload", {})
    assert (status, module["state"]) == (200, "ready")
    assert clock.running.host.modules.get_record("clock").plugin is not before
    status, module = await of_page.ask("POST", "/api/modules/clock/disable", {})
    assert (status, module["state"], app_json(clock)["modules"]) == (200, "stopped", [])


async def test_code_that_changed_is_loaded_once_it_is_confirmed(clock):
    of_page, person = await page(clock), await approver(clock)
    clock.file.write_text(CLOCK.replace('"now"', '"later"'))
    status, answer = await of_page.ask("POST", "/api/modules/clock/reload", {})
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")
    assert await said(clock) == "now"
    (change,) = (await person.ask("GET", "/api/approvals"))[1]["changes"]
    assert (change["kind"], change["subject"]) == ("module_reload", "clock")
    assert (await decide(person, change["changeId"]))[0] == 200
    assert await said(clock) == "later"


async def test_code_that_changes_again_while_its_reload_waits_is_not_loaded_by_it(clock):
    of_page, person = await page(clock), await approver(clock)
    clock.file.write_text(CLOCK.replace('"now"', '"later"'))
    asked = (await of_page.ask("POST", "/api/modules/clock/reload", {}))[1]["error"]["context"]
    clock.file.write_text(CLOCK.replace('"now"', '"never"'))
    status, answer = await decide(person, asked["changeId"])
    assert (status, answer["error"]["type"]) == (409, "module_changed")
    assert await said(clock) == "now"


async def test_code_that_changes_while_its_module_waits_to_be_enabled_is_not_run(clock):
    of_page, person = await page(clock), await approver(clock)
    await of_page.ask("POST", "/api/modules/clock/disable", {})
    asked = (await of_page.ask("POST", "/api/modules/clock/enable", {}))[1]["error"]["context"]
    clock.file.write_text(CLOCK.replace('"now"', '"never"'))
    status, answer = await decide(person, asked["changeId"])
    assert (status, answer["error"]["type"]) == (409, "module_changed")
    assert (app_json(clock)["modules"], clock.running.host.modules.get_record("clock").state) == ([], "stopped")
    asked = (await of_page.ask("POST", "/api/modules/clock/enable", {}))[1]["error"]["context"]
    assert (await decide(person, asked["changeId"]))[0] == 200
    assert await said(clock) == "never"


async def test_code_that_another_place_brings_by_now_waits_too(clock):
    """The file is gone, and a folder of the same name is there: the same module by its name, and other code."""
    clock.file.unlink()
    package = clock.file.parent / "clock"
    package.mkdir()
    (package / "__init__.py").write_text(CLOCK)
    status, answer = await (await page(clock)).ask("POST", "/api/modules/clock/reload", {})
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")


@pytest.mark.parametrize(("action", "kind"), [("disable", "module_disable"), ("reload", "module_reload")])
async def test_page_cannot_turn_off_what_has_its_calls_asked_about(clock, action, kind):
    """A script of a model in the page could do so too, and then call whatever it likes."""
    clock.file.write_text(CLOCK.replace("    @tool", "    runs_scripts_in_page = True\n\n    @tool", 1))
    await clock.post("/api/modules/clock/reload", json={})
    of_page, person = await page(clock), await approver(clock)
    status, answer = await of_page.ask("POST", f"/api/modules/clock/{action}", {})
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")
    (change,) = (await person.ask("GET", "/api/approvals"))[1]["changes"]
    assert (change["kind"], change["subject"]) == (kind, "clock")
    states: list[tuple[str, bool]] = []
    host = clock.running.host
    host.events.subscribe(
        "module.stateChanged",
        lambda event: states.append((event.to_json()["state"], host.registry.runs_page_scripts)),
    )
    assert (await decide(person, change["changeId"]))[0] == 200
    if action == "disable":
        assert app_json(clock)["modules"] == []
        assert states[-1] == ("stopped", False)
    else:
        assert [state for state, _ in states] == ["stopping", "stopped", "loading", "ready"]
        assert all(asks for _, asks in states)


@pytest.mark.parametrize("action", ["disable", "reload"])
async def test_module_that_is_not_there_is_not_asked_about(server, action):
    status, answer = await (await page(server)).ask("POST", f"/api/modules/ghost/{action}", {})
    assert (status, answer["error"]["type"]) == (404, "module_not_found")


async def test_page_cannot_ask_for_a_module_that_is_not_installed(server):
    status, answer = await (await page(server)).ask("POST", "/api/modules/ghost/enable", {})
    assert (status, answer["error"]["type"]) == (404, "module_not_found")


async def ask_for_model(asker, number):
    return await ask_for(asker, f"/models/model-{number}", {"provider": "openai"})


async def test_so_many_changes_wait_and_no_more(server):
    of_page = await page(server)
    for number in range(20):
        assert (await ask_for_model(of_page, number))[1]["error"]["type"] == "confirmation_required"
    status, answer = await ask_for_model(of_page, 20)
    assert (status, answer["error"]["type"]) == (400, "too_many_waiting")


async def test_change_takes_the_place_of_what_the_same_one_asked_before(server, person):
    of_page, changes = await page(server), server.running.host.policy_changes
    first = (await ask_for(of_page))[1]["error"]["context"]["changeId"]
    await ask_for_model(of_page, 1)
    outcomes = []
    server.running.host.events.subscribe("policy.decided", lambda event: outcomes.append(event.to_json()))
    second = (await ask_for(of_page, value="deny"))[1]["error"]["context"]["changeId"]
    assert [change.proposal.paths for change in changes.waiting] == [("/models/model-1",), ("/approvals/mode",)]
    assert [(told["changeId"], told["outcome"]) for told in outcomes] == [(first, "withdrawn")]
    await ask_for(await page(server))
    assert len(changes.waiting) == 3
    assert (await decide(person, first))[0] == 404
    assert (await decide(person, second))[0] == 200
    assert app_json(server)["approvals"]["mode"] == "deny"


async def test_change_that_leaves_a_part_of_an_earlier_one_unsaid_waits_beside_it(server):
    changes = server.running.host.policy_changes
    by = Principal("page", "page_1")

    async def apply() -> None:
        raise AssertionError("nobody confirmed it")

    for paths in (("/a/key", "/a/url"), ("/a/url",), ("/ab",), ("/a/url", "/b"), ("/a",)):
        changes.propose_change(Proposal("secret", "a", paths), by, apply)
        if paths == ("/a/url", "/b"):
            assert [change.proposal.paths for change in changes.waiting] == [("/a/key", "/a/url"), ("/ab",), paths]
    assert [change.proposal.paths for change in changes.waiting] == [("/ab",), ("/a/url", "/b"), ("/a",)]


async def test_page_that_asks_without_end_leaves_room_for_others(server):
    of_page = await page(server)
    number = 0
    while (await ask_for_model(of_page, number))[1]["error"]["type"] != "too_many_waiting":
        number += 1
    changes = server.running.host.policy_changes

    async def apply() -> None:
        raise AssertionError("nobody confirmed it")

    changes.propose_change(Proposal("module_source", "weather"), Principal("host"), apply)
    assert changes.waiting[-1].proposal.subject == "weather"


async def test_change_that_nobody_decides_expires(server):
    host = server.running.host
    changes = PolicyChanges(host.events, host.store.record, wait_s=0)

    async def apply() -> None:
        raise AssertionError("nobody confirmed it")

    change = changes.propose_change(Proposal("settings", "app.json"), MODEL, apply)
    assert changes.waiting == []
    with pytest.raises(ToolError, match="has expired"):
        await changes.decide_change(change.change_id, approved=True, by="test")


@pytest.mark.spec("S7")
async def test_emergency_stop_refuses_what_waits(server):
    await ask_for(await page(server))
    assert (await (await server.post("/api/stop", json={})).json())["rejected"] == 1
    assert server.running.host.policy_changes.waiting == []


async def test_order_of_the_modules_is_that_of_app_json_after_each_change(agentcore_client):
    """Of two tools with one name the first counts, before a restart and after it."""
    server = await agentcore_client()
    modules = server.running.host.config.file.parent / "modules"
    modules.mkdir()
    for name in ("a", "b", "c"):
        (modules / f"{name}.py").write_text(CLOCK)

    async def change(name, action):
        assert (await server.post(f"/api/modules/{name}/{action}", json={})).status == 200
        listed = app_json(server)["modules"]
        running = [
            each["name"] for each in (await (await server.get("/api/modules")).json())["modules"] if each["listed"]
        ]
        assert [name for name in running if name in listed] == listed
        (tool,) = (await (await server.get("/api/tools")).json())["tools"]
        assert tool["module"] == listed[0]

    for name in ("a", "b", "c"):
        await change(name, "enable")
    await change("a", "disable")
    await change("a", "enable")
    file = server.running.host.config.file
    file.write_text(json.dumps({**app_json(server), "modules": ["c", "a", "b"]}))
    await change("b", "disable")
