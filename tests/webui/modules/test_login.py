"""The log-in that a module needs, on its page: asked for, shown whole, opened by the person, ended, taken back."""

import pytest
import pytest_asyncio
from playwright.async_api import expect

from agentcore.api import LoginStatus, Module, ToolError
from tests.webui.sharing import sharing

SHOWN = "https://accounts.example.com/authorize?client_id=agentcore&state=" + "x" * 300
FAILURE = "logging in did not work: the authorization server said access_denied"


class Notes(Module):
    """Notes that one logs in for."""

    name = "notes"

    def __init__(self):
        self.state = LoginStatus("needed")
        self.fails = False

    def init(self, runtime):
        runtime.offer_login(self)

    def status(self):
        return self.state

    async def begin(self):
        if self.fails:
            raise ToolError("login_failed", FAILURE)
        self.state = LoginStatus("waiting", address=SHOWN)
        return SHOWN

    async def finish(self, address):
        if "code=" not in address:
            raise ToolError("login_failed", "that is not the address")
        self.state = LoginStatus("logged_in", "accounts.example.com")

    async def log_out(self):
        self.state = LoginStatus("needed")


@pytest.fixture(scope="module")
def the_notes():
    return Notes()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared(browser, page_pool, tmp_path_factory, the_notes):
    async with sharing(browser, page_pool, tmp_path_factory, [the_notes]) as ui:
        yield ui


@pytest.fixture
def notes(the_notes):
    the_notes.state = LoginStatus("needed")
    the_notes.fails = False
    return the_notes


async def test_a_person_sees_the_whole_address_and_opens_it(ui, notes, axe_problems):
    page = await ui.page("#/modules/notes")
    await page.get_by_role("button", name="Log in…").click()
    region = page.get_by_role("region", name="Log in in your browser")
    await expect(region.get_by_text(SHOWN)).to_be_visible()
    link = region.get_by_role("link", name="Open accounts.example.com")
    assert await link.get_attribute("href") == SHOWN
    assert await link.get_attribute("rel") == "noopener noreferrer"
    assert await link.get_attribute("target") == "_blank"
    assert await axe_problems(page) == []
    # it ends elsewhere, in the browser; the page finds out by itself
    notes.state = LoginStatus("logged_in", "accounts.example.com")
    await expect(page.get_by_text("You are logged in at accounts.example.com.")).to_be_visible()
    await page.locator("ac-module-login").get_by_role("button", name="Log out").click()
    await page.locator("ac-confirm").get_by_role("button", name="Log out").click()
    await expect(page.get_by_role("region", name="Log in")).to_contain_text("until you have logged in there")


async def test_a_browser_on_another_machine_ends_it_by_its_address(ui, notes):
    ui.allowed_errors.append("400")
    page = await ui.page("#/modules/notes")
    await page.get_by_role("button", name="Log in…").click()
    await page.get_by_text("The browser ends at a page that it cannot reach").click()
    landed = page.get_by_label("Address at which the browser ended")
    await landed.fill("http://127.0.0.1:1/callback")
    await landed.press("Enter")
    await expect(page.get_by_text("that is not the address")).to_be_visible()
    await landed.fill("http://127.0.0.1:1/callback?code=1")
    await landed.press("Enter")
    await expect(page.get_by_text("You are logged in at accounts.example.com.")).to_be_visible()


async def test_a_log_in_that_fails_says_why_and_can_be_begun_again(ui, notes):
    ui.allowed_errors.append("400")
    notes.fails = True
    page = await ui.page("#/modules/notes")
    await page.get_by_role("button", name="Log in…").click()
    await expect(page.get_by_text(FAILURE)).to_be_visible()
    notes.fails = False
    await page.get_by_role("button", name="Log in…").click()
    await expect(page.get_by_role("link", name="Open accounts.example.com")).to_be_visible()
    notes.state = LoginStatus("needed", FAILURE)
    await expect(page.get_by_role("region", name="Log in", exact=True)).to_contain_text(FAILURE)


async def test_an_address_that_is_none_of_the_web_is_no_link(mount):
    login = {"state": "waiting", "said": "", "address": "javascript:alert(1)"}
    shown = await mount("ac-module-login", module="notes", login=login)
    await expect(shown.element).to_contain_text("It is being found out")
    await expect(shown.element.get_by_role("link")).to_have_count(0)
