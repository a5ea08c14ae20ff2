"""Filling, choosing and checking, in fields as HTML has them."""

import pytest

from tests.extension.page.conftest import Tab

pytestmark = pytest.mark.spec("C4")


async def test_fields_take_values_of_their_kind_and_refuse_others(open_tab):
    tab: Tab = await open_tab("""
        <label>Day <input type=date id=day min=2026-01-01></label> <label>At <input type=time id=at></label>
        <label>Colour <input type=color id=colour></label> <label>Age <input type=number id=age max=120></label>
        <label>Volume <input type=range id=volume min=0 max=10></label>
        <label>Code <input id=code maxlength=4></label> <label>Fixed <input id=fixed readonly></label>
        <label>Note <textarea id=note></textarea></label>
        <label>Off <input id=off disabled></label> <label>CV <input type=file id=cv></label> <p id=text>Text</p>
        <script>const seen = []; for (const name of ['input', 'change'])
            document.addEventListener(name, (event) => seen.push(`${name} ${event.target.id}`));</script>""")
    assert await tab.messages(
        ("fill", "css=#day", "2026-03-04"),
        ("fill", "css=#at", "14:30"),
        ("fill", "css=#colour", "#FF8800"),
        ("fill", "css=#age", "42"),
        ("fill", "css=#volume", 7),
        ("fill", "css=#note", "one\ntwo"),
    ) == [f"Filled: {name}" for name in ("Day", "At", "Colour", "Age", "Volume", "Note")]
    ids = ("day", "at", "colour", "age", "volume", "note")
    values = await tab.page.evaluate("(ids) => ids.map((id) => document.getElementById(id).value)", ids)
    assert values == ["2026-03-04", "14:30", "#ff8800", "42", "7", "one\ntwo"]
    expected = [f"{name} {each}" for each in ids for name in ("input", "change")]
    assert await tab.page.evaluate("seen.splice(0)") == expected
    assert await tab.messages(
        ("fill", "css=#day", "4 March"),
        ("fill", "css=#day", "2025-03-04"),
        ("fill", "css=#age", "old"),
        ("fill", "css=#age", "121"),
        ("fill", "css=#volume", "11"),
        ("fill", "css=#colour", "red"),
        ("fill", "css=#code", "12345"),
        ("fill", "css=#fixed", "x"),
        ("fill", "css=#off", "x"),
        ("fill", "css=#cv", "/etc/passwd"),
        ("fill", "css=#text", "x"),
        ("fill", "css=#code"),
        ("fill", {}, "x"),
        ("fill", "css=[", "x"),
        ("fill", "css=#none", "x"),
    ) == [
        "✗ Day takes values such as 2026-01-31",
        "✗ Day takes nothing below 2026-01-01",
        "✗ Age takes values such as 12.5",
        "✗ Age takes nothing above 120",
        "✗ Volume takes values such as 50",
        "✗ Colour takes values such as #ff8800",
        "✗ Code takes at most 4 characters",
        "✗ Fixed is read-only",
        "✗ Off is disabled",
        "✗ CV is a field for files: a page gets a file from the person alone, who has to choose it",
        "✗ Text is not a field that could be filled",
        "✗ This action needs params.value",
        "✗ This action needs a target: elementId, selector or description",
        "✗ Invalid selector: [",
        "✗ Target element not found",
    ]
    assert await tab.page.evaluate("seen") == []


async def test_lists_boxes_and_radios_are_chosen(open_tab):
    tab: Tab = await open_tab("""
        <label>Size <select id=size><option value=s>Small<option value=l>Large<option disabled>Huge</select></label>
        <label>Tags <select id=tags multiple><option>a<option>b<option>c</select></label>
        <style>.fancy input { position: absolute; opacity: 0; width: 0; height: 0 }</style>
        <label class=fancy><input type=checkbox id=terms><b>☐</b> Terms</label>
        <label><input type=radio name=pay id=cash> Cash</label> <label><input type=radio name=pay id=card> Card</label>
        <div role=switch aria-checked=false tabindex=0 id=dark
          onclick="ariaChecked = ariaChecked !== 'true'">Dark</div>
        <button id=list role=combobox aria-expanded=false aria-controls=box onclick="box.hidden = false">Colour</button>
        <ul role=listbox id=box hidden onclick="list.textContent = event.target.textContent; hidden = true">
          <li role=option>Red<li role=option>Green</ul>""")
    assert await tab.messages(
        ("select", "css=#size", "l"),
        ("select", "css=#size", "small"),
        ("fill", "css=#size", "Large"),
        ("select", "css=#tags", "a\nc"),
        ("check", "css=#terms"),
        ("check", "css=#card"),
        ("fill", "css=#dark", True),
        ("check", "css=#dark"),
        ("select", "css=#list", "green"),
    ) == [
        "Selected: Large (Size)",
        "Selected: Small (Size)",
        "Selected: Large (Size)",
        "Selected: a, c (Tags)",
        "Checked: ☐ Terms",
        "Checked: Card",
        "✗ Dark is not a field that could be filled",
        "Checked: Dark",
        "Selected: Green (Colour)",
    ]
    state = "[size.value, [...tags.selectedOptions].map((o) => o.text), terms.checked, card.checked, list.textContent]"
    assert await tab.page.evaluate(state) == ["l", ["a", "c"], True, True, "Green"]
    assert await tab.messages(
        ("select", "css=#size", "Medium"),
        ("select", "css=#size", "Huge"),
        ("check", "css=#terms"),
        ("check", "css=#terms", False),
        ("check", "css=#card", False),
        ("select", "css=#list", "Blue"),
        ("check", "css=#size"),
    ) == [
        "✗ Size has no option “Medium”. It has: Small, Large, Huge",
        "✗ “Huge” cannot be chosen in Size",
        "Checked: ☐ Terms (it was already)",
        "Unchecked: ☐ Terms",
        "✗ Card is unchecked by checking another one",
        "✗ Green has no option “Blue”. It has: Red, Green",
        "✗ Size cannot be checked",
    ]


async def test_list_that_comes_up_while_typing_is_chosen_from(open_tab):
    tab: Tab = await open_tab("""<input id=city role=combobox aria-label=City aria-controls=cities>
        <ul role=listbox id=cities></ul><script>
        city.oninput = () => setTimeout(() => { cities.innerHTML = ['Bern', 'Berlin']
            .filter((each) => each.startsWith(city.value)).map((each) => `<li role=option>${each}`).join(''); });
        cities.onclick = (event) => { city.value = event.target.textContent; cities.innerHTML = ''; };</script>""")
    assert await tab.messages(("select", "combobox:City", "Berlin")) == ["Selected: Berlin (City)"]
    assert await tab.page.input_value("#city") == "Berlin"
    assert await tab.messages(("select", "combobox:City", "Paris")) == ["✗ City showed no options"]


async def test_secret_fields_are_never_read_and_filled_only_after_a_question(open_tab):
    tab: Tab = await open_tab("""
        <form><label>Password <input type=password id=pass value=hunter2></label>
        <button type=button onclick="pass.type = 'text'">Show</button>
        <label>Code <input id=otp autocomplete=one-time-code inputmode=numeric value=314159></label>
        <label>Number <input id=number autocomplete=cc-number value=4111111111111111></label>
        <label>Month <select id=month autocomplete=cc-exp-month><option>01<option selected>July</select></label>
        <input id=cvv name=cvv value=987>
        <input id=drawn aria-label=Drawn style="-webkit-text-security: disc" value=dotted></form>""")
    secrets = ("hunter2", "dotted", "314159", "4111", "987", "July")
    context = await tab.context()
    assert [each["desc"] for each in context["elements"]] == [
        "password:Password(filled only after the person is asked)",
        "button:Show",
        "input:Code(filled only after the person is asked)",
        "input:Number(filled only after the person is asked)",
        "select:Month(filled only after the person is asked)",
        "input:cvv(filled only after the person is asked)",
        "input:Drawn(filled only after the person is asked)",
    ]
    shown = await tab.messages(
        ("click", "css=button"),
        *(("read", f"css=#{each}") for each in ("pass", "otp", "number", "month", "cvv", "drawn")),
    )
    assert shown[1:] == [
        f"✗ {name} is a field for secrets: what is in it is not read"
        for name in ("Password", "Code", "Number", "Month", "cvv", "Drawn")
    ]
    await tab.page.evaluate("document.getElementById('pass').select()")
    selected = await tab.call("get_selected_text")
    assert selected == {"success": True, "text": ""}
    everything = f"{context} {shown} {await tab.context()} {await tab.call('request_more_elements', {})}"
    assert not [secret for secret in secrets if secret in everything]
    # nobody to ask, then a no, which ends the call, then a yes
    password = ("fill", "css=#pass", "s3cret")
    refused = ["✗ The person did not allow Password to be filled", "✗ Not run: the person refused an action before it"]
    assert await tab.messages(password, ("click", "css=button")) == refused
    tab.answer = False
    assert await tab.messages(password, ("click", "css=button")) == refused
    origin = await tab.page.evaluate("location.origin")
    assert tab.questions == ({"kind": "password", "label": "Password", "origin": origin},)
    assert await tab.page.evaluate("document.getElementById('pass').value") == "hunter2"
    tab.answer = True
    assert await tab.messages(
        password, ("fill", "css=#otp", "111111"), ("fill", "css=#number", "42"), ("select", "css=#month", "01")
    ) == ["Filled: Password", "Filled: Code", "Filled: Number", "Selected: Month"]
    assert [each["kind"] for each in tab.questions] == ["password", "oneTimeCode", "payment", "payment"]
    assert await tab.page.evaluate("document.getElementById('pass').value") == "s3cret"


async def test_invalid_arguments_are_told(open_tab):
    tab: Tab = await open_tab("<p>Nothing")
    for arguments, problem in (
        (None, "actions: a list with at least one action"),
        ({"actions": []}, "actions: a list with at least one action"),
        ({"actions": [{"action": "hover", "target": {}}]}, "actions[0].action: one of fill, click, highlight"),
        ({"actions": [{"action": "click"}]}, "actions[0].target: an object"),
        ({"actions": [{"action": "click", "target": {"selector": 5}}]}, "actions[0].target.selector: a text"),
    ):
        result = await tab.call("page_action", arguments)
        assert not result["success"]
        assert result["error"].startswith(f"Invalid arguments: {problem}")
    assert "region: one of" in (await tab.call("request_more_elements", {"region": "top"}))["error"]
    assert await tab.call("page_eval") == {"success": False, "error": "There is no tool page_eval"}
