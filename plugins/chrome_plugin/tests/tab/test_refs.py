"""References of snapshots: one element each, for as long as it lives."""

import re

import pytest

from agentcore.api import ToolError

SHARES_PAGE = True

pytestmark = pytest.mark.spec("B6")


async def test_reference_stays_when_name_and_role_of_the_element_change(act, ref_of, site):
    await act("browser_navigate", url=site.url("/changing"))
    ref = await ref_of('button "Play"')
    await act("browser_click", selector=ref)
    assert await ref_of('switch "Pause"') == ref
    assert (await act("browser_evaluate", selector=ref, script="element => element.id")).data["value"] == "b"


@pytest.mark.more
async def test_reference_in_a_frame_stays_when_the_name_changes(act, ref_of, site):
    await act("browser_navigate", url=site.url("/changing"))
    ref = await ref_of('button "Count"')
    await act("browser_click", selector=ref)
    assert await ref_of('button "Count1"') == ref
    await act("browser_click", selector=ref)
    assert await ref_of('button "Count11"') == ref


@pytest.mark.more
async def test_what_changed_is_told_with_the_same_reference(act, ref_of, site):
    await act("browser_navigate", url=site.url("/changing"))
    ref = await ref_of('button "Play"')
    changes = (await act("browser_click", selector=ref, snapshot=True)).data["changes"]
    assert any(line.startswith('~ - switch "Pause"') and f"[ref={ref}]" in line for line in changes)


@pytest.mark.more
async def test_element_that_is_hidden_keeps_its_reference(act, ref_of, site):
    await act("browser_navigate", url=site.url("/changing"))
    other = await ref_of('button "Other"')
    await act("browser_click", selector=await ref_of('button "Play"'))
    with pytest.raises(ToolError) as caught:
        await act("browser_click", selector=other, timeoutMs=300)
    assert caught.value.type == "element_not_actionable"
    await act("browser_evaluate", script="document.getElementById('other').hidden = false")
    assert await ref_of('button "Other"') == other


@pytest.mark.more
@pytest.mark.parametrize("leaving", ["new document", "element taken out", "frame taken out"])
async def test_reference_of_an_element_that_is_gone_is_stale_and_never_given_again(act, ref_of, site, leaving):
    await act("browser_navigate", url=site.url("/changing"))
    ref = await ref_of('button "Count"' if leaving == "frame taken out" else 'button "Other"')
    if leaving == "new document":
        await act("browser_reload")
    else:
        what = "iframe" if leaving == "frame taken out" else "#other"
        await act("browser_evaluate", script=f"document.querySelector('{what}').remove()")
    with pytest.raises(ToolError) as caught:
        await act("browser_click", selector=ref)
    assert (caught.value.type, caught.value.context) == ("stale_ref", {"ref": ref})
    text = (await act("browser_snapshot")).blocks()[0].text
    assert f"[ref={ref}]" not in text
    assert "[ref=" in text


@pytest.mark.more
async def test_stale_reference_says_what_it_was_and_what_is_like_it(act, ref_of, site):
    await act("browser_navigate", url=site.url("/changing"))
    ref = await ref_of('button "Other"')
    await act("browser_evaluate", script="const made = other.cloneNode(true); other.replaceWith(made); 0")
    made = await ref_of('button "Other"')
    assert made != ref
    with pytest.raises(ToolError) as caught:
        await act("browser_click", selector=ref)
    assert f"'{ref}' was button \"Other\"" in str(caught.value)
    assert f"'{made}' is like it" in str(caught.value)


@pytest.mark.more
async def test_stale_reference_takes_no_other_of_the_same_name_for_the_one_that_was_meant(act, fails, ref_of, site):
    await act("browser_navigate", url=site.url("/redrawn"))
    ref = await ref_of("Bob\n - button")
    await act("browser_click", selector="button >> nth=0")
    error = await fails("browser_click", selector=ref)
    assert error.type == "stale_ref"
    assert "2 are called like it now" in str(error)
    text = (await act("browser_snapshot")).blocks()[0].text
    for now in re.findall(r'button "Delete" \[ref=(\w+)\]', text):
        assert repr(now) in str(error)


@pytest.mark.more
async def test_stale_reference_gives_a_selector_that_finds_what_the_page_makes_anew(act, fails, ref_of, site):
    await act("browser_navigate", url=site.url("/redrawn"))
    ref = await ref_of("Ann\n - button")
    await act("browser_evaluate", script="names = ['Ann']; draw(), 0")
    selector = re.search(r"use '(.+)'$", str(await fails("browser_click", selector=ref)))[1]
    await act("browser_click", selector=selector)
    assert (await act("browser_evaluate", script="document.title")).data["value"] == "clicked"


@pytest.mark.more
async def test_reference_of_one_page_means_nothing_in_another(act, ref_of, site):
    await act("browser_navigate", url=site.url("/changing"))
    ref = await ref_of('button "Play"')
    second = (await act("browser_tabs", action="new", url=site.url("/changing"))).data["resourceId"]
    await act("browser_snapshot", resourceId=second)
    with pytest.raises(ToolError) as caught:
        await act("browser_click", selector=ref, resourceId=second)
    assert caught.value.type == "stale_ref"


@pytest.mark.more
async def test_page_cannot_see_or_change_references(act, ref_of, site):
    await act("browser_navigate", url=site.url("/changing"))
    ref = await ref_of('button "Play"')
    seen = (await act("browser_evaluate", script="[typeof __agentcoreRefs, typeof getEventListeners]")).data["value"]
    assert seen == ["undefined", "undefined"]
    assert await ref_of('button "Play"') == ref


@pytest.mark.more
async def test_reference_is_stale_after_a_click_has_led_to_another_page(act, fails, ref_of, show, value):
    """Agent-browser was reported to answer such a click with "Done" and to do nothing."""
    await show("<button onclick=\"document.title = 'clicked'\">Delete</button><a href=/titled>Next</a>")
    ref = await ref_of('button "Delete"')
    await act("browser_click", selector="text=Next")
    await act("browser_evaluate", script="document.body.innerHTML = '<button>Delete</button>'; 1")
    assert (await fails("browser_click", selector=ref)).type == "stale_ref"
    assert await value("document.title") == "Loaded"
