"""Views of tools in a chat: shown in a frame that reaches nothing, and answered as MCP Apps says."""

import asyncio
import json
import re
from typing import Any

import pytest
from playwright.async_api import FrameLocator, Locator, expect

from agentcore.api import Module, ToolView, tool
from agentcore.store.record.query import RecordFilter

ALLOW = {"approvals": {"mode": "allow"}}

DOCUMENT = """<!doctype html>
<html><head><meta charset="utf-8"><title>Weather</title>
<style>body { margin: 0; padding: 12px; font: 14px sans-serif; } html.dark { color-scheme: dark; }</style></head>
<body><h2>Weather</h2><pre id="log"></pre><script>
const log = document.querySelector('#log');
const write = (text) => { log.textContent += text + '\\n'; };
let next = 0;
const open = new Map();
const post = (message) => window.parent.postMessage({jsonrpc: '2.0', ...message}, '*');
const ask = (method, params = {}) => new Promise((resolve) => {
  open.set(++next, resolve);
  post({id: next, method, params});
});
const tell = (method, params = {}) => post({method, params});
window.addEventListener('message', ({data}) => {
  if (data.id !== undefined && data.method === undefined) { open.get(data.id)?.(data.error ?? data.result); return; }
  if (data.id !== undefined) { post({id: data.id, result: {}}); return; }
  write(data.method.split('/').at(-1) + ' ' + JSON.stringify(data.params));
});
const start = async () => {
  const early = await ask('tools/call', {name: 'again', arguments: {}});
  write('early ' + early.code);
  const {hostContext: {theme, locale, containerDimensions}, protocolVersion} = await ask('ui/initialize', {
    protocolVersion: '2026-01-26', appInfo: {name: 'weather', version: '1'}, appCapabilities: {},
  });
  document.documentElement.className = theme;
  write([protocolVersion, theme, locale, containerDimensions.width > 200].join(' '));
  tell('ui/notifications/initialized');
  tell('ui/notifications/size-changed', {height: 420});
};
START
</script></body></html>
"""


def view(starts: str, **declared: Any) -> ToolView:
    """A view that begins with this code."""
    return ToolView(DOCUMENT.replace("START", starts), **declared)


def then(code: str) -> ToolView:
    """A view that begins, and then does this."""
    return view(f"start().then(async () => {{ {code} }});")


def wide(code: str) -> ToolView:
    """A view that can fill the window, and does this."""
    modes = "appCapabilities: {availableDisplayModes: ['inline', 'fullscreen']}"
    return ToolView(then(code).document.replace("appCapabilities: {}", modes))


PRIES = """
  const tries = [
    ['page', () => window.top.document.title], ['frame', () => window.parent.document.title],
    ['cookie', () => document.cookie], ['storage', () => localStorage.length], ['origin', () => self.origin],
    ['fetch', () => fetch('https://example.com/').then(() => 'read')],
    ['image', () => new Promise((done) => {
      const image = new Image();
      image.onload = () => done('loaded');
      image.onerror = () => done('refused');
      image.src = 'https://example.com/a.png';
    })],
    ['top', () => { window.top.location = 'https://example.com/'; return 'went'; }],
    ['popup', () => String(window.open('https://example.com/'))],
  ];
  const said = [];
  for (const [what, go] of tries) {
    try { said.push(what + ' ' + await go()); } catch (error) { said.push(what + ' ' + error.name); }
  }
  write('pried ' + said.join(', '));
"""
CALLS = "write('got ' + JSON.stringify(await ask('tools/call', {name: 'again', arguments: {place: 'Rome'}})));"
STRAYS = "write('got ' + JSON.stringify(await ask('tools/call', {name: 'pantry_list', arguments: {}})));"
SAYS = """
  const content = [{type: 'text', text: 'Rain tomorrow?'}];
  write('sent ' + JSON.stringify(await ask('ui/message', {role: 'user', content})));
"""
NOTES = """
  const note = async (params) => write('noted ' + JSON.stringify(await ask('ui/update-model-context', params)));
  await note({content: [{type: 'text', text: 'Rain at four'}]});
  await note({content: [{type: 'text', text: 'Rain at five\\u200b'}], structuredContent: {mm: 4}});
  await note({content: [{type: 'image', data: '', mimeType: 'image/png'}]});
  write('all noted');
"""
FORGETS = """
  await ask('ui/update-model-context', {content: [{type: 'text', text: 'Rain at four'}]});
  await ask('ui/update-model-context', {});
  write('forgot');
"""
WIDER, CALLS_AGAIN = "ask('ui/request-display-mode', {mode: 'fullscreen'})", "ask('tools/call', {name: 'again'})"
WIDENS = """
  const button = document.createElement('button');
  button.textContent = 'Wider';
  button.onclick = async () => {
    write('now ' + JSON.stringify(await ask('ui/request-display-mode', {mode: 'fullscreen'})));
  };
  document.body.prepend(button);
  write('asked ' + JSON.stringify(await ask('ui/request-display-mode', {mode: 'fullscreen'})));
"""
LINKS = "write('opened ' + JSON.stringify(await ask('ui/open-link', {url: 'https://example.com/rain?q=1'})));"
FLOODS = "for (let n = 0; n < 5000; n += 1) tell('ui/notifications/size-changed', {height: n});"
READS = "write('read ' + JSON.stringify(await ask('resources/read', {uri: 'notes://today'})));"
BABBLES = "for (let n = 0; n < 50; n += 1) window.parent.postMessage({n}, '*');"
LEAVES = "location.href = 'https://example.com/';"


class Weather(Module):
    """Knows the weather."""

    name = "weather"

    def __init__(self) -> None:
        self.release = asyncio.Event()
        self.release.set()
        self.again: list[str] = []

    @tool(read_only=True, view=view("start();"))
    async def weather_show(self, place: str = "here") -> dict[str, Any]:
        """Show the weather."""
        await self.release.wait()
        return {"place": place, "degrees": 21}

    @tool(effects=["write"], in_views="again", served_as="view")
    async def weather_again(self, place: str = "here") -> dict[str, Any]:
        """Look again."""
        self.again.append(place)
        return {"place": place, "degrees": 22}

    @tool(read_only=True, view=view(""))
    async def weather_silent(self) -> str:
        """Show a view that never says that it is there."""
        return "silent"

    @tool(read_only=True, in_views="resources/read", served_as="view")
    async def weather_read(self, uri: str) -> dict[str, Any]:
        """Read what views ask for."""
        return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": "Take a coat."}]}

    @tool(read_only=True, view=then(READS))
    async def weather_reads(self) -> str:
        """Show a view that reads."""
        return "reads"

    @tool(read_only=True, view=then(CALLS))
    async def weather_calls(self) -> str:
        """Show a view that calls a tool."""
        return "calls"

    @tool(read_only=True, view=then(STRAYS))
    async def weather_strays(self) -> str:
        """Show a view that calls a tool of others."""
        return "strays"

    @tool(read_only=True, view=then(SAYS))
    async def weather_says(self) -> str:
        """Show a view that says something."""
        return "says"

    @tool(read_only=True, view=then(NOTES))
    async def weather_notes(self) -> str:
        """Show a view that has something for the model."""
        return "notes"

    @tool(read_only=True, view=then(FORGETS))
    async def weather_forgets(self) -> str:
        """Show a view that had something for the model."""
        return "forgets"

    @tool(read_only=True, view=wide(WIDENS))
    async def weather_widens(self) -> str:
        """Show a view that can fill the window."""
        return "widens"

    @tool(read_only=True, view=wide(WIDENS.replace(WIDER, CALLS_AGAIN, 1)))
    async def weather_widens_and_calls(self) -> str:
        """Show a view that can fill the window, and then wants something."""
        return "widens"

    @tool(read_only=True, view=then(LINKS))
    async def weather_links(self) -> str:
        """Show a view that opens a page."""
        return "links"

    @tool(read_only=True, view=then(FLOODS))
    async def weather_floods(self) -> str:
        """Show a view that sends too much."""
        return "floods"

    @tool(read_only=True, view=then(BABBLES))
    async def weather_babbles(self) -> str:
        """Show a view that speaks another language."""
        return "babbles"

    @tool(read_only=True, view=then(PRIES))
    async def weather_pries(self) -> str:
        """Show a view that wants to see more."""
        return "pries"

    @tool(read_only=True, view=then(LEAVES))
    async def weather_leaves(self) -> str:
        """Show a view that goes elsewhere."""
        return "leaves"


def frame_of(chat: Any) -> FrameLocator:
    """The view's document in the newest card."""
    return chat.card.frame_locator("ac-tool-view iframe").frame_locator("iframe")


async def show(chat: Any, name: str, arguments: str = "{}") -> FrameLocator:
    """Have the model call a tool, and give the document of its view."""
    chat.provider.say("", ("a", name, arguments))
    chat.provider.say("There it is.")
    await chat.say("show me")
    return frame_of(chat)


async def answer(question: Locator, name: str) -> None:
    """Answer by the keyboard: clicks beside a frame of another process may reach that while the chat scrolls."""
    button = question.get_by_role("button", name=name)
    await expect(button).to_be_enabled()
    await button.press("Enter")


async def test_view_is_told_of_its_call_once_it_is_there_and_no_sooner(open_chat):
    weather = Weather()
    weather.release.clear()
    chat = await open_chat(weather, config=ALLOW)
    log = (await show(chat, "weather_show", '{"place": "Oslo"}')).locator("#log")
    await expect(log).to_contain_text("early -32002")
    await expect(log).to_contain_text("2026-01-26 light en true")
    await expect(log).to_contain_text('tool-input {"arguments":{"place":"Oslo"}}')
    await expect(log).not_to_contain_text("tool-result")
    weather.release.set()
    await expect(log).to_contain_text('"structuredContent":{"place":"Oslo","degrees":21}')
    await expect(chat.card.locator("ac-tool-view iframe")).to_have_css("height", "420px")
    chat.page.set_default_timeout(10_000)
    await chat.page.emulate_media(color_scheme="dark")
    await expect(log).to_contain_text('host-context-changed {"theme":"dark"')
    await chat.page.reload()
    await expect(frame_of(chat).locator("#log")).to_contain_text("tool-result")


@pytest.mark.more
async def test_view_reaches_nothing_but_its_messages(open_chat):
    chat = await open_chat(Weather(), config=ALLOW)
    chat.ui.allowed_errors += ["Content Security Policy", "Blocked", "sandbox", "Unsafe attempt", "Failed to load"]
    log = (await show(chat, "weather_pries")).locator("#log")
    await expect(log).to_contain_text("pried ")
    said = await log.inner_text()
    for refused in (
        "page SecurityError",
        "frame SecurityError",
        "cookie SecurityError",
        "storage SecurityError",
        "origin null",
    ):
        assert refused in said
    assert "fetch TypeError" in said
    assert "image refused" in said
    assert "top SecurityError" in said
    assert "popup null" in said
    assert "example.com" not in chat.page.url
    assert not [frame.url for frame in chat.page.frames if "example.com" in frame.url]


@pytest.mark.more
async def test_view_that_leads_its_frame_elsewhere_ends(open_chat):
    chat = await open_chat(Weather(), config=ALLOW)
    chat.ui.allowed_errors += ["Content Security Policy", "Framing"]
    await show(chat, "weather_leaves")
    await expect(chat.card.locator("ac-tool-view")).to_contain_text("sent what it should not")


@pytest.mark.more
async def test_call_of_a_view_waits_for_the_person_under_the_views_name(open_chat):
    weather = Weather()
    chat = await open_chat(weather, config={"approvals": {"mode": "ask_writes"}})
    log = (await show(chat, "weather_calls")).locator("#log")
    await expect(chat.page.locator("ac-approval-tray").get_by_text(re.compile("waits"))).to_be_visible()
    (request,) = chat.ui.host.approvals.waiting
    assert (request.principal.kind, request.principal.id) == ("view", "weather_calls")
    assert not weather.again
    await chat.decide(approved=True)
    await expect(log).to_contain_text('"structuredContent":{"place":"Rome","degrees":22}')
    rows = await chat.ui.host.store.record.read_page(RecordFilter(tool="weather_again"), limit=5)
    assert {(row.row.principal_kind, row.row.principal_id) for row in rows} == {("view", "weather_calls")}
    assert "weather_again" not in chat.provider.sent


@pytest.mark.more
async def test_view_calls_no_tools_of_others(open_chat):
    chat = await open_chat(Weather(), config=ALLOW)
    log = (await show(chat, "weather_strays")).locator("#log")
    await expect(log).to_contain_text("views may not call pantry_list")


@pytest.mark.more
async def test_view_reads_by_the_tool_that_its_module_has_for_it(open_chat):
    chat = await open_chat(Weather(), config=ALLOW)
    log = (await show(chat, "weather_reads")).locator("#log")
    await expect(log).to_contain_text(
        'read {"contents":[{"uri":"notes://today","mimeType":"text/plain","text":"Take a coat."}]}'
    )


@pytest.mark.more
async def test_of_many_views_the_newest_are_open(open_chat):
    chat = await open_chat(Weather(), config=ALLOW)
    chat.provider.say("", *((f"call{n}", "weather_show", f'{{"place": "{n}"}}') for n in range(8)))
    chat.provider.say("That is all.")
    await chat.say("show me all of them")
    await expect(chat.page.locator("ac-tool-view")).to_have_count(8)
    await expect(chat.page.locator("ac-tool-view iframe")).to_have_count(6)
    await expect(chat.page.get_by_text("The view is closed.")).to_have_count(2)


@pytest.mark.more
async def test_what_a_view_says_is_shown_to_the_person_first(open_chat):
    chat = await open_chat(Weather(), config=ALLOW)
    log = (await show(chat, "weather_says")).locator("#log")
    question = chat.card.get_by_role("group", name=re.compile("wants to send this"))
    await expect(question).to_contain_text("Rain tomorrow?")
    await expect(chat.shown.get_by_text("There it is.")).to_be_visible()
    await chat.until_idle()
    chat.provider.say("No rain.")
    await answer(question, "Send")
    await expect(log).to_contain_text("sent {}")
    await expect(chat.shown.get_by_text("No rain.")).to_be_visible()
    await expect(chat.page.locator("ac-user-message").last).to_contain_text("Rain tomorrow?")


@pytest.mark.more
async def test_what_a_view_has_for_the_model_goes_into_the_persons_message_alone(open_chat):
    """The last word of the view counts; the model hears it when the person has sent it, and not before."""
    chat = await open_chat(Weather(), config=ALLOW)
    log = (await show(chat, "weather_notes")).locator("#log")
    await expect(log).to_contain_text("all noted")
    await expect(log).to_contain_text('noted {"code":-32602')
    await expect(chat.shown.get_by_text("There it is.")).to_be_visible()
    await chat.until_idle()
    await chat.box.fill("Shall I go?")
    note = chat.card.locator("ac-view-note")
    await note.get_by_text("The view of weather_notes has something for the model").press("Enter")
    await expect(note.locator("pre")).to_have_text('Rain at five<U+200B>\n{"mm":4}')
    await note.get_by_role("button", name="Put it into my message").press("Enter")
    await expect(chat.box).to_have_value(
        'Shall I go?\n\nFrom the view of weather_notes:\n> Rain at five<U+200B>\n> {"mm":4}\n\n'
    )
    await expect(chat.box).to_be_focused()
    await expect(note).to_have_count(0)
    assert "Rain at" not in json.dumps(chat.provider.requests)
    chat.provider.say("Take a coat.")
    await chat.box.press("Enter")
    await expect(chat.shown.get_by_text("Take a coat.")).to_be_visible()
    said = chat.provider.requests[-1]["messages"][-1]["content"]
    assert "> Rain at five" in json.dumps(said)
    assert "Rain at four" not in json.dumps(chat.provider.requests)


@pytest.mark.more
async def test_view_takes_back_what_it_had_for_the_model(open_chat):
    chat = await open_chat(Weather(), config=ALLOW)
    await expect((await show(chat, "weather_forgets")).locator("#log")).to_contain_text("forgot")
    await expect(chat.card.locator("ac-view-note")).to_have_count(0)


@pytest.mark.more
async def test_view_fills_the_window_by_the_persons_click_and_goes_back_with_escape(open_chat):
    """It stays the same document, and is told of it."""
    chat = await open_chat(Weather(), config=ALLOW)
    view = await show(chat, "weather_widens")
    await expect(view.locator("#log")).to_contain_text('asked {"mode":"inline"}')
    await chat.until_idle()
    frame = chat.card.locator("ac-tool-view iframe")
    height = (await frame.bounding_box())["height"]
    button = chat.card.get_by_role("button", name="Show it in the whole window")
    await button.press("Enter")
    back = chat.page.get_by_role("button", name="Back to the chat")
    await expect(back).to_be_focused()
    size = chat.page.viewport_size
    box = await frame.bounding_box()
    assert (box["x"], box["width"], round(box["y"] + box["height"])) == (0, size["width"], size["height"])
    assert box["y"] > 30  # the page's own bar says whose it is
    await expect(view.locator("#log")).to_contain_text('"displayMode":"fullscreen"')
    await chat.page.keyboard.press("Escape")
    await expect(back).to_be_hidden()
    await expect(button).to_be_focused()
    await expect(view.locator("#log")).to_contain_text(re.compile('fullscreen.*"displayMode":"inline"', re.DOTALL))
    assert (await frame.bounding_box())["height"] == height
    await expect(view.locator("#log")).to_have_text(re.compile("^(?!.*tool-input.*tool-input)", re.DOTALL))


@pytest.mark.more
async def test_view_fills_the_window_by_itself_only_where_the_person_clicked_in_it(open_chat):
    chat = await open_chat(Weather(), config=ALLOW)
    view = await show(chat, "weather_widens")
    await expect(view.locator("#log")).to_contain_text('asked {"mode":"inline"}')
    await chat.until_idle()
    await view.get_by_role("button", name="Wider").click()
    await expect(view.locator("#log")).to_contain_text('now {"mode":"fullscreen"}')
    await chat.page.get_by_role("button", name="Back to the chat").click()
    await expect(view.locator("#log")).to_contain_text(re.compile('fullscreen.*"displayMode":"inline"', re.DOTALL))


@pytest.mark.more
async def test_view_that_fills_the_window_makes_room_for_what_waits_for_the_person(open_chat):
    chat = await open_chat(Weather(), config={"approvals": {"mode": "ask_writes"}})
    view = await show(chat, "weather_widens_and_calls")
    await chat.until_idle()
    await chat.card.get_by_role("button", name="Show it in the whole window").press("Enter")
    back = chat.page.get_by_role("button", name="Back to the chat")
    await expect(back).to_be_visible()
    await view.get_by_role("button", name="Wider").click()
    await expect(chat.page.locator("ac-approval-tray").get_by_text(re.compile("waits"))).to_be_visible()
    await expect(back).to_be_hidden()


@pytest.mark.more
async def test_what_stands_around_a_view_is_accessible(open_chat, axe_problems):
    chat = await open_chat(Weather(), config=ALLOW)
    await expect((await show(chat, "weather_notes")).locator("#log")).to_contain_text("all noted")
    await chat.card.locator("ac-view-note summary").press("Enter")
    assert await axe_problems(chat.page) == []
    await expect((await show(chat, "weather_widens")).locator("#log")).to_contain_text("asked")
    await chat.until_idle()
    await chat.card.get_by_role("button", name="Show it in the whole window").press("Enter")
    await expect(chat.page.get_by_role("button", name="Back to the chat")).to_be_visible()
    assert await axe_problems(chat.page) == []


@pytest.mark.more
async def test_view_that_cannot_fill_the_window_has_no_button_for_it(open_chat):
    chat = await open_chat(Weather(), config=ALLOW)
    await expect((await show(chat, "weather_show")).locator("#log")).to_contain_text("tool-result")
    await expect(chat.card.get_by_role("button", name="Close the view")).to_be_visible()
    await expect(chat.card.get_by_role("button", name="Show it in the whole window")).to_have_count(0)


@pytest.mark.more
async def test_page_that_a_view_opens_is_shown_whole_and_can_be_refused(open_chat):
    chat = await open_chat(Weather(), config=ALLOW)
    log = (await show(chat, "weather_links")).locator("#log")
    question = chat.card.get_by_role("group", name=re.compile("wants to open this page"))
    await expect(question).to_contain_text("https://example.com/rain?q=1")
    await answer(question, "No")
    await expect(log).to_contain_text('opened {"isError":true}')
    assert len(chat.page.context.pages) == 1


@pytest.mark.more
@pytest.mark.parametrize(
    ("name", "said"), [("weather_floods", "sent too much"), ("weather_babbles", "sent what it should not")]
)
async def test_view_that_sends_junk_or_too_much_ends_and_the_page_goes_on(open_chat, name, said):
    chat = await open_chat(Weather(), config=ALLOW)
    await show(chat, name)
    await expect(chat.card.locator("ac-tool-view")).to_contain_text(said)
    await expect(chat.card.locator("ac-tool-view iframe")).to_have_count(0)
    await expect(chat.shown.get_by_text("There it is.")).to_be_visible()


@pytest.mark.more
async def test_view_that_never_says_that_it_is_there_gives_way_to_the_result(open_chat):
    chat = await open_chat(Weather(), config=ALLOW, is_reused=False)
    await chat.page.clock.install()
    await expect((await show(chat, "weather_silent")).get_by_role("heading", name="Weather")).to_be_visible()
    await expect(chat.card.locator("ac-tool-view")).to_contain_text("Loading the view")
    await chat.page.clock.fast_forward(21_000)
    await expect(chat.card.locator("ac-tool-view")).to_contain_text("It did not start")
    await expect(chat.card.locator("ac-tool-view iframe")).to_have_count(0)


@pytest.mark.more
async def test_view_is_closed_and_shown_again(open_chat):
    chat = await open_chat(Weather(), config=ALLOW)
    await expect((await show(chat, "weather_show")).locator("#log")).to_contain_text("tool-result")
    await chat.card.get_by_role("button", name="Close the view").click()
    await expect(chat.card.locator("ac-tool-view iframe")).to_have_count(0)
    await chat.card.get_by_role("button", name="Show it again").click()
    await expect(frame_of(chat).locator("#log")).to_contain_text("tool-result")
