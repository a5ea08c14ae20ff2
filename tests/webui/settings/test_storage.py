"""The section of the settings that shows what is stored."""

from playwright.async_api import expect


async def test_sizes_and_limits_of_what_is_stored_are_shown(start_webui):
    ui = await start_webui()
    page = await ui.page("#/settings")
    await page.get_by_role("navigation", name="Settings of").get_by_role("link", name="Storage").click()
    row = page.get_by_role("listitem").filter(has=page.get_by_text("Record of calls", exact=True))
    await expect(row).to_contain_text("of 1 GiB")
    await expect(row).to_contain_text("kept for 365 days")
    chats = page.get_by_role("main").get_by_role("listitem").filter(has=page.get_by_text("Chats", exact=True))
    await expect(chats).to_contain_text("nothing is deleted without you")
