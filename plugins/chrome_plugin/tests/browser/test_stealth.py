"""The setting `stealth`: what sites see of a browser that a program drives, without it and with it."""

import pytest

STARTS_HOSTS = True
pytestmark = pytest.mark.spec("B8")

SIGNS = """({
  webdriver: navigator.webdriver, agent: navigator.userAgent, plugins: navigator.plugins.length, chrome: typeof chrome,
  brands: navigator.userAgentData?.brands.map(one => one.brand).join() ?? '', platform: navigator.platform,
})"""


async def signs(host, site):
    await host.call("browser_navigate", url=site.url("/"))
    seen = (await host.call("browser_evaluate", script=SIGNS)).data["value"]
    return seen | {"sent": site.agents[-1]}


async def test_browser_says_what_it_is_unless_it_is_told_to_hide_it(start_host, site):
    plain, hidden = [await signs(await start_host(("browser",), stealth=stealth), site) for stealth in (False, True)]
    assert plain["webdriver"] is True
    assert "HeadlessChrome" in plain["agent"]
    assert hidden["webdriver"] is False
    assert not any("Headless" in hidden[name] for name in ("agent", "brands", "sent"))
    assert hidden["agent"] == hidden["sent"] == plain["agent"].replace("HeadlessChrome", "Chrome")
    assert (hidden["chrome"], hidden["plugins"] > 0) == ("object", True)
    assert hidden["platform"] == plain["platform"]
