"""Modules of a family, added by pasting what a documentation says: seen whole before anything is asked for or runs."""

import asyncio
import json

import pytest
import pytest_asyncio
from playwright.async_api import expect

from agentcore.store.credentials.secret_table import read_secrets
from tests.webui.modules.test_modules import confirm_what_waits, row
from tests.webui.sharing import sharing

pytestmark = pytest.mark.spec("P3", "M7")


BLOCKS = {"first": {"sound": "ding"}, "second": {"sound": "gong", "token": "kept-token"}}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared(browser, page_pool, tmp_path_factory, bells_site):
    async with sharing(
        browser, page_pool, tmp_path_factory, config={"bells": BLOCKS, "modules": ["bell_first", "bell_second"]}
    ) as ui:
        yield ui


@pytest_asyncio.fixture(loop_scope="session")
async def ui(shared):
    """The server of the file, with the blocks and modules of app.json as it began."""
    before = app_json(shared)
    yield shared
    await shared.leave()
    added = [f"bell_{name.lower().replace(' ', '_')}" for name in app_json(shared)["bells"].keys() - before["bells"]]
    for name in added:
        await shared.host.modules.disable(name)
    shared.host.config.file.write_text(json.dumps(before))


def app_json(ui):
    return json.loads(ui.host.config.file.read_text())


async def opened(page):
    await page.get_by_role("button", name="Add", exact=True).click()
    await expect(page.get_by_role("dialog", name="Add modules by pasting")).to_be_visible()
    dialog = page.locator("ac-block-dialog")  # what it holds is slotted into it
    await expect(dialog.get_by_label("What the documentation says")).to_be_focused()
    return dialog


async def paste(dialog, text):
    await dialog.get_by_label("What the documentation says").fill(text)


async def test_pasted_block_is_shown_whole_confirmed_and_starts(ui):
    page = await ui.page("#/modules")
    dialog = await opened(page)
    await paste(
        dialog,
        '{\n  // from the documentation\n  "bells": {"Big Ben": {"sound": "dong", "times": 2,}}, "theme": "dark"\n}',
    )
    await expect(dialog.get_by_role("group", name="What is written for Big Ben")).to_have_text(
        json.dumps({"sound": "dong", "times": 2}, indent=2)
    )
    await expect(dialog).to_contain_text("bell_big_ben")
    await expect(dialog).to_contain_text("Left out, for it is not about modules: theme")
    await dialog.get_by_role("button", name="Save once confirmed").click()
    await expect(dialog).to_have_count(0)
    proposal = await confirm_what_waits(ui, page)
    assert (proposal.kind, proposal.subject) == ("blocks_add", "bell_big_ben")
    await expect(row(page, "Bell dong")).to_contain_text("Ready")
    assert app_json(ui)["bells"] == BLOCKS | {"Big Ben": {"sound": "dong", "times": 2}}


@pytest.mark.more
async def test_secret_of_a_pasted_block_is_kept_as_one_under_the_name_that_was_chosen(ui):
    page = await ui.page("#/modules")
    dialog = await opened(page)
    await paste(dialog, '{"bells": {"small": {"sound": "chime", "token": "tok-1", "env": {"API_KEY": "key-2"}}}}')
    written = dialog.get_by_role("group", name="What is written for small")
    await expect(written).to_contain_text("${secret:small_token}")
    await dialog.get_by_label("Name of the secret in token").fill("own_name")
    await dialog.get_by_label("Name of the secret in token").blur()
    await dialog.get_by_label("Keep as a secret: env.API_KEY").uncheck()
    await expect(written).to_contain_text('"token": "${secret:own_name}"')
    await expect(written).to_contain_text('"API_KEY": "key-2"')
    await dialog.get_by_role("button", name="Save once confirmed").click()
    proposal = await confirm_what_waits(ui, page)
    assert "tok-1" not in str(proposal)
    assert "key-2" not in str(proposal)
    kept = read_secrets(ui.host.state.path)
    assert {name: each.value.get_secret_value() for name, each in kept.items()} == {"own_name": "tok-1"}
    await expect(row(page, "Bell chime")).to_contain_text("Ready")
    block = {"sound": "chime", "token": "${secret:own_name}", "env": {"API_KEY": "key-2"}}
    assert app_json(ui)["bells"] == BLOCKS | {"small": block}


@pytest.mark.more
async def test_two_secrets_of_one_text_are_named_and_left_each_by_itself(ui):
    page = await ui.page("#/modules")
    dialog = await opened(page)
    address = "https://a.test/?apiKey=key-1$&&secret=key-2"
    block = {"sound": "chime", "env": {"AT": address}, "args": ["--token", "key-3"], "pin": 4711}
    await paste(dialog, json.dumps({"bells": {"small": block}}))
    written = dialog.get_by_role("group", name="What is written for small")
    await expect(written).to_contain_text(
        "https://a.test/?apiKey=${secret:small_apikey}&&secret=${secret:small_secret}"
    )
    await expect(dialog).to_contain_text(
        "Other users of this machine can see a secret in args.1 while the command runs"
    )
    names = dialog.get_by_label("Name of the secret in env.AT")
    await names.first.fill("small_secret_2")
    await names.first.blur()
    await expect(written).to_contain_text("apiKey=${secret:small_secret_2}&&secret=${secret:small_secret}")
    await dialog.get_by_label("Keep as a secret: env.AT").last.uncheck()
    await expect(written).to_contain_text("apiKey=${secret:small_secret_2}&&secret=key-2")
    await dialog.get_by_label("Keep as a secret: env.AT").first.uncheck()
    await dialog.get_by_label("Keep as a secret: pin").uncheck()
    await dialog.get_by_label("Keep as a secret: args.1").uncheck()
    await expect(written).to_have_text(json.dumps(block, indent=2))


@pytest.mark.more
async def test_one_block_alone_gets_its_name_and_family_in_the_dialog(ui):
    page = await ui.page("#/modules")
    dialog = await opened(page)
    await paste(dialog, '{"sound": "ding"}')
    save = dialog.get_by_role("button", name="Save once confirmed")
    await expect(dialog.get_by_text("Without a name")).to_be_visible()
    await expect(save).to_be_disabled()
    families = dialog.get_by_label("What it is for")
    if await families.count():  # other families may be installed
        await families.select_option("bells")
    await dialog.get_by_label("Name", exact=True).fill("tiny")
    await expect(dialog.get_by_text("bell_tiny")).to_be_visible()
    await save.click()
    await confirm_what_waits(ui, page)
    assert app_json(ui)["bells"] == BLOCKS | {"tiny": {"sound": "ding"}}


@pytest.mark.more
async def test_wrong_text_and_a_block_that_is_refused_are_told_in_the_dialog(ui):
    ui.allowed_errors.append("400")
    page = await ui.page("#/modules")
    dialog = await opened(page)
    await paste(dialog, '{"bells": {"a": }}')
    await expect(dialog.get_by_role("alert")).to_contain_text("line 1, column 17")
    await expect(dialog.get_by_role("button", name="Save once confirmed")).to_be_disabled()
    await paste(dialog, '{"bells": {"a": {"sound": "ding", "token": "${secret:nowhere}"}}}')
    await dialog.get_by_role("button", name="Save once confirmed").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("there is no secret 'nowhere'")
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    assert ui.host.policy_changes.waiting == []


@pytest.mark.more
async def test_what_is_still_being_read_is_never_saved_in_place_of_what_stands_there(ui):
    page = await ui.page("#/modules/bell_first")
    answers = asyncio.Event()

    async def late(route):
        if "dong" not in (route.request.post_data or ""):
            await answers.wait()
        await route.continue_()

    await page.route("**/api/families/read", late)
    await page.get_by_role("region", name="Block in app.json").get_by_role("button", name="Change", exact=True).click()
    dialog = page.locator("ac-block-dialog")
    text = dialog.get_by_label("What the documentation says")
    async with page.expect_response("**/api/families/read") as read:
        await text.fill((await text.input_value()).replace("ding", "dong"))
        answers.set()
    await read.value
    await dialog.get_by_role("button", name="Save once confirmed").click()
    await confirm_what_waits(ui, page)
    assert app_json(ui)["bells"] == BLOCKS | {"first": {"sound": "dong"}}


@pytest.mark.more
async def test_block_is_changed_and_removed_from_its_module_s_page(ui):
    # what is shown of it is asked for until the list says that it is gone: while it stops, and then
    ui.allowed_errors += ["status of 409", "404"]
    page = await ui.page("#/modules/bell_second")
    block = page.get_by_role("region", name="Block in app.json")
    await block.get_by_role("button", name="Change", exact=True).click()
    dialog = page.locator("ac-block-dialog")
    text = dialog.get_by_label("What the documentation says")
    await text.fill((await text.input_value()).replace("gong", "bong"))
    await expect(dialog).to_contain_text("Takes the place of the one that is there")
    await dialog.get_by_role("button", name="Save once confirmed").click()
    proposal = await confirm_what_waits(ui, page)
    assert proposal.kind == "blocks_change"
    assert app_json(ui)["bells"] == BLOCKS | {"second": {"sound": "bong", "token": "kept-token"}}
    await expect(page.get_by_role("heading", name="Bell bong")).to_be_visible()
    await block.get_by_role("button", name="Remove").click()
    await page.locator("ac-confirm").get_by_role("button", name="Remove").click()
    await confirm_what_waits(ui, page)
    assert (app_json(ui)["bells"], app_json(ui)["modules"]) == ({"first": BLOCKS["first"]}, ["bell_first"])
    await expect(page.get_by_text("No such module")).to_be_visible()
