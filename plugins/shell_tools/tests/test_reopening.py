"""A terminal that ended with the server is opened again where it was."""

import pytest

from agentcore.testing.hosting import HostPlan, running_host

pytestmark = [pytest.mark.spec("R4"), pytest.mark.spec("T4")]


async def test_terminal_that_ended_with_the_server_comes_back_closed_and_opens_in_its_folder(root, tmp_path):
    (root / "project").mkdir()
    plan = HostPlan(["shell_tools"], roots=[root])
    async with running_host(plan, tmp_path) as host:
        await host.call("bash", command="sleep 600", background=True, cwd="project")
        ended = (await host.call("bash", command="true", background=True)).data["process_id"]
        await host.call("bash_output", process_id=ended, block=True)
        await host.events.wait_for("resource.stateChanged", resourceId=ended, status="ready")
    async with running_host(plan, tmp_path) as host:
        (tab,) = [tab.to_json() for tab in host.host.tabs.in_order()]  # what had ended before is not opened again
        closed = tab["closed"]
        assert (closed["resourceType"], closed["title"]) == ("terminal", "sleep 600")
        outcome = await host.outcome(closed["tool"], closed["arguments"], session_id=closed["chatSessionId"])
        made = outcome.resource_id
        assert made == outcome.unwrap().data["process_id"]
        await host.host.tabs.show(made, in_place_of=tab["tabId"])
        await host.call("bash", process_id=made, command="pwd > here; exit")
        await host.call("bash_output", process_id=made, block=True)
        assert (root / "project" / "here").read_text().strip() == str((root / "project").resolve())
        assert [tab.tab_id for tab in host.host.tabs.in_order()] == [tab["tabId"]]
