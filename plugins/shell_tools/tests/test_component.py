"""The module's elements in the real page, in Chromium."""

import asyncio
import json
from hashlib import sha256
from pathlib import Path

import agentcore_shell_tools
import pytest
import pytest_asyncio
from playwright.async_api import expect

from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import running_server

VENDOR = Path(agentcore_shell_tools.__file__).parent / "component" / "vendor"
AXE = Path(__file__).parents[3] / "tests" / "webui" / "vendor" / "axe.min.js"
WAIT_MS, START_MS = 30_000, 60_000


in_chromium = pytest.mark.asyncio(loop_scope="session")
"""For tests with the page: the browser that all tests share lives in this event loop."""
pytestmark = pytest.mark.spec("T4", "M7")


def test_vendored_library_is_the_one_of_the_manifest_with_its_licence():
    libraries = json.loads((VENDOR / "manifest.json").read_text())["libraries"]
    assert {library["name"] for library in libraries} == {"@xterm/xterm", "@xterm/addon-fit"}
    for library in libraries:
        assert library["version"]
        assert library["licence"] == "MIT"
        assert len((VENDOR / library["licenceFile"]).read_text()) > 200
        for name, digest in library["sha256"].items():
            assert sha256((VENDOR / name).read_bytes()).hexdigest() == digest


class Ui:
    """A page that is logged in, and the server behind it."""

    def __init__(self, page, client, address):
        self.page, self.address = page, address
        self.host, self.call = client.running.host, client.running.call
        self.errors = []
        page.on("console", lambda message: message.type in ("error", "warning") and self.errors.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    async def spawn(self, command, **options):
        return (await self.call("bash", command=command, background=True, **options)).data["process_id"]

    async def show(self, process_id=""):
        await self.page.goto(f"{self.address}#/pages/shell_tools/{process_id}")

    @property
    def screen(self):
        """What stands in the terminal, as a screen reader finds it."""
        return self.page.locator("shell-tools-terminal .xterm-rows")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared_ui(browser, sandbox_works, tmp_path_factory):
    """One server and one page for all tests of the file."""
    folder = tmp_path_factory.mktemp("server")
    (folder / "root").mkdir()
    settings = {} if sandbox_works else {"sandbox": "off"}  # else each first call would wait for a person
    plan = HostPlan(["shell_tools"], {"config": {"shell_tools": settings}}, roots=[folder / "root"])
    async with running_server(plan, folder) as client:
        page = await browser.new_page(locale="en-US", reduced_motion="reduce", color_scheme="light")
        page.set_default_timeout(WAIT_MS)
        page.set_default_navigation_timeout(START_MS)
        address = str(client.make_url("/"))
        found = Ui(page, client, address)
        code = client.running.host.store.page_sessions.create_code()
        await page.goto(f"{address}#code={code}")
        await page.get_by_role("heading", level=1).first.wait_for(timeout=START_MS)
        yield found
        await page.close()


@pytest_asyncio.fixture(loop_scope="session")
async def ui(shared_ui):
    """The page, without a process; those of the test end with it."""
    yield shared_ui
    await shared_ui.page.goto(f"{shared_ui.address}#/")
    for resource in shared_ui.host.resources.list(resource_type="terminal"):
        await shared_ui.host.resources.release(resource.resource_id)
    assert shared_ui.errors == []


@pytest.mark.more
@in_chromium
async def test_person_watches_a_process_types_into_it_and_ends_it(ui):
    process_id = await ui.spawn('while read line; do echo "got $line"; done')
    await ui.show(process_id)
    await expect(ui.page.locator("shell-tools-terminal").get_by_role("heading")).to_have_text(
        'while read line; do echo "got $line"; done'
    )
    await ui.page.get_by_role("textbox", name="Terminal of").focus()
    await ui.page.keyboard.type("hello\n")
    await expect(ui.screen).to_contain_text("got hello")
    assert "got hello\n" in (await ui.call("bash_output", process_id=process_id)).data["stdout"]
    await ui.page.keyboard.press("F6")
    await expect(ui.page.get_by_role("button", name="End", exact=True)).to_be_focused()
    await ui.page.keyboard.press("Enter")
    await expect(ui.page.get_by_role("status").get_by_text("SIGTERM")).to_be_visible()
    assert (await ui.call("bash_output", process_id=process_id)).data["exited"]


@pytest.mark.more
@in_chromium
async def test_keys_that_are_typed_while_a_terminal_connects_reach_its_process(ui):
    process_id = await ui.spawn('while read line; do echo "got $line"; done')
    answered = asyncio.Event()

    async def answer_later(route):
        await answered.wait()
        await route.continue_()

    await ui.page.route("**/api/live-control/**", answer_later)
    await ui.show(process_id)
    await expect(ui.page.get_by_role("textbox", name="Terminal of")).to_be_focused()
    await ui.page.keyboard.type("early\n")
    answered.set()
    await expect(ui.screen).to_contain_text("got early")
    await ui.page.unroute("**/api/live-control/**")


@pytest.mark.more
@in_chromium
async def test_terminal_has_the_size_of_its_view_and_keeps_its_output_while_another_tab_is_shown(ui):
    process_id = await ui.spawn("PS1='ready> ' exec bash --norc", terminal=True)
    await ui.show(process_id)
    await expect(ui.screen).to_contain_text("ready>")
    await ui.page.get_by_role("textbox", name="Terminal of").focus()
    await ui.page.keyboard.type("printf '\\e[31mred\\e[0m %s\\n' $((COLUMNS + 1000))\n")
    columns = await ui.page.locator("shell-tools-terminal").evaluate("element => element._terminal.cols")
    await expect(ui.screen).to_contain_text(f"red {columns + 1000}")
    red = ui.page.locator("shell-tools-terminal .xterm-fg-1").first
    await expect(red).to_have_css("color", "rgb(179, 38, 30)")
    box = await ui.page.locator("shell-tools-terminal .xterm-screen").bounding_box()
    assert box["x"] + box["width"] <= ui.page.viewport_size["width"]
    await ui.page.get_by_role("link", name="Terminals").click()
    await expect(ui.page.get_by_role("heading", name="Terminals", level=1)).to_be_visible()
    await ui.show(process_id)
    await expect(ui.screen).to_contain_text(f"red {columns + 1000}")


@pytest.mark.more
@in_chromium
async def test_closing_its_tab_ends_a_process_and_a_pinned_one_goes_on(ui):
    strip = ui.page.get_by_role("navigation", name="Open resources")
    for pinned, command in ((False, "sleep 600"), (True, "sleep 601")):
        process_id = await ui.spawn(command)
        tab = strip.get_by_role("link", name=command)
        for item in ("Pin", "Close tab") if pinned else ("Close tab",):
            await tab.click(button="right")
            await ui.page.locator("ac-tabstrip").get_by_role("menuitem", name=item, exact=True).click()
        if not pinned:
            await ui.page.locator("ac-confirm").get_by_role("button", name="Close tab").click()
        await expect(tab).to_have_count(0)
        living = [resource.resource_id for resource in ui.host.resources.list()]
        assert living == ([process_id] if pinned else [])
    assert not (await ui.call("bash_output", process_id=process_id)).data["exited"]
    await ui.show()
    await ui.page.locator("shell-tools-panel").get_by_role("link", name="sleep 601").click()
    await expect(tab).to_be_visible()


@pytest.mark.more
@in_chromium
async def test_list_starts_processes_shows_how_they_ended_and_is_accessible(ui):
    await ui.show()
    panel = ui.page.locator("shell-tools-panel")
    await expect(panel.get_by_role("heading", name="Nothing runs")).to_be_visible()
    await panel.get_by_label("Command").fill("echo from the page; exit 4")
    await panel.get_by_role("button", name="Run").click()
    await expect(ui.screen).to_contain_text("from the page")
    await ui.show()
    await expect(panel.get_by_text("exit 4", exact=True)).to_be_visible()
    await ui.spawn("sleep 600")
    await expect(panel.get_by_role("link", name="sleep 600")).to_be_visible()
    if AXE.exists():
        assert await problems(ui.page) == []
    await panel.get_by_role("button", name="End sleep 600").click()
    await expect(panel.get_by_text("SIGTERM")).to_be_visible()


@pytest.mark.more
@in_chromium
@pytest.mark.source_tree
async def test_terminal_is_accessible_in_light_and_dark(ui):
    await ui.show(await ui.spawn(r"printf '\033[32mgreen\033[0m plain\n'; sleep 600"))
    await expect(ui.screen).to_contain_text("green plain")
    assert await problems(ui.page) == []
    # light and dark differ in their colours alone
    await ui.page.emulate_media(color_scheme="dark")
    assert await problems(ui.page, "runOnly: ['color-contrast']") == []
    await ui.page.emulate_media(color_scheme="light")


@pytest.mark.more
@in_chromium
async def test_lost_connection_is_said_and_comes_back_with_all_output(ui):
    process_id = await ui.spawn("echo before; read; echo after; sleep 600")
    await ui.show(process_id)
    await expect(ui.screen).to_contain_text("before")
    await ui.page.locator("shell-tools-terminal").evaluate("element => element._connection._socket.close()")
    await ui.call("bash", command="go", process_id=process_id)
    await expect(ui.screen).to_contain_text("after")
    await expect(ui.page.locator("shell-tools-terminal").get_by_role("alert")).to_have_count(0)


async def problems(page, options=""):
    """What axe-core calls serious."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE.read_text())
    result = await page.evaluate(f"axe.run(document, {{resultTypes: ['violations'], {options}}})")
    serious = [found for found in result["violations"] if found["impact"] in ("serious", "critical")]
    return [f"{found['id']}: {[node['html'][:150] for node in found['nodes'][:3]]}" for found in serious]


@pytest.mark.more
@in_chromium
@pytest.mark.usefixtures("needs_sandbox")
@pytest.mark.spec("S2")
async def test_list_tells_what_was_put_aside(ui):
    await ui.show()
    await expect(ui.page.get_by_text("sandboxed", exact=True)).to_be_visible()
    await ui.call("bash", command="echo x > .envrc; git init -q p; echo x > p/.git/hooks/post-commit")
    section = ui.page.get_by_role("region", name="Put aside")
    await expect(section).to_contain_text("p/.git/hooks/post-commit.agentcore-aside")
    await expect(section).to_contain_text(".envrc.agentcore-aside")
    assert ui.errors == []
