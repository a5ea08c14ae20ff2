"""The list of tools in the console: found, walked through by keyboard, kept up to date."""

import re
from base64 import b64encode
from typing import ClassVar, Literal

import pytest
import pytest_asyncio
from playwright.async_api import expect

from agentcore.api import BaseModel, Field, Module, ToolIcon, tool
from tests.server.approving import Notes
from tests.webui.serving import PHONE
from tests.webui.sharing import sharing

RUN = {"name": "Run", "exact": True}

SECRET_FIELD = '''
from agentcore.api import Module, SecretStr, tool


class Vault(Module):
    """Keeps secrets."""

    @tool(read_only=True)
    async def vault_open(self, user: str, key: SecretStr) -> str:
        """Open the vault."""
        return f"{user}: {len(key.get_secret_value())}"
'''


class Errand(BaseModel):
    """One of them."""

    what: str = Field(description="What is to be done.")
    after: list["Errand"] = Field(default=[])


class Errands(Module):
    """Plans errands."""

    translations: ClassVar = {
        "zh": {"errands_plan.errands.what": "要办的事。", "errands_plan.errands.after.what": "接着要办的事。"}
    }

    @tool(read_only=True)
    async def errands_plan(self, errands: list[Errand]) -> int:
        """Plan errands."""
        return len(errands)


class Typed(Notes):
    """Notes with a tool whose description names its arguments."""

    examples: ClassVar = ({"tool": "note_type", "title": {"en": "Type a note"}, "arguments": {"text": "Hi"}},)
    translations: ClassVar = {"zh": {"note_type": "按 `text` 写便条。之后不再更改。"}}

    @tool()
    async def note_type(self, text: str) -> str:
        """Type `text` as a note. It stays."""
        return text


SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" onload="parent.ran = 1">
<script>parent.ran = 1; top.ran = 1</script>
<circle cx="8" cy="8" r="7" fill="%s"/></svg>"""


def icon_of(colour: str, theme: Literal["light", "dark"]) -> ToolIcon:
    """A round one, with scripts in it."""
    return ToolIcon(f"data:image/svg+xml;base64,{b64encode((SVG % colour).encode()).decode()}", ("any",), theme)


class Coins(Module):
    """Tosses coins."""

    tool_icons: ClassVar = (icon_of("#1d4ed8", "light"), icon_of("#facc15", "dark"))

    @tool(read_only=True)
    async def coins_toss(self) -> str:
        """Toss a coin."""
        return "heads"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared_others(browser, page_pool, tmp_path_factory):
    async with sharing(browser, page_pool, tmp_path_factory, [Typed(), Errands(), Coins]) as ui:
        yield ui


@pytest_asyncio.fixture(loop_scope="session")
async def others(shared_others):
    """A server with tools in two languages and with icons."""
    yield shared_others
    await shared_others.leave()


async def test_without_tools_the_way_to_the_modules_is_shown(start_webui):
    page = await (await start_webui()).page("#/tools")
    await expect(page.get_by_role("heading", name="No tools yet")).to_be_visible()
    await page.get_by_role("link", name="To the modules").click()
    await expect(page.get_by_role("heading", name="Modules", level=1)).to_be_visible()


@pytest.mark.more
async def test_tools_come_and_go_with_their_modules_while_the_page_is_open(start_webui):
    source = SECRET_FIELD
    ui = await start_webui(files={"vault": source, "other": source.replace("vault", "other")})
    page = await ui.page("#/tools")
    await expect(page.get_by_role("link", name="vault_open")).to_be_visible()
    await ui.host.modules.disable("vault")
    await expect(page.get_by_role("link", name="vault_open")).to_have_count(0)
    await expect(page.get_by_role("link", name="other_open")).to_be_visible()


@pytest.mark.more
async def test_newcomer_is_offered_calls_in_plain_words_that_are_filled_in(start_webui):
    """In the language of the page; nothing runs before Run is pressed."""
    ui = await start_webui([Notes()])
    page = await ui.page("#/tools")
    await page.get_by_role("region", name="To try first").get_by_role("link", name="Write a note").click()
    await expect(page.get_by_role("heading", name="note_write", level=1)).to_be_visible()
    await expect(page.get_by_label("text", exact=True)).to_have_value("Hi")
    await page.get_by_label("Language").select_option("zh")
    await page.goto(f"{ui.address}/#/tools")
    await expect(page.locator("ac-tool-list").get_by_text("写便条。")).to_be_visible()
    await page.get_by_role("region", name="先试试这些").get_by_role("link", name="写便条").click()
    await expect(page.get_by_text("便条内容。")).to_be_visible()
    await expect(page.get_by_text("便条的标题。")).to_be_visible()
    await page.goto(f"{ui.address}/#/modules")
    await expect(page.get_by_role("link", name="便条")).to_be_visible()
    await expect(page.get_by_text("记下要记的事。")).to_be_visible()
    await expect(page.get_by_role("button", name=re.compile("停用.*便条"))).to_be_visible()
    await page.goto(f"{ui.address}/#/settings")
    await expect(page.locator("ac-view-settings").get_by_role("link", name="便条")).to_be_visible()


@pytest.mark.more
async def test_tool_is_found_by_a_few_letters_and_run_by_keyboard_alone(open_tool):
    """Slash, letters, Enter, the form, Control+Enter."""
    _, page, _ = await open_tool()
    await expect(page.get_by_role("searchbox", name="Find a tool")).to_be_visible()
    await page.keyboard.press("/")
    await page.keyboard.type("ladd")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="lab_add", level=1)).to_be_visible()
    await add_entry(page, "numbers 1", "4")
    await page.get_by_label("offset").fill("3")
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_text("Done", exact=True)).to_be_visible()
    await expect(page.locator("ac-result").get_by_text("7")).to_be_visible()


@pytest.mark.more
async def test_arrow_keys_walk_through_the_list(open_tool):
    _, page, _ = await open_tool()
    await page.get_by_role("searchbox", name="Find a tool").focus()
    await page.keyboard.press("ArrowDown")
    await expect(page.get_by_role("link", name="lab_add")).to_be_focused()
    await page.keyboard.press("End")
    await expect(page.get_by_role("link", name="lab_login")).to_be_focused()
    await page.keyboard.press("Home")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="lab_wait", level=1)).to_be_visible()


@pytest.mark.more
async def test_search_stays_over_a_reload_and_a_miss_says_so(open_tool):
    _, page, _ = await open_tool()
    await page.get_by_role("searchbox", name="Find a tool").fill("city")
    await expect(page.get_by_role("link", name="lab_fail")).to_be_visible()
    await expect(page.get_by_role("link", name="lab_add")).to_have_count(0)
    await page.reload()
    await expect(page.get_by_role("searchbox", name="Find a tool")).to_have_value("city")
    await page.get_by_role("searchbox", name="Find a tool").fill("zzz")
    await expect(page.get_by_text("No tool matches “zzz”.")).to_be_visible()
    await page.get_by_role("button", name="Show all tools").click()
    await expect(page.get_by_role("link", name="lab_add")).to_be_visible()


async def test_unknown_tool_names_near_ones(open_tool):
    _, page, _ = await open_tool("lab_sum")
    await expect(page.get_by_role("heading", name="There is no tool “lab_sum”")).to_be_visible()
    await page.locator("ac-empty").get_by_role("link", name="lab_add").click()
    await expect(page.get_by_role("heading", name="lab_add", level=1)).to_be_visible()


async def test_phone_shows_the_list_or_the_tool(open_tool):
    _, page, _ = await open_tool(viewport=PHONE, locale="zh-CN")
    await page.get_by_role("link", name="lab_add").click()
    await expect(page.get_by_role("heading", name="lab_add", level=1)).to_be_visible()
    await expect(page.get_by_role("searchbox")).to_have_count(0)
    await add_entry(page, "numbers 1", "1")
    await page.get_by_role("button", name="运行", exact=True).click()
    await expect(page.locator("ac-result")).to_be_in_viewport()
    width, height = await page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    assert width <= PHONE["width"]
    assert height <= PHONE["height"]
    await page.get_by_role("link", name="所有工具").click()
    await expect(page.get_by_role("searchbox", name="查找工具")).to_be_visible()


@pytest.mark.more
async def test_console_is_accessible(open_tool, axe_problems):
    ui, page, _ = await open_tool()
    await expect(page.get_by_role("link", name="lab_add")).to_be_visible()
    assert await axe_problems(page) == []
    await page.goto(f"{ui.address}/#/tools/lab_fail")
    for _ in range(2):
        await page.get_by_role("button", **RUN).click()
        await expect(page.locator("ac-result-error")).to_be_visible()
    await expect(page.locator("ac-run-list")).to_be_visible()
    assert await axe_problems(page) == []
    await page.goto(f"{ui.address}/#/tools/lab_wait")
    await page.get_by_role("button", **RUN).click()
    await expect(page.get_by_text("a quarter")).to_be_visible()
    assert await axe_problems(page) == []


async def add_entry(page, name, text):
    """Add an entry to a list of numbers; the focus goes into it."""
    await page.get_by_role("button", name=re.compile(f"(Add to|添加到) {name.split()[0]}")).press("Enter")
    await expect(page.get_by_role("spinbutton", name=name)).to_be_focused()
    await page.keyboard.type(text)


@pytest.mark.more
async def test_first_sentence_stands_as_plain_text_in_lists(others):
    page = await others.page("#/tools")
    await expect(page.get_by_role("link", name="Type a note").get_by_role("paragraph")).to_have_text(
        "Type text as a note."
    )
    await page.get_by_label("Language").select_option("zh")
    await expect(page.get_by_role("link", name="Type a note").get_by_role("paragraph")).to_have_text("按 text 写便条。")


@pytest.mark.more
async def test_what_is_within_an_argument_is_said_in_the_language_of_the_page_too(others):
    """In entries of lists, and in entries of lists within these, of a type that holds itself."""
    page = await others.page("#/tools/errands_plan", locale="zh-CN")
    await page.get_by_role("button", name="添加到 errands").click()
    await expect(page.get_by_text("要办的事。", exact=True)).to_be_visible()
    await page.get_by_role("button", name="添加到 after").click()
    await expect(page.get_by_text("接着要办的事。", exact=True)).to_be_visible()
    await expect(page.get_by_text("What is to be done.")).to_have_count(0)


@pytest.mark.more
async def test_the_icon_of_a_tool_stands_beside_its_name_in_the_theme_and_no_script_of_it_runs(others):
    page = await others.page("#/tools/coins_toss", color_scheme="light")
    images = page.locator("ac-tool-icon img")
    await expect(images).to_have_count(2)  # in the list and in the heading
    light, dark = (icon.src for icon in Coins.tool_icons)
    for image in await images.all():
        await expect(image).to_have_attribute("src", light)
        assert await image.evaluate("(image) => image.decode().then(() => image.naturalWidth > 0)")
    assert await page.evaluate("window.ran") is None
    await page.emulate_media(color_scheme="dark")
    await expect(images.first).to_have_attribute("src", dark)
    await page.goto(f"{others.address}/#/modules/coins")
    await expect(page.locator("ac-tool-icon img")).to_have_count(1)
