"""The tools of `browser` that read a page as a whole."""

import pytest

pytestmark = pytest.mark.spec("B2")


async def test_snapshot_shows_frames_and_shadow_and_never_passwords(act, site):
    await act("browser_navigate", url=site.url("/frames"))
    text = (await act("browser_snapshot")).blocks()[0].text
    assert 'heading "Outside"' in text
    assert 'textbox "Name"' in text
    assert "hunter2" not in text
    assert "•••" in text
    await act("browser_navigate", url=site.url("/shadow"))
    assert 'button "Inside"' in (await act("browser_snapshot")).blocks()[0].text


@pytest.mark.more
async def test_reference_is_used_as_a_selector_and_stale_after_navigation(act, fails, site):
    await act("browser_navigate", url=site.url("/frames"))
    text = (await act("browser_snapshot", find="Send")).blocks()[0].text
    ref = text.split('button "Send" [ref=')[1].split("]")[0]
    await act("browser_click", selector=ref)
    await act("browser_snapshot", selector="h1")
    await act("browser_click", selector=ref)
    await act("browser_navigate", url=site.url("/form"))
    assert (await fails("browser_click", selector=ref)).type == "stale_ref"


@pytest.mark.more
async def test_snapshots_stay_small(act, site):
    await act("browser_navigate", url=site.url("/rows"))
    rows = (await act("browser_snapshot")).blocks()[0].text
    assert len(rows.encode()) <= 10 * 1024
    assert "Name 99" in rows
    await act("browser_navigate", url=site.url("/many"))
    many = await act("browser_snapshot")
    assert len(many.blocks()[0].text.encode()) < 20_000
    assert many.truncated
    assert "Name 1999" in (await act("browser_snapshot", find="/Name 199\\d/")).blocks()[0].text


@pytest.mark.more
async def test_what_is_found_comes_with_the_rest_of_its_row_or_paragraph(act, site):
    await act("browser_navigate", url=site.url("/rows"))
    row = (await act("browser_snapshot", find="/Name 42 /")).blocks()[0].text
    assert "[url=/second?42]" in row
    link = (await act("browser_snapshot", find="second?42]")).blocks()[0].text
    assert "- row: Name 42 | 294" in link
    assert "Name 43" not in link
    none = (await act("browser_snapshot", find="unicorn")).blocks()[0].text
    assert "None of the 201 lines of this snapshot has that." in none
    await act("browser_navigate", url="about:blank")
    assert "The page shows nothing" in (await act("browser_snapshot")).blocks()[0].text


@pytest.mark.more
async def test_messages_requests_and_pdf(act, site):
    await act("browser_navigate", url=site.url("/log"))
    messages = (await act("browser_console_messages", level="error")).data["messages"]
    assert [one["type"] for one in messages] == ["error", "uncaught"]
    requests = (await act("browser_network_requests")).data["requests"]
    assert (requests[-1]["url"], requests[-1]["status"]) == (site.url("/log"), 200)
    assert (await act("browser_pdf")).data["mime"] == "application/pdf"


@pytest.mark.more
async def test_requests_are_filtered_before_they_are_cut_and_what_is_cut_is_said(act, site, text, value):
    await act("browser_navigate", url=site.url("/"))
    many = "Promise.all(Array.from({{length: {count}}}, (_, n) => {what})).then(() => 1)"
    await value(many.format(count=3, what="fetch(`/second?first${n}`)"))
    pictures = (
        "new Promise(done => Object.assign(new Image(), {onerror: done, onload: done}).src = `/second?picture${n}`)"
    )
    await value(many.format(count=150, what=pictures))
    found = await act("browser_network_requests")
    assert [one["url"][-7:] for one in found.data["requests"][-3:]] == ["?first0", "?first1", "?first2"]
    assert (found.data["leftOut"], found.data["staticLeftOut"]) == (0, 150)
    assert "[150 for pictures" in text(found)
    shown = await act("browser_network_requests", static=True)
    assert len(shown.data["requests"]) == 100
    assert shown.data["leftOut"] >= 54
    assert "earlier requests are left out]" in text(shown)
    await value(many.format(count=120, what="fetch(`/second?later${n}`)"))
    assert (await act("browser_network_requests")).data["requests"][-1]["url"].endswith("?later119")
    await value("fetch('http://127.0.0.1:1/').catch(() => 1)")
    assert (await act("browser_network_requests")).data["requests"][-1]["failure"]
