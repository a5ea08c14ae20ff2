"""What modules need on the machine, on the page: a notice with a button, the decision, progress, and what remains."""

import asyncio
import re

import pytest
import pytest_asyncio
from playwright.async_api import expect

from agentcore.api import Module, RequirementInfo, RequirementStatus, ToolError
from tests.webui.approval.pressing import open_tray, press
from tests.webui.approval.viewing import both
from tests.webui.sharing import sharing


class Press:
    """A program that is missing until it is installed."""

    info = RequirementInfo(
        name="printing_press",
        title={"en": "Printing press", "zh": "印刷机"},
        purpose={"en": "Printing needs one.", "zh": "打印需要它。"},
        command="agentcore press install",
        installs={"en": "Downloads a press.", "zh": "下载印刷机。"},
        download_bytes=170_000_000,
    )

    def __init__(self):
        self.is_there = False
        self.fails = False
        self.may_finish = asyncio.Event()

    async def check(self):
        return RequirementStatus(self.is_there, "/usr/bin/press" if self.is_there else "no press was found")

    async def install(self, report):
        report({"en": "Downloading: 40 / 160 MiB", "zh": "正在下载：40 / 160 MiB"}, 0.25)
        await self.may_finish.wait()
        if self.fails:
            raise ToolError("download_refused", "the download was refused (404)")
        self.is_there = True


class Printer(Module):
    """Prints."""

    name = "printer"

    def __init__(self, press_):
        self.press = press_

    async def init(self, runtime):
        runtime.declare_requirement(self.press)


@pytest.fixture(scope="module")
def machine():
    return Press()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared(browser, page_pool, tmp_path_factory, machine):
    async with sharing(browser, page_pool, tmp_path_factory, [Printer(machine)]) as ui:
        ui.add_page(await both(ui))
        yield ui


@pytest_asyncio.fixture(loop_scope="session")
async def ui(shared, machine):
    """The server of the file, on which the press is missing; what a test declined stays so, that one comes last."""
    machine.fails = False
    machine.may_finish = asyncio.Event()
    # what is there has no error of an earlier installation any more
    for is_there in (True, False):
        machine.is_there = is_there
        await shared.host.requirements.check_all()
    yield shared
    await shared.leave()


def notice(page, name=re.compile("Printing press")):
    return page.locator("ac-requirement-notice").get_by_role("region", name=name)


async def decide(page, name):
    tray = await open_tray(page)
    await press(tray.get_by_role("button", name=name))


async def test_the_user_installs_what_is_missing_from_the_notice(ui, machine, axe_problems):
    ui.allowed_errors.append("403")  # the page may only ask
    page = await ui.page("#/")
    shown = notice(page, "Printing press is not installed")
    await expect(shown).to_contain_text("Printing needs one.")
    assert await axe_problems(page) == []
    button = shown.get_by_role("button", name="Install (170 MB)")
    await button.focus()
    await page.keyboard.press("Enter")
    tray = await open_tray(page)
    await expect(tray.get_by_role("heading", name="Install on this machine: Printing press")).to_be_visible()
    await expect(tray.get_by_text("agentcore press install")).to_be_visible()
    await decide(page, re.compile("^Install:"))
    installing = notice(page, "Installing: Printing press")
    await expect(installing).to_contain_text("Downloading: 40 / 160 MiB")
    await expect(installing.get_by_role("progressbar")).to_have_attribute("value", "0.25")
    assert await axe_problems(page) == []
    machine.may_finish.set()
    await expect(page.locator("ac-requirement-notice section")).to_have_count(0)


@pytest.mark.more
async def test_a_failed_installation_says_why_and_can_be_tried_again(ui, machine):
    ui.allowed_errors.append("403")
    machine.fails = True
    machine.may_finish.set()
    page = await ui.page("#/")
    await notice(page).get_by_role("button", name="Install (170 MB)").click()
    await decide(page, re.compile("^Install:"))
    failed = notice(page, "Printing press could not be installed")
    await expect(failed).to_contain_text("the download was refused (404)")
    await expect(failed.get_by_role("button", name="Try again")).to_be_visible()


async def test_an_installation_is_cancelled(ui, machine):
    page = await ui.page("#/")
    await expect(notice(page)).to_be_visible()
    ui.host.requirements.start_installation("printing_press")
    await notice(page, "Installing: Printing press").get_by_role("button", name="Cancel").click()
    await expect(notice(page, "Printing press is not installed")).to_be_visible()


async def test_the_notice_is_in_the_language_of_the_page(ui):
    page = await ui.page("#/", locale="zh-CN")
    shown = notice(page, "未安装印刷机")
    await expect(shown).to_contain_text("打印需要它。")
    await expect(shown.get_by_role("button", name="安装（170 MB）")).to_be_visible()


@pytest.mark.more
async def test_a_notice_that_was_put_away_stays_away_in_this_browser(ui):
    page = await ui.page("#/")
    await notice(page).get_by_role("button", name="Not now: Printing press").click()
    await expect(page.locator("ac-requirement-notice section")).to_have_count(0)
    await page.goto(f"{ui.address}/#/modules/printer")
    await page.reload()
    await expect(page.get_by_role("region", name="What is missing")).to_contain_text("no press was found")
    await expect(page.locator("ac-requirement-notice section")).to_have_count(0)


@pytest.mark.more
async def test_what_was_declined_stays_on_the_page_of_the_modules(ui, machine):
    ui.allowed_errors.append("403")
    page = await ui.page("#/modules")
    await page.reload()  # the notice of an earlier test was put away
    await notice(page).get_by_role("button", name="Install (170 MB)").click()
    await decide(page, re.compile("^Do not install:"))
    await expect(page.locator("ac-requirement-notice section")).to_have_count(0)
    missing = page.get_by_role("region", name="What is missing")
    await expect(missing).to_contain_text("You declined to install this.")
    await expect(missing).to_contain_text("no press was found")
    await expect(missing).to_contain_text("agentcore press install")
    # installed by hand meanwhile
    machine.is_there = True
    await missing.get_by_role("button", name="Check again").click()
    await expect(missing).to_have_count(0)
