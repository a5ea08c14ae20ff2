"""The scenes: where each view is, and what is done there before its picture is taken."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.async_api import FilePayload, Page

_IMAGES = Path(__file__).resolve().parent.parent.parent / "docs" / "images"
_RUN = re.compile("^(Run|运行)")

Prepare = Callable[[Page], Awaitable[object]]
Server = Literal["usual", "empty", "no_model", "hosts"]
"""What runs: modules and a model; neither; modules, and a provider of which no model was chosen; some in hosts."""


@dataclass(frozen=True)
class Scene:
    """One view in one state.

    Args:
        name: Begins the picture's name.
        path: Its address.
        prepare: What is done there first.
        server: What runs.
        is_in_chinese: Whether a picture in Chinese is taken as well.
    """

    name: str
    path: str = ""
    prepare: Prepare | None = None
    server: Server = "usual"
    is_in_chinese: bool = False


async def _make_calls(page: Page) -> None:
    """A few calls, so that there is something to show."""
    await page.evaluate("""async () => {
        const {client} = await import('/static/client/client.js');
        for (const city of ['Bonn', 'Oslo', 'Atlantis']) await client.call('weather_now', {city});
        await client.call('list_dir', {path: '.'});
        await client.call('read_file', {path: 'missing.txt'});
    }""")
    await page.locator("ac-view-welcome").get_by_text("list_dir").last.wait_for()


async def _open_menu(page: Page) -> None:
    menu = page.locator("header.top button").first
    if await menu.is_visible():
        await menu.click()


async def _ask_to_stop(page: Page) -> None:
    await page.locator("ac-stop button:visible").first.click()
    await page.locator("ac-confirm dialog").wait_for()


async def _stop(page: Page) -> None:
    await _ask_to_stop(page)
    await page.locator("ac-confirm button.primary").click()
    await page.get_by_role("alert").first.wait_for()


async def _log_out(page: Page) -> None:
    await page.evaluate("import('/static/client/client.js').then(({client}) => client.del('/api/session'))")
    await page.reload()
    await page.locator("ac-view-log-in").wait_for()


async def _wait_for_heading(page: Page) -> None:
    await page.get_by_role("heading", level=1).wait_for()


async def _run(page: Page) -> None:
    await page.locator("ac-view-tool").get_by_role("button", name=_RUN).first.click()
    await page.locator("ac-result, ac-result-error").first.wait_for()


async def _search(page: Page) -> None:
    await page.locator("ac-view-tool").get_by_role("textbox").first.fill("greet|bread")
    await _run(page)
    await page.locator("ac-result").first.scroll_into_view_if_needed()


async def _fail(page: Page) -> None:
    await page.locator("ac-view-tool").get_by_role("textbox").first.fill("Atlantis")
    await _run(page)


async def _open_call(page: Page) -> None:
    await page.locator("ac-view-activity").get_by_text("weather_now").first.click()
    await page.locator("ac-view-call").first.wait_for()


async def _chat(page: Page) -> None:
    """Up to the call that waits for a person, whole as it is decided on."""
    await page.locator("ac-chat-composer textarea").fill("Collect what is to do here, and add it to TODO.md")
    await page.locator("ac-chat-composer textarea").press("Enter")
    frame = page.frame_locator("ac-call-ask iframe")
    await frame.locator('button.yes[aria-disabled="false"]').first.wait_for()


async def _queue(page: Page) -> None:
    """Two messages that were written while a call waits."""
    await _chat(page)
    for text in ("Then sort the list by what is urgent.", "And tell me what is left for tomorrow."):
        await page.locator("ac-chat-composer textarea").fill(text)
        await page.locator("ac-chat-composer textarea").press("Enter")
    await page.locator("ac-chat-queue li").nth(1).wait_for()


async def _type(page: Page, text: str) -> None:
    """Key by key, in place of the draft that the scene before has left."""
    box = page.locator("ac-chat-composer textarea")
    await box.fill("")
    await box.press_sequentially(text)


async def _mention(page: Page) -> None:
    await _type(page, "Add a docstring to @he")
    await page.get_by_role("listbox").wait_for()


async def _wait_for_models(page: Page) -> None:
    await page.locator("ac-model-picker li").first.wait_for()


async def _attach(page: Page) -> None:
    picture = (_IMAGES / "log-in-light.png").read_bytes()
    files: list[FilePayload] = [
        {"name": "harbour.png", "mimeType": "image/png", "buffer": picture},
        {
            "name": "what-the-harbour-says-about-the-tide.md",
            "mimeType": "text/markdown",
            "buffer": b"# Tide\n",
        },
    ]
    await page.locator("ac-chat-composer input[type=file]").set_input_files(files)
    await page.locator("ac-attachments progress").first.wait_for(state="detached")
    await _type(page, "Hold these against @no")
    await page.get_by_role("listbox").wait_for()


async def _complete_a_call(page: Page) -> None:
    await _type(page, "/weather_now ")
    await page.get_by_role("listbox").wait_for()


async def _wait_for_composer(page: Page) -> None:
    await page.locator("ac-chat-welcome h1").wait_for()


SCENES = (
    Scene("chat-new", "#/chats", _wait_for_composer),
    Scene("chat-command", "#/chats", _complete_a_call),
    Scene("chat-attached", "#/chats", _attach, is_in_chinese=True),
    Scene("chat-mention", "#/chats", _mention),
    Scene("chat-choose-model", "#/chats", _wait_for_models, server="no_model", is_in_chinese=True),
    Scene("chat-set-up", "#/chats", _wait_for_composer, server="empty", is_in_chinese=True),
    Scene("overview", "#/", _make_calls, is_in_chinese=True),
    Scene("modules", "#/modules", _wait_for_heading, is_in_chinese=True),
    Scene("module", "#/modules/weather", _wait_for_heading),
    Scene("module-failed", "#/modules/broken_clock", _wait_for_heading),
    Scene("module-long", "#/modules/almanac", _wait_for_heading),
    Scene("module-page", "#/pages/weather", _wait_for_heading),
    Scene("tools", "#/tools", _wait_for_heading),
    Scene("tool", "#/tools/grep", _search, is_in_chinese=True),
    Scene("tool-table", "#/tools/weather_table", _run),
    Scene("tool-failed", "#/tools/weather_now", _fail),
    Scene("activity", "#/activity", _wait_for_heading),
    Scene("call", "#/activity", _open_call),
    Scene("settings", "#/settings", _wait_for_heading, is_in_chinese=True),
    Scene("settings-module", "#/settings/weather", _wait_for_heading),
    Scene("nothing-here", "#/no/such/view"),
    Scene("menu", "#/modules", _open_menu),
    Scene("overview-empty", "#/", _wait_for_heading, server="empty"),
    Scene("modules-empty", "#/modules", _wait_for_heading, server="empty"),
    # late, for their calls wait from then on
    Scene("chat", "#/chats", _chat, is_in_chinese=True),
    Scene("chat-queue", "#/chats", _queue, is_in_chinese=True),
    Scene("stop-asked", "#/modules", _ask_to_stop),
    Scene("stopped", "#/modules", _stop),
    Scene("log-in", "#/", _log_out, is_in_chinese=True),
)
