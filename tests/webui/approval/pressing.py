"""Deciding as a person does: the tray is opened, and the pointer comes along before it presses."""

from playwright.async_api import FrameLocator, Locator, Page, expect

from tests.support.waiting import wait_until

TRAY = "ac-approval-tray iframe"
_LOOK = """(element) => new Promise((seen) => {
  element.scrollIntoView({block: 'center'});
  const sight = new IntersectionObserver((entries) => {
    if (!entries.at(-1).isVisible) return;
    sight.disconnect();
    seen();
  }, {trackVisibility: true, delay: 100});
  sight.observe(element);
})"""


async def open_tray(page: Page) -> FrameLocator:
    """Open what waits beside the content; the frame of the approval view."""
    switch = page.locator("ac-approval-tray button[aria-expanded]")
    await switch.wait_for()
    if await switch.get_attribute("aria-expanded") == "false":
        await switch.click()
    return page.frame_locator(TRAY)


async def press(button: Locator) -> None:
    """Press a button of the approval view once it counts; in a frame, one that is pressed from nowhere does not."""
    await expect(button).to_have_attribute("aria-disabled", "false")
    await button.hover(position={"x": 2, "y": 4})
    # one under which something slid begins anew as the pointer moves
    await expect(button).to_have_attribute("aria-disabled", "false")
    await button.click()


async def read(card: Locator, button: Locator) -> None:
    """Look at both ends of what a card shows until its button counts.

    An end counts in a frame that shows it, of which a busy browser draws few: one that was left before that is looked
    at again.
    """
    ends = card.locator(".end")
    await expect(ends).to_have_count(2)

    async def counts() -> bool:
        for end in await ends.all():
            await end.evaluate(_LOOK)
        return await button.get_attribute("aria-disabled") == "false"

    await wait_until(counts)
