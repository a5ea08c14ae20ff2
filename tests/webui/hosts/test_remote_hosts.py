"""Hosts on other machines in the view of hosts: how each stands, and what a person can do about it."""

import pytest
from playwright.async_api import expect

from tests.hosts.two_machines import Place, dialling
from tests.webui.recorded.player import Recording, vary
from tests.webui.serving import DESKTOP, PHONE

pytestmark = [pytest.mark.spec("H3"), pytest.mark.spec("M7")]

STATES = {
    "waiting": ("Not added yet", []),
    "running": ("Running", ["Drain laptop", "Disconnect laptop", "Forget laptop"]),
    "away": ("Away", ["Disconnect laptop", "Forget laptop"]),
    "draining": ("Draining", ["Take work again: laptop", "Disconnect laptop", "Forget laptop"]),
    "drained": ("Drained", ["Take work again: laptop", "Disconnect laptop", "Forget laptop"]),
    "disconnected": ("Disconnected", ["Let in again: laptop", "Forget laptop"]),
}


def remote(name="laptop", state="running", **fields):
    """A recorded host with another name and other values."""
    recording = Recording("machines")
    recorded = recording.host("nas", "running") if state == "waiting" else recording.host("laptop", state)
    return vary(recorded, name=name, **fields)


def host_card(page, name="laptop"):
    return page.get_by_role("article", name=name, exact=True)


async def test_host_is_shown_with_where_it_is_and_what_it_offers(show):
    laptop = remote(state="busy")
    laptop["modules"] = [vary(laptop["modules"][0], waiting=2)]
    page, _ = await show("machines", "busy", hosts=[laptop])
    shown = host_card(page)
    for text in (
        *("Running", "127.0.0.1", "Linux x86_64", "0.1.0", "12 ms", "/home/ann/laptop/app/workspace"),
        *("Connected since", "Added", "Desk", "3 tools", "1 desk"),
    ):
        await expect(shown).to_contain_text(text)
    waits = shown.get_by_role("link", name="2 tools wait for you")
    assert (await waits.get_attribute("href")).startswith("http://127.0.0.1:")
    await expect(page.get_by_role("region", name="Other machines")).to_contain_text("1")


async def test_definitions_that_are_left_out_are_listed_with_the_reason(show):
    laptop = remote(state="busy")
    laptop["modules"] = [vary(laptop["modules"][0], problems=["tool 2 is left out: \u202eharmless", "x" * 600])]
    page, _ = await show("machines", "busy", hosts=[laptop])
    card = host_card(page)
    await card.get_by_text("2 problems").click()
    await expect(card.get_by_text("tool 2 is left out: <U+202E>harmless")).to_be_visible()
    await expect(card.get_by_text("x" * 500 + "…")).to_be_visible()


async def test_state_is_a_word_and_offers_what_does_something_in_it(show):
    page, _ = await show("machines", "running", hosts=[remote(state, state) for state in STATES])
    for state, (word, offered) in STATES.items():
        card = page.get_by_role("article", name=state, exact=True)
        await expect(card.locator("ac-state").first).to_have_text(word)
        buttons = card.locator(".actions button")
        names = [await each.get_attribute("aria-label") for each in await buttons.all()]
        assert names == [name.replace("laptop", state) for name in offered]


async def test_host_that_was_never_added_says_what_to_start_there(show):
    page, _ = await show("machines", "forgotten")
    await expect(host_card(page, "nas")).to_contain_text("--name nas")
    await expect(host_card(page, "nas").locator("dl")).to_have_count(0)


@pytest.mark.more
async def test_host_is_drained_and_takes_work_again_by_keyboard(show):
    page, player = await show("machines", "running")
    await page.get_by_role("button", name="Drain laptop").focus()
    await page.keyboard.press("Enter")
    await expect(host_card(page)).to_contain_text("Drained")
    await expect(page.get_by_text("laptop gets no new work")).to_be_visible()
    await page.get_by_role("button", name="Take work again: laptop").press("Enter")
    await expect(host_card(page)).to_contain_text("Running")
    assert player.sent == ['POST /api/hosts/laptop/drain {"on":true}', 'POST /api/hosts/laptop/drain {"on":false}']


async def test_host_with_open_resources_is_draining_until_they_are_closed(show):
    page, _ = await show("machines", "busy")
    await page.get_by_role("button", name="Drain laptop").click()
    await expect(host_card(page).locator("ac-state").first).to_have_text("Draining")


@pytest.mark.more
async def test_idle_host_is_disconnected_at_once_and_let_in_again(show):
    page, player = await show("machines", "running")
    await page.get_by_role("button", name="Disconnect laptop").click()
    await page.get_by_role("button", name="Let in again: laptop").click()
    await expect(host_card(page)).to_contain_text("Running")
    assert player.sent == ["POST /api/hosts/laptop/disconnect", "POST /api/hosts/laptop/connect"]


async def test_disconnecting_is_confirmed_where_something_goes_on(show):
    page, player = await show("machines", "busy")
    await page.get_by_role("button", name="Disconnect laptop").click()
    dialog = page.locator("ac-confirm")
    await expect(dialog).to_contain_text("running calls (1) and its browsers, terminals and other resources (1)")
    await dialog.get_by_role("button", name="Cancel").click()
    await expect(page.get_by_role("button", name="Disconnect laptop")).to_be_focused()
    assert player.sent == []


async def test_forgetting_says_what_goes_and_is_done_once_it_is_confirmed(show):
    page, player = await show("machines", "busy")
    await page.get_by_role("button", name="Forget laptop").click()
    dialog = page.locator("ac-confirm")
    for text in ("Its key is void at once", "browsers, terminals and other resources (1)", "only with a new code"):
        await expect(dialog).to_contain_text(text)
    await dialog.get_by_role("button", name="Forget", exact=True).click()
    await expect(host_card(page)).to_have_count(0)
    await expect(page.get_by_text("laptop is forgotten")).to_be_visible()
    assert player.sent == ["DELETE /api/hosts/laptop"]


@pytest.mark.more
async def test_what_could_not_be_done_is_said_with_the_reason(start_webui, show):
    ui = await start_webui()
    ui.allowed_errors.append("404")
    page, player = await show("machines", "running", page=await ui.bare_page())
    player.refusal = player.recording.find_change("forgotten", 'POST /api/hosts/laptop/drain {"on":true}')
    await page.get_by_role("button", name="Drain laptop").click()
    await expect(page.get_by_text("laptop could not be drained")).to_be_visible()
    await expect(page.get_by_text(player.refusal["body"]["error"]["message"])).to_be_visible()
    await expect(page.get_by_role("button", name="Drain laptop")).to_be_enabled()


async def test_without_hosts_two_steps_say_how_a_machine_is_added(show):
    page, _ = await show("machines", "forgotten", hosts=[])
    steps = page.get_by_role("region", name="Add another machine").get_by_role("listitem")
    await expect(steps).to_have_count(2)
    await expect(steps.first).to_contain_text("agentcore host --server http://127.0.0.1:")
    await expect(steps.last).to_contain_text("short code")
    address = await steps.last.get_by_role("link", name="Open the approval view").get_attribute("href")
    assert address.endswith("/#add-host")


@pytest.mark.more
async def test_machine_that_has_dialled_in_does_what_the_view_says(start_webui, tmp_path):
    """All of it is real: it is let in, drained, takes work again, is kept out, let in again, and forgotten."""
    ui = await start_webui()
    page = await ui.page("#/hosts")
    await expect(page.get_by_text("All modules run in the server")).to_be_visible()
    shed = Place(tmp_path / "shed", modules=["fs_tools"], workspace={"roots": ["workspace"]})
    async with dialling(shed, ui.address, "shed") as worker:
        pairing, _ = await ui.host.host_pairings.find_by_code(await worker.code())
        await ui.host.host_pairings.decide_pairing(pairing.pairing_id, "test", accepts=True)
        shown = host_card(page, "shed")
        for text in ("Running", "127.0.0.1", "Files", "10 tools", "ms", str(shed.workspace), "Today"):
            await expect(shown).to_contain_text(text)
        for button, word in (
            ("Drain shed", "Drained"),
            ("Take work again: shed", "Running"),
            ("Disconnect shed", "Disconnected"),
            ("Let in again: shed", "Running"),
        ):
            await page.get_by_role("button", name=button).click()
            await expect(shown.locator("ac-state").first).to_have_text(word)
        await page.get_by_role("button", name="Forget shed").click()
        await page.locator("ac-confirm").get_by_role("button", name="Forget", exact=True).click()
        await expect(page.get_by_text("All modules run in the server")).to_be_visible()


def lying():
    """One that says of itself what a page should not take for its own."""
    long = "very" * 200
    hidden = "safe\u202egpj.exe\u200b"
    (desk,) = remote()["modules"]
    modules = [vary(desk, name=f"laptop/m{n}", title=hidden + long, tools=999, waiting=n) for n in range(30)]
    return remote(platform=hidden, version=long, address=f"{long}\nRunning", workspace=[long, hidden], modules=modules)


@pytest.mark.more
async def test_what_a_host_says_of_itself_neither_hides_nor_bursts_the_page(show, axe_problems):
    page, _ = await show("machines", "running", hosts=[lying(), remote("nas", "away")], viewport=PHONE)
    await expect(host_card(page)).to_contain_text("safe<U+202E>gpj.exe<U+200B>")
    await expect(host_card(page)).to_contain_text("6 more modules")
    for viewport in (PHONE, DESKTOP):
        await page.set_viewport_size(viewport)
        assert await page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    assert await axe_problems(page) == []


@pytest.mark.more
async def test_states_are_accessible_and_said_in_chinese(show, axe_problems):
    hosts = [remote(f"box{n}", state) for n, state in enumerate(STATES)]
    page, _ = await show("machines", "running", hosts=hosts, locale="zh")
    await expect(page.get_by_role("region", name="其他机器")).to_be_visible()
    assert await axe_problems(page) == []
