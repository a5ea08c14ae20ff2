"""The tools of `chrome`, in a real browser."""

import asyncio
import json
import time

import pytest

pytestmark = pytest.mark.spec("B1")


@pytest.fixture
def put(call, tab, site):
    """Show a page with some HTML in the tab."""

    async def run(html):
        await call("chrome_navigate", tabId=tab, url=site.url("/"))
        script = f"document.title = ''; document.body.innerHTML = {json.dumps(html)}; 1"
        await call("chrome_evaluate", tabId=tab, script=script)

    return run


async def test_navigation_tells_where_it_got_to(call, tab, site):
    result = await call("chrome_navigate", tabId=tab, url=site.url("/redirect"))
    assert result.data["url"] == site.url("/second")
    assert (result.data["status"], result.data["title"], result.data["loadState"]) == (200, "Second", "load")
    assert result.untrusted


@pytest.mark.more
async def test_page_is_clicked_filled_typed_and_read(call, tab, site):
    await call("chrome_navigate", tabId=tab, url=site.url("/form"))
    await call("chrome_fill", tabId=tab, selector="[name=name]", text="new")
    await call("chrome_type", tabId=tab, selector="[name=name]", text="er")
    await call("chrome_click", tabId=tab, selector="text=Send")
    assert "name=newer" in (await call("chrome_get_text", tabId=tab, selector="#out")).data["text"]


@pytest.mark.more
async def test_values_of_password_fields_are_not_in_html(call, tab, site):
    await call("chrome_navigate", tabId=tab, url=site.url("/form"))
    html = (await call("chrome_get_content", tabId=tab)).data["html"]
    assert "hunter2" not in html
    assert 'name="secret"' in html


@pytest.mark.more
async def test_scripts_of_any_form_give_their_value(call, tab, site, subtests):
    for script, value in [
        ("1 + 1", 2),
        ("() => document.title", "Home"),
        ("async () => ({a: [1, null]})", {"a": [1, None]}),
        ("const a = 2; a * 21", 42),
        ("const a = 2; return a * 3", 6),
        ("await new Promise(done => setTimeout(() => done('later'), 1))", "later"),
        ("undefined", None),
        ("document.querySelector('#intro')", '<p id="intro">Welcome</p>'),
        ("NaN", "NaN"),
    ]:
        with subtests.test(script=script, value=value):
            await call("chrome_navigate", tabId=tab, url=site.url("/"))
            assert (await call("chrome_evaluate", tabId=tab, script=script)).data["value"] == value


async def test_long_values_are_cut_in_the_page(call, tab):
    result = await call("chrome_evaluate", tabId=tab, script="'x'.repeat(10_000_000)")
    assert result.truncated
    assert result.data["length"] == 10_000_002
    assert len(result.data["cutText"]) < 300_000


async def test_script_that_fails_is_told_with_its_stack(failure, tab):
    error = await failure("chrome_evaluate", tabId=tab, script="() => { throw new TypeError('no good') }")
    assert error.type == "evaluation_error"
    assert "no good" in error.message
    assert "at" in error.context["stack"]
    assert error.untrusted


@pytest.mark.more
@pytest.mark.parametrize("timeout_ms", [1, 20, 500])
async def test_script_that_never_ends_is_stopped_and_the_tab_goes_on(timeout_ms, call, failure, tab):
    error = await failure("chrome_evaluate", tabId=tab, script="while (true);", timeoutMs=timeout_ms)
    assert error.type == "timeout", error.message
    assert (await call("chrome_evaluate", tabId=tab, script="1")).data["value"] == 1


async def test_promise_that_never_settles_ends_at_the_limit_and_the_tab_goes_on(call, failure, tab):
    error = await failure("chrome_evaluate", tabId=tab, script="new Promise(() => {})", timeoutMs=300)
    assert error.type == "timeout"
    assert (await call("chrome_evaluate", tabId=tab, script="1")).data["value"] == 1


@pytest.mark.more
async def test_page_that_loops_can_be_closed(call, tab, site, failure):
    await call("chrome_navigate", tabId=tab, url=site.url("/loop"))
    error = await failure("chrome_click", tabId=tab, selector="button", timeoutMs=500)
    assert error.type == "element_not_actionable"
    await call("chrome_close_tab", tabId=tab)
    assert (await failure("chrome_get_url", tabId=tab)).type == "tab_not_found"


@pytest.mark.more
async def test_screenshots_are_pictures_of_the_page_and_of_elements(call, tab, site):
    await call("chrome_navigate", tabId=tab, url=site.url("/rows"))
    window = (await call("chrome_screenshot", tabId=tab)).blocks()[0]
    whole = (await call("chrome_screenshot", tabId=tab, fullPage=True, format="jpeg")).blocks()[0]
    kept = await call("chrome_screenshot", tabId=tab, selector="td", inline=False)
    assert (window.data[:4], whole.data[:2]) == (b"\x89PNG", b"\xff\xd8")
    assert kept.data["artifactId"]


@pytest.mark.more
async def test_waiting_ends_when_it_is_so(call, tab, site, failure):
    await call("chrome_navigate", tabId=tab, url=site.url("/form"))
    await call("chrome_evaluate", tabId=tab, script="setTimeout(() => late.hidden = false, 50)")
    await call("chrome_wait_for", tabId=tab, selector="#late")
    await call("chrome_wait_for", tabId=tab, condition="document.readyState === 'complete'")
    await call("chrome_wait_for", tabId=tab, url="**/form")
    await call("chrome_wait_for", tabId=tab, url="/form")
    await call("chrome_wait_for", tabId=tab, loadState="load")
    error = await failure("chrome_wait_for", tabId=tab, selector="#nowhere", timeoutMs=100)
    assert (error.type, error.context["selector"]) == ("wait_timeout", "#nowhere")
    assert (await failure("chrome_wait_for", tabId=tab)).type == "invalid_arguments"


@pytest.mark.more
async def test_element_that_cannot_be_clicked_says_why(call, failure, tab, site, subtests):
    for selector, expected in [
        ("#nowhere", "element_not_found"),
        ("#off", "element_not_actionable"),
        ("#under", "element_not_actionable"),
        ("p[", "invalid_arguments"),
    ]:
        with subtests.test(selector=selector, expected=expected):
            await call("chrome_navigate", tabId=tab, url=site.url("/form"))
            error = await failure("chrome_click", tabId=tab, selector=selector, timeoutMs=400)
            assert error.type == expected
            assert error.context["selector"] == selector


@pytest.mark.spec("S6")
async def test_addresses_that_the_policy_forbids_are_refused(failure, tab, subtests):
    for url in [
        "file:///etc/passwd",
        "chrome://version",
        "javascript:alert(1)",
        "http://blocked.test/",
        "data:text/html,x",
    ]:
        with subtests.test(url=url):
            assert (await failure("chrome_navigate", tabId=tab, url=url)).type == "url_blocked"


@pytest.mark.more
@pytest.mark.parametrize("way", ["#link", "#redirect"])
@pytest.mark.spec("S6")
async def test_links_and_redirects_do_not_lead_around_the_policy(call, failure, tab, site, way):
    await call("chrome_navigate", tabId=tab, url=site.url("/to-blocked"))
    assert (await failure("chrome_click", tabId=tab, selector=way)).type == "url_blocked"


@pytest.mark.more
@pytest.mark.spec("S6")
async def test_redirect_of_an_address_does_not_lead_around_the_policy(call, failure, tab, site):
    error = await failure("chrome_navigate", tabId=tab, url=site.url("/redirect-blocked"))
    assert error.type == "url_blocked"
    assert (await call("chrome_navigate", tabId=tab, url=site.url("/second"))).data["title"] == "Second"


@pytest.mark.more
async def test_failed_navigation_is_an_error_and_a_page_that_has_begun_is_none(failure, call, tab, site):
    refused = await failure("chrome_navigate", tabId=tab, url="http://127.0.0.1:9/")
    assert refused.type == "navigation_failed"
    assert refused.context["netError"].startswith("net::ERR_")
    half = await call("chrome_navigate", tabId=tab, url=site.url("/never"), timeoutMs=400)
    assert half.data["loadState"] == "loading"
    assert (await call("chrome_get_text", tabId=tab, selector="h1")).data["text"] == "Half"


async def test_dialogs_hold_nothing_up(call, tab, site):
    await call("chrome_navigate", tabId=tab, url=site.url("/dialogs"))
    result = await call("chrome_click", tabId=tab, selector="#confirm")
    assert result.data["dialogs"] == [{"type": "confirm", "message": "Sure?", "outcome": "dismissed"}]
    assert (await call("chrome_get_text", tabId=tab, selector="#out")).data["text"] == "confirm false"


async def test_popups_become_tabs(call, tab, site, browser_id):
    await call("chrome_navigate", tabId=tab, url=site.url("/popups"))
    await call("chrome_click", tabId=tab, selector="#blank")
    async with asyncio.timeout(30):  # the browser opens it after the click, and it is blank until its address answers
        while True:
            tabs = (await call("chrome_list_tabs", browserId=browser_id)).data["tabs"]
            if [one for one in tabs if one["url"] == site.url("/second")]:
                break
            await asyncio.sleep(0.05)
    assert len([one for one in tabs if one["url"] == site.url("/second")]) == 1


async def test_unknown_ids_are_named(failure):
    assert (await failure("chrome_close", browserId="b999")).type == "instance_not_found"
    error = await failure("chrome_get_url", tabId="t999")
    assert (error.type, error.context) == ("tab_not_found", {"tabId": "t999"})


async def test_list_shows_browsers_with_tabs_process_and_memory(call, browser_id, tab):
    browsers = (await call("chrome_list")).data["browsers"]
    own = next(browser for browser in browsers if browser["browserId"] == browser_id)
    assert own["pid"] > 1
    assert own["memoryBytes"] > 10_000_000
    assert tab in [one["tabId"] for one in own["tabs"]]


async def test_download_is_kept_as_an_artifact(call, tab, site, host):
    result = await call("chrome_navigate", tabId=tab, url=site.url("/download"))
    assert result.data["downloads"][0]["name"] == "data.csv"
    assert result.data["downloads"][0]["sizeBytes"] == 500


@pytest.mark.more
async def test_option_is_chosen_by_its_label_and_named(call, failure, tab, text, put):
    await put("<select aria-label=Number><option value=2>1<option value=3>2<option value=4>3</select>")
    chosen = await call("chrome_fill", tabId=tab, selector="select", text="2")
    assert text(chosen) == "Filled combobox \"Number\": '2'."
    assert (await call("chrome_evaluate", tabId=tab, script="document.querySelector('select').value")).data[
        "value"
    ] == "3"
    unknown = await failure("chrome_fill", tabId=tab, selector="select", text="9")
    assert (unknown.type, unknown.context["options"]) == ("value_rejected", ["1", "2", "3"])


@pytest.mark.more
async def test_box_is_checked_by_true_and_unchecked_by_false(call, tab, text, put):
    await put("<label><input type=checkbox hidden>Terms</label>")
    for value, became in (("true", "checked"), ("false", "not checked")):
        assert f": {became}." in text(await call("chrome_fill", tabId=tab, selector="input", text=value))
        checked = await call("chrome_evaluate", tabId=tab, script="document.querySelector('input').checked")
        assert checked.data["value"] is (value == "true")


@pytest.mark.more
async def test_advice_names_tools_that_work_by_id(call, failure, tab, put, text, subtests):
    """A tab of these tools is out of reach for those of `browser`."""
    await put(
        "<select aria-label=S><option>1</select><input type=checkbox><input type=file><h1>Head</h1>"
        "<button onclick='showOpenFilePicker()'>Pick</button>"
    )
    for tool, selector, said in (
        ("chrome_type", "select", "chrome_fill chooses an option by its label"),
        ("chrome_type", "[type=checkbox]", "give true or false to chrome_fill"),
        ("chrome_fill", "[type=file]", "open the page with browser_navigate"),
        ("chrome_type", "h1", "it takes no text; name the field itself"),
        ("chrome_click", "e99", "use a CSS selector"),
    ):
        with subtests.test(tool=tool, selector=selector):
            arguments = {} if tool == "chrome_click" else {"text": "x"}
            assert said in (await failure(tool, tabId=tab, selector=selector, timeoutMs=1000, **arguments)).message
    shown = text(await call("chrome_click", tabId=tab, selector="button"))
    async with asyncio.timeout(30):  # it is reported with the first result after the page has asked
        while "The page asks for one file: no tool gives files by `tabId`" not in shown:
            shown = text(await call("chrome_get_url", tabId=tab))


@pytest.mark.more
async def test_reference_of_an_ambiguous_match_is_good_until_its_element_becomes_another(call, failure, tab, put):
    await put("<button>Delete draft A</button><button>Send</button>")
    error = await failure("chrome_click", tabId=tab, selector="button")
    ref = error.context["matches"][0].rpartition("ref=")[2].rstrip("]")
    script = (
        "onclick = () => document.title = 'clicked'; document.querySelector('button').textContent = 'Delete invoice B'"
    )
    await call("chrome_evaluate", tabId=tab, script=script)
    stale = await failure("chrome_click", tabId=tab, selector=ref)
    assert (stale.type, "name the element by a CSS selector" in stale.message) == ("stale_ref", True)
    assert (await call("chrome_get_url", tabId=tab)).data["title"] == ""


@pytest.mark.more
async def test_hidden_match_does_not_count_for_waiting(call, failure, tab, put):
    await put("<p hidden>Saved</p><p>Saved</p>")
    await call("chrome_wait_for", tabId=tab, selector="text=Saved", timeoutMs=1000)
    error = await failure("chrome_wait_for", tabId=tab, selector="text=Saved", state="hidden", timeoutMs=300)
    assert error.type == "wait_timeout"


@pytest.mark.more
async def test_button_that_pulses_is_clicked_and_what_covers_one_is_named_within_5_seconds(call, failure, tab, put):
    await put(
        "<style>@keyframes pulse { 50% { transform: scale(1.2) } }</style>"
        "<button style='animation: pulse 1s infinite'>Go</button>"
        "<p style='position: relative'><a href=#>Under</a><b style='position: absolute; inset: 0'>Cookies</b></p>"
    )
    await call("chrome_click", tabId=tab, selector="button")
    began = time.monotonic()
    error = await failure("chrome_click", tabId=tab, selector="a")
    assert (error.type, "Cookies" in error.message) == ("element_not_actionable", True)
    assert time.monotonic() - began < 8


@pytest.mark.more
async def test_any_character_is_typed_and_nothing_into_what_takes_no_text(call, failure, tab, put):
    await put("<h1>Head</h1><input aria-label=Field>")
    await call("chrome_evaluate", tabId=tab, script="onkeydown = () => document.title += 'key'; 1")
    assert (await failure("chrome_type", tabId=tab, selector="h1", text="Hello")).type == "element_not_actionable"
    assert (await call("chrome_get_url", tabId=tab)).data["title"] == ""
    await call("chrome_type", tabId=tab, selector="input", text="ß日é")
    assert (await call("chrome_evaluate", tabId=tab, script="document.querySelector('input').value")).data[
        "value"
    ] == "ß日é"
