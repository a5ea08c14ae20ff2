"""`/api/hosts`: how hosts stand, and starting one anew."""

import asyncio
import os
import signal

import pytest

from agentcore.testing import EventLog
from tests.server.approving import Browser

pytestmark = [pytest.mark.spec("H2"), pytest.mark.processes]

FAR = '''
import os
import sys
from agentcore.api import Module, ResourceUse, ToolContext, ToolResult, tool

class Far(Module):
    """Works far away."""

    @tool(read_only=True)
    async def far_pid(self, ctx: ToolContext) -> int:
        """Say in which process it runs."""
        return os.getpid()

    @tool(read_only=True, resource=ResourceUse("desk", create=True))
    async def far_open(self, ctx: ToolContext) -> str:
        """Open a desk."""
        return "open"

    @tool
    async def far_die(self, ctx: ToolContext) -> None:
        """End the process."""
        print("out of paper", file=sys.stderr, flush=True)
        os._exit(7)
'''
NEAR = '''
from agentcore.api import Module, ToolContext, tool

class Near(Module):
    """Needs what is far."""

    requires = ("far",)

    @tool(read_only=True)
    async def near(self, ctx: ToolContext) -> str:
        """Be here."""
        return "here"
'''
APP = {"modules": ["far", "near"], "hosts": {"desk": {"kind": "process", "modules": ["far"], "memory_mb": 512}}}


SERVER = {"files": {"far": FAR, "near": NEAR}, "app": APP}


async def host_now(bare_server, name="desk"):
    _, answer = await bare_server.get("/api/hosts")
    return next(host for host in answer["hosts"] if host["name"] == name)


async def host_when(bare_server, fits):
    async with asyncio.timeout(30):
        while not fits(host := await host_now(bare_server)):
            await asyncio.sleep(0.02)
    return host


@pytest.mark.more
async def test_host_is_shown_with_its_process_and_what_it_runs(bare_server):
    pid = (await bare_server.call("far_pid"))["data"]
    host = await host_when(bare_server, lambda host: host["latencyMs"] is not None)
    assert (host["kind"], host["state"], host["pid"], host["reason"]) == ("process", "running", pid, "")
    [module] = host["modules"]
    assert (module["name"], module["title"], module["state"], module["isListed"]) == ("far", "Far", "ready", True)
    assert (module["reason"], module["waiting"]) == ("", 0)
    assert 0 < host["memoryBytes"] < host["memoryMaxBytes"] == 512 * 1024 * 1024
    assert (host["version"], host["callsInFlight"], host["endsInLastHour"]) == ("0.1.0", 0, 0)
    assert host["python"]


@pytest.mark.more
async def test_resources_of_a_host_are_counted_by_type(bare_server):
    await bare_server.call("far_open")
    await bare_server.call("far_open", session_id="other")
    assert (await host_now(bare_server))["resources"] == [{"type": "desk", "count": 2}]


@pytest.mark.more
async def test_module_says_on_which_host_it_runs(bare_server):
    _, answer = await bare_server.get("/api/modules")
    assert {each["name"]: each["host"] for each in answer["modules"] if each["listed"]} == {"far": "desk", "near": ""}
    assert (await bare_server.get("/api/modules/far"))[1]["host"] == "desk"


@pytest.mark.more
async def test_host_that_ended_says_why_and_starts_again(bare_server):
    events = EventLog(bare_server.host.events)
    assert (await bare_server.call("far_die"))["error"]["type"] == "module_failed"
    host = await host_when(bare_server, lambda host: host["state"] == "running" and host["endsInLastHour"] == 1)
    assert (host["reason"], host["lastWords"]) == ("it ended with exit code 7", "out of paper")
    states = [(each["host"], each["state"]) for each in events if each["type"] == "host.stateChanged"]
    assert states[0] == ("desk", "starting")
    assert states[-1] == ("desk", "running")


@pytest.mark.more
async def test_restart_ends_the_process_and_starts_its_modules_and_what_needs_them(bare_server):
    before = (await bare_server.call("far_pid"))["data"]
    status, host = await bare_server.post("/api/hosts/desk/restart")
    assert (status, host["state"], host["endsInLastHour"], host["reason"]) == (200, "running", 0, "")
    assert (await bare_server.call("far_pid"))["data"] == host["pid"] != before
    assert (await bare_server.call("near"))["ok"]
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)


@pytest.mark.more
async def test_host_that_ended_too_often_has_failed_until_it_is_restarted(bare_server):
    for ends in (1, 2, 3):
        await host_when(bare_server, lambda host: host["state"] == "running" and host["modules"][0]["state"] == "ready")
        os.kill((await host_now(bare_server))["pid"], signal.SIGKILL)
        host = await host_when(bare_server, lambda host, ends=ends: host["endsInLastHour"] == ends)
    assert (host["state"], host["pid"], host["reason"]) == ("failed", None, "it was ended by SIGKILL")
    status, host = await bare_server.post("/api/hosts/desk/restart")
    assert (status, host["state"], host["modules"][0]["state"]) == (200, "running", "ready")


@pytest.mark.more
async def test_restart_of_the_page_waits_for_a_person_where_code_has_changed(bare_server):
    page = Browser(bare_server.url)
    assert await page.log_in(bare_server.host.store.page_sessions.create_code()) == 200
    assert (await page.ask("POST", "/api/hosts/desk/restart"))[0] == 200
    (bare_server.host.config.modules_folder / "far.py").write_text(FAR.replace("far away", "very far away"))
    status, answer = await page.ask("POST", "/api/hosts/desk/restart")
    assert (status, answer["error"]["type"]) == (403, "confirmation_required")
    [change] = bare_server.host.policy_changes.waiting
    assert (change.proposal.kind, change.proposal.subject) == ("host_restart", "desk")
    await bare_server.host.policy_changes.decide_change(change.change_id, approved=True, by="test")
    assert (await bare_server.get("/api/modules/far"))[1]["description"] == "Works very far away."


@pytest.mark.more
async def test_unknown_host_is_an_error_that_names_those_there_are(bare_server):
    status, answer = await bare_server.post("/api/hosts/cloud/restart")
    assert (status, answer["error"]["type"]) == (404, "host_not_found")
    assert answer["error"]["context"]["hosts"] == ["desk"]


async def test_without_hosts_the_list_is_empty(make_server):
    bare_server = await make_server(files={"near": NEAR})
    assert await bare_server.get("/api/hosts") == (200, {"hosts": []})


@pytest.mark.parametrize(("python", "said"), [("/no/such/python", "No such file"), ("/usr/bin/env", "exit code")])
async def test_host_whose_python_cannot_run_it_has_failed(make_server, python, said):
    hosts = {"desk": {"kind": "process", "modules": ["far"], "python": python}}
    bare_server = await make_server(files={"far": FAR}, app={"modules": ["far"], "hosts": hosts})
    host = await host_now(bare_server)
    assert (host["state"], host["python"], host["pid"]) == ("failed", python, None)
    assert said in host["reason"]
    assert host["modules"][0]["state"] == "failed"
