"""The tools of `browser` for the session's pages and their dialogs."""

import pytest

pytestmark = pytest.mark.spec("B2")


async def test_dialog_waits_for_its_answer_and_holds_nothing_up(act, site):
    await act("browser_navigate", url=site.url("/dialogs"))
    opened = await act("browser_click", selector="#prompt")
    assert opened.data["dialog"] == {"type": "prompt", "message": "Name?", "outcome": "open"}
    await act("browser_handle_dialog", accept=True, text="Ada")
    assert "prompt Ada" in (await act("browser_get_dom", selector="#out")).data["dom"]
    await act("browser_handle_dialog", accept=True, next=True)
    await act("browser_click", selector="#confirm")
    assert "confirm true" in (await act("browser_get_dom", selector="#out")).data["dom"]
    await act("browser_click", selector="#alert")
    dismissed = await act("browser_hover", selector="#alert")
    assert dismissed.data["dialogs"][0]["outcome"] == "dismissed"


async def test_dialog_of_an_own_script_is_answered_and_then_gone(act, fails, site):
    """Chrome DevTools MCP was reported to refuse all further calls after a script that opened a dialog."""
    await act("browser_navigate", url=site.url("/"))
    for script, answer in (("alert('a')", None), ("document.title = confirm('b')", "true"), ("prompt('c')", None)):
        opened = await act("browser_evaluate", script=script)
        assert opened.data["dialog"]["outcome"] == "open"
        await act("browser_handle_dialog", accept=True)
        assert (await fails("browser_handle_dialog", accept=True)).type == "no_dialog"
        title = (await act("browser_evaluate", script="document.title")).data["value"]
        assert answer is None or title == answer
    await act("browser_click", selector="text=Second")
    assert (await act("browser_get_state")).data["url"].endswith("/second")


@pytest.mark.more
@pytest.mark.parametrize(
    "look",
    [
        ("browser_snapshot", {}),
        ("browser_screenshot", {}),
        ("browser_get_state", {}),
        ("browser_get_dom", {}),
        ("browser_console_messages", {}),
        ("browser_wait_for", {"selector": "#out"}),
        ("browser_tabs", {"action": "list"}),
    ],
    ids=lambda look: look[0],
)
async def test_look_leaves_a_dialog_open(act, site, look):
    tool, arguments = look
    await act("browser_navigate", url=site.url("/dialogs"))
    await act("browser_click", selector="#confirm")
    shown = await act(tool, **arguments)
    if tool != "browser_tabs":
        assert shown.data["dialog"] == {"type": "confirm", "message": "Sure?", "outcome": "open"}
    await act("browser_handle_dialog", accept=True)
    assert "confirm true" in (await act("browser_get_dom", selector="#out")).data["dom"]


@pytest.mark.more
async def test_answer_without_a_dialog_prepares_nothing(act, fails, site):
    await act("browser_navigate", url=site.url("/dialogs"))
    error = await fails("browser_handle_dialog", accept=True)
    assert (error.type, "next" in error.message) == ("no_dialog", True)
    assert (await act("browser_click", selector="#confirm")).data["dialog"]["outcome"] == "open"


@pytest.mark.more
async def test_storm_of_dialogs_and_refusal_to_unload_end_within_their_limit(act, site, host, session):
    await act("browser_navigate", url=site.url("/dialogs"))
    await act("browser_click", selector="#stay")
    assert (await act("browser_navigate", url=site.url("/"))).data["title"] == "Home"
    await act("browser_navigate", url=site.url("/dialogs"))
    await act("browser_click", selector="#storm")
    outcome = await host.outcome("browser_evaluate", {"script": "1", "timeoutMs": 500}, session_id=session)
    assert outcome.error is None or outcome.error.type == "timeout"
    assert (await act("browser_tabs", action="close")).data["resourceId"]


@pytest.mark.more
async def test_twenty_popups_become_pages_of_the_session(act, site, host, session):
    await act("browser_navigate", url=site.url("/popups"))
    await act("browser_click", selector="#many")
    for _ in range(100):
        pages = (await act("browser_tabs", action="list")).data["pages"]
        if len(pages) == 21:
            break
        await act("browser_wait_for", condition="new Promise(done => setTimeout(() => done(true), 100))")
    assert len(pages) == 21
    told = await act("browser_get_dom", resourceId=f"browser_{session}_0")
    assert told.data["resourceId"] == f"browser_{session}_0"
    for page in pages:
        await act("browser_tabs", action="close", resourceId=page["resourceId"])


async def test_models_are_told_short_ids_and_programs_whole_ones(act, host, site, session, text):
    opened = await act("browser_tabs", action="new", url=site.url("/second"))
    page = opened.data["resourceId"]
    short = f"browser_{page.rpartition('_')[2]}"
    assert f"Opened page {page}:" in text(opened)
    listed = text(await host.told("browser_tabs", action="list", resourceId=page))
    assert f"{short}: {site.url('/second')}" in listed
    assert page not in listed
    picture = await host.told("browser_screenshot", resourceId=page)
    assert f"{short}.png" in text(picture)
    closed = text(await host.told("browser_tabs", action="close", resourceId=page))
    assert closed == f"Closed page {short}."
