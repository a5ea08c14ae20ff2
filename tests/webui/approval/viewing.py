"""The approval view in a browser that is logged in to both origins, and what is looked for in it."""

import asyncio


async def both(ui, **options):
    """A page whose browser is logged in to both origins, as `serve --open` does it."""
    store = ui.host.store
    page = await ui.page(is_logged_in=False, **options)
    codes = f"#code={store.approval_sessions.create_code()}&page={store.page_sessions.create_code()}"
    await page.goto(f"{ui.server.approval_address}/{codes}")
    await page.locator("ac-app nav").first.wait_for(state="attached")
    return page


async def approval_view(ui, **options):
    """The approval view in a window of its own, in a browser that is logged in there alone."""
    page = await ui.page(is_logged_in=False, **options)
    await page.goto(f"{ui.server.approval_address}/#code={ui.host.store.approval_sessions.create_code()}")
    await page.locator("ac-approval-view h1").first.wait_for()
    return page


def card(frame):
    return frame.get_by_role("article", name="note_write")


def approve(frame):
    return frame.get_by_role("button", name="Approve: note_write")


async def misplaced(frame):
    """What stands in no landmark, and roles that an element must not have; `axe_problems` has brought axe there."""
    rules = "{runOnly: ['region', 'aria-allowed-role'], iframes: false}"
    result = await frame.evaluate(f"axe.run(document, {rules})")
    return [f"{found['id']}: {node['html']}" for found in result["violations"] for node in found["nodes"]]


def is_undecided(ui, call_id):
    return ui.host.approvals.find_pending(call_id).verdict is None


async def verdict(ui, call_id):
    async with asyncio.timeout(30):
        while is_undecided(ui, call_id):
            await asyncio.sleep(0.02)
    return ui.host.approvals.find_pending(call_id).verdict
