"""Calls of the server's own tools are decided in the panel, with its own key."""

from playwright.async_api import expect

from agentcore.api import Module, tool
from tests.extension.panel.conftest import LIMIT_MS


class Notes(Module):
    """Notes."""

    name = "notes"

    @tool
    async def notes_add(self, text: str) -> str:
        """Add a note."""
        return f"noted {text}"


async def test_call_of_the_server_is_approved_in_its_card(beside):
    at = await beside(modules=[Notes])
    at.server.provider.say("", ("call_1", "notes_add", '{"text": "milk"}'))
    at.server.provider.say("It is noted.")
    await at.say("Note milk")
    approve = at.panel.locator("ac-approval-call").get_by_role("button", name="Approve: notes_add")
    await expect(approve).to_have_attribute("aria-disabled", "false", timeout=LIMIT_MS)
    await approve.click()
    await at.shows("It is noted.")
    assert "noted milk" in at.server.provider.sent
