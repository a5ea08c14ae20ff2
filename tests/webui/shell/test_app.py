"""The page begins: log-in, address, side bar, theme, language, phone."""

import re

import pytest
from playwright.async_api import expect

pytestmark = pytest.mark.spec("S1", "M7")

PHONE = {"width": 390, "height": 844}


UI = {"modules": ["fs_tools"]}
# what logs out or in uses `start_webui`


COVERED = """(strip) => {
    const apart = (one, other) => one.bottom <= other.top + 1 || other.bottom <= one.top + 1 || one.right <= other.left + 1 || other.right <= one.left + 1;
    const own = strip.getBoundingClientRect();
    const parts = [...strip.parentElement.children, ...strip.getRootNode().querySelectorAll('.side, .top')];
    const others = parts.filter((part) => part !== strip && part.getBoundingClientRect().height > 0);
    return others.filter((part) => !apart(own, part.getBoundingClientRect())).map(({localName}) => localName);
}"""  # noqa: E501
TELL = """import('/static/ui/toasts.js').then(({toast, toastError}) => {
    toastError('It failed', new Error('why it did, at some length, so that it takes more than one line'));
    toast('Saved');
    toast('Saved');
})"""


def heading(page, name):
    return page.get_by_role("heading", name=name, level=1)


async def test_code_logs_in_and_leaves_the_address(start_webui):
    ui = await start_webui()
    code = ui.host.store.page_sessions.create_code()
    page = await ui.page(f"#code={code}", is_logged_in=False, is_reused=False)
    await expect(heading(page, "Connect a model")).to_be_visible()
    assert "code" not in page.url
    assert await page.evaluate("history.length") == 2  # about:blank and the page: none with the code


async def test_page_without_session_says_how_to_get_one(start_webui):
    ui = await start_webui()
    ui.allowed_errors.append("401")
    page = await ui.page(is_logged_in=False)
    await expect(heading(page, "Log in to agentcore")).to_be_visible()
    said = page.locator("ac-command").get_by_text("agentcore open")
    await expect(said.first).to_be_visible()
    assert str(ui.host.config.file) in await said.first.text_content()  # it was not started in that folder
    await page.get_by_text("This browser is on another machine").click()
    await expect(said.last).to_contain_text("--print")


@pytest.mark.more
async def test_used_code_is_refused_with_a_reason_and_a_new_one_can_be_pasted(start_webui):
    ui = await start_webui()
    ui.allowed_errors.append("401")
    page = await ui.page("#code=used-or-wrong", is_logged_in=False)
    await expect(page.get_by_role("alert")).to_contain_text("not valid any more")
    assert "code" not in page.url
    code = ui.host.store.page_sessions.create_code()
    await page.get_by_label("paste the code").fill(f" {ui.address}/#code={code} ")
    await page.keyboard.press("Enter")
    await expect(heading(page, "Connect a model")).to_be_visible()


@pytest.mark.more
async def test_ended_session_leads_to_the_log_in_and_a_link_with_a_code_back(start_webui):
    ui = await start_webui()
    ui.allowed_errors.append("401")
    page = await ui.page("#/modules")
    await expect(heading(page, "Modules")).to_be_visible()
    await page.evaluate("import('/static/client/client.js').then(({client}) => client.del('/api/session'))")
    await page.reload()
    await expect(heading(page, "Log in to agentcore")).to_be_visible()
    code = ui.host.store.page_sessions.create_code()
    await page.evaluate(f"location.hash = 'code={code}'")
    await expect(page.get_by_role("navigation", name="Sections")).to_be_visible()


@pytest.mark.more
async def test_language_is_that_of_the_browser_until_one_is_chosen(start_webui):
    ui = await start_webui()
    page = await ui.page(locale="zh-CN")
    await expect(heading(page, "新对话")).to_be_visible()
    await page.get_by_label("语言").select_option("en")
    await expect(heading(page, "New chat")).to_be_visible()
    await page.reload()
    await expect(heading(page, "New chat")).to_be_visible()
    assert await page.evaluate("document.documentElement.lang") == "en"


@pytest.mark.more
async def test_log_out_ends_the_session_and_shows_the_log_in(start_webui):
    ui = await start_webui()
    ui.allowed_errors.append("401")
    page = await ui.page()
    await page.get_by_role("button", name="Log out").click()
    await expect(heading(page, "Log in to agentcore")).to_be_visible()
    await page.reload()
    await expect(heading(page, "Log in to agentcore")).to_be_visible()
    await page.get_by_label("paste the code").fill(ui.host.store.page_sessions.create_code())
    await page.keyboard.press("Enter")
    await expect(heading(page, "New chat")).to_be_visible()
    await expect(page.get_by_text("Connected")).to_be_visible()


@pytest.mark.more
async def test_reload_restores_the_view_without_a_new_log_in(ui):
    page = await ui.page("#/modules")
    await page.reload()
    await expect(heading(page, "Modules")).to_be_visible()
    await expect(page).to_have_url(re.compile(r"/#/modules$"))


@pytest.mark.more
async def test_unknown_address_says_so_and_leads_home(ui):
    page = await ui.page("#/no/such/thing")
    await expect(page.get_by_text("There is nothing here")).to_be_visible()
    await page.get_by_role("main").get_by_role("link", name="Start page").click()
    await expect(heading(page, "New chat")).to_be_visible()


async def test_title_names_the_view_and_a_new_view_begins_at_its_top(ui):
    page = await ui.page("#/modules/fs_tools", viewport={"width": 1280, "height": 300})
    await expect(page).to_have_title("fs_tools · Modules · agentcore")
    main = page.get_by_role("main")
    await main.evaluate("(main) => main.scrollTo(0, 200)")
    await page.get_by_role("main").get_by_role("link", name="Modules").evaluate("(link) => link.click()")
    await expect(page).to_have_title("Modules · agentcore")
    assert await main.evaluate("(main) => main.scrollTop") == 0


@pytest.mark.more
async def test_sections_and_content_are_reached_by_keyboard(ui):
    page = await ui.page()
    await page.reload()  # the first stop of the keyboard is that of a document in which nothing had the focus
    await expect(heading(page, "New chat")).to_be_visible()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("main")).to_be_focused()
    await page.get_by_role("link", name="Modules", exact=True).focus()
    await page.keyboard.press("Enter")
    await expect(heading(page, "Modules")).to_be_visible()
    await expect(page.get_by_role("link", name="Modules", exact=True)).to_have_attribute("aria-current", "page")
    await page.go_back()
    await expect(heading(page, "New chat")).to_be_visible()


@pytest.mark.more
async def test_theme_follows_the_system_until_one_is_chosen(ui):
    page = await ui.page(color_scheme="dark")
    background = "getComputedStyle(document.documentElement).backgroundColor"
    dark = await page.evaluate(background)
    await page.get_by_role("radio", name="Light theme").check(force=True)
    assert await page.evaluate(background) != dark
    await page.reload()
    await expect(page.get_by_role("radio", name="Light theme")).to_be_checked()
    assert await page.evaluate(background) != dark
    await page.get_by_role("radio", name="Theme of the system").check(force=True)
    assert await page.evaluate(background) == dark


async def test_phone_has_the_side_bar_in_a_drawer_that_closes_on_the_way(ui):
    page = await ui.page(viewport=PHONE)
    await page.get_by_role("button", name="Menu").click()
    menu = page.get_by_role("dialog", name="Menu")
    await menu.get_by_role("link", name="Modules", exact=True).click()
    await expect(heading(page, "Modules")).to_be_visible()
    await expect(menu).to_be_hidden()
    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


async def test_no_text_flows_out_of_a_phone_or_is_lost_on_a_wide_screen(ui):
    page = await ui.page("#/modules")
    for width in (320, 390, 768, 1280, 3440):
        await page.set_viewport_size({"width": width, "height": 800})
        await expect(page.get_by_role("button", name="Menu")).to_be_visible(visible=width <= 768)
        await expect(heading(page, "Modules")).to_be_visible()
        assert await page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.more
async def test_view_that_cannot_be_loaded_says_so_in_its_place(ui):
    ui.allowed_errors.append("Failed to load resource")
    page = await ui.page()
    await page.route("**/ac-view-modules.js", lambda route: route.abort())
    await page.reload()
    await expect(heading(page, "New chat")).to_be_visible()
    await page.get_by_role("link", name="Modules", exact=True).click()
    await expect(page.get_by_role("alert")).to_contain_text("could not be loaded")
    await expect(page.get_by_role("navigation", name="Sections")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 390])
async def test_messages_cover_nothing_and_can_be_dismissed(ui, width):
    page = await ui.page("#/chats", viewport={"width": width, "height": 844})
    await expect(page.locator("ac-chat-composer textarea")).to_be_visible()
    composer = await page.locator("ac-chat-composer textarea").bounding_box()
    await page.evaluate(TELL)
    messages = page.get_by_role("status", name="Messages")
    await expect(messages.get_by_role("listitem")).to_have_count(2)
    assert await page.locator("ac-toasts").evaluate(COVERED) == []
    await expect(page.locator("ac-chat-composer textarea")).to_be_in_viewport(ratio=1)
    assert await page.locator("ac-chat-composer textarea").bounding_box() == composer
    await messages.get_by_role("button", name="Close").first.click()
    await expect(page.get_by_text("It failed")).to_have_count(0)


@pytest.mark.more
@pytest.mark.spec("W1")
async def test_chosen_theme_is_there_before_any_module_runs(ui):
    """Not every browser waits for modules before it paints."""
    ui.allowed_errors.append("Failed to load resource")
    page = await ui.page()
    await page.get_by_role("radio", name="Dark theme").check(force=True)
    for name in ("app.js", "base/theme.js"):
        await page.route(f"**/static/{name}", lambda route: route.abort())
    await page.reload()
    assert await page.evaluate("document.documentElement.dataset.theme") == "dark"
