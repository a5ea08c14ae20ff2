"""Where no model is set up: what the page says, and the ways to one."""

import json

from playwright.async_api import expect

from agentcore.api import Module, Runtime

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


async def test_servers_are_looked_for_only_when_a_person_asks(open_chat):
    chat = await open_chat(has_model=False)
    asked = []
    chat.page.on("request", lambda request: asked.append(request.url))
    await chat.page.get_by_role("button", name="On this machine").click()
    assert not [url for url in asked if "local-servers" in url]
    await chat.page.get_by_role("button", name="Look for model servers").click()
    await expect(chat.page.get_by_text("No model server answers on this machine.")).to_be_visible()
    assert [url for url in asked if "local-servers" in url]


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
    await expect(chat.page.get_by_role("heading", name="A third")).to_be_visible()
    await expect(chat.page.get_by_label("Address")).to_have_attribute("placeholder", "https://third.example/v1")
    await chat.page.get_by_role("button", name="On this machine").click()
    await expect(chat.page.get_by_text("New server are looked for")).to_be_visible()


async def test_key_is_sent_once_and_is_nowhere_in_the_page_afterwards(open_chat):
    """Whether it is taken at once or waits for a person's word, the page keeps nothing of it."""
    chat = await open_chat(has_model=False)
    chat.ui.allowed_errors.append("403")
    field = chat.page.get_by_label("API key")
    assert await field.get_attribute("type") == "password"
    await field.fill(SECRET)
    async with chat.page.expect_response("**/api/chat/providers/openai") as answered:
        await chat.page.get_by_role("button", name="Save").click()
    answer = await answered.value
    assert json.loads(answer.request.post_data) == {"key": SECRET}
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
