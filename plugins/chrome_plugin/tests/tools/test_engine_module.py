"""What the modules say about the browser that they found."""

import pytest

from agentcore.testing import RunningHost

STARTS_HOSTS = True


@pytest.mark.spec("B1")
async def test_doctor_is_told_which_browser_is_used(host: RunningHost):
    said, advice = host.host.modules.records["chrome"].notes["web browser"]
    assert "chrom" in said
    assert advice == ""


@pytest.mark.spec("B1")
async def test_doctor_is_told_how_to_get_a_browser(start_host):
    host = await start_host(executable="/nowhere/chromium")
    said, advice = host.host.modules.records["browser"].notes["web browser"]
    assert said == "none was found"
    assert "apt install chromium" in advice


@pytest.mark.spec("K9")
async def test_agents_are_offered_one_set_of_browser_tools_where_both_are_on(host: RunningHost):
    assert host.host.registry.stood_in_for() == {"chrome"}
