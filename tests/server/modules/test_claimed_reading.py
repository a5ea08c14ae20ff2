"""Tools that only read, says a mounted server: whoever accepts them decides whether they are treated so."""

import json
import sys
from pathlib import Path

import pytest

from agentcore.api import Principal
from agentcore.core.calls.call import CallRequest
from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import running_server
from tests.server.approving import approver

pytestmark = [pytest.mark.spec("P3"), pytest.mark.processes]

HINTING = Path("plugins/mcp_servers/tests/hinting_server.py").read_text(encoding="utf-8")
LOOK, SEARCH, SILENT = "example_look", "example_search", "example_silent"


@pytest.fixture
async def server(tmp_path):
    block = {"command": sys.executable, "args": ["-c", HINTING]}
    config = {"mcpServers": {"Example": block}, "approvals": {"mode": "ask_writes"}}
    async with running_server(HostPlan(["mcp_example"], config=config, accepts_definitions=False), tmp_path) as served:
        yield served


@pytest.fixture
async def person(server):
    return await approver(server)


async def waiting(person):
    return (await person.ask("GET", "/api/approvals"))[1]["changes"]


async def decide(person, **word):
    (change,) = await waiting(person)
    return await person.ask("POST", f"/api/policy-changes/{change['changeId']}/decision", word)


def effects(server):
    return {name: set(tool.definition.effects) for name, tool in server.running.host.registry.tools.items()}


def saved_block(server):
    return json.loads(server.running.host.config.file.read_text())["mcpServers"]["Example"]


async def test_only_tools_that_claim_it_can_be_treated_as_reading(server, person):
    (change,) = await waiting(person)
    assert change["readingTools"] == [LOOK, SEARCH]
    status, answer = await decide(person, approved=True, reading=[LOOK, SILENT])
    assert (status, answer["error"]["type"]) == (400, "invalid_arguments")
    assert SILENT in answer["error"]["message"]
    assert len(await waiting(person)) == 1
    assert "agentcore" not in saved_block(server)


async def test_chosen_tools_read_and_the_others_execute(server, person):
    assert await decide(person, approved=True, reading=[LOOK]) == (200, {"ok": True})
    assert await waiting(person) == []
    assert saved_block(server)["agentcore"] == {"effects": {"look": ["egress", "read"]}}
    assert (effects(server)[LOOK], effects(server)[SEARCH]) == ({"read", "egress"}, {"execute"})
    hints = server.running.host.registry.tools[LOOK].definition.to_mcp()["annotations"]
    assert hints["readOnlyHint"] is True
    outcome = await server.running.host.run_call(CallRequest(LOOK, {}, Principal("page")))
    assert outcome.ok


async def test_nothing_is_treated_as_reading_unless_it_is_chosen(server, person):
    assert await decide(person, approved=True) == (200, {"ok": True})
    assert {name for name, each in effects(server).items() if each == {"execute"}} >= {LOOK, SEARCH, SILENT}
    assert "agentcore" not in saved_block(server)


async def test_choice_that_cannot_be_saved_accepts_nothing_and_is_asked_again(server, person):
    file = server.running.host.config.file
    text = file.read_text()
    file.write_text("{")
    status, answer = await decide(person, approved=True, reading=[LOOK])
    assert (status, answer["error"]["type"]) == (409, "config_not_written")
    assert LOOK not in effects(server)
    file.write_text(text)
    assert await decide(person, approved=True, reading=[LOOK, SEARCH]) == (200, {"ok": True})
    assert effects(server)[SEARCH] == {"read", "egress"}


async def test_chosen_tools_stay_accepted_after_a_restart(server, person, tmp_path):
    await decide(person, approved=True, reading=[LOOK])
    await server.running.host.modules.reload("mcp_example")
    assert await waiting(person) == []
    assert effects(server)[LOOK] == {"read", "egress"}
