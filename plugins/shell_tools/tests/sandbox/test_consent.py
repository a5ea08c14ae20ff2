"""Where the sandbox is preferred and does not work: commands run without it after a person's one confirmation."""

import asyncio

import pytest

from agentcore.api.tool_context import Principal
from agentcore.testing import RunningHost

pytestmark = pytest.mark.spec("S5", "S2")


@pytest.fixture
async def unconfined(agentcore_host, root, tmp_path, monkeypatch) -> RunningHost:
    """A host on a system whose bubblewrap does not work."""
    broken = tmp_path / "bin"
    broken.mkdir()
    (broken / "bwrap").write_text("#!/bin/sh\necho no namespaces here >&2\nexit 1\n")
    (broken / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken}:/usr/bin:/bin")
    return await agentcore_host(["shell_tools"], roots=[root])


async def test_own_call_of_a_person_waits_for_the_confirmation_and_those_after_it_do_not(unconfined):
    unconfined.answer_approvals(approve=True)
    assert (await unconfined.call("bash", command="echo first")).data["output"] == "first\n"
    assert (await unconfined.call("bash", command="echo second")).data["output"] == "second\n"
    (asked,) = unconfined.asked
    assert "without a sandbox" in asked.reason
    assert "no namespaces here" in asked.reason
    assert asked.offers == ()
    assert not asked.preview.is_sandboxed


async def test_command_that_is_not_confirmed_does_not_run(unconfined, root):
    unconfined.answer_approvals(approve=False)
    outcome = await unconfined.outcome("bash", {"command": "touch made"})
    assert outcome.error.type == "approval_denied"
    unconfined.host.approvals.ask_at_terminal(None)
    outcome = await unconfined.outcome(
        "bash", {"command": "touch made", "background": True}, principal=Principal("token")
    )
    assert outcome.error.type == "approval_required"
    assert not (root / "made").exists()


async def test_calls_that_wait_at_one_time_each_run_as_they_were_shown(unconfined):
    unconfined.answer_approvals(approve=True)
    results = await asyncio.gather(*(unconfined.call("bash", command=f"echo {number}") for number in range(5)))
    assert [result.data["output"] for result in results] == [f"{number}\n" for number in range(5)]


async def test_mode_that_allows_everything_does_not_stand_for_the_confirmation(agentcore_host, root, unconfined):
    unconfined.answer_approvals(approve=False)
    unconfined.host.policy.mode = "allow"
    outcome = await unconfined.outcome("bash", {"command": "true"}, principal=Principal("chat", "a"), session_id="s")
    assert outcome.error.type == "approval_denied"


async def test_doctor_is_told_what_is_missing_and_what_it_means(unconfined):
    (requirement,) = await unconfined.host.requirements.check_all()
    assert (requirement.info.name, requirement.state) == ("bubblewrap", "missing")
    assert "no namespaces here" in requirement.text
    assert not requirement.is_installable  # it is installed, and does not work


async def test_sandbox_that_is_off_asks_nothing(agentcore_host, root):
    host = await agentcore_host(["shell_tools"], config={"config": {"shell_tools": {"sandbox": "off"}}}, roots=[root])
    assert (await host.call("bash", command="echo hi")).data["output"] == "hi\n"
