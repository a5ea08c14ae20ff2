"""A chat's page that ended with the server is opened again at its last address."""

import asyncio

import pytest

from agentcore.testing.hosting import HostPlan, running_host

STARTS_HOSTS = True
pytestmark = [pytest.mark.spec("R4"), pytest.mark.spec("B2")]


@pytest.mark.usefixtures("browser_program")
async def test_page_that_ended_with_the_server_comes_back_closed_with_its_icon_and_opens_at_its_address(site, tmp_path):
    plan = HostPlan(["browser"], {"config": {"chrome": {"allow_private": True}}})
    async with running_host(plan, tmp_path) as host:
        outcome = await host.outcome("browser_navigate", {"url": site.url("/with-icon")}, session_id="chat")
        assert outcome.unwrap().data["title"] == "Icon"
        async with asyncio.timeout(60):
            while not host.host.resources.get(outcome.resource_id).icon_id:
                await asyncio.sleep(0.05)
        icon = host.host.resources.get(outcome.resource_id).icon
    async with running_host(plan, tmp_path) as host:
        (tab,) = [tab.to_json() for tab in host.host.tabs.list_tabs()]
        closed = tab["closed"]
        assert (closed["lastUrl"], closed["title"]) == (site.url("/with-icon"), "Icon")
        assert host.host.tabs.find_icon(tab["tabId"]) == icon
        await host.outcome("browser_navigate", {"url": site.url("/")}, session_id="chat")
        again = await host.outcome(closed["tool"], closed["arguments"], session_id=closed["chatSessionId"])
        assert again.unwrap().data["url"] == site.url("/with-icon")
        pages = (await host.outcome("browser_tabs", {"action": "list"}, session_id="chat")).unwrap().data["pages"]
        assert {page["resourceId"]: page["url"] for page in pages}[again.resource_id] == site.url("/with-icon")
        assert len(pages) == 2  # the page that was opened meanwhile is left alone


@pytest.mark.more
@pytest.mark.usefixtures("browser_program")
async def test_page_that_ended_with_the_server_is_where_it_was_for_the_agent(site, tmp_path):
    """What looks goes on there; an action is not done, and says why; a page that a person has closed stays closed."""
    plan = HostPlan(["browser"], {"config": {"chrome": {"allow_private": True}}})
    async with running_host(plan, tmp_path) as host:
        for session in ("looks", "acts", "closed"):
            await host.outcome("browser_navigate", {"url": site.url("/form")}, session_id=session)
        await host.outcome("browser_launch", {"new_page": True, "url": site.url("/")}, session_id="looks")
    async with running_host(plan, tmp_path) as host:

        async def act(session, tool, **arguments):
            return await host.outcome(tool, arguments, session_id=session)

        seen = (await act("looks", "browser_snapshot")).unwrap()
        assert (seen.data["url"], seen.data["restored"]) == (site.url("/form"), site.url("/form"))
        assert f"The server was restarted; the page was opened again at {site.url('/form')}, " in seen.blocks()[0].text
        gone = (await act("looks", "browser_snapshot", resourceId="browser_looks_0")).error
        assert (gone.type, "ended with an earlier run of the server" in gone.message) == ("resource_not_found", True)
        refused = (await act("acts", "browser_click", selector="text=Send")).error
        assert (refused.type, refused.context["url"]) == ("browser_crashed", site.url("/form"))
        assert refused.message.startswith("the server was restarted, and the page is open again")
        assert (await act("acts", "browser_click", selector="text=Send")).ok
        (tab,) = [one.to_json() for one in host.host.tabs.list_tabs() if "_closed_" in one.to_json()["resourceId"]]
        await host.host.tabs.close_tab(tab["tabId"])
        blank = (await act("closed", "browser_snapshot")).unwrap()
        assert (blank.data["url"], "restored" in blank.data) == ("about:blank", False)


@pytest.mark.more
@pytest.mark.in_server("looks at objects of the module")
async def test_crash_is_told_with_its_error_beside_the_events_own_type(host, site):
    outcome = await host.outcome("browser_navigate", {"url": site.url("/")}, session_id="crash")
    await host.outcome("browser_navigate", {"url": "about:blank"}, session_id="crash")
    with_crash = await host.outcome("browser_evaluate", {"script": "1"}, session_id="crash")
    assert with_crash.ok
    tab = next(tab for tab in engine_of(host).tabs.values() if tab.resource_id == outcome.resource_id)
    session = await tab.get_session()
    crashing = asyncio.ensure_future(session.send("Page.crash"))
    told = await host.events.wait_for("resource.error", resourceId=outcome.resource_id)
    assert told["type"] == "resource.error"
    assert told["error"]["type"] == "browser_crashed"
    state = (await host.outcome("browser_get_state", {}, session_id="crash")).unwrap()
    assert (state.data["running"], "has crashed" in state.blocks()[0].text) == (False, True)
    crashing.cancel()
    await asyncio.gather(crashing, return_exceptions=True)


def engine_of(host):
    """The engine, to crash a page of it."""
    from agentcore_chrome.browser.engine import _ENGINES

    (engine,) = [shared.engine for key, shared in _ENGINES.items() if str(host.host.state.path) in key[1]]
    return engine
