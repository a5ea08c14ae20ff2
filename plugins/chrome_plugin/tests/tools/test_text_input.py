"""Text on its way into a page: what is typed, inserted at once, refused; and what is said of it."""

import itertools

import pytest
import pytest_asyncio

SHARES_PAGE = True

pytestmark = pytest.mark.spec("B2")

CODE = "def f(x):\n    if x:\n        return 1\n    return 2\n"


@pytest_asyncio.fixture(loop_scope="session")
async def fields(act, site):
    """A page with all sorts of fields is open; gives what one holds."""
    await act("browser_navigate", url=site.url("/fields"))

    async def held(selector):
        script = f"(e => e.value ?? e.innerText.replaceAll('\\u00a0', ' '))(document.querySelector({selector!r}))"
        return (await act("browser_evaluate", script=script)).data["value"]

    return held


async def test_text_without_a_selector_goes_where_the_caret_is(act, fields, text):
    await act("browser_type", selector="[name=short]", text="ab")
    typed = await act("browser_type", text="c")
    assert (typed.data["value"], await fields("[name=short]")) == ("abc", "abc")
    assert 'text "Short"' in text(typed) or 'textbox "Short"' in text(typed)


@pytest.mark.more
async def test_text_without_a_selector_needs_something_that_takes_text(act, fails, fields, value, subtests):
    for focused in ["", "#keys", "[name=size]", "button", "[readonly]"]:
        with subtests.test(focused=focused):
            await act(
                "browser_evaluate",
                script=f"""document.body.insertAdjacentHTML('beforeend', '<button>Go</button><input readonly>');
                addEventListener('keydown', () => {{ document.title = 'key'; }});
                const element = {focused!r} && document.querySelector({focused!r});
                element ? element.focus() : document.activeElement.blur();""",
            )
            error = await fails("browser_type", text="Hello")
            assert error.type == "element_not_actionable"
            assert await value("document.title") == "Fields"
            assert await fields("#keys") == "Keys:"


@pytest.mark.more
async def test_text_without_a_selector_goes_to_what_calls_itself_a_text_box(act, show, value):
    await show('<div role=textbox tabindex=0 onkeydown="document.title += event.key">Drawn</div>')
    await act("browser_click", selector="div")
    await act("browser_type", text="xy")
    assert await value("document.title") == "xy"


@pytest.mark.more
async def test_field_that_a_user_cannot_reach_is_not_filled(fails, show, value, subtests):
    for (style, said), tool in itertools.product(
        [
            ("opacity:0", "cannot be seen"),
            ("visibility:hidden", "cannot be seen"),
            ("position:absolute;left:-9999px", "cannot be seen"),
            ("", 'dialog "Cookies" covers it'),
        ],
        ["browser_type", "browser_fill_form"],
    ):
        with subtests.test(style=style, said=said, tool=tool):
            cover = "position:fixed;inset:0;background:#fff"
            await show(
                f"<input style='{style}'><div role=dialog aria-label=Cookies style='{cover}'>We use cookies</div>"
            )
            if "covers" not in said:
                await value("document.querySelector('[role=dialog]').remove()")
            given = {"selector": "input", "text": "x"}
            given = given if tool == "browser_type" else {"fields": [{"selector": "input", "value": "x"}]}
            error = await fails(tool, **given, timeoutMs=500)
            assert (error.type, said in str(error)) == ("element_not_actionable", True), str(error)
            assert await value("document.querySelector('input').value") == ""


@pytest.mark.more
async def test_field_below_its_own_label_is_filled(act, show, value):
    await show(
        "<div style='position:relative'><input id=a><label for=a style='position:absolute;inset:0'>Name</label></div>"
    )
    typed = await act("browser_type", selector="input", text="Ada")
    assert (typed.data["element"], await value("a.value")) == ('textbox "Name"', "Ada")


@pytest.mark.more
@pytest.mark.parametrize("selector", ["[name=code]", "#rich"])
async def test_indented_lines_are_not_indented_twice(act, fields, text, selector):
    typed = await act("browser_type", selector=selector, text=CODE)
    assert (await fields(selector)).strip() == CODE.strip()
    assert typed.data["note"] == "", text(typed)
    by_keys = await act("browser_type", selector="[name=code]", text=CODE, delay=1)
    assert "It holds" in by_keys.data["note"]


@pytest.mark.more
async def test_value_that_a_field_does_not_take_is_refused_with_what_it_takes(act, fails, fields, subtests):
    for tool, (name, value, accepts) in itertools.product(
        ["browser_type", "browser_fill_form"],
        [
            ("date", "2.1.2026", "YYYY-MM-DD, at least 2026-01-01"),
            ("time", "half past nine", "HH:MM"),
            ("month", "May", "YYYY-MM"),
            ("colour", "#12", "#rrggbb"),
            ("range", "33", "a number from 0 to 50 in steps of 10"),
            ("number", "many", "a number"),
        ],
    ):
        with subtests.test(tool=tool, name=name, value=value, accepts=accepts):
            selector = f"[name={name}]"
            before = await fields(selector)
            given = (
                {"selector": selector, "text": value}
                if tool == "browser_type"
                else {"fields": [{"ref": selector, "value": value}]}
            )
            error = await fails(tool, **given)
            assert (error.type, error.context["accepts"]) == ("value_rejected", accepts)
            assert await fields(selector) == before


@pytest.mark.more
async def test_field_is_told_to_hold_what_it_holds(act, fails, fields, text):
    form = {
        "date": "2025-05-06",
        "time": "09:30",
        "month": "2026-05",
        "colour": "#AABBCC",
        "range": "30",
        "number": "7",
    }
    wanted = [{"selector": f"[name={name}]", "value": value} for name, value in form.items()]
    wanted += [{"selector": "[name=phone]", "value": "(555) 12"}, {"selector": "my-field", "value": "in"}]
    filled = await act("browser_fill_form", fields=wanted)
    assert [await fields(f"[name={name}]") for name in form] == [*map(str.lower, form.values())]
    assert "'[name=phone]': It holds '55512' now." in text(filled)
    assert "'[name=date]': The browser says of it: " in text(filled)  # before its least
    assert await fields("[name=inner]") == "in"
    assert (await act("browser_type", selector="[name=short]", text="abcdef")).data["value"] == "abc"
    error = await fails("browser_fill_form", fields=[wanted[1], {"selector": "[name=size]", "value": "Huge"}])
    assert (error.type, error.context["filled"]) == ("value_rejected", 1)
    assert "'Small', 'Large'" in error.message


@pytest.mark.more
async def test_typing_by_id_goes_on_at_the_end(call, site, tab):
    await call("chrome_navigate", tabId=tab, url=site.url("/form"))
    await call("chrome_evaluate", tabId=tab, script="document.querySelector('[name=name]').setSelectionRange(0, 0)")
    await call("chrome_type", tabId=tab, selector="[name=name]", text="er")
    value = await call("chrome_evaluate", tabId=tab, script="document.querySelector('[name=name]').value")
    assert value.data["value"] == "older"


@pytest.mark.more
@pytest.mark.parametrize("field", ["textarea", "input list=words"])
async def test_text_field_that_calls_itself_a_combobox_is_filled_as_one(act, show, value, field):
    """Chrome DevTools MCP was reported to look for options in the search field of Google."""
    await show(f"<{field} role=combobox aria-label=Search aria-haspopup=both></{field.split()[0]}><datalist id=words>")
    await act("browser_fill_form", fields=[{"selector": "[role=combobox]", "value": "today's news"}])
    assert await value("document.querySelector('[role=combobox]').value") == "today's news"
    await act("browser_type", selector="[role=combobox]", text="more")
    assert await value("document.querySelector('[role=combobox]').value") == "more"
