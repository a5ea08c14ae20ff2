"""The elements in agentcore's own page: the list of browsers, the live picture, and the strip of tabs."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, async_playwright, expect

from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import ServerClient, running_server

STARTS_HOSTS = True
pytestmark = [pytest.mark.spec("B5"), pytest.mark.spec("M7")]
# without two pages of its own that Chromium loads for each new window
FLAGS = ["--no-sandbox", "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup"]
WAIT_MS, START_MS = 30_000, 60_000
AXE = Path(__file__).parents[4] / "tests" / "webui" / "vendor" / "axe.min.js"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory) -> AsyncIterator[ServerClient]:
    config = {"config": {"chrome": {"allow_private": True}}}
    async with running_server(HostPlan(("browser", "chrome"), config), tmp_path_factory.mktemp("server")) as client:
        yield client


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def page(server, chromium: str) -> AsyncIterator[Page]:
    """Agentcore's page, logged in, in a browser of the test's own."""
    expect.set_options(timeout=WAIT_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = await browser.new_page(viewport={"width": 1280, "height": 800}, locale="en-US")
        page.set_default_timeout(WAIT_MS)
        page.set_default_navigation_timeout(START_MS)
        code = server.running.host.store.page_sessions.create_code()
        await page.goto(f"{server.make_url('/')}#code={code}")
        await page.locator("ac-app nav").first.wait_for(state="attached", timeout=START_MS)
        yield page
        await browser.close()


@pytest_asyncio.fixture(autouse=True, loop_scope="module")
async def end_pages(server) -> AsyncIterator[None]:
    """Close the pages that chats opened: the browser would go on rendering them."""
    yield
    resources = server.running.host.resources
    for resource in resources.list(resource_type="browser"):
        await resources.release(resource.resource_id)


async def test_management_page_follows_by_itself(server, page, site):
    """A browser that a tool starts is there without a reload; its tab is watched, driven to an address, and closed."""
    await page.goto(f"{server.make_url('/')}#/pages/chrome")
    await expect(page.get_by_role("heading", name="No browser runs")).to_be_visible()
    browser_id = (await server.running.call("chrome_launch")).data["browserId"]
    await expect(page.get_by_role("heading", name=browser_id, exact=True)).to_be_visible()
    await page.get_by_role("button", name=f"New tab: {browser_id}").click()
    address = page.locator("chrome-tab-view form input")
    await address.fill(site.url("/second"))
    await address.press("Enter")
    await expect(page.locator("chrome-panel .tab p").first).to_have_text("Second")
    await expect(page.locator("chrome-tab-view canvas")).to_be_visible()
    await page.get_by_role("button", name="Close tab: Second").first.click()
    await expect(page.locator("chrome-panel .tab")).to_have_count(0)
    await page.get_by_role("button", name=f"Close browser: {browser_id}").click()
    await expect(page.get_by_role("heading", name="No browser runs")).to_be_visible()


@pytest.mark.more
async def test_person_takes_a_chats_page_over_and_hands_it_back(server, page, site):
    async def act(tool, /, **arguments):
        return (await server.running.outcome(tool, arguments, session_id="chat")).unwrap()

    await act("browser_navigate", url=site.url("/controls"))
    await page.get_by_role("link", name="Controls").click()
    view = page.locator("browser-page-view")
    await expect(view.locator("canvas")).to_be_visible()
    await view.get_by_role("button", name="Take over").click()
    await expect(view.get_by_text("You drive")).to_be_visible()
    box = await view.locator("canvas").bounding_box()
    scale = box["width"] / 1280
    await page.mouse.click(box["x"] + 70 * scale, box["y"] + 220 * scale)
    await page.mouse.click(box["x"] + 70 * scale, box["y"] + 310 * scale)
    await page.keyboard.type("hi")
    await expect(page.get_by_role("link", name="clicked")).to_be_visible()
    await page.keyboard.press("Shift+Escape")
    await expect(view.get_by_text("Watching")).to_be_visible()
    result = await act("browser_evaluate", script="document.querySelector('input').value")
    assert result.data["value"] == "hi"
    assert "clicked" in result.data["changedByPerson"]


@pytest.mark.more
async def test_take_over_waits_for_who_drives_and_comes_back_after_a_lost_connection(server, page, site):
    await server.running.outcome("browser_navigate", {"url": site.url("/second")}, session_id="waits")
    await page.get_by_role("link", name="Second").click()
    mine = page.locator("browser-page-view")
    other = await page.context.browser.new_page(locale="en-US")
    code = server.running.host.store.page_sessions.create_code()
    await other.goto(f"{server.make_url('/')}#code={code}")
    await other.locator("ac-app nav").first.wait_for(state="attached", timeout=START_MS)
    await other.goto(page.url)
    theirs = other.locator("browser-page-view")
    await theirs.get_by_role("button", name="Take over").click()
    await expect(theirs.get_by_text("You drive")).to_be_visible()

    await mine.get_by_role("button", name="Take over").click()
    waits = mine.get_by_text("It becomes yours by itself when they hand it back.")
    await expect(waits).to_be_visible()
    await mine.get_by_role("button", name="Do not wait").click()
    await expect(waits).to_have_count(0)
    await mine.get_by_role("button", name="Take over").click()
    await expect(waits).to_be_visible()
    await theirs.get_by_role("button", name="Hand back").click()
    await expect(mine.get_by_text("You drive")).to_be_visible()
    await other.close()

    await mine.evaluate("view => { view._socket._waitMs = 1e6; view._socket._socket.close(); }")
    await expect(mine.get_by_text("The connection is lost.")).to_be_visible()
    await expect(mine.locator("canvas")).to_be_visible()
    await mine.evaluate("view => view._socket.retry()")
    await expect(mine.get_by_text("You drive")).to_be_visible()
    await expect(mine.get_by_text("The connection is lost.")).to_have_count(0)
    await mine.get_by_role("button", name="Hand back").click()


@pytest.mark.more
async def test_page_has_the_icon_of_its_site_in_the_strip_and_closes_with_its_tab(server, page, site):
    outcome = await server.running.outcome("browser_navigate", {"url": site.url("/with-icon")}, session_id="icons")
    strip = page.get_by_role("navigation", name="Open resources")
    tab = strip.get_by_role("link", name="Icon", exact=True)
    await expect(tab.locator("img")).to_be_visible()
    await tab.click()
    await expect(page.locator("browser-page-view canvas")).to_be_visible()
    await tab.focus()
    await page.keyboard.press("Delete")
    await page.locator("ac-confirm").get_by_role("button", name="Close tab").click()
    await expect(tab).to_have_count(0)
    assert outcome.resource_id is not None
    async with asyncio.timeout(60):  # the tab leaves the strip before the page is closed
        while (await server.running.outcome("browser_get_state", {}, session_id="icons")).unwrap().data["running"]:
            await asyncio.sleep(0.05)


@pytest.mark.more
async def test_manual_is_searched_and_ordered_from_while_a_person_watches_and_takes_over(server, page, manual):
    """An agent searches, follows a link and fills a form; the person watches, switches tabs, drives, and hands back."""

    async def act(tool, /, **arguments):
        return (await server.running.outcome(tool, arguments, session_id="manual")).unwrap()

    async def ref_of(said):
        text = (await act("browser_snapshot")).blocks()[0].text
        return re.search(rf"{said} \[ref=(\w+)\]", text)[1]

    async def see(title):
        await expect(view.get_by_role("img", name=f"Live picture of the page: {title}")).to_be_visible()

    view = page.locator("browser-page-view")
    first = (await act("browser_navigate", url=manual)).data["resourceId"]
    await page.get_by_role("link", name="Manual").click()
    await see("Manual")
    await act("browser_type", selector=await ref_of('textbox "Find"'), text="valve", submit=True)
    await see("Found 2")
    followed = await act("browser_click", selector=await ref_of('link "Valves"'), snapshot=True)
    assert any("Never force a valve" in line for line in followed.data["changes"])
    assert all(line.startswith("+") for line in followed.data["changes"])
    await see("Valves")
    second = (await act("browser_tabs", action="new", url=f"{manual}order.html")).data["resourceId"]
    await page.get_by_role("link", name="Order").click()
    await see("Order")
    fields = [{"selector": "[name=name]", "value": "Ada"}, {"selector": "[name=soon]", "value": True}]
    await act("browser_fill_form", resourceId=second, fields=fields)
    assert (await act("browser_scroll", resourceId=first)).data["scrollTop"] == 500
    await view.get_by_role("button", name="Take over").click()
    await expect(view.get_by_text("You drive")).to_be_visible()
    waiting = asyncio.create_task(act("browser_get_dom", resourceId=second, selector="h1"))
    await view.get_by_role("textbox", name="Address").fill(f"{manual}gauges.html")
    await page.keyboard.press("Enter")
    await expect(view.get_by_role("application", name="Live picture of the page: Gauges")).to_be_focused()
    assert not waiting.done()
    await view.get_by_role("textbox", name="Address").focus()
    await page.keyboard.press("Shift+Escape")
    result = await waiting
    assert "Gauges" in result.data["dom"]
    told = result.data["changedByPerson"].splitlines()
    assert {line for line in told if line.startswith("-")} == {f"- url: {manual}order.html", "- title: Order"}
    assert f"+ url: {manual}gauges.html" in told
    await page.goto(f"{server.make_url('/')}#/pages/chrome")
    await act("browser_navigate", url=f"{manual}order.html")
    await expect(page.locator("chrome-panel .tab").get_by_text(f"{manual}order.html")).to_be_visible()


@pytest.mark.source_tree
async def test_elements_have_no_serious_accessibility_problem(server, page, site):
    for path in ("#/pages/chrome", "#/pages/browser"):
        await page.goto(f"{server.make_url('/')}{path}")
        await page.locator("h1").first.wait_for()
        await page.evaluate(AXE.read_text())
        result = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        serious = [found["id"] for found in result["violations"] if found["impact"] in ("serious", "critical")]
        assert serious == []
