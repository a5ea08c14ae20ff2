"""Screenshots: what a model reads off them can be clicked, and they do not wait for what never comes."""

import itertools
import struct

import pytest

from agentcore.api import Image, ToolError

SHARES_PAGE = True

BUTTONS = """<style>* {{ margin: 0 }} body {{ height: 4000px; width: {width} }}
    button {{ position: absolute; z-index: 1; width: 40px; height: 20px }}</style>
    <button style="left:900px;top:600px" onclick="document.title += ' near'">N</button>
    <button style="left:300px;top:2500px" onclick="document.title += ' far'">F</button>
    <div id=part style="position:absolute;left:100px;top:2000px;width:1000px;height:1000px;overflow:hidden"></div>"""


@pytest.fixture
def told(host, session):
    """Call a tool as a model does, on the page of the test's session."""

    async def run(tool, **arguments):
        (page,) = host.host.resources.list(session_id=session)
        return await host.told(tool, resourceId=page.resource_id, **arguments)

    return run


@pytest.fixture
def picture():
    """Width and height of the one picture in a result."""

    def read(result):
        (image,) = [block for block in result.blocks() if isinstance(block, Image)]
        return image_size(image.data)

    return read


def image_size(data):
    if data.startswith(b"\x89PNG"):
        return struct.unpack(">II", data[16:24])
    at = 2
    while data[at + 1] not in (0xC0, 0xC2):
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(data[at + 5 : at + 7], "big")


async def test_point_read_off_a_screenshot_of_the_window_is_hit(show, value, told, picture, text, subtests):
    for zoom, inline in itertools.product(["1", "1.5", "0.5"], [False, True]):
        with subtests.test(zoom=zoom, inline=inline):
            await show(BUTTONS.format(width="auto"))
            await value(
                f"(document.documentElement.style.zoom = {zoom}, document.querySelector('button').scrollIntoView(), 1)"
            )
            shown = await told("browser_screenshot", inline=inline)
            width, height = picture(shown)
            assert (width, height) == ((1280, 720) if inline else (800, 450))
            assert f"{width} × {height} pixels, the window" in text(shown)
            scale = shown.data["shown"]["scale"]
            assert scale == width / 1280
            left, top = await value("(box => [box.x, box.y])(document.querySelector('button').getBoundingClientRect())")
            clicked = await told("browser_click", x=round((left + 10) * scale), y=round((top + 5) * scale))
            assert 'Clicked button "N"' in text(clicked)
            assert (await value("document.title")).endswith("near")


@pytest.mark.more
async def test_point_read_off_a_part_of_the_page_is_scrolled_to_and_hit(show, value, told, text, subtests):
    for arguments, left, top in [
        ({"full_page": True}, 0, 0),
        ({"selector": "#part"}, 100, 2000),
        ({"selector": "#part", "inline": True}, 100, 2000),
    ]:
        with subtests.test(arguments=arguments, left=left, top=top):
            await show(BUTTONS.format(width="1200px"))
            shown = (await told("browser_screenshot", **arguments)).data["shown"]
            scale = shown["scale"]
            assert shown["area"]["x"] == left
            assert shown["area"]["y"] == top
            name, x, y = ("near", 900, 600) if "full_page" in arguments else ("far", 300, 2500)
            await value("(scrollTo(0, 0), 1)")
            clicked = await told("browser_click", x=round((x + 20 - left) * scale), y=round((y + 10 - top) * scale))
            assert "Clicked button" in text(clicked)
            assert (await value("document.title")).endswith(name)


@pytest.mark.more
async def test_long_page_in_full_size_is_reduced_and_its_points_are_hit(show, value, told, picture):
    await show(BUTTONS.format(width="1200px"))
    shown = await told("browser_screenshot", full_page=True, inline=True)
    assert max(picture(shown)) <= 1568
    assert shown.data["picture"] == shown.data["shown"]
    scale = shown.data["shown"]["scale"]
    await told("browser_click", x=round(320 * scale), y=round(2510 * scale))
    assert (await value("document.title")).endswith("far")


@pytest.mark.more
async def test_programs_name_points_of_the_window_and_get_the_scale(act, show, value, told):
    await show(BUTTONS.format(width="auto"))
    await told("browser_screenshot")
    taken = (await act("browser_screenshot")).data
    assert taken["picture"] == {
        "width": 1280, "height": 720, "scale": 1, "area": {"x": 0, "y": 0, "width": 1280, "height": 720},
    }  # fmt: skip
    assert "shown" not in taken
    await act("browser_click", x=920, y=610)
    assert (await value("document.title")).endswith("near")


@pytest.mark.more
async def test_point_outside_of_the_screenshot_is_refused(show, told):
    await show(BUTTONS.format(width="auto"))
    await told("browser_screenshot")
    with pytest.raises(ToolError) as caught:
        await told("browser_click", x=920, y=610)
    assert (caught.value.type, "800 × 450" in str(caught.value)) == ("invalid_arguments", True)


@pytest.mark.more
async def test_screenshot_of_a_part_of_another_page_is_stale(act, show, told, site):
    await show(BUTTONS.format(width="auto"))
    await told("browser_screenshot", selector="#part")
    await act("browser_navigate", url=site.url("/second"))
    with pytest.raises(ToolError) as caught:
        await told("browser_click", x=10, y=10)
    assert caught.value.type == "stale_picture"


@pytest.mark.more
async def test_tools_by_id_name_points_in_the_same_way(call, host, tab, site, text, subtests):
    for arguments in [{}, {"fullPage": True}, {"selector": "#part"}, {"inline": False}, {"format": "jpeg"}]:
        with subtests.test(arguments=arguments):
            await call("chrome_navigate", tabId=tab, url=site.url("/"))
            body = BUTTONS.format(width="1200px").replace("\n", " ")
            await call(
                "chrome_evaluate", tabId=tab, script=f"document.body.innerHTML = `{body}`; document.title = ''; 1"
            )
            shown = (await host.told("chrome_screenshot", tabId=tab, **arguments)).data["shown"]
            left, top, scale = shown["area"]["x"], shown["area"]["y"], shown["scale"]
            x, y = (320, 2510) if "selector" in arguments or "fullPage" in arguments else (920, 610)
            clicked = await host.told(
                "chrome_click", tabId=tab, x=round((x - left) * scale), y=round((y - top) * scale)
            )
            assert "Clicked button" in text(clicked)
            by_program = await call("chrome_screenshot", tabId=tab)
            assert by_program.data["picture"]["scale"] == 1
