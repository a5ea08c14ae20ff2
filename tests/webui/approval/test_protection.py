"""What nobody but a person can do in the approval view, in real Chromium."""

import pytest
from playwright.async_api import expect

from tests.server.approving import let_wait
from tests.webui.approval.pressing import TRAY, open_tray
from tests.webui.approval.viewing import approval_view, approve, both, is_undecided, verdict

pytestmark = pytest.mark.spec("S2")


async def test_script_in_the_page_reaches_nothing_of_the_approval_view(ui):
    """As a module that runs scripts of a model in the page could try it."""
    ui.allowed_errors += ["Content Security Policy", "Failed to load", "Failed to fetch", "CORS", "403", "401"]
    ui.allowed_errors += ["cross-origin", "ERR_BLOCKED", "Refused", "frame-ancestors"]
    page = await both(ui)
    call_id = await let_wait(ui.server)
    await expect(approve(await open_tray(page))).to_have_attribute("aria-disabled", "false")
    digest = ui.host.approvals.find_pending(call_id).request.digest
    found = await page.evaluate(
        """async ([origin, callId, digest]) => {
            const frame = document.querySelector('ac-app').shadowRoot
                .querySelector('ac-approval-tray').shadowRoot.querySelector('ac-approval-frame').shadowRoot.querySelector('iframe');
            const tried = {};
            const attempt = async (name, work) => {
                try { tried[name] = String(await work()); } catch (error) { tried[name] = 'no'; }
            };
            const body = JSON.stringify({approved: true, digest});
            const session = localStorage.getItem('agentcore.session');
            await attempt('reach in', () => frame.contentDocument ? 'reached' : 'no');
            await attempt('storage', () => frame.contentWindow.localStorage.length);
            const cookies = {credentials: 'include'};
            await attempt('read', async () => (await fetch(`${origin}/api/approvals`, cookies)).text());
            const headers = {'Content-Type': 'application/json', 'X-Agentcore-Session': session};
            await attempt('decide there', async () => (await fetch(`${origin}/api/approvals/${callId}/decision`, {
                method: 'POST', body, headers, credentials: 'include'})).status);
            await attempt('blind', async () => {
                await fetch(`${origin}/api/approvals/${callId}/decision`, {
                    method: 'POST', body, mode: 'no-cors', credentials: 'include'});
                return 'sent';
            });
            await attempt('decide here', async () => (await fetch(`/api/approvals/${callId}/decision`, {
                method: 'POST', body, headers})).status);
            const post = {method: 'POST', headers};
            await attempt('code', async () => (await fetch('/api/session/code', post)).status);
            await attempt('pair', async () => (await fetch('/api/approvers/code', post)).status);
            for (const message of [{type: 'ac-decide', approved: true}, {type: 'click'}, {approved: true, callId}]) {
                frame.contentWindow.postMessage(message, '*');
            }
            frame.dispatchEvent(new MouseEvent('click', {bubbles: true, composed: true}));
            frame.focus();
            for (const key of ['Tab', 'Enter']) frame.dispatchEvent(new KeyboardEvent('keydown', {key, ctrlKey: true}));
            return tried;
        }""",
        [ui.server.approval_address, call_id, digest],
    )
    assert found["decide here"] == "403"
    assert (found["code"], found["pair"]) == ("403", "403")
    for way in ("reach in", "storage", "read", "decide there"):
        assert found[way] == "no", (way, found[way])
    assert is_undecided(ui, call_id)


@pytest.mark.more
async def test_made_up_events_inside_of_the_view_decide_nothing(ui):
    page = await approval_view(ui)
    call_id = await let_wait(ui.server)
    button = approve(page)
    await expect(button).to_have_attribute("aria-disabled", "false")
    await button.evaluate("""(button) => {
        button.click();
        button.dispatchEvent(new MouseEvent('click', {bubbles: true, composed: true}));
        for (const type of ['keydown', 'keyup']) {
            button.dispatchEvent(new KeyboardEvent(type, {key: 'Enter', ctrlKey: true, bubbles: true, composed: true}));
        }
    }""")
    assert is_undecided(ui, call_id)
    await button.click()
    assert (await verdict(ui, call_id)).approved


@pytest.mark.more
async def test_click_through_something_that_covers_the_buttons_decides_nothing(ui):
    page = await both(ui)
    call_id = await let_wait(ui.server)
    button = approve(await open_tray(page))
    for background in ("white", "rgba(0, 0, 0, 0.01)"):
        await expect(button).to_have_attribute("aria-disabled", "false")
        await page.evaluate(
            """(background) => {
                const cover = document.createElement('div');
                cover.id = 'cover';
                document.body.append(cover);
                const style = {position: 'fixed', inset: '0', zIndex: '9', pointerEvents: 'none', background};
                Object.assign(cover.style, style);
            }""",
            background,
        )
        await expect(button).to_have_attribute("aria-disabled", "true")
        box = await button.bounding_box()
        await page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        await page.evaluate("document.querySelector('#cover').remove()")
    await expect(button).to_have_attribute("aria-disabled", "false")
    assert is_undecided(ui, call_id)


@pytest.mark.more
async def test_frame_that_is_faded_shrunk_or_cut_does_not_decide(ui):
    page = await both(ui)
    call_id = await let_wait(ui.server)
    button = approve(await open_tray(page))
    tray = page.locator(TRAY)
    for look in ("opacity: 0.05", "transform: scale(0.1)", "filter: contrast(0.1)", "clip-path: inset(30%)"):
        await expect(button).to_have_attribute("aria-disabled", "false")
        style = look.split(": ")
        await tray.evaluate("(frame, [name, value]) => frame.style.setProperty(name, value)", style)
        await expect(button).to_have_attribute("aria-disabled", "true")
        await tray.evaluate("(frame, [name]) => frame.style.removeProperty(name)", style)
    assert is_undecided(ui, call_id)


@pytest.mark.more
async def test_other_origins_cannot_frame_the_view(ui, browser):
    """Another port of this machine is the same site, whose cookies travel; the document refuses to be shown there."""
    ui.allowed_errors += ["frame-ancestors", "Refused", "ERR_BLOCKED"]
    page = await approval_view(ui)
    await page.route("http://127.0.0.1:9/", lambda route: route.fulfill(content_type="text/html", body="<p>x</p>"))
    await page.goto("http://127.0.0.1:9/")
    await page.evaluate(
        """(address) => {
            const frame = document.createElement('iframe');
            frame.src = address;
            document.body.append(frame);
            return new Promise((resolve) => { frame.onload = resolve; });
        }""",
        ui.server.approval_address,
    )
    assert await page.frame_locator("iframe").locator("ac-approval-view").count() == 0


@pytest.mark.more
async def test_second_click_of_a_double_click_does_not_hit_the_next_call(ui):
    page = await approval_view(ui)
    first, second = await let_wait(ui.server, "one"), await let_wait(ui.server, "two")
    buttons = approve(page)
    await expect(buttons).to_have_count(2)
    await expect(buttons.first).to_have_attribute("aria-disabled", "false")
    box = await buttons.first.bounding_box()
    await page.mouse.dblclick(box["x"] + 10, box["y"] + 10)
    assert (await verdict(ui, first)).approved
    await expect(buttons).to_have_count(1)
    assert is_undecided(ui, second)
