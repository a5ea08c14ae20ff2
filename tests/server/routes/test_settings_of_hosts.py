"""`hosts` among the settings of the server: shown as it is, changed with a person's word, refused where it is wrong."""

import json

import pytest

from tests.server.approving import approver, page

pytestmark = [pytest.mark.spec("K5"), pytest.mark.spec("H2")]

HOSTS = {"desk": {"kind": "process", "modules": ["far"], "memory_mb": 512}}


@pytest.fixture
async def server(agentcore_client):
    return await agentcore_client(config={"hosts": HOSTS, "clients": {"me": {"mode": "allow"}}})


async def change(server, value):
    of_page = await page(server)
    shown = (await of_page.ask("GET", "/api/settings"))[1]
    body = {"expected": shown["digest"], "changes": [{"path": "/hosts", "value": value}]}
    return await of_page.ask("PUT", "/api/settings", body)


async def test_hosts_and_clients_are_shown_with_what_is_set(server):
    shown = await (await server.get("/api/settings")).json()
    assert (shown["values"]["hosts"], shown["withheld"]) == (HOSTS, [])
    assert shown["values"]["clients"] == {"me": {"mode": "allow"}}


async def test_change_of_hosts_waits_for_a_person_with_its_diff(server):
    wanted = {"desk": {"kind": "process", "modules": ["far"], "memory_mb": 1024}}
    status, answer = await change(server, wanted)
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")
    person = await approver(server)
    [waiting] = (await person.ask("GET", "/api/approvals"))[1]["changes"]
    assert "1024" in waiting["diff"][0]["text"]
    await person.ask("POST", f"/api/policy-changes/{waiting['changeId']}/decision", {"approved": True})
    assert json.loads(server.running.host.config.file.read_text())["hosts"] == wanted


async def test_module_that_two_hosts_would_claim_is_refused(server):
    status, answer = await change(server, HOSTS | {"other": {"kind": "process", "modules": ["far"]}})
    assert status == 400
    assert "is claimed by 'desk' and 'other'" in json.dumps(answer)
