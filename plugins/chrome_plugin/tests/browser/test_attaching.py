"""Attaching to a browser that somebody uses: what is done in it, and what must not be done to it."""

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from agentcore.api import ToolError
from agentcore.testing.hosting import HostPlan, running_host

STARTS_HOSTS = True
pytestmark = pytest.mark.spec("R6")
LIMIT_S = 120
BUTTON = (
    "<div id=part style='position:absolute;left:200px;top:100px;width:300px;height:200px'></div><button "
    "style='position:absolute;left:300px;top:200px;width:40px;height:20px' onclick='document.title += `!`'>B</button>"
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def person(elsewhere, browser_program):
    async with elsewhere.somebodys_browser(browser_program) as running:
        yield running


@asynccontextmanager
async def attached(endpoint, folder: Path, **settings):
    config = {"config": {"chrome": {"allow_private": True, "cdp_endpoint": endpoint, **settings}}}
    async with running_host(HostPlan(("browser", "chrome"), config), folder) as host:
        yield host


@pytest_asyncio.fixture(loop_scope="module")
async def file_host(person, tmp_path):
    async with attached(person.endpoint, tmp_path) as running:
        yield running


async def act(host, tool, /, session="chat", **arguments):
    return (await host.outcome(tool, arguments, session_id=session)).unwrap()


async def error_of(host, tool, /, **arguments):
    with pytest.raises(ToolError) as caught:
        await act(host, tool, **arguments)
    return caught.value


async def test_agent_works_in_tabs_of_its_own_with_the_log_ins_of_the_person(person, tmp_path, site):
    """Its tab stands beside theirs, shares their cookies, takes references, and goes with the host; theirs stay."""
    theirs = await person.open(site.url("/second"))
    async with person.at(theirs) as page:
        await page.value("document.cookie = 'login=ada'")
    before = await person.pages()
    async with attached(person.endpoint, tmp_path) as host:
        await act(host, "browser_navigate", url=site.url("/changing"))
        assert (await act(host, "browser_evaluate", script="document.cookie")).data["value"] == "login=ada"
        text = (await act(host, "browser_snapshot", find="Play")).blocks()[0].text
        await act(host, "browser_click", selector=text.split("[ref=")[1].split("]")[0])
        assert "Pause" in (await act(host, "browser_get_dom")).data["dom"]
        assert set(await person.pages()) > set(before)
        (browser,) = (await host.call("chrome_list")).data["browsers"]
        assert browser["isAttached"]
        assert [tab["url"] for tab in browser["tabs"]] == [site.url("/changing")]
    assert await person.pages() == before
    assert person.process.returncode is None


@pytest.mark.more
async def test_closing_detaches_and_the_browser_goes_on(host, person, site):
    before = await person.pages()
    first = (await act(host, "chrome_launch")).data["browserId"]
    await act(host, "chrome_new_tab", browserId=first, url=site.url("/"))
    assert (await act(host, "chrome_close", browserId=first)).data["closedTabs"] == 1
    assert await person.pages() == before
    again = (await act(host, "chrome_launch")).data["browserId"]
    assert again != first
    tab = (await act(host, "chrome_new_tab", browserId=again, url=site.url("/form"))).data["tabId"]
    await act(host, "chrome_click", tabId=tab, selector="text=Send")


@pytest.mark.more
async def test_dialog_of_the_person_is_left_to_them(host, person, site):
    theirs = await person.open(site.url("/"))
    await act(host, "browser_navigate", url=site.url("/second"))
    async with person.at(theirs) as page:
        await page.call("Page.enable")
        asked = await page.send("Runtime.evaluate", expression="confirm('Sure?')", returnByValue=True)
        await page.until(lambda told: told.get("method") == "Page.javascriptDialogOpening")
        await act(host, "browser_click", selector="a")
        await act(host, "browser_snapshot")
        await page.send("Page.handleJavaScriptDialog", accept=True)
        answer = await page.until(lambda told: told.get("id") == asked)
    assert answer["result"]["result"]["value"] is True


@pytest.mark.more
async def test_page_that_carries_the_id_of_a_resource_is_driven_and_left_where_it_is(host, person, site):
    """A shell's view is marked by its title: it is used instead of a new tab, and neither closed nor kept hold of."""
    view = await person.open(site.url("/dialogs"))
    other = await person.open(site.url("/second"))
    async with person.at(view) as page, person.at(other) as page_of_another:
        await page.value("document.title = 'view browser_marked_0'")
        await page_of_another.value("document.title = 'view browser_marked_01'")
    before = await person.pages()
    state = await act(host, "browser_launch", session="marked")
    assert state.data["url"] == site.url("/dialogs")
    assert await person.pages() == before
    await act(host, "browser_click", session="marked", selector="#confirm")
    await act(host, "browser_handle_dialog", session="marked", accept=True)
    await act(host, "browser_tabs", session="marked", action="close")
    assert await person.pages() == before
    async with person.at(view) as page:
        assert await page.value("out.textContent") == "confirm true"
        await page.call("Page.enable")
        asked = await page.send("Runtime.evaluate", expression="confirm('Mine?')", returnByValue=True)
        await page.until(lambda told: told.get("method") == "Page.javascriptDialogOpening")
        await act(host, "browser_navigate", url=site.url("/"))
        await page.send("Page.handleJavaScriptDialog", accept=True)
        assert (await page.until(lambda told: told.get("id") == asked))["result"]["result"]["value"] is True


@pytest.mark.more
@pytest.mark.spec("H5")
async def test_program_that_opens_the_pages_itself_is_waited_for(person, tmp_path, site):
    """It hears of a resource and shows a page with its id; pages that it has not been asked for are not opened."""
    before = await person.pages()
    async with attached(person.endpoint, tmp_path, view_timeout=LIMIT_S) as host:
        asked = asyncio.Queue()
        host.host.events.subscribe("resource.stateChanged", lambda event: asked.put_nowait(event.data))
        for resource_id, tool, arguments in (
            ("browser_shell_0", "browser_navigate", {}),
            ("browser_shell_1", "browser_tabs", {"action": "new"}),
        ):
            call = asyncio.create_task(act(host, tool, session="shell", url=site.url("/second"), **arguments))
            async with asyncio.timeout(LIMIT_S):
                while (wanted := await asked.get())["resourceId"] != resource_id:
                    pass
            assert wanted["status"] == "starting"
            view = await person.open(f"about:blank%23{resource_id}")
            assert (await call).data["resourceId"] == resource_id
            assert (await person.pages())[view] == site.url("/second")
        assert len(await person.pages()) == len(before) + 2


@pytest.mark.more
@pytest.mark.spec("H5")
async def test_program_that_shows_no_page_in_time_is_told_of(person, tmp_path, site):
    before = await person.pages()
    async with attached(person.endpoint, tmp_path, view_timeout=3) as host:
        error = await error_of(host, "browser_navigate", url=site.url("/"))
        assert (error.type, error.retryable) == ("view_not_shown", True)
        assert "about:blank#browser_chat_0" in error.message
        await person.open("about:blank%23browser_chat_0")
        assert (await act(host, "browser_navigate", url=site.url("/second"))).data["title"] == "Second"
        assert (await error_of(host, "browser_tabs", action="new")).type == "view_not_shown"
        assert len((await act(host, "browser_tabs", action="list")).data["pages"]) == 1
    assert len(await person.pages()) == len(before) + 1


@pytest.mark.more
@pytest.mark.spec("S6")
async def test_page_at_an_address_that_is_refused_is_neither_driven_nor_shown(person, tmp_path, site):
    """A marked page with a frame at a blocked host is refused, and a tab is dropped from lists while it is at one."""
    view = await person.open(site.url("/second"))
    async with person.at(view) as page:
        await page.value("document.title = 'browser_framed_0'")
        address = site.url("/").replace("127.0.0.1", "localhost")
        frame = f"const frame = Object.assign(document.createElement('iframe'), {{src: '{address}', onload: done}})"
        await page.value(f"new Promise(done => {{ {frame}; document.body.append(frame) }}).then(() => 1)")
    async with attached(person.endpoint, tmp_path, blocked_hosts=["localhost"]) as host:
        assert (await error_of(host, "browser_get_dom", session="framed")).type == "url_blocked"
        browser = (await act(host, "chrome_launch")).data["browserId"]
        tab = (await act(host, "chrome_new_tab", browserId=browser, url=site.url("/?ours"))).data["tabId"]
        (target,) = [one for one, url in (await person.pages()).items() if url == site.url("/?ours")]
        async with person.at(target) as page:
            await page.call("Page.enable")
            await page.send("Page.navigate", url=site.url("/second").replace("127.0.0.1", "localhost"))
            await page.until(lambda told: told.get("method") == "Page.loadEventFired")
        async with asyncio.timeout(LIMIT_S):
            while (await act(host, "chrome_list_tabs", browserId=browser)).data["tabs"]:
                await asyncio.sleep(0.05)
        assert (await error_of(host, "chrome_get_text", tabId=tab)).type == "url_blocked"
        assert (await error_of(host, "chrome_get_url", tabId=tab)).type == "url_blocked"
        assert all(one["tabs"] == [] for one in (await act(host, "chrome_list")).data["browsers"])


@pytest.mark.more
async def test_browser_that_dies_ends_its_calls_and_is_attached_to_again(elsewhere, browser_program, tmp_path, site):
    async with elsewhere.somebodys_browser(browser_program) as person, attached(person.endpoint, tmp_path) as host:
        await act(host, "browser_navigate", url=site.url("/"))
        site.asked.clear()
        endless = "fetch('/began').then(() => new Promise(() => {}))"
        waiting = asyncio.create_task(error_of(host, "browser_evaluate", script=endless))
        async with asyncio.timeout(LIMIT_S):
            while "/began" not in site.asked:
                await asyncio.sleep(0.05)
        await person.kill()
        assert (await waiting).type == "browser_lost"
        error = await error_of(host, "browser_navigate", url=site.url("/"))
        assert error.type == "browser_launch_failed"
        assert "--remote-debugging-port" in error.message
        async with elsewhere.somebodys_browser(browser_program, person.port):
            result = await act(host, "browser_navigate", url=site.url("/second"))
        assert (result.data["title"], result.data["resourceId"]) == ("Second", "browser_chat_0")


@pytest.mark.more
async def test_page_of_the_person_is_worked_in_when_they_say_so(host, person, site):
    """They are asked for the list and for the page; letting go of it leaves it as it is."""
    await person.open(site.url("/rows"))
    theirs = await person.open(site.url("/form"))
    before = await person.pages()
    assert (await error_of(host, "browser_tabs", action="attach", target=theirs)).type == "target_not_found"
    host.answer_approvals(approve=False)
    assert (await error_of(host, "browser_tabs", action="list_attached")).type == "approval_denied"
    host.answer_approvals(approve=True)
    shown = await act(host, "browser_tabs", action="list_attached", session="chosen")
    assert {"target": theirs, "url": site.url("/form"), "title": "Form"} in shown.data["pages"]
    async with person.at(theirs) as page:
        await page.value("location.hash = 'elsewhere'")
    moved = await error_of(host, "browser_tabs", action="attach", target=theirs)
    assert moved.type == "target_not_found"
    async with person.at(theirs) as page:
        await page.value("location.hash = ''; history.replaceState(null, '', '/form')")
    before = await person.pages()
    taken = await act(host, "browser_tabs", action="attach", target=theirs, session="chosen")
    assert (taken.data["resourceId"], taken.data["url"]) == ("browser_chosen_0", site.url("/form"))
    assert "Form" in host.asked[-1].preview.caution
    await act(host, "browser_type", selector="[name=name]", text="Ada", session="chosen")
    await act(host, "browser_tabs", action="close", session="chosen")
    assert await person.pages() == before
    async with person.at(theirs) as page:
        assert await page.value("document.querySelector('[name=name]').value") == "Ada"


@pytest.mark.more
async def test_pages_go_on_over_a_lost_connection_and_are_attached_to_again_with_their_state(
    elsewhere, person, tmp_path, site
):
    """What was typed is there, ids stay; a call on its way ends with a reason, and calls wait for the connection."""
    before = await person.pages()
    async with elsewhere.link_to(person.port) as link, attached(f"http://127.0.0.1:{link.port}", tmp_path) as host:
        await act(host, "browser_navigate", url=site.url("/form"))
        await act(host, "browser_type", selector="[name=name]", text="Ada")
        launched = (await act(host, "chrome_launch")).data["browserId"]
        tab = (await act(host, "chrome_new_tab", browserId=launched, url=site.url("/form"))).data["tabId"]
        closed = (await act(host, "chrome_new_tab", browserId=launched, url=site.url("/second?closed"))).data["tabId"]
        await act(host, "chrome_fill", tabId=tab, selector="[name=name]", text="Grace")
        site.asked.clear()
        endless = "fetch('/began').then(() => new Promise(() => {}))"
        waiting = asyncio.create_task(error_of(host, "browser_evaluate", script=endless))
        async with asyncio.timeout(LIMIT_S):
            while "/began" not in site.asked:
                await asyncio.sleep(0.05)
        await link.cut()
        error = await waiting
        assert (error.type, error.retryable) == ("browser_lost", True)
        assert "attached to again" in error.message
        assert host.host.resources.get("browser_chat_0").status == "failed"
        async with asyncio.timeout(LIMIT_S):
            while "open" in [one["state"] for one in (await act(host, "chrome_list")).data["browsers"]]:
                await asyncio.sleep(0.05)
        assert (await error_of(host, "browser_snapshot")).type == "browser_launch_failed"
        assert (await error_of(host, "chrome_get_text", tabId=tab)).type == "browser_launch_failed"
        (second,) = [one for one, url in (await person.pages()).items() if url == site.url("/second?closed")]
        async with person.at(second) as page:
            await page.send("Page.close")
        await link.mend()
        typed = "document.querySelector('[name=name]').value"
        found = await act(host, "browser_evaluate", script=typed)
        assert (found.data["value"], found.data["resourceId"]) == ("Ada", "browser_chat_0")
        assert "restored" not in found.data
        assert (await act(host, "chrome_evaluate", tabId=tab, script=typed)).data["value"] == "Grace"
        gone = await error_of(host, "chrome_get_text", tabId=closed)
        assert gone.type == "tab_not_found"
        assert "while the connection to its browser was lost" in gone.message
        text = (await act(host, "browser_snapshot", find="Send")).blocks()[0].text
        await act(host, "browser_click", selector=text.split("[ref=")[1].split("]")[0])
        assert all(one["state"] == "open" for one in (await act(host, "chrome_list")).data["browsers"])
    assert await person.pages() == before


@pytest.mark.more
async def test_lost_connection_comes_back_by_itself(elsewhere, person, tmp_path, site):
    async with elsewhere.link_to(person.port) as link, attached(f"http://127.0.0.1:{link.port}", tmp_path) as host:
        await act(host, "browser_navigate", url=site.url("/form"))
        resource = host.host.resources.get("browser_chat_0")
        for _ in range(2):
            await link.cut()
            async with asyncio.timeout(LIMIT_S):
                while resource.status != "failed":
                    await asyncio.sleep(0.01)
                await link.mend()
                while resource.status != "ready":
                    await asyncio.sleep(0.05)


@pytest.mark.more
async def test_lost_browser_can_be_given_up(elsewhere, person, tmp_path, site):
    async with elsewhere.link_to(person.port) as link, attached(f"http://127.0.0.1:{link.port}", tmp_path) as host:
        launched = (await act(host, "chrome_launch")).data["browserId"]
        tab = (await act(host, "chrome_new_tab", browserId=launched, url=site.url("/second"))).data["tabId"]
        await link.cut()
        async with asyncio.timeout(LIMIT_S):
            while (await act(host, "chrome_list")).data["browsers"][0]["state"] != "lost":
                await asyncio.sleep(0.05)
        assert (await act(host, "chrome_close", browserId=launched)).data["closedTabs"] == 0
        assert (await act(host, "chrome_list")).data["browsers"] == []
        assert (await error_of(host, "chrome_get_text", tabId=tab)).type == "tab_not_found"


@pytest.mark.spec("S6")
async def test_debugging_port_is_out_of_its_pages_reach(host, person):
    for name in ("127.0.0.1", "localhost", "[::1]", "0x7f000001"):
        error = await error_of(host, "browser_navigate", url=f"http://{name}:{person.port}/json/version")
        assert (error.type, error.context["reason"]) == ("url_blocked", "own_address")


@pytest.mark.more
async def test_points_of_screenshots_are_hit_on_a_screen_of_two_pixels_each(elsewhere, browser_program, tmp_path, site):
    switches = ("--force-device-scale-factor=2", "--window-size=1000,800")
    async with (
        elsewhere.somebodys_browser(browser_program, switches=switches) as running,
        attached(running.endpoint, tmp_path) as host,
    ):
        await act(host, "browser_navigate", session="cli", url=site.url("/"))
        await act(host, "browser_evaluate", session="cli", script=f"document.body.innerHTML = {BUTTON!r}; 1")
        for arguments in ({}, {"inline": True}, {"full_page": True}, {"selector": "#part"}):
            picture = (await act(host, "browser_screenshot", session="cli", **arguments)).data["picture"]
            assert picture["scale"] == 2, arguments
            shown = (await host.told("browser_screenshot", **arguments)).data["shown"]
            x = (310 - shown["area"]["x"]) * shown["scale"]
            y = (210 - shown["area"]["y"]) * shown["scale"]
            clicked = await host.told("browser_click", x=x, y=y)
            assert "Clicked button" in clicked.blocks()[0].text, arguments
        pressed = (await act(host, "browser_evaluate", session="cli", script="document.title")).data["value"]
        assert pressed.endswith("!!!!")
