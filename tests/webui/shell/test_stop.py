"""The emergency stop is at hand everywhere, asks once, and every page knows."""

import asyncio

import pytest
import pytest_asyncio
from playwright.async_api import expect

from agentcore.api import Module, tool
from agentcore.api.tool_context import Principal
from tests.webui.approval.pressing import TRAY
from tests.webui.sharing import sharing

pytestmark = pytest.mark.spec("S7")


class Waits(Module):
    """Calls that do not end."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = asyncio.Event()

    @tool(read_only=True)
    async def wait(self) -> str:
        """Wait until somebody ends the call."""
        self.entered.set()
        await asyncio.Event().wait()
        return ""


@pytest.fixture(scope="module")
def waits():
    return Waits()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared(browser, page_pool, tmp_path_factory, waits):
    async with sharing(browser, page_pool, tmp_path_factory, [waits]) as ui:
        yield ui


@pytest_asyncio.fixture(loop_scope="session")
async def ui(shared):
    """The server of the file, which is not stopped."""
    yield shared
    if shared.host.calls.stopped is not None:
        shared.host.resume_after_stop(Principal("cli"))
    await shared.leave()


async def test_stop_asks_and_then_ends_calls_and_every_page_shows_it(ui, waits):
    page, other = await ui.page(), await ui.page("#/modules")
    call = asyncio.create_task(ui.server.running.outcome("wait"))
    await waits.entered.wait()

    await page.get_by_role("button", name="Stop everything").click()
    await expect(page.get_by_role("dialog", name="Stop everything?")).to_be_visible()
    dialog = page.locator("ac-confirm")
    await expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    await dialog.get_by_role("button", name="Stop everything").click()

    async with asyncio.timeout(30):
        assert (await call).error.type == "cancelled"
    await expect(page.get_by_role("status", name="Messages")).to_contain_text("1 call was ended")
    for shown in (page, other):
        await expect(shown.get_by_role("alert")).to_contain_text("Everything is stopped")
        await expect(shown.get_by_role("button", name="Stopped")).to_be_disabled()

    ui.host.resume_after_stop(Principal("cli"))
    await expect(page.get_by_role("alert")).to_be_hidden()
    await expect(page.get_by_role("button", name="Stop everything")).to_be_enabled()


async def test_stop_that_is_not_confirmed_ends_nothing(ui):
    page = await ui.page()
    button = page.get_by_role("button", name="Stop everything")
    for leave in ("Escape", "Enter"):  # Enter is on Cancel, the harmless answer
        await button.focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog")).to_be_visible()
        await page.keyboard.press(leave)
        await expect(page.get_by_role("dialog")).to_be_hidden()
        await expect(button).to_be_focused()
    assert ui.host.calls.stopped is None


@pytest.mark.more
async def test_page_that_opens_after_a_stop_shows_it_on_a_phone_too(ui):
    page = await ui.page(viewport={"width": 390, "height": 844})
    await ui.host.emergency_stop(Principal("cli"))
    await page.reload()
    await expect(page.get_by_role("alert")).to_contain_text("Everything is stopped")
    await expect(page.get_by_role("banner").get_by_role("button", name="Stopped")).to_be_disabled()


@pytest.mark.more
async def test_stop_that_does_not_reach_the_server_says_so(ui):
    ui.allowed_errors.append("Failed to load resource")
    page = await ui.page()
    await page.route("**/api/stop", lambda route: route.abort())
    await page.get_by_role("button", name="Stop everything").click()
    await page.locator("ac-confirm").get_by_role("button", name="Stop everything").click()
    await expect(page.get_by_role("status", name="Messages")).to_contain_text("The emergency stop failed")


async def test_person_resumes_in_the_page_where_nothing_waits(ui):
    page = await ui.page()
    tab = await page.context.new_page()
    await tab.goto(f"{ui.server.approval_address}/#code={ui.host.store.approval_sessions.create_code()}")
    await expect(tab.get_by_role("heading", name="Nothing waits")).to_be_visible()
    await tab.close()
    await ui.host.emergency_stop(Principal("cli"))
    banner = page.get_by_role("alert").filter(has_text="Everything is stopped.")
    await banner.get_by_role("button", name="Resume…").click()
    await page.frame_locator(TRAY).get_by_role("button", name="Resume").click()
    await expect(banner).to_have_count(0)
    await expect(page.locator("ac-approval-tray")).to_be_hidden()
    assert ui.host.calls.stopped is None


async def test_answer_that_was_asked_for_earlier_takes_back_no_stop(ui):
    page = await ui.page()
    answers, late = [False, True], asyncio.Event()

    async def answer(route):
        is_stopped = answers.pop(0)
        if not is_stopped:
            await late.wait()
        await route.fulfill(json={"stopped": is_stopped})

    await page.route("**/api/stop", answer)
    await page.evaluate(
        """async () => {
          const {stopState} = await import('/static/client/stop-state.js');
          window.earlier = stopState.load();
          await stopState.load();
        }"""
    )
    banner = page.get_by_role("alert").filter(has_text="Everything is stopped.")
    await expect(banner).to_be_visible()
    late.set()
    await page.evaluate("() => window.earlier")
    await expect(banner).to_be_visible()
    await page.unroute_all()
    await page.evaluate("async () => (await import('/static/client/stop-state.js')).stopState.load()")
    await expect(banner).to_be_hidden()


async def test_call_that_ends_while_running_calls_are_loaded_is_not_shown_as_running(ui, waits):
    page = await ui.page()
    waits.entered.clear()
    call = asyncio.create_task(ui.server.running.outcome("wait"))
    await waits.entered.wait()
    asked, ended = asyncio.Event(), asyncio.Event()

    async def answer_late(route):
        response = await route.fetch()
        asked.set()
        await ended.wait()
        await route.fulfill(response=response)

    await page.route("**/api/calls/on-the-way", answer_late)
    await page.evaluate(
        """async () => {
          const [{client}, {workState}] = await Promise.all([
            import('/static/client/client.js'), import('/static/client/work-state.js'),
          ]);
          window.ended = new Promise((resolve) => client.on('call.finished', resolve));
          window.loading = workState.load();
        }"""
    )
    await asked.wait()
    await ui.host.emergency_stop(Principal("cli"))
    ui.host.resume_after_stop(Principal("cli"))
    await call
    await page.evaluate("() => window.ended")
    ended.set()
    # it is shown 400 ms later; timers end in their order
    is_busy = await page.evaluate(
        """async () => {
          await window.loading;
          await new Promise((resolve) => setTimeout(resolve, 500));
          return (await import('/static/client/work-state.js')).workState.isBusy;
        }"""
    )
    assert not is_busy
