"""Questions to the person in the middle of a call: where they are asked, and who may answer."""

import asyncio

import pytest

from tests.extension.serving import LIMIT_S
from tests.extension.sharing import fill

QUESTIONS = "() => import('/worker/api.js').then(({panelQuestions}) => panelQuestions())"
ANSWER = "([id, isAllowed]) => import('/worker/api.js').then(({answerQuestion}) => answerQuestion(id, isAllowed))"


@pytest.fixture
def password_field(shared, site):
    site.show("/", "<!doctype html><title>Log in</title><label>Password <input id=search type=password></label>")


async def open_panel(shared):
    """The panel beside the shared tab, once it shows questions."""
    panel = await shared.extension.open_side_panel(shared.page)
    await panel.evaluate("import('/worker/api.js').then(({onQuestions}) => { onQuestions(() => {}); })")
    await panel.evaluate("chrome.windows.getCurrent().then(() => 0)")  # by then it knows its window
    return panel


async def asked(extension):
    """The question that is to be shown in a panel."""
    async with asyncio.timeout(LIMIT_S):
        while not (found := await extension.run(QUESTIONS)):
            await asyncio.sleep(0.02)
    return found[0]


@pytest.mark.usefixtures("password_field")
@pytest.mark.parametrize("is_allowed", [True, False])
async def test_password_is_filled_only_after_the_person_has_said_so_in_the_panel(shared, is_allowed):
    await shared.page.reload()
    panel = await open_panel(shared)
    async with asyncio.TaskGroup() as group:
        call = group.create_task(shared.call(fill("correct horse")))
        question = await asked(shared.extension)
        assert (question["kind"], question["label"]) == ("password", "Password")
        assert shared.page.url.startswith(question["origin"])
        assert "correct horse" not in str(await shared.extension.stored())
        await shared.extension.run(ANSWER, [question["id"], is_allowed])
    answer = call.result()
    assert answer["data"]["success"] is is_allowed
    assert await shared.page.locator("#search").input_value() == ("correct horse" if is_allowed else "")
    assert "correct horse" not in str(answer)
    assert await shared.extension.run(QUESTIONS) == []
    await panel.close()


@pytest.mark.usefixtures("password_field")
async def test_without_a_panel_a_window_asks_and_closing_it_is_a_no(shared):
    await shared.page.reload()
    async with asyncio.TaskGroup() as group, shared.extension.context.expect_page() as opening:
        call = group.create_task(shared.call(fill("correct horse")))
        window = await opening.value
        (question,) = (await shared.extension.stored())["questions"]
        assert question["where"] == "window"
        assert await shared.extension.run(QUESTIONS) == []
        await window.close()
    assert call.result()["data"]["success"] is False
    assert await shared.page.locator("#search").input_value() == ""


@pytest.mark.usefixtures("password_field")
async def test_question_is_withdrawn_when_the_call_is_cancelled(shared):
    await shared.page.reload()
    panel = await open_panel(shared)
    call = asyncio.create_task(shared.call(fill("correct horse")))
    await asked(shared.extension)
    await shared.server.ask("POST", "/api/stop", {})
    assert (await call)["ok"] is False
    async with asyncio.timeout(LIMIT_S):
        while await shared.extension.run(QUESTIONS):
            await asyncio.sleep(0.02)
    assert await shared.page.locator("#search").input_value() == ""
    await panel.close()
