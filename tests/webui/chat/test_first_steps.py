"""Where no model is set up: what the page says, and the ways to one."""

import asyncio
import json
import re

import pytest
from playwright.async_api import expect

from agentcore.api import Module, Runtime
from agentcore.chat.model.local_servers import KnownServer

ASK_SETUP = "import('/static/client/client.js').then(({client}) => client.get('/api/chat')).then(JSON.stringify)"
SECRET = "sk-only-for-the-server"


async def test_page_without_a_model_says_what_to_do_and_still_calls_tools(open_chat):
    chat = await open_chat(has_model=False)
    await expect(chat.page.get_by_role("heading", name="Connect a model")).to_be_visible()
    await expect(chat.page.get_by_role("button", name="Send", exact=True)).to_be_disabled()
    await chat.box.fill("hello")
    await expect(chat.page.get_by_role("button", name="Send", exact=True)).to_be_disabled()
    await chat.say("/pantry_list")
    await expect(chat.card.get_by_role("button", name="pantry_list")).to_contain_text("done")


async def enter(chat, key="", address=""):
    """Enter a key and an address, and connect."""
    form = chat.page.locator("ac-provider-form")
    if address and not await form.get_by_label("Base URL").count():
        await form.get_by_role("button", name="Another base URL").click()
    if key:
        await form.get_by_label("API key").fill(key)
    if address:
        await form.get_by_label("Base URL").fill(address)
    await form.get_by_role("button", name="Connect", exact=True).click()


async def confirm(chat):
    """Confirm the one change that waits, as a person does in the approval view."""
    (change,) = chat.ui.host.policy_changes.waiting
    await chat.ui.host.policy_changes.decide_change(change.change_id, approved=True, by="test")


async def sessions(chat):
    return (await (await chat.ui.server.get("/api/sessions")).json())["sessions"]


@pytest.mark.more
@pytest.mark.spec("C5")
async def test_key_leads_to_the_provider_s_models_and_to_a_chat_by_one_confirmation(open_chat, provider):
    """What was chosen is asked from then on, in other browsers as well."""
    provider.listed = {"data": [{"id": name} for name in ("text-embedding-3", "small", "large")]}
    chat = await open_chat(has_model=False)
    chat.ui.allowed_errors.append("403")
    await enter(chat, SECRET, f"{provider.url}/v1")
    await expect(chat.page.get_by_text("This waits for you in the approval view")).to_be_visible()
    await confirm(chat)
    await expect(chat.page.get_by_role("heading", name="Choose a model")).to_be_visible()
    models = chat.page.get_by_role("list", name="Models").get_by_role("listitem")
    await expect(models).to_contain_text(["small", "large"])
    await expect(models.first).to_contain_text("Suggested")
    await expect(chat.page.get_by_role("button", name="Send", exact=True)).to_be_disabled()
    await chat.page.get_by_role("button", name="Use: large").click()
    await expect(chat.page.get_by_role("heading", name="What shall we do?")).to_be_visible()
    await expect(chat.box).to_be_focused()
    provider.say("Hello.")
    await chat.say("hi")
    await expect(chat.messages.last).to_contain_text("Hello.")
    assert (provider.requests[0]["model"], provider.headers[-1]["Authorization"]) == ("large", f"Bearer {SECRET}")
    assert not chat.ui.host.policy_changes.waiting
    other = await chat.ui.page("#/chats")
    await expect(other.get_by_role("button", name="openai:large")).to_be_visible()


@pytest.mark.more
@pytest.mark.spec("C5")
async def test_only_model_of_a_provider_is_used_without_a_choice(open_chat, provider):
    provider.listed = {"data": [{"id": "small"}]}
    chat = await open_chat(has_model=False)
    chat.ui.allowed_errors.append("403")
    await enter(chat, SECRET, provider.url.removeprefix("http://"))
    await expect(chat.page.get_by_text("This waits for you in the approval view")).to_be_visible()
    await confirm(chat)
    await expect(chat.page.get_by_role("heading", name="What shall we do?")).to_be_visible()
    await expect(chat.box).to_be_focused()
    provider.say("Hello.")
    await chat.say("hi")
    await expect(chat.messages.last).to_contain_text("Hello.")
    assert provider.requests[0]["model"] == "small"


@pytest.mark.more
@pytest.mark.parametrize(
    ("status", "listed", "field", "text"),
    [
        (401, {}, "API key", "The provider refused the key."),
        (404, {}, "Base URL", "has no list of models at this path"),
        (200, {"data": []}, "Base URL", "it has no models"),
    ],
)
async def test_what_does_not_work_is_said_at_its_field_and_nothing_is_stored(
    open_chat, provider, status, listed, field, text
):
    provider.list_status, provider.listed = status, listed
    chat = await open_chat(has_model=False)
    chat.ui.allowed_errors.append("400")
    await enter(chat, "sk-wrong", f"{provider.url}/v1")
    entered = chat.page.locator("ac-provider-form").get_by_label(field)
    await expect(entered).to_be_focused()
    await expect(entered).to_have_attribute("aria-invalid", "true")
    await expect(entered).to_have_accessible_description(re.compile(re.escape(text)))
    await expect(chat.page.locator("ac-provider-form").get_by_role("alert")).to_have_count(1)
    assert not chat.ui.host.policy_changes.waiting
    await entered.press_sequentially("x")
    await expect(chat.page.locator("ac-provider-form").get_by_role("alert")).to_have_count(0)


@pytest.mark.more
async def test_form_without_anything_in_it_asks_for_a_key(open_chat):
    chat = await open_chat(has_model=False)
    await enter(chat)
    await expect(chat.page.get_by_label("API key")).to_be_focused()
    await expect(chat.page.get_by_label("API key")).to_have_accessible_description(re.compile("Enter a key"))


@pytest.mark.more
async def test_test_that_takes_long_can_be_cancelled(open_chat, provider):
    chat = await open_chat(has_model=False)
    going = asyncio.Event()

    async def wait(route):
        going.set()  # it is never answered

    await chat.page.route("**/api/chat/providers/openai/test", wait)
    await enter(chat, "sk-1", f"{provider.url}/v1")
    await expect(chat.page.get_by_role("button", name="Testing…")).to_be_disabled()
    await asyncio.wait_for(going.wait(), 30)
    await chat.page.locator("ac-provider-form").get_by_role("button", name="Cancel").click()
    await expect(chat.page.get_by_role("button", name="Connect", exact=True)).to_be_enabled()
    await expect(chat.page.get_by_label("API key")).to_have_value("sk-1")


@pytest.mark.more
async def test_key_of_another_provider_goes_to_its_form(open_chat):
    chat = await open_chat(has_model=False)
    await chat.page.get_by_label("API key").fill("sk-ant-entered")
    await expect(chat.page.get_by_role("button", name="Anthropic")).to_have_attribute("aria-pressed", "true")
    await expect(chat.page.get_by_label("API key")).to_have_value("sk-ant-entered")
    await expect(chat.page.get_by_label("API key")).to_be_focused()


@pytest.mark.more
async def test_page_opens_on_the_way_to_a_model_and_with_one_on_the_message_box(open_chat):
    chat = await open_chat()
    await chat.page.goto(chat.ui.address)
    await expect(chat.box).to_be_focused()
    assert chat.page.url.endswith("#/chats")
    other = await open_chat(has_model=False)
    await other.page.goto(other.ui.address)
    await expect(other.page.get_by_role("heading", name="Connect a model")).to_be_visible()


@pytest.mark.more
async def test_provider_without_a_list_takes_the_name_of_a_model(open_chat, provider):
    provider.list_status = 404
    chat = await open_chat(has_model=False)
    chat.ui.allowed_errors += ["403", "400"]
    await enter(chat, address=f"{provider.url}/v1")
    await chat.page.get_by_role("button", name="Save anyway").click()
    await expect(chat.page.get_by_text("This waits for you in the approval view")).to_be_visible()
    await confirm(chat)
    await chat.page.get_by_label("Name of the model").fill("my-model")
    await chat.page.get_by_label("Name of the model").press("Enter")
    provider.say("Hello.")
    await chat.say("hi")
    await expect(chat.messages.last).to_contain_text("Hello.")
    assert provider.requests[0]["model"] == "my-model"


def look_at(chat, *places):
    """Have model servers looked for at these addresses."""
    chat.ui.server.server.app.dispatcher.parts.chat.setup.places = places


@pytest.mark.more
async def test_server_that_is_started_later_appears_by_itself(open_chat, provider):
    chat = await open_chat(has_model=False)
    look_at(chat, KnownServer("ollama", "http://127.0.0.1:9/v1", "Ollama"))
    await chat.page.reload()
    await expect(chat.page.get_by_text("No model server is running on this machine. Start one (Ollama")).to_be_visible()
    provider.listed = {"data": []}
    look_at(chat, KnownServer("ollama", f"{provider.url}/v1", "Ollama"))
    await expect(chat.page.get_by_text("Ollama is running, but it has no chat model.").last).to_be_visible()
    provider.listed = {"data": [{"id": "nomic-embed-text"}, {"id": "qwen3:8b"}]}
    await expect(chat.page.get_by_role("button", name="Use: qwen3:8b")).to_be_visible()
    await expect(chat.page.get_by_role("button", name="Use: nomic-embed-text")).to_have_count(0)


@pytest.mark.more
async def test_model_of_a_server_on_this_machine_is_one_click_and_one_confirmation(open_chat, provider):
    provider.listed = {"data": [{"id": "qwen3:8b"}]}
    chat = await open_chat(has_model=False)
    chat.ui.allowed_errors.append("403")
    look_at(
        chat,
        KnownServer("ollama", f"{provider.url}/v1", "Ollama"),
        KnownServer("vllm", "http://127.0.0.1:9/v1", "vLLM"),
    )
    await chat.page.reload()
    await chat.page.get_by_role("button", name="Use: qwen3:8b").click()
    await expect(chat.page.get_by_text("This waits for you in the approval view")).to_be_visible()
    await confirm(chat)
    await expect(chat.page.get_by_role("heading", name="What shall we do?")).to_be_visible()
    provider.say("Hello.")
    await chat.say("hi")
    await expect(chat.messages.last).to_contain_text("Hello.")


@pytest.mark.more
@pytest.mark.spec("C5")
async def test_server_on_this_machine_that_needs_a_key_asks_for_it_and_tests_it(open_chat, provider):
    provider.key, provider.listed = SECRET, {"data": [{"id": "qwen3:8b"}, {"id": "gemma"}]}
    chat = await open_chat(has_model=False)
    chat.ui.allowed_errors += ["400", "403"]
    look_at(chat, KnownServer("lm_studio", f"{provider.url}/v1", "LM Studio"))
    await chat.page.reload()
    servers = chat.page.locator("ac-local-servers")
    await expect(servers.get_by_text("LM Studio is running, and needs the key").last).to_be_visible()
    await servers.get_by_role("button", name="Enter its key").click()
    await servers.get_by_label("API key").fill("wrong")
    await servers.get_by_role("button", name="Connect", exact=True).click()
    await expect(servers.get_by_label("API key")).to_have_accessible_description(re.compile("refused the key"))
    assert not chat.ui.host.policy_changes.waiting
    await servers.get_by_label("API key").fill(SECRET)
    await servers.get_by_role("button", name="Connect", exact=True).click()
    await expect(servers.get_by_text("This waits for you in the approval view")).to_be_visible()
    await confirm(chat)
    await chat.page.get_by_role("button", name="Use: gemma").first.click()
    provider.say("Hello.")
    await chat.say("hi")
    await expect(chat.messages.last).to_contain_text("Hello.")
    assert (provider.requests[0]["model"], provider.headers[-1]["Authorization"]) == ("gemma", f"Bearer {SECRET}")


@pytest.mark.more
@pytest.mark.spec("C5")
async def test_further_providers_are_added_under_names_and_their_models_are_grouped(open_chat, provider):
    provider.listed = {"data": [{"id": "small"}, {"id": "large"}, {"id": "text-embedding-3"}]}
    chat = await open_chat(has_model=False)
    chat.ui.allowed_errors.append("403")
    await enter(chat, SECRET, f"{provider.url}/v1")
    await expect(chat.page.get_by_text("This waits for you in the approval view")).to_be_visible()
    await confirm(chat)
    await chat.page.get_by_role("button", name="Use: large").click()
    await chat.page.get_by_role("button", name="Model: openai:large").click()
    await chat.page.get_by_role("menuitem", name="Models and keys").click()
    await expect(chat.page.get_by_role("dialog", name="Models and keys")).to_be_visible()
    dialog = chat.page.locator("ac-chat-providers")
    await dialog.get_by_label("Add a provider").select_option("OpenRouter")
    await expect(dialog.get_by_label("Name", exact=True)).to_have_value("openrouter")
    await dialog.get_by_label("Name", exact=True).fill("openai")
    await dialog.get_by_role("button", name="Connect", exact=True).click()
    await expect(dialog.get_by_label("Name", exact=True)).to_have_accessible_description(
        re.compile("no other provider")
    )
    await dialog.get_by_label("Name", exact=True).fill("work")
    await dialog.get_by_label("API key").fill("sk-or-work")
    await dialog.get_by_role("button", name="Another base URL").click()
    await dialog.get_by_label("Base URL").fill(f"{provider.url}/v1")
    await dialog.get_by_role("button", name="Connect", exact=True).click()
    await expect(dialog).to_have_count(0)
    await confirm(chat)
    await expect(dialog.get_by_role("button", name="work", exact=True)).to_have_attribute("aria-pressed", "true")
    await chat.page.get_by_role("button", name="Close", exact=True).last.click()
    await chat.page.get_by_role("button", name="Model: openai:large").click()
    group = chat.page.get_by_role("group", name="work")
    await expect(group.get_by_role("menuitemradio")).to_have_text(["small", "large"])
    await group.get_by_role("menuitemradio", name="small").click()
    provider.say("Hello.")
    await chat.say("hi")
    await expect(chat.messages.last).to_contain_text("Hello.")
    assert (provider.requests[0]["model"], provider.headers[-1]["Authorization"]) == ("small", "Bearer sk-or-work")


@pytest.mark.more
async def test_key_of_a_service_that_is_not_set_up_goes_to_its_form(open_chat):
    chat = await open_chat(has_model=False)
    await chat.page.get_by_label("API key").fill("gsk_entered")
    await expect(chat.page.get_by_label("Name", exact=True)).to_have_value("groq")
    await expect(chat.page.get_by_label("API key")).to_have_value("gsk_entered")
    await expect(chat.page.get_by_label("Add a provider")).to_have_value("groq")


@pytest.mark.more
async def test_message_that_no_model_takes_leaves_no_chat_and_goes_out_with_the_model_that_is_chosen(open_chat):
    """The model that was chosen last in this browser is gone from app.json."""
    chat = await open_chat()
    chat.ui.allowed_errors.append("400")
    await chat.page.evaluate("localStorage.setItem('agentcore.chatChoices', JSON.stringify({model: 'gone'}))")
    await chat.page.reload()
    await chat.say("hi")
    await expect(chat.page.get_by_role("heading", name="There is no such model")).to_be_visible()
    await expect(chat.box).to_have_value("hi")
    assert await sessions(chat) == []
    assert chat.page.url.endswith("#/chats")
    chat.provider.say("Hello.")
    await chat.page.get_by_role("button", name="Use: test-model").click()
    await expect(chat.messages.last).to_contain_text("Hello.")
    await expect(chat.box).to_have_value("")
    assert [session["title"] for session in await sessions(chat)] == ["hi"]


@pytest.mark.more
async def test_model_that_the_provider_does_not_know_any_more_is_replaced_where_the_error_stands(open_chat, provider):
    provider.listed = {"data": [{"id": "newer"}]}
    provider.say(status=404, error={"error": {"message": "no such model", "code": "model_not_found"}})
    chat = await open_chat(has_model=False)
    await chat.ui.server.put("/api/chat/providers/openai", json={"baseUrl": f"{provider.url}/v1"})
    await confirm(chat)
    await chat.page.evaluate("localStorage.setItem('agentcore.chatChoices', JSON.stringify({model: 'openai:older'}))")
    await chat.page.reload()
    await chat.say("hi")
    await expect(chat.shown.get_by_role("heading", name="There is no such model")).to_be_visible()
    provider.say("Hello.")
    await chat.shown.get_by_role("button", name="Use: newer").click()
    await expect(chat.messages.last).to_contain_text("Hello.")
    await expect(chat.shown.get_by_role("alert")).to_have_count(0)
    assert [request["model"] for request in provider.requests] == ["older", "newer"]


@pytest.mark.more
async def test_key_that_is_refused_is_replaced_where_the_error_stands(open_chat, provider):
    provider.list_status = 401
    provider.say(status=401, error={"error": {"message": "bad key"}})
    chat = await open_chat(has_model=False)
    chat.ui.allowed_errors += ["403", "400"]
    await chat.ui.server.put("/api/chat/providers/openai", json={"baseUrl": f"{provider.url}/v1", "key": "sk-old"})
    await confirm(chat)
    await chat.ui.server.put("/api/chat/model", json={"model": "openai:small"})
    await chat.page.reload()
    await chat.say("hi")
    await expect(chat.shown.get_by_role("heading", name="The provider refused the key")).to_be_visible()
    await chat.shown.get_by_label("API key").fill(SECRET)
    provider.list_status, provider.listed = 200, {"data": [{"id": "small"}]}
    provider.say("Hello.")
    await chat.shown.get_by_role("button", name="Connect", exact=True).click()
    await expect(chat.shown.get_by_text("This waits for you in the approval view")).to_be_visible()
    await confirm(chat)
    await expect(chat.messages.last).to_contain_text("Hello.")
    assert provider.headers[-1]["Authorization"] == f"Bearer {SECRET}"


@pytest.mark.more
async def test_to_see_what_the_model_is_told_makes_no_chat(open_chat):
    chat = await open_chat()
    await chat.page.get_by_role("button", name="What the model is told").click()
    await expect(chat.page.locator("ac-chat-system").get_by_role("listitem").first).to_be_visible()
    assert await sessions(chat) == []


@pytest.mark.more
async def test_providers_and_servers_are_those_that_the_server_names(open_chat):
    chat = await open_chat(has_model=False)
    third = {"provider": "third", "label": {"en": "A third", "zh": "第三家"}, "ownBaseUrl": "https://third.example/v1"}

    async def with_another(route):
        response = await route.fetch()
        shown = await response.json()
        shown["providers"].append({**third, "baseUrl": None, "hasKey": False, "keyOrigin": None})
        shown["localServers"] = [{"kind": "new", "label": "New server", "baseUrl": "http://127.0.0.1:9/v1"}]
        await route.fulfill(response=response, json=shown)

    await chat.page.route("**/api/chat", with_another)
    await chat.page.reload()
    await chat.page.get_by_role("button", name="A third").click()
    await chat.page.get_by_role("button", name="Another base URL").click()
    await expect(chat.page.get_by_label("Base URL")).to_have_attribute("placeholder", "https://third.example/v1")
    await expect(chat.page.get_by_text("Start one (New server")).to_be_visible()


@pytest.mark.more
async def test_key_is_nowhere_in_the_page_once_it_was_sent_to_be_stored(open_chat, provider):
    """Whether it is stored at once or waits for a confirmation, the page keeps nothing of it."""
    provider.listed = {"data": [{"id": "small"}]}
    chat = await open_chat(has_model=False)
    chat.ui.allowed_errors.append("403")
    field = chat.page.get_by_label("API key")
    assert await field.get_attribute("type") == "password"
    async with chat.page.expect_response("**/api/chat/providers/openai") as answered:
        await enter(chat, SECRET, provider.url)
    answer = await answered.value
    assert json.loads(answer.request.post_data) == {"key": SECRET, "baseUrl": f"{provider.url}/v1"}
    assert SECRET not in await answer.text()
    await expect(field).to_have_value("")
    kept = await chat.page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, location.href])")
    assert SECRET not in kept
    assert SECRET not in await chat.page.evaluate(ASK_SETUP)


class Needy(Module):
    """Needs something to be set."""

    name = "needy"
    title = "Shed"

    def init(self, runtime: Runtime) -> None:
        """Say what is missing, and what is not."""
        runtime.note("search", "No shed is chosen.", advice="Choose one in its settings.")
        runtime.note("door", "There is one.")


@pytest.mark.more
async def test_chat_that_is_not_begun_leads_to_what_modules_want_set_up(open_chat):
    chat = await open_chat(Needy())
    advice = chat.page.get_by_role("list", name="To set up")
    await expect(advice.get_by_role("listitem")).to_have_count(1)
    await expect(advice).to_contain_text("Shed: No shed is chosen.")
    await advice.get_by_role("link", name="Set up search of Shed").click()
    noted = chat.page.get_by_role("region", name="To set up")
    await expect(noted).to_contain_text("Choose one in its settings.")
    await expect(noted).not_to_contain_text("There is one.")
    await chat.page.go_back()
    await advice.get_by_role("button", name="Do not show this again: search").click()
    await expect(advice).to_have_count(0)
    await chat.page.reload()
    await expect(chat.page.get_by_role("heading", name="What shall we do?")).to_be_visible()
    await expect(advice).to_have_count(0)
