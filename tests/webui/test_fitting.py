"""Every view fits: at 200 % zoom, on a phone, in both languages and themes; and nothing moves for who wants it so."""

import json
import re
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from agentcore.api import Module
from tests.webui.fitting import ZOOMED, misfits, motions, violations
from tests.webui.serving import PHONE

pytestmark = pytest.mark.more

LISTED = json.loads((Path(__file__).parents[2] / "app.json").read_text())["modules"]


class Broken(Module):
    """Never starts."""

    def init(self, runtime):
        raise RuntimeError("no key for the server: set config.broken.api_key in app.json")


VIEWS = {
    "#/": "ac-chat-welcome h1",
    "#/chats": "ac-chat-welcome h1",
    "#/modules": "ac-module-row",
    "#/modules/browser": "ac-view-module",
    "#/modules/broken": "ac-view-module ac-error-card",
    "#/modules/ghost": "ac-view-module ac-error-card",
    "#/tools": "ac-tool-list a",
    "#/tools/browser_click": "ac-view-tool ac-schema-form",
    "#/tools/edit": "ac-view-tool ac-schema-form",
    "#/skills": "ac-view-skills ac-empty",
    "#/activity": "ac-call-row",
    "#/activity/CALL": "ac-view-call",
    "#/clients": "ac-view-clients ac-connect-client",
    "#/hosts": "ac-view-hosts ac-empty",
    "#/settings": "ac-settings-row",
    "#/settings/shell_tools": "ac-settings-row",
    "#/pages/browser": "browser-panel h1",
    "#/pages/chrome": "chrome-panel h1",
    "#/pages/shell_tools": "shell-tools-panel h1",
    "#/pages/ui_page": "ui-page-about h1",
    "#/pages/agent_tools": "ac-empty",
    "#/pages/shell_tools/TERMINAL": "shell-tools-terminal .badge",
    "#/nowhere": "ac-empty",
}
"""What is shown of each when it is there."""


@pytest_asyncio.fixture(loop_scope="session")
async def ui(start_webui):
    started = await start_webui([*LISTED, Broken], config={"modules": [*LISTED, "ghost"]})
    command = {"command": "exec cat", "background": True, "terminal": True}
    outcome = await started.server.running.outcome("bash", command, session_id="chat")
    started.terminal = outcome.unwrap().data["process_id"]
    (recorded,) = await started.host.store.record.read_page(limit=1)
    started.call = recorded.row.call_id
    return started


async def views_of(ui, page: Page):
    """Go to each view, and give its address once it is there."""
    for path, shown in VIEWS.items():
        await page.goto(f"{ui.address}/{path.replace('TERMINAL', ui.terminal).replace('CALL', ui.call)}")
        await expect(page.locator(shown).first).to_be_visible()
        await expect(page.locator("[aria-busy=true]")).to_have_count(0)
        yield path


async def dialogs_of(page: Page):
    """Open what lies above the views."""
    await page.locator("header.top button").first.click()
    await expect(page.get_by_role("dialog")).to_be_visible()
    yield "the menu"
    await page.keyboard.press("Escape")
    await page.locator("ac-stop button:visible").first.click()
    await expect(page.locator("ac-confirm dialog")).to_be_visible()
    yield "the question"


LOOKS = {
    "zoomed": {**ZOOMED, "color_scheme": "light"},
    "zoomed-zh": {**ZOOMED, "color_scheme": "dark", "locale": "zh-CN"},
    "phone": {"viewport": PHONE, "color_scheme": "dark"},
    "phone-zh": {"viewport": PHONE, "color_scheme": "light", "locale": "zh-CN"},
}


READ = {"light": {"color_scheme": "light"}, "dark-zh": {"color_scheme": "dark", "locale": "zh-CN"}}


async def test_every_view_and_dialog_fits_at_200_percent_and_on_a_phone(ui):
    found = {}
    for look, options in LOOKS.items():
        page = await ui.page(**options)
        async for place in views_of(ui, page):
            found[look, place] = await misfits(page)
        async for place in dialogs_of(page):
            found[look, place] = await misfits(page)
        await page.context.close()
    assert {at: wrong for at, wrong in found.items() if wrong} == {}


async def test_nothing_moves_for_who_wants_less_motion(ui):
    page = await ui.page(viewport=PHONE, reduced_motion="reduce")
    found = {place: await motions(page) async for place in views_of(ui, page)}
    found |= {place: await motions(page) async for place in dialogs_of(page)}
    assert {place: moving for place, moving in found.items() if moving} == {}
    page = await ui.page(reduced_motion="no-preference")
    assert await motions(page) != []  # they are found where they are wanted


async def test_every_view_is_whole_for_screen_readers(ui):
    """Names, roles, headings in their order, contrast: whatever axe-core knows, and not only what it calls serious."""
    found = {}
    for look, options in READ.items():
        page = await ui.page(**options)
        async for place in views_of(ui, page):
            found[look, place] = await violations(page, of_texts_and_colours=look != "light")
        await page.context.close()
    assert {at: wrong for at, wrong in found.items() if wrong} == {}


async def test_log_in_and_approval_view_fit_and_do_not_move(ui):
    ui.allowed_errors.append("401")
    found = {}
    for look, options in LOOKS.items():
        page = await ui.page(is_logged_in=False, **options)
        await expect(page.locator("ac-view-log-in")).to_be_visible()
        found[look, "log-in"] = await _wrong(page, look)
        code = ui.host.store.approval_sessions.create_code()
        await page.goto(f"{ui.server.approval_address}/#code={code}")
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        found[look, "approval view"] = await _wrong(page, look)
        await page.context.close()
    assert {at: wrong for at, wrong in found.items() if wrong} == {}


async def _wrong(page: Page, look: str) -> list[str]:
    read = await violations(page, of_texts_and_colours=look.endswith("-zh"))
    return [*await misfits(page), *await motions(page), *read]


def test_every_section_of_the_page_is_among_the_views():
    sections = Path(__file__).parents[2] / "webui" / "shell" / "sections.js"
    ids = re.findall(r"^\s*id: '(\w+)'", sections.read_text(), re.MULTILINE)
    assert len(ids) > 3
    assert {f"#/{each}" for each in ids} <= set(VIEWS)
