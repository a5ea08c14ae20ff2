"""What is told after an action: what it set going has ended, and only what changed is told."""

import re

import pytest

from agentcore.api.tool_context import Principal

SHARES_PAGE = True

pytestmark = pytest.mark.spec("B7")


@pytest.fixture
def click(act, site):
    """Open the page, look at it, click something as a model does; the result's text and data."""

    async def run(selector):
        await act("browser_navigate", url=site.url("/sets-going"))
        await act("browser_snapshot")
        result = await act("browser_click", selector=selector, snapshot=True)
        return result.blocks()[0].text, result.data

    return run


async def test_answer_to_a_request_is_waited_for(click):
    text, _ = await click("#fetch")
    assert "~ - paragraph: Answered" in text


@pytest.mark.more
async def test_nothing_is_told_where_nothing_changed(click):
    assert (await click("#out"))[0].endswith("\nNothing changed.")


@pytest.mark.more
async def test_new_address_and_title_of_the_same_document_are_told_alone(click, site):
    _, data = await click("#move")
    assert data["changes"][:2] == [f"~ url: {site.url('/sets-going?moved')}", "~ title: Moved"]
    assert all("paragraph" not in line for line in data["changes"])


@pytest.mark.more
async def test_another_page_is_told_as_a_whole(click, site):
    text, data = await click("#away")
    assert f"The page now, {site.url('/second')} – Second:" in text
    assert any("Second page" in line for line in data["changes"])


@pytest.mark.more
async def test_errors_in_the_console_are_told(click):
    text, data = await click("#fail")
    assert "Error in the console: went wrong" in text
    assert any("undefinedName" in error for error in data["consoleErrors"])


@pytest.mark.more
async def test_page_that_opened_apart_is_told(click, act, site):
    text, data = await click("#apart")
    while "popups" not in data:  # on a busy machine it opens after the click has been answered
        result = await act("browser_wait_for", condition="true")
        text, data = result.blocks()[0].text, result.data
    assert [popup["url"] for popup in data["popups"]] == [site.url("/second")]
    assert "The page opened another" in text


@pytest.mark.more
async def test_elements_that_were_made_anew_are_told_by_their_new_references(click):
    _, data = await click("#again")
    assert any(line.startswith('~ - button "Take" [ref=') and "(was e" in line for line in data["changes"])
    assert not any("One" in line for line in data["changes"])


@pytest.mark.more
async def test_models_are_told_what_changed_unless_they_say_no(host, site):
    model = Principal("chat", "told")
    host.answer_approvals(approve=True)

    async def call(tool, **arguments):
        return (await host.outcome(tool, arguments, principal=model, session_id="told")).unwrap().data

    await call("browser_navigate", url=site.url("/sets-going"))
    assert "changes" in await call("browser_click", selector="#idle")
    assert "changes" not in await call("browser_click", selector="#idle", snapshot=False)


@pytest.mark.more
async def test_dialog_that_opens_later_is_told_and_then_what_its_answer_changed(host, act, site):
    model = Principal("chat", "asked")
    host.answer_approvals(approve=True)

    async def call(tool, **arguments):
        return (await host.outcome(tool, arguments, principal=model, session_id="asked")).unwrap()

    await call("browser_navigate", url=site.url("/sets-going"))
    await call("browser_snapshot")
    asked = await call("browser_click", selector="#later")
    assert asked.data["dialog"]["message"] == "Sure?"
    answered = await call("browser_handle_dialog", accept=True)
    assert answered.data["dialog"]["outcome"] == "accepted"
    assert "~ - paragraph: Sure true" in answered.blocks()[0].text


@pytest.fixture
def as_model(host):
    """Call a tool as a model does; the result's text."""
    host.answer_approvals(approve=True)

    async def run(tool, **arguments):
        outcome = await host.outcome(tool, arguments, principal=Principal("chat", "brief"), session_id="brief")
        return outcome.unwrap().blocks()[0].text

    return run


@pytest.mark.more
async def test_script_tells_what_it_changed_beside_its_value_and_nothing_where_nothing_did(as_model, site):
    await as_model("browser_navigate", url=site.url("/sets-going"))
    assert await as_model("browser_evaluate", script="1 + 1") == "2"
    changed = await as_model("browser_evaluate", script="out.textContent = 'After', idle.disabled = true, 7")
    assert re.fullmatch(
        r"7\nWhat changed .*:\n~ - paragraph: After\n~ - button \"Idle\" \[ref=e\d+\] \[disabled\]", changed
    )
    assert await as_model("browser_evaluate", script="x => x.localName", selector="#out") == "p"
    long = await as_model("browser_evaluate", script="list.innerHTML = '<li>More'.repeat(900), 7")
    assert long.startswith("7\nWhat changed")
    assert len(long) < 2_500
    assert re.search(r"\n\[\d+ more lines; browser_snapshot shows the page\]$", long)
    assert "Error in the console: went" in await as_model("browser_evaluate", script="console.error('went'), 1")
    gone = await as_model("browser_evaluate", script="setTimeout(() => { location.href = '/second' }), 'left'")
    assert gone.startswith(f"left\nThe page now, {site.url('/second')} – Second:\n")


@pytest.mark.more
async def test_dialog_that_a_script_leads_to_is_told_beside_its_value(as_model, site):
    await as_model("browser_navigate", url=site.url("/sets-going"))
    told = await as_model("browser_evaluate", script="later.click(), 'clicked'")
    assert told.startswith("clicked\nA dialog is open")
    assert "Sure true" in await as_model("browser_handle_dialog", accept=True)


@pytest.mark.more
async def test_scrolling_tells_the_rows_that_it_made_and_where_a_text_is(as_model, site):
    await as_model("browser_navigate", url=site.url("/grid"))
    assert "+ - row: Name of 100" in await as_model("browser_scroll", selector="#grid", amount=3000)
    end = await as_model("browser_scroll", selector="#log", direction="to_bottom")
    assert "changed" not in end
    wide = "rows.dataset.wide = 'x'.repeat(300)"
    await as_model("browser_evaluate", script=wide)
    told = await as_model("browser_scroll", selector="#grid", text="Name of 200")
    assert re.search(r"is in view\.\nWhere it is:\n(?:.*\n)*.*row: Name of 200", told)


@pytest.mark.more
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("browser_launch", {"new_page": True}), ("browser_tabs", {"action": "new"})],
    ids=str,
)
async def test_page_that_a_model_opens_at_an_address_is_told(as_model, site, tool, arguments):
    told = await as_model(tool, **arguments, url=site.url("/second"))
    assert f"The page now, {site.url('/second')} – Second:" in told
