"""Waiting for texts."""

import pytest

SHARES_PAGE = True

pytestmark = pytest.mark.spec("B2")


async def test_text_is_found_wherever_it_can_be_seen(act, fails, show, subtests):
    for html, text in [
        ("<p hidden>Saved</p><p>Saved</p>", "Saved"),
        ("<p>a >> b</p>", "a >> b"),
        ("<p>see /x/ there</p>", "/x/"),
        ('<p>He said "no"</p>', '"no"'),
        ("<p>text=Saved</p>", "text=Saved"),
        ("<p>Total: <b>5</b> EUR</p>", "total: 5 eur"),
        ("<iframe srcdoc='<p>Paid</p>'></iframe>", "Paid"),
        ("<iframe srcdoc=\"<iframe srcdoc='<p>Paid</p>'></iframe>\"></iframe>", "Paid"),
    ]:
        with subtests.test(html=html, text=text):
            await show(html)
            await act("browser_wait_for", text=text, timeoutMs=5000)
            assert (await fails("browser_wait_for", textGone=text, timeoutMs=300)).type == "wait_timeout"


@pytest.mark.more
async def test_text_that_cannot_be_seen_is_gone(act, fails, show, subtests):
    for html, text in [
        ("<p hidden>Saved</p>", "Saved"),
        ("<p>xyz</p>", "/x/"),
        ("<div><p>a</p><p>b</p></div>", "div >> p"),
        ("<iframe hidden srcdoc='<p>Paid</p>'></iframe>", "Paid"),
        ("<iframe style='visibility:hidden' srcdoc='<p>Paid</p>'></iframe>", "Paid"),
    ]:
        with subtests.test(html=html, text=text):
            await show(html)
            await act("browser_wait_for", textGone=text, timeoutMs=5000)
            assert (await fails("browser_wait_for", text=text, timeoutMs=300)).type == "wait_timeout"


@pytest.mark.more
async def test_text_is_gone_when_its_last_match_is(act, show, value):
    await show("<p>Loading</p><iframe srcdoc='<p>Loading</p>'></iframe>")
    await act("browser_wait_for", text="Loading")
    await value("document.querySelector('p').hidden = true")
    await value("setTimeout(() => { document.querySelector('iframe').remove(); }, 300), 1")
    await act("browser_wait_for", textGone="Loading")
    assert await value("document.querySelectorAll('iframe').length") == 0


@pytest.mark.more
async def test_wait_in_vain_stops_nothing_in_the_page(fails, show, value):
    await show("<p>Text</p>")
    await value("setInterval(() => { window.ticks = (window.ticks || 0) + 1; }, 10), 1")
    await fails("browser_wait_for", text="Never", timeout=200)
    before = await value("ticks")
    assert await value(f"new Promise(done => setInterval(() => ticks > {before} && done(true), 10))")
