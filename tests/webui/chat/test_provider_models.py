"""The models that a provider says it has: shown when a person asks, taken by name, confirmed in the approval view."""

import pytest
from playwright.async_api import expect

PHONE = {"width": 390, "height": 844}
MANY = [f"maker/model-{number}" for number in range(20)]


@pytest.fixture
def open_providers(open_chat, provider):
    """Open the dialog of providers, with the played provider's address kept."""

    async def make(**options):
        chat = await open_chat(has_model=False, **options)
        await chat.ui.server.put("/api/chat/providers/openai", json={"baseUrl": f"{provider.url}/v1"})
        await decide(chat, approved=True)
        await chat.page.get_by_role("button", name="No model").click()
        await chat.page.get_by_role("menuitem", name="Models and keys").click()
        chat.ui.allowed_errors.append("403")
        await expect(chat.page.get_by_role("dialog", name="Models and keys")).to_be_visible()
        # what stands in it is slotted: no descendant of the native dialog
        return chat, chat.page.locator("ac-view-chats ac-dialog")

    return make


async def decide(chat, *, approved):
    (change,) = chat.ui.host.policy_changes.waiting
    await chat.ui.host.policy_changes.decide_change(change.change_id, approved=approved, by="test")


async def test_model_is_chosen_from_those_that_the_provider_says_it_has(open_providers, provider):
    """Its provider was confirmed: no further word is needed."""
    provider.listed = {"data": [{"id": name} for name in MANY]}
    chat, dialog = await open_providers()
    await dialog.get_by_role("button", name="Show the models it has").click()
    await dialog.get_by_label("Find a model").fill("MODEL-17")
    await dialog.get_by_role("button", name="Use: maker/model-17").click()
    await expect(chat.page.get_by_role("dialog")).to_have_count(0)
    provider.say("Hello.")
    await chat.say("hi")
    await expect(chat.messages.last).to_contain_text("Hello.")
    assert provider.requests[0]["model"] == "maker/model-17"


@pytest.mark.more
async def test_key_of_the_dialog_leads_to_the_approval_view_and_back_to_the_models(open_providers, provider):
    provider.listed = {"data": [{"id": "small"}, {"id": "large"}]}
    chat, dialog = await open_providers()
    await dialog.get_by_label("API key").fill("sk-new")
    await dialog.get_by_role("button", name="Connect", exact=True).click()
    await expect(chat.page.get_by_role("dialog", name="Models and keys")).to_have_count(0)
    await expect(chat.page.locator("ac-approval-tray iframe")).to_be_visible()
    await decide(chat, approved=True)
    await dialog.get_by_role("button", name="Use: small").click()
    await expect(chat.page.get_by_role("dialog")).to_have_count(0)
    await expect(chat.page.get_by_role("button", name="openai:small")).to_be_visible()


@pytest.mark.more
async def test_key_that_is_refused_is_said_at_its_one_field_until_another_is_kept(open_providers, provider):
    chat, dialog = await open_providers()
    chat.ui.allowed_errors.append("400")
    await chat.ui.server.put("/api/chat/providers/openai", json={"key": "sk-old"})
    await decide(chat, approved=True)
    await expect(dialog.get_by_text("Key stored")).to_be_visible()
    provider.list_status = 401
    await dialog.get_by_role("button", name="Show the models it has").click()
    await expect(dialog.get_by_role("alert").filter(has_text="The provider refused the key.")).to_have_count(1)
    await expect(dialog.get_by_text("Key refused", exact=True)).to_be_visible()
    await expect(dialog.get_by_text("Key stored")).to_have_count(0)
    await dialog.get_by_label("API key").fill("sk-new")
    await dialog.get_by_role("button", name="Connect", exact=True).click()
    await dialog.get_by_role("button", name="Save anyway").click()
    await expect(chat.page.locator("ac-approval-tray iframe")).to_be_visible()
    # the list is asked for at once with the new key, and refused again
    async with chat.page.expect_response(lambda response: response.url.endswith("/models")):
        await decide(chat, approved=True)
    await expect(dialog.get_by_role("button", name="Ask again")).to_be_visible()
    await expect(dialog.get_by_text("Key refused", exact=True)).to_be_visible()
    await expect(dialog.get_by_label("API key")).to_have_count(1)
    provider.list_status, provider.listed = 200, {"data": [{"id": "small"}]}
    await dialog.get_by_role("button", name="Ask again").click()
    await expect(dialog.get_by_role("button", name="Use: small")).to_be_visible()
    await expect(dialog.get_by_text("Key stored")).to_be_visible()


@pytest.mark.more
async def test_provider_that_does_not_answer_is_said_in_the_dialog(open_providers, provider, unused_tcp_port):
    chat, dialog = await open_providers()
    chat.ui.allowed_errors.append("400")
    address = f"http://127.0.0.1:{unused_tcp_port}"
    await chat.ui.server.put("/api/chat/providers/openai", json={"baseUrl": f"{address}/v1"})
    await decide(chat, approved=True)
    await expect(dialog.get_by_label("Base URL")).to_have_value(f"{address}/v1")
    await dialog.get_by_role("button", name="Show the models it has").click()
    said = dialog.get_by_role("alert").filter(has_text=f"Nothing answers at {address}. Is it running?")
    await expect(said).to_be_visible()
    await expect(dialog.get_by_text("Connect call failed")).to_be_hidden()


@pytest.mark.more
async def test_list_of_one_provider_is_not_shown_for_another(open_providers, provider, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant")
    provider.listed = {"data": [{"id": "small"}]}
    chat, dialog = await open_providers()
    chat.ui.allowed_errors.append("400")  # the other provider is not to be reached from here
    await dialog.get_by_role("button", name="OpenAI-compatible").click()
    await dialog.get_by_role("button", name="Show the models it has").click()
    await expect(dialog.get_by_text("small", exact=True)).to_be_visible()
    await dialog.get_by_role("button", name="Anthropic").click()
    await expect(dialog.get_by_role("button", name="Anthropic")).to_have_attribute("aria-pressed", "true")
    await expect(dialog.get_by_text("small", exact=True)).to_have_count(0)


@pytest.mark.more
async def test_list_of_models_is_accessible(open_providers, provider, axe_problems):
    provider.listed = {"data": [{"id": name} for name in [*MANY, "a-maker-with-a-long-name/" + "model-" * 20]]}
    chat, dialog = await open_providers()
    await dialog.get_by_role("button", name="Show the models it has").click()
    await expect(dialog.get_by_role("button", name="Use: maker/model-0", exact=True)).to_be_visible()
    assert await axe_problems(chat.page) == []
    await chat.page.set_viewport_size(PHONE)
    assert await chat.page.get_by_role("dialog").evaluate("(element) => element.scrollWidth <= element.clientWidth")
