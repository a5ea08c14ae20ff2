"""Clicks go where a person's would, or say why not; pages that fight back do not mislead them."""

import asyncio

import pytest

from tests.extension.page.conftest import Tab

pytestmark = pytest.mark.spec("C4")


async def test_click_is_the_sequence_of_a_pointer_in_the_middle(open_tab):
    tab: Tab = await open_tab("""
        <div style="height: 3000px"></div><button style="width: 200px; height: 40px; border: 0">Buy</button>
        <script>const seen = [];
        for (const name of ['pointerover', 'mouseover', 'mousemove', 'pointerdown', 'mousedown', 'focus', 'pointerup',
            'mouseup', 'click']) document.querySelector('button').addEventListener(name, (event) => {
                seen.push([name, event.offsetX, event.offsetY].slice(0, name === 'click' ? 3 : 1).join(' '));
            });</script>""")
    assert await tab.messages(("click", "Buy button")) == ["Clicked: Buy"]
    assert await tab.page.evaluate("seen") == [
        "pointerover", "mouseover", "mousemove", "pointerdown", "mousedown", "focus", "pointerup", "mouseup",
        "click 100 20",
    ]  # fmt: skip


async def test_link_to_a_new_tab_opens_one_beside_unless_the_page_does_something_else(open_tab, site):
    site.show("/next", "<title>Next</title>")
    tab: Tab = await open_tab("""<a href=/next target=_blank>Next</a>
        <a href=/next target=_blank onclick="event.preventDefault(); document.title = 'Own'">Own</a>""")
    async with tab.page.context.expect_page() as opened:
        assert await tab.messages(("click", "link:Own"), ("click", "link:Next")) == ["Clicked: Own", "Clicked: Next"]
    page = await opened.value
    await page.wait_for_url("**/next")
    assert await tab.page.title() == "Own"
    assert site.asked.count("/next") == 1
    await page.close()


async def test_what_is_covered_disabled_or_behind_a_dialog_is_not_clicked(open_tab):
    tab: Tab = await open_tab("""
        <style>.box { position: relative } .cover { position: absolute; inset: 0; background: red }</style>
        <div class=box><button id=under>Under</button><div class=cover>Cookies</div></div>
        <button id=off disabled>Off</button> <div inert><button id=inert>Inert</button></div>
        <button id=sheer style="opacity: 0">Sheer</button> <button id=none style="display: none">None</button>
        <button id=behind>Behind</button> <dialog><button id=yes>Yes</button></dialog>
        <script>let clicks = 0; addEventListener('click', () => clicks++);</script>""")
    assert await tab.messages(*(("click", f"css=#{each}") for each in ("under", "off", "inert", "none"))) == [
        "✗ Under is covered by <div> Cookies",
        "✗ Off is disabled",
        "✗ Inert cannot be used now: the page has made it inert",
        "✗ None is not visible",
    ]
    assert "button:Sheer" not in await tab.descriptions()
    await tab.page.evaluate("document.querySelector('dialog').showModal()")
    assert await tab.messages(("click", "css=#behind")) == [
        "✗ Behind is behind a dialog that has to be closed first: Yes"
    ]
    assert await tab.page.evaluate("clicks") == 0
    assert "button:Behind(behind a dialog)" in await tab.descriptions()
    assert await tab.messages(("click", "button:Yes")) == ["Clicked: Yes"]
    assert await tab.page.evaluate("clicks") == 1


async def test_dialog_comes_first_among_many_elements(open_tab):
    tab: Tab = await open_tab(
        "".join(f"<button>Button {each}</button>" for each in range(40))
        + """
        <dialog><button>Yes</button><button>No</button></dialog>
        <script>document.querySelector('dialog').showModal()</script>"""
    )
    shown = await tab.descriptions()
    assert len(shown) == 30
    assert {"button:Yes", "button:No"} <= set(shown)


async def test_element_that_moves_away_under_the_pointer_is_not_clicked(open_tab):
    tab: Tab = await open_tab("""
        <button id=shy style="position: absolute; left: 0; top: 0">Shy</button>
        <button id=swap style="position: absolute; left: 300px; top: 0; width: 80px">Cancel</button>
        <button id=pay style="position: absolute; left: 300px; top: 300px; width: 80px">Pay</button>
        <script>const clicked = []; addEventListener('click', (event) => clicked.push(event.target.id));
        shy.onmouseover = () => { shy.style.top = `${(parseInt(shy.style.top) + 100) % 500}px`; };
        swap.onmousemove = () => { swap.style.top = '300px'; pay.style.top = '0px'; };
        </script>""")
    assert await tab.messages(("click", "css=#shy")) == ["✗ Shy moves away under the pointer"]
    # it came to rest elsewhere, and is followed: what took its place is not clicked
    assert await tab.messages(("click", "css=#swap")) == ["Clicked: Cancel"]
    assert await tab.page.evaluate("clicked") == ["swap"]


async def test_page_cannot_mislead_through_what_it_overwrites_or_names(open_tab):
    tab: Tab = await open_tab("""
        <form id=form><input name=parentNode value=1><input name=getAttribute><input name=id><input name=attributes>
        <input name=children><input name=matches><input name=checkVisibility><input name=contains>
        <input name=querySelectorAll><label>Name <input id=name></label><button name=closest>Send</button></form>
        <img name=body><img name=querySelectorAll><img name=activeElement><form name=elementFromPoint></form>
        <output id=out></output><img name=title><img name=getSelection><iframe name=agentcore></iframe>
        <script>
        Element.prototype.getBoundingClientRect = () => { throw new Error('no'); };
        Element.prototype.getAttribute = Element.prototype.matches = () => 'forged';
        Document.prototype.querySelectorAll = () => [];
        Array.prototype.map = Array.prototype.filter = () => { throw new Error('no'); };
        window.WeakRef = window.Map = window.Proxy = window.MessageChannel = undefined;
        Object.defineProperty(HTMLInputElement.prototype, 'value', {get: () => 'forged', set: () => {}});
        form.addEventListener('submit', (event) => { event.preventDefault(); out.textContent = 'sent'; });
        globalThis[Symbol.for('agentcore.page')] = {isAlive: () => true, answer: () => ({value: {forged: true}})};
        </script>""")
    context = await tab.context()
    assert "input:Name" in [each["desc"] for each in context["elements"]]
    assert await tab.messages(
        ("fill", "input:Name", "Ada"), ("click", "button:Send"), ("read", "css=output"), ("read", "input:Name")
    ) == [
        "Filled: Name",
        "Clicked: Send",
        "Read: sent",
        "Read: Ada",
    ]
    assert await tab.call("clear_ai_styles") == {"success": True, "message": "Cleared 0 marks"}


async def test_page_sees_nothing_before_anything_is_done(open_tab):
    tab: Tab = await open_tab("""<button>One</button><input value=x>
        <script>const before = document.documentElement.outerHTML;
        const globals = new Set(Object.getOwnPropertyNames(window));
        const symbols = Object.getOwnPropertySymbols(window).length; let events = 0, mutations = 0;
        new MutationObserver(() => mutations++).observe(document, {subtree: true, childList: true, attributes: true});
        for (const name of Object.keys(HTMLElement.prototype).filter((each) => each.startsWith('on')))
            addEventListener(name.slice(2), () => events++, true);
        addEventListener('message', () => events++);</script>""")
    await tab.page.evaluate("events = mutations = 0")
    await tab.context()
    await tab.call("request_more_elements", {"keyword": "one"})
    await tab.call("get_selected_text")
    seen = """[document.documentElement.outerHTML.slice(0, 90) === before.slice(0, 90), events, mutations,
        Object.getOwnPropertyNames(window).filter((name) => !globals.has(name)),
        Object.getOwnPropertySymbols(window).length - symbols, document.adoptedStyleSheets.length, CSS.highlights.size,
        document.getAnimations().length]"""
    same, events, mutations, names, *others = await tab.page.evaluate(seen)
    assert (same, mutations, set(names) - {"before", "globals", "symbols", "events", "mutations"}) == (True, 0, set())
    assert others == [0, 0, 0, 0]
    assert events == 0


async def test_page_that_never_stops_changing_is_described_and_used(open_tab):
    tab: Tab = await open_tab("""<input placeholder=Name><ul></ul><script>
        (function churn() { const list = document.querySelector('ul');
            for (let index = 0; index < 50; index++) list.append(document.createElement('li'));
            while (list.childElementCount > 2000) list.firstChild.remove();
            setTimeout(churn, 0); })();</script>""")
    assert await tab.descriptions() == ["input:Name(placeholder:Name)"]
    assert await tab.messages(("fill", "input:Name", "Ada")) == ["Filled: Name"]
    assert await tab.page.input_value("input") == "Ada"


async def test_call_ends_when_it_is_cancelled_though_the_page_asks_the_person_something(open_tab):
    tab: Tab = await open_tab("<button onclick=\"document.title = confirm('Sure?')\">Delete</button>")
    async with tab.page.expect_event("dialog") as asked:
        call = asyncio.create_task(tab.act(("click", "button:Delete")))
    dialog = await asked.value
    await tab.cancel()
    assert (await call)["type"] == "interrupted"
    await dialog.accept()
    assert await tab.page.title() == "true"
    assert await tab.descriptions() == ["button:Delete"]
