"""Pictures of the screen: of a real window on X11, of Wayland by its programs, and errors where there is none."""

import io
import os
import sys

import pytest
from agentcore_system_tools.screenshot import Screenshot, create_screenshot, fit_size
from PIL import Image as Pictures

from agentcore.api import Image
from agentcore.api.tool_context import Principal

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the desktop of Linux")

RED, BLUE, BLACK = (255, 0, 0), (0, 0, 255), (0, 0, 0)


def picture_of(result):
    (image,) = [block for block in result.blocks() if isinstance(block, Image)]
    return Pictures.open(io.BytesIO(image.data))


def png(width: int = 40, height: int = 30) -> bytes:
    """A picture as a program of the desktop takes it: red with a blue pixel at (5, 7)."""
    picture = Pictures.new("RGB", (width, height), RED)
    picture.putpixel((5, 7), BLUE)
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


@pytest.mark.spec("T5")
async def test_picture_shows_the_window_where_it_is(window, host, text) -> None:
    x, y, width, height = window
    result = await host.call("screenshot")
    picture = picture_of(result)
    assert picture.size == (640, 480)
    assert picture.getpixel((x + 100, y + 60)) == RED
    assert picture.getpixel((x + 10, y + 60)) == BLUE
    assert picture.getpixel((x + width + 5, y + height + 5)) == BLACK
    assert "640×480" in text(result)
    assert result.untrusted


@pytest.mark.spec("T5")
async def test_region_of_a_display_is_exactly_that(window, host) -> None:
    x, y, _, height = window
    region = {"x": x + 10, "y": y, "width": 30, "height": height}
    picture = picture_of(await host.call("screenshot", display=1, region=region))
    assert picture.size == (30, height)
    assert [picture.getpixel((column, 5)) for column in (0, 9, 10, 29)] == [BLUE, BLUE, RED, RED]


@pytest.mark.spec("T5")
async def test_picture_is_saved_in_the_workspace_and_shown_only_if_wished(window, host, text) -> None:
    result = await host.call("screenshot", path="shots/a.png")
    saved = Pictures.open(host.workspace / "shots/a.png")
    assert saved.getpixel((200, 110)) == RED
    assert result.data["path"] == "shots/a.png"
    assert not [block for block in result.blocks() if isinstance(block, Image)]
    assert picture_of(await host.call("screenshot", path="shots/a.png", inline=True)).size == (640, 480)


@pytest.mark.parametrize("path", ["a.txt", "app.json", "png", "a.png/"])
async def test_only_pictures_are_written(window, failure, path) -> None:
    assert (await failure("screenshot", path=path)).type == "invalid_arguments"


async def test_nothing_is_saved_outside_of_the_workspace(window, host, failure, tmp_path) -> None:
    os.symlink(tmp_path, host.workspace / "out")
    for path in ("../a.png", str(tmp_path / "a.png"), "out/a.png"):
        assert (await failure("screenshot", path=path)).type == "path_outside_workspace"
    assert not list(tmp_path.glob("*.png"))


async def test_display_and_region_that_are_not_there_are_errors_with_the_size(window, failure) -> None:
    error = await failure("screenshot", display=3)
    assert (error.type, error.context["displays"]) == ("display_not_found", 1)
    error = await failure("screenshot", region={"x": 600, "y": 0, "width": 100, "height": 10})
    assert (error.type, error.context) == ("region_outside", {"width": 640, "height": 480})


async def test_model_is_asked_about_with_what_it_would_write(window, host) -> None:
    host.answer_approvals(approve=True)
    outcome = await host.outcome("screenshot", {"path": "a.png"}, principal=Principal("chat"))
    assert outcome.error is None
    assert host.asked[0].preview.effects == {"egress", "write"}
    assert host.asked[0].preview.paths == (str(host.workspace.resolve() / "a.png"),)


@pytest.mark.spec("T5")
async def test_without_a_display_the_error_says_so(failure) -> None:
    assert (await failure("screenshot")).type == "no_display"


async def test_with_a_display_that_is_not_there_the_error_says_so(unseen_display, failure) -> None:
    assert (await failure("screenshot")).type == "no_display"


@pytest.mark.spec("K2")
async def test_nobody_is_asked_about_a_picture_that_cannot_be_taken(host) -> None:
    host.answer_approvals(approve=True)
    outcome = await host.outcome("screenshot", {}, principal=Principal("chat", "a"))
    assert outcome.error is not None
    assert outcome.error.type == "no_display"
    assert host.asked == []


@pytest.fixture
def wayland(monkeypatch, programs, tmp_path):
    """A Wayland session, as far as the environment says; gives `programs`."""
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    (tmp_path / "screen.png").write_bytes(png())
    return programs


async def test_grim_takes_the_picture_of_a_wayland_session(wayland, secret, host, tmp_path) -> None:
    note = wayland("grim", f'env > "$NOTE"; cat {tmp_path}/screen.png')
    picture = picture_of(await host.call("screenshot", region={"x": 4, "y": 6, "width": 3, "height": 3}))
    assert (picture.size, picture.getpixel((1, 1))) == ((3, 3), BLUE)
    assert "WAYLAND_DISPLAY=wayland-0" in note.read_text()
    assert secret not in note.read_text()


@pytest.fixture
def portal(wayland, serve_on_bus, tmp_path):
    """A desktop portal that answers with a response code, and with the address of a picture."""
    from jeepney import DBusAddress, new_method_return, new_signal

    def start(response: int, answer: dict):
        handle = "/org/freedesktop/portal/desktop/request/1_1/agentcore"

        def reply(connection, message) -> None:
            connection.send(new_method_return(message, "o", (handle,)))
            request = DBusAddress(handle, interface="org.freedesktop.portal.Request")
            connection.send(new_signal(request, "Response", "ua{sv}", (response, answer)))

        return serve_on_bus("org.freedesktop.portal.Desktop", reply)

    return start


async def test_portal_takes_the_picture_where_grim_may_not_and_its_file_goes(portal, wayland, host, tmp_path) -> None:
    wayland("grim", "echo compositor does not support wlr-screencopy >&2; exit 1")
    (tmp_path / "my screen.png").write_bytes(png())
    service = portal(0, {"uri": ("s", f"file://{tmp_path}/my%20screen.png")})
    picture = picture_of(await host.call("screenshot"))
    assert picture.getpixel((5, 7)) == BLUE
    method, (parent, options) = service.asked[0]
    assert (method, parent, options["interactive"]) == ("Screenshot", "", ("b", False))
    assert not (tmp_path / "my screen.png").exists()


async def test_person_who_does_not_allow_the_picture_is_respected(portal, failure) -> None:
    portal(1, {})
    assert (await failure("screenshot")).type == "screenshot_denied"


@pytest.mark.parametrize("answer", [{}, {"uri": ("s", "file:///nowhere/x.png")}])
async def test_portal_that_gives_no_picture_is_an_error(portal, failure, answer) -> None:
    portal(0, answer)
    assert (await failure("screenshot")).type == "screenshot_failed"


async def test_wayland_session_without_any_way_says_what_is_missing(wayland, failure) -> None:
    error = await failure("screenshot")
    assert error.type == "screenshot_failed"
    assert "portal" in error.message
    assert (await failure("screenshot", display=1)).type == "display_not_found"


async def test_what_is_no_picture_is_not_taken_for_one(wayland, failure) -> None:
    wayland("grim", "echo hello")
    assert (await failure("screenshot")).type == "screenshot_failed"


def test_picture_above_the_bound_is_shown_smaller_and_saved_whole() -> None:
    noise = create_screenshot((600, 500), os.urandom(600 * 500 * 4))
    small = fit_size(noise, 200_000)
    assert len(small.png) <= 200_000 < len(noise.png)
    assert abs(small.width / small.height - 1.2) < 0.02
    assert isinstance(small, Screenshot)
    assert fit_size(small, 200_000) is small
