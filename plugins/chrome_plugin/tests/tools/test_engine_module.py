"""What the modules say about the browser that they found."""

import pytest
from agentcore_chrome.tools.browser_module import TOOLS

from agentcore.testing import RunningHost

STARTS_HOSTS = True


@pytest.mark.spec("B1")
async def test_doctor_is_told_which_browser_is_used(host: RunningHost):
    (requirement,) = await host.host.requirements.check_all()
    assert (requirement.info.name, requirement.state) == ("web_browser", "met")
    assert requirement.modules == ("chrome", "browser")
    assert "chrom" in requirement.text


@pytest.mark.spec("B1")
async def test_doctor_is_told_how_to_get_a_browser(start_host):
    host = await start_host(executable="/nowhere/chromium")
    (requirement,) = await host.host.requirements.check_all()
    assert requirement.state == "missing"
    assert "no browser at /nowhere/chromium" in requirement.text
    assert requirement.info.command == "agentcore browser install"
    # the setting names another one: what would be installed would not be used
    assert not requirement.is_installable


@pytest.mark.more
@pytest.mark.spec("K9")
async def test_agents_are_offered_one_set_of_browser_tools_where_both_are_on(host: RunningHost):
    assert host.host.registry.replaced_modules() == {"chrome"}


@pytest.mark.spec("B2")
async def test_tools_are_offered_in_the_order_of_their_table_and_extra_ones_only_if_set(host: RunningHost, start_host):
    names = [each.function.__name__ for each in TOOLS]
    assert [name for name in host.host.registry.tools if name.startswith("browser_")] == names
    without = await start_host(("browser",), extra_tools=False)
    basic = [each.function.__name__ for each in TOOLS if not each.is_extra]
    assert list(without.host.registry.tools) == basic
    assert len(basic) == 15 + len(["browser_live_picture"])
