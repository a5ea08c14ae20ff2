"""The icons of sites, for the tabs that show them."""

import asyncio

import pytest

from agentcore.api import Image

pytestmark = pytest.mark.spec("R2", "S6")


@pytest.fixture
def icon_at(host, call, site):
    """Go to a page of the site, and give the icon that its resource has then."""

    async def visit(path):
        heard = asyncio.Queue()
        end = host.host.events.subscribe("resource.stateChanged", lambda event: heard.put_nowait(event.data))
        try:
            done = await call("browser_navigate", url=site.url(path))
            resource = host.host.resources.get(done.data["resourceId"])
            before = resource.icon_id
            async with asyncio.timeout(30):
                while resource.icon_id == before:
                    await heard.get()
            return resource
        finally:
            end()

    return visit


async def test_tab_shows_the_icon_of_its_site_and_loses_it_elsewhere(icon_at, site):
    resource = await icon_at("/with-icon")
    assert resource.icon == Image(b'<svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml")
    assert resource.to_json()["icon"] == resource.icon_id
    inline = await icon_at("/inline-icon")
    assert inline.icon.mime == "image/gif"
    assert inline.icon.data.startswith(b"GIF89a")
    gone = await icon_at("/second")  # there is no /favicon.ico
    assert gone.icon is None
    assert "/favicon.ico" in site.asked


@pytest.mark.more
async def test_icon_at_an_address_that_nothing_may_touch_is_left_out(icon_at):
    await icon_at("/with-icon")
    assert (await icon_at("/blocked-icon")).icon is None


@pytest.mark.more
async def test_icon_that_could_not_be_loaded_is_tried_again_later(icon_at, site):
    await icon_at("/inline-icon")
    assert (await icon_at("/flaky-icon")).icon is None
    await icon_at("/inline-icon")
    flaky = await icon_at("/flaky-icon")
    assert flaky.icon == Image(b'<svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml")
