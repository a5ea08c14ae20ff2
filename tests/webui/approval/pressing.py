"""Deciding as a person does: the tray is opened, and the pointer comes along before it presses."""

from playwright.async_api import FrameLocator, Locator, Page, expect

TRAY = "ac-approval-tray iframe"


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
