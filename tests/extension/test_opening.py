"""The panel as a person opens it, with the keyboard, in a browser with a window; on a screen that nobody sees."""

import asyncio
import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from Xlib import XK, X, display
from Xlib.ext import xtest

from tests import programs
from tests.extension.conftest import running_extension
from tests.extension.serving import LIMIT_S
from tests.extension.sharing import SHARE, share_with_new_session

SHORTCUT = ("Control_L", "Shift_L", "y")
ADDRESS = "(tabId) => chrome.tabs.get(tabId).then(({url}) => url ?? null)"
PANELS = "() => chrome.runtime.getContexts({contextTypes: ['SIDE_PANEL']})"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def screen() -> AsyncIterator[str]:
    """The name of the display of an X server of our own."""
    program = programs.find("xvfb")
    if program is None:
        pytest.skip("no Xvfb on PATH")
    server = await asyncio.create_subprocess_exec(
        *(program, "-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert server.stdout is not None
    async with asyncio.timeout(LIMIT_S):
        yield f":{(await server.stdout.readline()).decode().strip()}"
    server.terminate()
    await server.wait()


@pytest_asyncio.fixture(loop_scope="session")
async def windowed(start_server, browser, built_extension, tmp_path, screen):
    """A server, and the extension in a browser with a window, of this test alone: no reset takes back what the keys
    have let the extension see."""
    server = await start_server(["user_tabs"], approvals={"mode": "allow"})
    options = {"headless": False, "env": {**os.environ, "DISPLAY": screen}, "no_viewport": True}
    async with running_extension(browser, built_extension, tmp_path / "profile", **options) as extension:
        await extension.pair(server)
        yield server, extension


async def press_shortcut(screen, extension):
    """Press the keys until the panel is open: nobody manages windows there, and the browser's may not be drawn yet."""
    client = display.Display(screen)
    keys = [client.keysym_to_keycode(XK.string_to_keysym(name)) for name in SHORTCUT]
    async with asyncio.timeout(LIMIT_S):
        while not await extension.run(PANELS):
            shown = [each for each in client.screen().root.query_tree().children if is_viewable(each)]
            if shown:
                max(shown, key=area).set_input_focus(X.RevertToParent, X.CurrentTime)
                for event, each in [(X.KeyPress, key) for key in keys] + [
                    (X.KeyRelease, key) for key in reversed(keys)
                ]:
                    xtest.fake_input(client, event, each)
                client.sync()
            await asyncio.sleep(0.5)
    client.close()


def is_viewable(window):
    return window.get_attributes().map_state == X.IsViewable


def area(window):
    geometry = window.get_geometry()
    return geometry.width * geometry.height


async def test_shortcut_opens_the_panel_and_lets_it_see_the_page_in_front_until_that_leaves_its_site(
    windowed, screen, site
):
    site.show("/", "<title>Shop</title>")
    _, extension = windowed
    page = await extension.context.new_page()
    await page.goto(site.url("/", "127.0.0.1"))  # a site that the person has not allowed
    tab = await extension.tab_id(page)
    assert await extension.run(ADDRESS, tab) is None
    await press_shortcut(screen, extension)
    assert await extension.run(ADDRESS, tab) == page.url
    # with the address the panel can ask the person to allow the site
    refused = await extension.run(SHARE, [tab, "s1"])
    assert (refused["type"], refused["origin"]) == ("permission_needed", site.url("", "127.0.0.1"))
    await page.goto(site.url("/", "localhost"))
    await page.goto(site.url("/", "127.0.0.1"))
    assert await extension.run(ADDRESS, tab) is None


async def test_still_picture_of_a_shared_tab_is_given_where_the_person_opened_the_panel(windowed, screen, site):
    site.show("/", "<title>Shop</title><body style='background: red'>")
    server, extension = windowed
    page = await extension.context.new_page()
    await page.goto(site.url())
    shared = await share_with_new_session(extension, server, page)
    path = f"/api/modules/user_tabs/tabs/{shared.share['resourceId']}/picture"
    status, refused = await server.ask("GET", path)
    assert (status, refused["error"]["type"]) == (400, "user_tab_forbidden"), refused
    await press_shortcut(screen, extension)
    status, picture = await server.ask("GET", path)
    assert status == 200, picture
    assert picture["mime"] == "image/jpeg"
    await (await extension.context.new_page()).bring_to_front()
    # the browser gives none of it now: it is the last one that was taken
    assert await server.ask("GET", path) == (200, picture)
    await page.goto(site.url("/", "127.0.0.1"))
    await shared.until(lambda shares: shares[0]["state"] == "paused")
    await page.goto(site.url())
    await shared.until(lambda shares: shares[0]["state"] == "ready")
    status, refused = await server.ask("GET", path)
    assert refused["error"]["type"] == "user_tab_moved", refused
