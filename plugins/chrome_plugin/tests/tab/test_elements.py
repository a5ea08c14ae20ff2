"""Which element an action is carried out on."""

import itertools

import pytest

from agentcore.api import ToolError

SHARES_PAGE = True

pytestmark = pytest.mark.spec("B6")

TWO = "<button onclick=\"document.title = 'all'\">Delete all</button><button>Send</button>"


async def test_several_matches_are_listed_and_nothing_is_clicked(act, fails, show, value):
    await show(TWO)
    error = await fails("browser_click", selector="button")
    assert (error.type, error.context["count"]) == ("ambiguous_selector", 2)
    first, second = error.context["matches"]
    assert first.startswith('button "Delete all" [ref=')
    assert await value("document.title") == ""
    ref = second.split("[ref=")[1].rstrip("]")
    clicked = await act("browser_click", selector=ref)
    assert (clicked.data["element"], clicked.blocks()[0].text) == ('button "Send"', 'Clicked button "Send".')


@pytest.mark.more
async def test_no_action_chooses_among_several_matches(fails, show, value, subtests):
    choices = "<select><option>1</select>"
    await show(f"<input id=one aria-label=One><input aria-label=Two>{choices}{choices}")
    for tool, arguments in [
        ("browser_type", {"selector": "input", "text": "x"}),
        ("browser_hover", {"selector": "input"}),
        ("browser_fill_form", {"fields": [{"selector": "input", "value": "x"}]}),
        ("browser_select_option", {"selector": "select", "values": ["1"]}),
        ("browser_drag", {"source": "input", "destination": "body"}),
        ("browser_drag", {"source": "#one", "destination": "input"}),
        ("browser_evaluate", {"selector": "input", "script": "e => e.remove()"}),
        ("browser_file_upload", {"selector": "input", "paths": []}),
    ]:
        with subtests.test(tool=tool, arguments=arguments):
            error = await fails(tool, **arguments)
            assert error.type == "ambiguous_selector"
            assert await value("[...document.querySelectorAll('input')].map(e => e.value)") == ["", ""]


@pytest.mark.more
async def test_tools_by_id_follow_the_same_rule(call, failure, tab, site):
    await call("chrome_navigate", tabId=tab, url=site.url("/"))
    await call(
        "chrome_evaluate",
        tabId=tab,
        script="document.body.innerHTML = '<input hidden><input aria-label=A><i><input aria-label=B></i>'; 1",
    )
    for tool, arguments in (("chrome_click", {}), ("chrome_type", {"text": "x"}), ("chrome_fill", {"text": "y"})):
        assert (await failure(tool, tabId=tab, selector="input", **arguments)).type == "ambiguous_selector"
        assert (await call("chrome_get_text", tabId=tab, selector="[aria-label=A]")).data["text"] == ""
        done = await call(tool, tabId=tab, selector="i input", **arguments)
        assert (done.data["element"], 'textbox "B"' in done.blocks()[0].text) == ('textbox "B"', True)


@pytest.mark.more
async def test_match_that_cannot_be_seen_does_not_count(act, show):
    hidden = ["hidden", "style='visibility:hidden'", "style='width:0;height:0;padding:0;border:0'"]
    await show("".join(f"<button {each}>A</button>" for each in hidden) + "<button>B</button><button hidden>C</button>")
    assert (await act("browser_click", selector="button")).data["element"] == 'button "B"'


@pytest.mark.more
async def test_match_that_appears_in_time_is_used(act, show, value):
    await show("<button hidden>A</button><button hidden>B</button>")
    await value("setTimeout(() => { document.querySelectorAll('button')[1].hidden = false; }, 300), 1")
    assert (await act("browser_click", selector="button")).data["element"] == 'button "B"'


@pytest.mark.more
async def test_matches_that_stay_hidden_say_so(fails, show):
    await show("<button hidden>A</button><button hidden>B</button>")
    error = await fails("browser_click", selector="button", timeoutMs=300)
    assert (error.type, "none of the 2 elements" in str(error)) == ("element_not_actionable", True)


@pytest.mark.more
async def test_tools_that_only_read_accept_several_matches(act, show):
    await show(TWO)
    assert "Delete all" in (await act("browser_get_dom", selector="button")).data["dom"]
    assert "Delete all" in (await act("browser_snapshot", selector="button")).blocks()[0].text
    await act("browser_wait_for", selector="button")
    await show("<p hidden>A</p><p>B</p>")
    await act("browser_wait_for", selector="p")
    assert (await act("browser_screenshot", selector="p", timeoutMs=3000)).data["artifactId"]


ROW = '<li><button onclick="document.title = this.textContent">{}</button></li>'


@pytest.mark.more
async def test_reference_of_an_element_that_became_another_is_stale(act, fails, show, value, ref_of, subtests):
    for shown, found, change in [
        ("<button>Delete draft A</button>", 'button "Delete draft A"', "e.textContent = 'Delete invoice B'"),
        ("<button>Save</button>", 'button "Save"', "e.setAttribute('role', 'switch')"),
        ("<button aria-label=Save>.</button>", 'button "Save"', "e.ariaLabel = 'Delete'"),
        ("<div onclick=1>Open draft A</div>", "clickable", "e.textContent = 'Open invoice B'"),
        ("<input aria-label=Name>", 'textbox "Name"', "e.ariaLabel = 'Password'"),
        ("<a href=#a>Page A</a>", 'link "Page A"', "e.firstChild.data = 'Page B'"),
    ]:
        with subtests.test(shown=shown, found=found, change=change):
            await show(shown)
            ref = await ref_of(found)
            await value(
                f"(e => {{ e.addEventListener('click', () => {{ document.title = 'clicked'; }}); {change}; }})"
                "(document.body.firstElementChild)"
            )
            error = await fails("browser_click", selector=ref)
            assert (error.type, " now" in str(error)) == ("stale_ref", True)
            assert await value("document.title") == ""
            await act("browser_snapshot")
            await act("browser_click", selector=ref)
            assert await value("document.title") == "clicked"


@pytest.mark.more
async def test_reference_of_an_element_that_remains_the_same_stays_good(act, show, value, ref_of, subtests):
    for change in [
        "e.disabled = false",
        "e.after('more')",
        "e.setAttribute('aria-pressed', 'true')",
        "e.title = 'Tip'",
        "e.value = 1",
    ]:
        with subtests.test(change=change):
            await show("<button>Save</button>")
            ref = await ref_of('button "Save"')
            await value(f"(e => {{ {change}; }})(document.querySelector('button'))")
            assert (await act("browser_click", selector=ref)).data["element"] == 'button "Save"'


@pytest.mark.more
async def test_change_that_an_action_reported_makes_no_reference_stale(act, show, ref_of):
    await show("<button onclick=\"this.textContent += '!'\">Like</button>")
    ref = await ref_of('button "Like"')
    await act("browser_click", selector=ref, snapshot=True)
    assert (await act("browser_click", selector=ref)).data["element"] == 'button "Like!"'


@pytest.mark.more
async def test_change_that_was_read_but_not_reported_makes_a_reference_stale(act, fails, show, value, ref_of):
    """The page is read before an action, too."""
    await show("<button>Like</button><p>Text</p>")
    ref = await ref_of('button "Like"', selector="button")
    await value("document.querySelector('button').textContent = 'Block'")
    with pytest.raises(ToolError) as caught:
        await act("browser_click", selector=ref, snapshot=True)
    assert caught.value.type == "stale_ref"


@pytest.mark.more
async def test_hidden_control_is_operated_through_its_label(act, show, value, ref_of, subtests):
    tools = ["click", "fill", "fill by ref"]
    styles = ["style='display:none'", "style='opacity:0;position:absolute'", "hidden"]
    controls = [
        '<label><input type=checkbox {} onchange="document.title = this.checked">Agree</label>',
        '<input type=checkbox id=a {} onchange="document.title = this.checked"><label for=a>Agree</label>',
        '<label><input type=radio name=r {} onchange="document.title = this.checked">Agree</label>',
    ]
    # each way with each of the others once
    for at, nth in itertools.product(range(3), range(3)):
        tool, hidden, control = tools[(at + nth) % 3], styles[at], controls[nth]
        with subtests.test(tool=tool, hidden=hidden, control=control):
            await show(control.format(hidden))
            if tool == "click":
                done = await act("browser_click", selector="input")
                assert '"Agree"' in done.data["element"]
            else:
                selector = "input" if tool == "fill" else await ref_of('"Agree"')
                done = await act("browser_fill_form", fields=[{"selector": selector, "value": True}])
                assert done.data["elements"][0].endswith('"Agree": checked')
            assert await value("document.title") == "true"


@pytest.mark.more
async def test_hidden_file_field_is_given_files(act, show, value, host):
    (host.workspace / "note.txt").write_text("hello")
    await show("<label>Picture <input type=file style='display:none'></label>")
    given = await act("browser_file_upload", selector="input", paths=["note.txt"])
    assert '"Picture"' in given.data["element"]
    assert await value("document.querySelector('input').files[0].name") == "note.txt"


@pytest.mark.more
async def test_click_on_a_point_says_what_was_there(act, show):
    await show("<button style='position:fixed;left:0;top:0;width:200px;height:100px'><b>Send</b></button>")
    assert (await act("browser_click", x=100, y=50)).blocks()[0].text == 'Clicked button "Send" at 100, 50.'


@pytest.mark.more
async def test_what_covers_an_element_is_named(fails, show):
    banner = (
        "<div role=dialog aria-label=Cookies style='position:fixed;inset:0;background:#fff'><p>We use cookies</div>"
    )
    await show(f"<button>Send</button>{banner}")
    error = await fails("browser_click", selector="button", timeoutMs=1000)
    assert 'dialog "Cookies" covers it' in str(error)
    assert 'button "Send"' in str(error)


@pytest.mark.more
async def test_what_disables_an_element_is_named(fails, show):
    await show("<fieldset disabled><legend>Address</legend><button>Send</button></fieldset>")
    error = await fails("browser_click", selector="button", timeoutMs=1000)
    assert 'it is disabled, as group "Address" is' in str(error)


@pytest.mark.more
async def test_endless_animation_is_not_waited_out(act, show):
    await show("<button style='animation: pulse 1s infinite alternate linear'>Go</button>")
    style = "@keyframes pulse { to { transform: scale(1.3) translateX(40px) } }"
    await act(
        "browser_evaluate",
        script=f"document.head.append(Object.assign(document.createElement('style'), {{textContent: {style!r}}}))",
    )
    for tool in ("browser_click", "browser_hover"):
        assert (await act(tool, selector="button")).data["element"] == 'button "Go"'


@pytest.mark.more
async def test_cover_counts_for_what_is_animated_too(fails, show, value):
    await show("<button>Go</button><div style='position:fixed;inset:0;background:#fff'>Wait</div>")
    endless = "{transform: ['none', 'scale(2)']}, {duration: 900, iterations: Infinity}"
    await value(f"document.querySelector('button').animate({endless}), 1")
    error = await fails("browser_click", selector="button", timeoutMs=1000)
    assert (error.type, 'div "Wait" covers it' in str(error)) == ("element_not_actionable", True)


@pytest.mark.more
async def test_action_waits_5_seconds_for_its_element(fails, show):
    await show("<p>Nothing to click</p>")
    error = await fails("browser_click", selector="button")
    assert (error.type, "within 5000 ms" in str(error)) == ("element_not_found", True)


@pytest.mark.more
async def test_reference_in_the_list_of_an_error_is_good(act, fails, show, value):
    """Also where the element had another name when its reference was first reported."""
    await show("<button>A</button><button>B</button>")
    await act("browser_snapshot")
    await value("document.querySelectorAll('button').forEach(one => { one.textContent += '!'; })")
    (first, _) = (await fails("browser_click", selector="button")).context["matches"]
    ref = first.split("[ref=")[1].rstrip("]")
    assert (await act("browser_click", selector=ref)).data["element"] == 'button "A!"'


@pytest.mark.more
async def test_field_that_hides_itself_is_still_reported(act, show):
    await show("<input aria-label=Find oninput='this.hidden = true'><input hidden>")
    typed = await act("browser_type", selector="[aria-label=Find]", text="x")
    assert (typed.data["element"], typed.data["value"]) == ('textbox "Find"', "x")


async def test_models_can_set_the_wait_and_it_is_5_seconds(host):
    for name in ("browser_click", "browser_type", "browser_fill_form", "chrome_click", "chrome_fill"):
        definition = host.host.registry.tools[name].definition
        assert "5,000" in definition.input_schema["properties"]["timeoutMs"]["description"]
        # it is accepted without being described, where models hardly need it
        is_described = name in ("browser_click", "browser_type", "chrome_click", "chrome_fill")
        assert ("timeoutMs" in str(definition.to_openai())) == is_described
