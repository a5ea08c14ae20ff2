"""The tools of `browser` for forms."""

import pytest

SHARES_PAGE = True

pytestmark = pytest.mark.spec("B2")


async def test_password_reaches_its_field_and_no_snapshot(act, site):
    await act("browser_navigate", url=site.url("/form"))
    form = [{"selector": "[name=secret]", "value": "correct horse"}]
    result = await act("browser_fill_form", fields=form, snapshot=True)
    text = (await act("browser_snapshot", selector="form")).blocks()[0].text
    assert "correct" not in text + "".join(result.data["changes"])
    assert 'textbox "Secret"' in text
    filled = await act("browser_evaluate", script="document.querySelector('[name=secret]').value")
    assert filled.data["value"] == "correct horse"


async def test_form_is_filled_and_file_is_given(act, fails, site, host):
    (host.workspace / "note.txt").write_text("hello")
    await act("browser_navigate", url=site.url("/form"))
    fields = [
        {"selector": "[name=name]", "value": "Ada"},
        {"selector": "[name=agree]", "value": True},
        {"selector": "[name=colour]", "value": "Blue"},
    ]
    await act("browser_fill_form", fields=fields)
    await act("browser_select_option", selector="[name=colour]", values=["Red"])
    await act("browser_file_upload", selector="[name=file]", paths=["note.txt"])
    await act("browser_click", selector="text=Send")
    dom = (await act("browser_get_dom", selector="#out")).data["dom"]
    assert "name=Ada" in dom
    assert "agree=on" in dom
    assert "note.txt 5" in (await act("browser_get_dom", selector="#picked")).data["dom"]
    assert (await fails("browser_file_upload", paths=["../secret"])).type == "path_outside_workspace"
    await act("browser_click", selector="[name=file]")
    await act("browser_file_upload", paths=["note.txt"])
    assert (await fails("browser_file_upload", paths=[])).type == "no_file_chooser"


@pytest.mark.more
@pytest.mark.spec("K9")
async def test_artifact_is_uploaded_under_its_name(act, fails, site, host, session):
    link = await host.host.store.artifacts.save(b"hello", mime="text/plain", name="kept.txt", session_id=session)
    await act("browser_navigate", url=site.url("/form"))
    await act("browser_file_upload", selector="[name=file]", paths=[f"artifact:{link.artifact_id}"])
    assert "kept.txt 5" in (await act("browser_get_dom", selector="#picked")).data["dom"]
    unknown = await fails("browser_file_upload", selector="[name=file]", paths=["artifact:art_" + "0" * 32])
    assert unknown.type == "artifact_not_found"


@pytest.mark.more
async def test_choices_that_a_library_makes_are_chosen_like_others(act, fails, site):
    await act("browser_navigate", url=site.url("/choices"))
    form = [{"selector": "my-select", "value": "Paris"}, {"selector": "my-group", "value": "Large"}]
    await act("browser_fill_form", fields=[*form, {"selector": "my-box", "value": True}])
    script = """[document.querySelector('[role=combobox]').textContent,
        ...[...document.querySelectorAll('input')].map(one => one.checked)]"""
    assert (await act("browser_evaluate", script=script)).data["value"] == ["Paris", False, True, True]
    assert (await act("browser_select_option", selector="[role=combobox]", values=["Berlin"])).data["values"] == [
        "Berlin"
    ]
    error = await fails("browser_select_option", selector="[role=combobox]", values=["Rome"])
    assert (error.type, error.context["options"]) == ("value_rejected", ["Berlin", "Paris"])
    assert (await fails("browser_select_option", selector="title", values=["Rome"])).type == "element_not_actionable"


NUMBERS = "<select aria-label=Count {}><option value=2>1<option value=3>2<option value=4>3</select>"


@pytest.mark.more
async def test_option_is_chosen_by_label_before_value_and_named(act, show, value):
    await show(NUMBERS.format(""))
    chosen = await act("browser_select_option", selector="select", values=["2"])
    assert (chosen.data["values"], chosen.data["labels"]) == (["3"], ["2"])
    assert chosen.blocks()[0].text == "Chose '2' in combobox \"Count\"."
    assert await value("document.querySelector('select').value") == "3"


@pytest.mark.more
async def test_form_chooses_options_by_label_before_value(act, show, value):
    await show(NUMBERS.format(""))
    for given, chosen in (("2", "3"), ("4", "4"), ("1", "2"), ("  3 ", "4")):
        filled = await act("browser_fill_form", fields=[{"selector": "select", "value": given}])
        label = str(int(chosen) - 1)
        assert filled.data["elements"] == [f"combobox \"Count\": '{label}'"]
        assert await value("document.querySelector('select').value") == chosen


@pytest.mark.more
async def test_several_options_are_chosen_by_label_and_value(act, show, value):
    await show(NUMBERS.format("multiple"))
    chosen = await act("browser_select_option", selector="select", values=["1", "4"])
    assert chosen.data["labels"] == ["1", "3"]
    assert await value("[...document.querySelector('select').selectedOptions].map(one => one.label)") == ["1", "3"]


@pytest.mark.more
async def test_options_that_are_loaded_late_are_waited_for(act, show, value):
    await show("<select aria-label=City></select>")
    await value("setTimeout(() => { document.querySelector('select').innerHTML = '<option>Bonn'; }, 300), 1")
    assert (await act("browser_select_option", selector="select", values=["Bonn"])).data["labels"] == ["Bonn"]


@pytest.mark.more
async def test_option_that_a_list_has_not_made_yet_is_not_said_to_be_missing(fails, show):
    await show("<div role=listbox aria-label=Cities><div role=option>City 1</div></div>")
    error = await fails("browser_select_option", selector="role=listbox", values=["City 99"])
    assert "there are: 'City 1'" in error.message
    assert "scroll to the option first" in error.message


@pytest.mark.more
@pytest.mark.parametrize("style", ["visibility:hidden", "opacity:0"])
async def test_hidden_list_is_not_chosen_from(fails, show, value, style):
    await show(NUMBERS.format(f"style='{style}'"))
    error = await fails("browser_select_option", selector="select", values=["2"], timeoutMs=400)
    assert error.type == "element_not_actionable"
    assert await value("document.querySelector('select').value") == "2"


@pytest.mark.more
async def test_element_is_dragged_onto_another(act, site):
    await act("browser_navigate", url=site.url("/drag"))
    await act("browser_drag", source="#a", destination="#b")
    assert (await act("browser_evaluate", script="document.title")).data["value"] == "dropped"


@pytest.mark.more
async def test_files_are_dropped_where_a_page_wants_them_dropped(act, fails, site, host):
    (host.workspace / "note.txt").write_text("hello")
    await act("browser_navigate", url=site.url("/drop"))
    given = await act("browser_file_upload", selector="#zone", paths=["note.txt"])
    assert (given.data["dropped"], await _out(act)) == (False, "given note.txt")
    dropped = await act("browser_file_upload", selector="#zone", paths=["note.txt"], drop=True)
    await act("browser_wait_for", condition="out.textContent === 'dropped hello'")
    assert dropped.data == {**dropped.data, "files": ["note.txt"], "dropped": True}
    assert (await fails("browser_file_upload", selector="#no", paths=["note.txt"])).type == "element_not_actionable"
    assert (await fails("browser_file_upload", paths=["note.txt"], drop=True)).type == "invalid_arguments"


async def _out(act):
    return (await act("browser_evaluate", script="out.textContent")).data["value"]


@pytest.mark.more
async def test_what_cannot_be_changed_says_why(act, fails, site):
    await act("browser_navigate", url=site.url("/refusing"))
    assert "[disabled]" in (await act("browser_snapshot", find="options")).blocks()[0].text
    error = await fails("browser_fill_form", fields=[{"selector": "select", "value": "Large"}])
    assert (error.type, "is disabled" in str(error)) == ("value_rejected", True)
    error = await fails("browser_type", selector="input", text="y", timeoutMs=4000)
    assert (error.type, "read-only" in str(error)) == ("element_not_actionable", True)
    error = await fails("browser_click", selector="button", timeoutMs=4000)
    assert (error.type, "inert" in str(error)) == ("element_not_actionable", True)
