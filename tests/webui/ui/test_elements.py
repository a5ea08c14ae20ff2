"""The small components that the others are made of: each shows, is accessible, and does its job."""

import pytest
from playwright.async_api import expect

HOSTILE = '<img src=x onerror="window.hacked = true"><b>bold</b>'


async def test_dialog_takes_the_focus_and_gives_it_back(mount, axe_problems):
    shown = await mount("ac-dialog", on=("ac-close",), heading="Delete it?")
    await shown.page.evaluate("""() => {
        const button = document.createElement('button');
        button.textContent = 'Open';
        document.querySelector('main').prepend(button);
        button.focus();
    }""")
    await shown.put(open=True)
    dialog = shown.page.get_by_role("dialog", name="Delete it?")
    await expect(dialog).to_be_visible()
    await expect(shown.page.get_by_role("button", name="Close")).to_be_focused()
    assert await axe_problems(shown.page) == []
    await shown.page.keyboard.press("Escape")
    assert len(await shown.heard()) == 1
    await expect(dialog).to_be_visible()  # whoever opened it decides
    await shown.put(open=False)
    await expect(dialog).to_be_hidden()
    await expect(shown.page.get_by_role("button", name="Open")).to_be_focused()


async def test_click_beside_a_dialog_closes_it_and_one_inside_does_not(mount):
    shown = await mount("ac-dialog", on=("ac-close",), heading="Delete it?", open=True)
    await shown.page.get_by_role("heading", name="Delete it?").click()
    assert await shown.heard() == []
    await shown.page.mouse.click(5, 5)
    assert len(await shown.heard()) == 1


async def test_copy_puts_the_text_into_the_clipboard_and_says_so(mount):
    shown = await mount("ac-copy", value="agentcore open", label="Copy the command")
    await shown.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await shown.page.get_by_role("button", name="Copy the command").click()
    await expect(shown.page.get_by_role("status")).to_have_text("Copied")
    assert await shown.page.evaluate("navigator.clipboard.readText()") == "agentcore open"


async def test_command_is_shown_as_typed_in_a_terminal(mount, axe_problems):
    shown = await mount("ac-command", command="pip install 'agentcore-fs-tools'")
    await expect(shown.element.locator("code")).to_have_text("pip install 'agentcore-fs-tools'")
    assert await axe_problems(shown.page) == []


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("plain text", "plain text"),
        ({"type": "city_not_found", "message": "no city named 'X'"}, "no city named 'X' city_not_found"),
        ({"type": "unreachable", "message": "TypeError"}, "The server does not answer"),
        (None, ""),
    ],
)
async def test_error_card_tells_reason_and_type(mount, error, expected):
    shown = await mount("ac-error-card", heading="It failed", error=error)
    await expect(shown.page.get_by_role("alert")).to_contain_text("It failed")
    await expect(shown.page.get_by_role("alert")).to_contain_text(expected)


async def test_error_card_shows_the_end_of_its_details_when_they_are_opened(mount, axe_problems):
    details = "\n".join(f"line {n}" for n in range(200))
    shown = await mount("ac-error-card", heading="It failed", error="why", details=details)
    await expect(shown.page.get_by_text("line 199")).to_be_hidden()
    await shown.page.get_by_text("Details").click()
    pre = shown.page.get_by_role("region", name="Details")
    await expect(pre).to_be_visible()
    await shown.page.wait_for_function(
        """() => {
            const pre = document.querySelector('ac-error-card').shadowRoot.querySelector('pre');
            return pre.scrollTop > 0 && pre.scrollTop + pre.clientHeight + 1 >= pre.scrollHeight;
        }""",
        polling=20,
    )
    assert await axe_problems(shown.page) == []


@pytest.mark.spec("S1")
async def test_errors_and_messages_are_text_and_never_html(mount):
    shown = await mount("ac-error-card", heading=HOSTILE, error={"type": HOSTILE, "message": HOSTILE}, details=HOSTILE)
    await expect(shown.page.get_by_role("alert").get_by_text("<b>bold</b>").first).to_be_visible()
    await shown.page.evaluate(
        """async (text) => {
            await import('/static/ui/ac-toasts.js');
            const {toast} = await import('/static/ui/toasts.js');
            document.querySelector('main').append(document.createElement('ac-toasts'));
            toast(text, {detail: text});
        }""",
        HOSTILE,
    )
    await expect(shown.page.get_by_role("status", name="Messages")).to_contain_text("<b>bold</b>")
    assert await shown.page.evaluate("window.hacked") is None


@pytest.mark.more
async def test_messages_go_by_themselves_and_errors_stay_until_they_are_closed(mount):
    shown = await mount("ac-toasts", options={"is_reused": False})
    await shown.page.clock.install()
    await shown.page.evaluate(
        """import('/static/ui/toasts.js').then(({toast, toastError}) => {
            toast('It was done');
            toastError('It failed', 'x');
        })"""
    )
    messages = shown.page.get_by_role("status", name="Messages")
    await expect(messages.get_by_role("listitem")).to_have_count(2)
    await shown.page.clock.run_for(60_000)
    await expect(messages.get_by_role("listitem")).to_have_count(1)
    await expect(messages).to_contain_text("It failed")
    await messages.get_by_role("button", name="Close").click()
    await expect(messages.get_by_role("listitem")).to_have_count(0)


async def test_icon_is_decoration_and_an_unknown_one_is_nothing(mount):
    shown = await mount("ac-icon", name="box")
    await expect(shown.element).to_have_attribute("aria-hidden", "true")
    await expect(shown.element.locator("svg")).to_have_count(1)
    await shown.put(name="no-such-icon")
    await expect(shown.element.locator("svg")).to_have_count(0)
