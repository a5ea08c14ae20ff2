"""Live views once a script of a model has run in the page: watching asks nobody, acting goes on when it is decided."""

import json
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from agentcore.core.approvals.request import Verdict
from tests.webui.approval.pressing import open_tray, press
from tests.webui.serving import PHONE
from tests.webui.sharing import sharing

pytestmark = pytest.mark.spec("K3")

LISTED = json.loads((Path(__file__).parents[3] / "app.json").read_text())["modules"]
WAITS = "Waits for your decision"


async def run_script_in_page(ui):
    """Let a script of a model begin; whether a page is open to run it makes no difference."""
    await ui.server.running.outcome("ui_page_eval_js", {"script": "1", "timeoutMs": 1000}, session_id="chat")
    assert ui.host.page_scripts.may_act


async def both(ui, **options):
    """A page whose browser is logged in to both origins, as `serve --open` does it."""
    store = ui.host.store
    page = await ui.page(is_logged_in=False, **options)
    codes = f"#code={store.approval_sessions.create_code()}&page={store.page_sessions.create_code()}"
    await page.goto(f"{ui.server.approval_address}/{codes}")
    await page.locator("ac-app nav").first.wait_for(state="attached")
    return page


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared(browser, page_pool, tmp_path_factory):
    async with sharing(browser, page_pool, tmp_path_factory, LISTED) as ui:
        await run_script_in_page(ui)
        ui.add_page(await both(ui))
        yield ui


@pytest_asyncio.fixture(loop_scope="session")
async def ui(shared):
    """The server of the file; what a test left undecided is refused.

    What was decided counts for the page until it logs in again, for each module: where a test needs a page that was
    allowed nothing, it comes before those that allow it, or takes a page of its own.
    """
    yield shared
    await shared.leave()
    for change in asked(shared):
        await shared.host.policy_changes.decide_change(change.change_id, approved=False, by="test")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def resource_id(shared):
    """A page in the one browser of the file."""
    outcome = await shared.server.running.outcome("browser_launch", {}, session_id="chat")
    return outcome.unwrap().data["resourceId"]


async def decide(page, word):
    await press((await open_tray(page)).get_by_role("button", name=f"{word}: Let this page type"))


async def open_terminal(ui, command="cat"):
    outcome = await ui.server.running.outcome(
        "bash", {"command": command, "background": True, "terminal": True}, session_id="chat"
    )
    return outcome.unwrap().data["process_id"]


def asked(ui):
    return ui.host.policy_changes.waiting


async def test_what_waits_is_accessible_on_a_phone_in_the_dark_and_in_chinese(ui, resource_id, axe_problems):
    process_id = await open_terminal(ui)
    page = await ui.page(viewport=PHONE, color_scheme="dark", locale="zh-CN")
    await page.goto(f"{ui.address}/#/pages/shell_tools/{process_id}")
    await page.locator("shell-tools-terminal").get_by_role("button", name="在此输入").click()
    await expect(page.get_by_text("正在等待你的决定")).to_be_visible()
    assert await axe_problems(page) == []
    await page.goto(f"{ui.address}/#/pages/browser/{resource_id}")
    await page.locator("browser-page-view").get_by_role("button", name="接管").click()
    await expect(page.get_by_text("正在等待你的决定")).to_be_visible()
    assert await axe_problems(page) == []


@pytest.mark.more
async def test_page_is_watched_at_once_and_taken_over_when_it_is_decided(ui, resource_id):
    page = await ui.page(f"#/pages/browser/{resource_id}")
    view = page.locator("browser-page-view")
    await expect(view.locator("canvas")).to_be_visible()
    assert asked(ui) == []

    await view.get_by_role("button", name="Take over").click()
    await expect(view.get_by_text(WAITS)).to_be_visible()
    await expect(view.get_by_text("Watching", exact=True)).to_be_visible()
    assert len(asked(ui)) == 1
    await decide(page, "Refuse")
    await expect(view.get_by_text("It was refused")).to_be_visible()
    await expect(view.locator("canvas")).to_be_visible()

    await view.get_by_role("button", name="Ask again").click()
    await expect(view.get_by_text(WAITS)).to_be_visible()
    await decide(page, "Apply")
    await expect(view.get_by_text("You drive")).to_be_visible()
    await expect(view.get_by_text(WAITS)).to_have_count(0)


@pytest.mark.more
async def test_terminal_is_watched_at_once_and_typed_into_when_it_is_decided(ui):
    process_id = await open_terminal(ui, "echo hello; exec cat")
    page = await ui.page(f"#/pages/shell_tools/{process_id}")
    view = page.locator("shell-tools-terminal")
    screen = view.locator(".xterm-rows")
    await expect(screen).to_contain_text("hello")
    await expect(view.get_by_text("You are watching.")).to_be_visible()
    assert asked(ui) == []

    await view.locator(".xterm-screen").click()
    await page.keyboard.type("x")
    await expect(view.get_by_text(WAITS)).to_be_visible()
    assert len(asked(ui)) == 1
    await decide(page, "Apply")
    await expect(view.get_by_text(WAITS)).to_have_count(0)
    await page.keyboard.type("typed now")
    await expect(screen).to_contain_text("typed now")
    await expect(screen).not_to_contain_text("xtyped")


@pytest.mark.more
async def test_decision_that_was_made_while_the_page_was_away_counts(ui):
    process_id = await open_terminal(ui)
    page = await both(ui)
    await page.goto(f"{ui.address}/#/pages/shell_tools/{process_id}")
    view = page.locator("shell-tools-terminal")
    await view.get_by_role("button", name="Type here").click()
    await expect(view.get_by_text(WAITS)).to_be_visible()
    ui.allowed_errors += ["Failed to load resource", "WebSocket connection", "net::ERR", "postMessage"]
    await ui.lose_connection(page)
    await ui.host.policy_changes.decide_change(asked(ui)[0].change_id, approved=True, by="test")
    await page.context.set_offline(False)
    await expect(view.get_by_text(WAITS)).to_have_count(0)
    await expect(view.get_by_text("You are watching.")).to_have_count(0)


@pytest.mark.more
async def test_start_of_a_terminal_says_that_it_waits_and_goes_on_when_it_is_decided(ui):
    page = await ui.page("#/pages/shell_tools")
    await page.locator("shell-tools-panel").get_by_role("button", name="New terminal").click()
    waits = page.locator("ac-waiting").get_by_text("A call waits for your decision")
    await expect(waits).to_be_visible()
    await expect(page.locator("ac-waiting").get_by_role("button", name="Decide")).to_be_visible()
    (asks,) = ui.host.approvals.waiting
    await ui.host.approvals.decide_call(asks.call_id, Verdict(approved=True, by="test"))
    await expect(page.locator("shell-tools-terminal")).to_be_visible()
    await expect(waits).to_have_count(0)
