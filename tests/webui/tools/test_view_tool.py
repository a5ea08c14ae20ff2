"""One tool in the console, end to end: filled in, run, cancelled, run again, copied."""

import asyncio
import json
import re

import pytest
from playwright.async_api import expect

from agentcore.core.approvals.approval_queue import Verdict

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

RULES = '''
from typing import Annotated

from pydantic import AfterValidator

from agentcore.api import Module, tool


def even(value: int) -> int:
    if value % 2:
        raise ValueError("has to be even")
    return value


class Rules(Module):
    """Rules that no schema tells."""

    @tool(read_only=True)
    async def rules_halve(self, values: list[Annotated[int, AfterValidator(even)]]) -> int:
        """Halve the first."""
        return values[0] // 2
'''
FILES = {"vault": SECRET_FIELD, "rules": RULES}


@pytest.mark.spec("K2", "S2")
async def test_call_that_needs_a_person_waits_and_goes_on_when_one_says_yes(start_webui):
    ui = await start_webui(["fs_tools"])
    page = await ui.page("#/tools/write_file")
    await page.get_by_label("path").fill(".git/hooks/pre-commit")
    await page.get_by_role("textbox", name="content").fill("exit 0")
    await page.get_by_label("create_dirs").check()
    await page.get_by_role("button", **RUN).click()
    await expect(page.get_by_role("alert").filter(has_text="This call waits for a person")).to_contain_text(
        "It touches files that decide what runs"
    )
    (waiting,) = ui.host.approvals.waiting
    await ui.host.approvals.decide_call(waiting.call_id, Verdict(approved=True, by="test"))
    await expect(page.locator("ac-run-state").get_by_text("Done")).to_be_visible()
    assert (ui.host.workspace.roots[0] / ".git/hooks/pre-commit").read_text() == "exit 0"


@pytest.mark.more
async def test_page_of_a_tool_says_in_words_what_it_may_do(open_tool):
    _, page, _ = await open_tool("lab_wait")
    about = page.locator("ac-tool-about")
    for word in ("Writes", "Goes online", "Wait until somebody says so."):
        await expect(about.get_by_text(word)).to_be_visible()
    await page.get_by_text("About this tool").click()
    for text in ("What was there before can be lost.", "can come from strangers", "It is ended after"):
        await expect(about.get_by_text(text)).to_be_visible()
    await expect(about.get_by_role("link", name="lab")).to_have_attribute("href", "#/modules/lab")


@pytest.mark.more
@pytest.mark.spec("M5")
async def test_progress_is_shown_and_a_call_is_cancelled(open_tool):
    ui, page, lab = await open_tool("lab_wait")
    await page.get_by_role("button", **RUN).click()
    await expect(page.get_by_text("a quarter")).to_be_visible()
    await expect(page.get_by_role("progressbar", name="Running…")).to_have_js_property("value", 0.25)
    await page.get_by_role("button", name="Cancel").click()
    await expect(page.locator("ac-run-state").get_by_text("Cancelled")).to_be_visible()
    assert not ui.host.calls.in_flight
    await page.get_by_role("button", name="Run again").click()
    lab.release.set()
    await expect(page.locator("ac-result").get_by_text("released")).to_be_visible()


async def test_call_that_says_nothing_can_be_cancelled_too(open_tool):
    ui, page, lab = await open_tool("lab_quiet")
    await page.get_by_role("button", **RUN).click()
    async with asyncio.timeout(30):
        await lab.entered.wait()
    await page.get_by_role("button", name="Cancel").click()
    await expect(page.locator("ac-run-state").get_by_text("Cancelled")).to_be_visible()
    assert not ui.host.calls.in_flight


async def test_what_the_page_finds_wrong_is_not_sent_unless_the_person_wants_it(open_tool):
    _, page, lab = await open_tool("lab_add")
    await page.get_by_role("button", name="JSON", exact=True).first.click()
    await page.get_by_role("textbox", name="JSON").fill('{"numbers": "x", "offset": "many"}')
    await page.get_by_role("button", **RUN).click()
    await expect(page.get_by_text("This has to be a list.")).to_be_visible()
    await expect(page.locator("ac-run")).to_have_count(0)
    await page.get_by_role("button", name="Send it as it is").click()
    await expect(page.locator("ac-result-error").get_by_text("invalid_arguments")).to_be_visible()
    assert lab.calls == 0


@pytest.mark.more
async def test_wrong_arguments_that_the_server_names_are_shown_at_their_fields(open_tool):
    """The page lets a number pass that the server's rules for numbers do not."""
    _, page, _ = await open_tool("rules_halve")
    for n in (1, 2):
        await add_entry(page, f"values {n}", str(2 + n))
    await page.get_by_role("button", **RUN).click()
    await expect(page.get_by_role("spinbutton", name="values 1")).to_be_focused()
    await expect(page.get_by_role("spinbutton", name="values 1")).to_have_accessible_description(
        "Value error, has to be even"
    )
    await page.get_by_role("spinbutton", name="values 1").fill("8")
    await page.keyboard.press("Control+Enter")
    await expect(page.locator("ac-result").get_by_text("4", exact=True)).to_be_visible()


async def test_enter_runs_a_tool_that_only_reads_and_no_other(open_tool):
    ui, page, lab = await open_tool("lab_add")
    await add_entry(page, "numbers 1", "5")
    await page.keyboard.press("Enter")
    await expect(page.locator("ac-result").get_by_text("5", exact=True)).to_be_visible()
    await page.goto(f"{ui.address}/#/tools/lab_fail")
    await page.get_by_label("city").fill("Bonn")
    await page.keyboard.press("Enter")
    await page.goto(f"{ui.address}/#/tools")
    recent = page.get_by_role("link", name="lab_add").filter(has_text="Done")
    await expect(recent).to_have_attribute("href", "#/tools/lab_add")
    await expect(page.get_by_role("link", name="lab_fail").filter(has_text="Failed")).to_have_count(0)
    assert lab.calls == 1


@pytest.mark.spec("M6")
async def test_failure_says_why_and_what_to_do(open_tool):
    _, page, _ = await open_tool("lab_fail")
    await page.get_by_role("button", **RUN).click()
    error = page.locator("ac-result-error")
    for text in ("city_not_found", "no city named 'Xyz'", "Change what the message names"):
        await expect(error.get_by_text(text)).to_be_visible()
    await expect(page.get_by_role("status").filter(has_text="Failed after")).to_be_attached()


async def test_server_that_cannot_be_reached_ends_the_run(open_tool):
    ui, page, _ = await open_tool("lab_add")
    await add_entry(page, "numbers 1", "1")
    ui.allowed_errors.append("ERR_INTERNET_DISCONNECTED")
    await page.context.set_offline(True)
    await page.keyboard.press("Control+Enter")
    await expect(page.locator("ac-result-error").get_by_text("unreachable")).to_be_visible()
    await page.context.set_offline(False)


@pytest.mark.more
async def test_runs_are_kept_over_a_reload_and_their_arguments_come_back(open_tool):
    _, page, _ = await open_tool("lab_add")
    await page.get_by_role("button", name="JSON", exact=True).first.click()
    for numbers in ([1, 2], [30]):
        await page.get_by_role("textbox", name="JSON").fill(json.dumps({"numbers": numbers}))
        await page.get_by_role("button", **RUN).click()
        await expect(page.locator("ac-result").get_by_text(str(sum(numbers)))).to_be_visible()
    await page.reload()
    rows = page.locator("ac-run-list li")
    await expect(rows).to_have_count(2)
    await rows.last.locator(".row").click()
    await expect(page.locator("ac-result").get_by_text("3", exact=True)).to_be_visible()
    await rows.last.get_by_role("button", name="Edit these arguments").click()
    await expect(page.get_by_role("spinbutton", name="numbers 2")).to_have_value("2")
    await page.get_by_role("button", name="Forget them").click()
    await expect(rows).to_have_count(0)


@pytest.mark.more
async def test_what_was_filled_in_stays_over_a_reload(open_tool):
    _, page, _ = await open_tool("lab_fail")
    await page.get_by_label("city").fill("Bonn")
    await page.get_by_text("Options").click()
    await page.get_by_label("Time limit in seconds").fill("2.5")
    await page.get_by_label("Session").fill("mine")
    await page.get_by_label("Session").blur()
    await page.reload()
    await expect(page.get_by_label("city")).to_have_value("Bonn")
    await expect(page.get_by_label("Session")).to_have_value("mine")
    await page.get_by_role("button", **RUN).click()
    await expect(page.locator("ac-result-error")).to_be_visible()
    await page.get_by_role("button", name="Clear").click()
    await expect(page.get_by_label("city")).to_have_value("")


async def test_session_and_time_limit_reach_the_call(open_tool):
    ui, page, _ = await open_tool("lab_quiet")
    await page.get_by_text("Options").click()
    await page.get_by_label("Time limit in seconds").fill("0.05")
    await page.get_by_label("Session").fill("limited")
    await page.get_by_label("Session").blur()
    await page.get_by_role("button", **RUN).click()
    await expect(page.locator("ac-result-error").get_by_text("timeout", exact=True)).to_be_visible()
    await ui.host.store.record.flush()
    _, body = await _get(ui, "/api/calls?session_id=limited")
    assert [call["outcome"] for call in body["calls"]] == ["timeout"]


@pytest.mark.more
async def test_run_that_a_reload_interrupted_is_said_to_be_unknown(open_tool):
    _, page, lab = await open_tool("lab_quiet")
    await page.get_by_role("button", **RUN).click()
    async with asyncio.timeout(30):
        await lab.entered.wait()
    await page.reload()
    await expect(page.get_by_text("The page was reloaded while this ran.")).to_be_visible()
    lab.release.set()


async def test_secrets_are_not_kept_in_the_browser(open_tool):
    _, page, _ = await open_tool("vault_open")
    await page.get_by_label("user").fill("me")
    await page.get_by_label("key", exact=True).fill("hunter2")
    await page.keyboard.press("Control+Enter")
    await expect(page.locator("ac-result").get_by_text("me: 7")).to_be_visible()
    kept = await page.evaluate("JSON.stringify({...sessionStorage, ...localStorage})")
    assert "vault_open" in kept
    assert "hunter2" not in kept
    await page.get_by_role("button", name="Run again").click()
    await expect(page.locator("ac-result").get_by_text("me: 7")).to_be_visible()


async def test_wish_is_copied_in_three_forms(open_tool):
    ui, page, _ = await open_tool("lab_fail")
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.get_by_label("city").fill("New York")
    copied = {}
    for name in ("curl", "command line", "JSON"):
        await page.get_by_role("group", name="Copy as").get_by_role("button", name=name).click()
        copied[name] = await page.evaluate("navigator.clipboard.readText()")
    assert copied["command line"] == "agentcore call lab_fail 'city=New York'"
    assert json.loads(copied["JSON"]) == {"arguments": {"city": "New York"}}
    assert f"{ui.address}/api/tools/lab_fail/call" in copied["curl"]


@pytest.mark.more
async def test_long_text_is_an_artifact_that_is_read_in_parts_and_searched(open_tool):
    _, page, _ = await open_tool("lab_text")
    await page.get_by_role("button", **RUN).click()
    artifact = page.locator("ac-artifact")
    await expect(artifact.get_by_text("result.txt")).to_be_visible()
    await artifact.get_by_role("button", name="Open").click()
    text = artifact.locator("ac-code pre").last
    await expect(text).to_contain_text("line 1 of a long text")
    await artifact.get_by_role("button", name="Later").click()
    await expect(text).not_to_contain_text("line 1 of a long text")
    shown = await text.inner_text()
    assert shown.startswith("line ")
    assert shown.endswith("of a long text\n")
    await artifact.get_by_role("button", name="Earlier").click()
    await expect(text).to_contain_text("line 1 of a long text")
    await artifact.get_by_role("searchbox", name="Search in the text").fill("LINE 119999 of")
    await page.keyboard.press("Enter")
    await artifact.get_by_role("button", name="119999").click()
    await expect(text).to_contain_text("line 120000 of a long text")


@pytest.mark.more
async def test_artifact_is_saved_as_a_file(open_tool, tmp_path):
    _, page, _ = await open_tool("lab_text")
    await page.get_by_role("button", **RUN).click()
    async with page.expect_download() as started:
        await page.locator("ac-artifact").get_by_role("button", name="Download").click()
    download = await started.value
    await download.save_as(tmp_path / "saved.txt")
    assert download.suggested_filename == "result.txt"
    assert (tmp_path / "saved.txt").read_text().endswith("line 120000 of a long text\n")


async def add_entry(page, name, text):
    """Add an entry to a list of numbers; the focus goes into it."""
    await page.get_by_role("button", name=re.compile(f"(Add to|添加到) {name.split()[0]}")).press("Enter")
    await expect(page.get_by_role("spinbutton", name=name)).to_be_focused()
    await page.keyboard.type(text)


async def _get(ui, path):
    async with ui.server.get(path) as response:
        return response.status, await response.json()
