"""Models and agents in the settings: entries of a form, added, renamed, picked; what is wrong is said at its field."""

import json

import pytest
from playwright.async_api import expect

from tests.webui.settings.test_settings import decide, review, row

pytestmark = pytest.mark.spec("C5", "K5")

CONFIG = {"models": {"fast": {"provider": "openai", "model": "qwen3:8b"}}}


async def test_models_and_agents_are_filled_in_and_not_written_as_json(start_webui):
    ui = await start_webui(config=CONFIG)
    page = await ui.page("#/settings")
    models, agents = row(page, "models"), row(page, "agents")
    await expect(models.get_by_label("Model", exact=True)).to_have_value("qwen3:8b")
    await models.get_by_role("button", name="Rename fast").click()
    await models.get_by_label("New name of fast").fill("quick")
    await models.get_by_label("New name of fast").press("Enter")
    tokens = models.get_by_label("Size of its context")
    await tokens.fill("12")
    await models.get_by_label("Provider").fill("anthropic")
    await agents.get_by_label("Name of the new entry").fill("reader")
    await agents.get_by_label("Name of the new entry").press("Enter")
    await agents.get_by_label("Approvals", exact=True).select_option("ask_writes")
    await agents.get_by_role("button", name="Add to Tools").click()
    await agents.get_by_role("combobox", name="Tools 1").fill("read_*")
    await page.get_by_role("button", name="Review and save").click()
    await expect(tokens).to_have_attribute("aria-invalid", "true")
    await expect(page.get_by_role("dialog", name="What will change")).to_have_count(0)
    await tokens.fill("32768")
    dialog = await review(page)
    await dialog.get_by_role("button", name="Save once confirmed").click()
    await expect(page.get_by_text("Waits for your confirmation in the approval view: ")).to_be_visible()
    await decide(ui)
    saved = json.loads((ui.folder / "app.json").read_text())
    assert saved["models"] == {"quick": {"provider": "anthropic", "model": "qwen3:8b", "context_tokens": 32768}}
    await expect(page.get_by_text("From the next start on")).to_have_count(0)
    known = await (await ui.server.get("/api/chat")).json()
    assert [agent["id"] for agent in known["agents"]] == ["default", "reader"]
    assert [model["name"] for model in known["models"]] == ["quick"]
    assert saved["agents"] == {"reader": {"mode": "ask_writes", "tools": ["read_*"]}}


@pytest.mark.more
async def test_model_of_an_entry_is_picked_from_what_the_provider_has_once_somebody_is_about_to(
    start_webui, monkeypatch
):
    """In the language of the page, as all that the form says."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    ui = await start_webui(config=CONFIG)
    page = await ui.page("#/settings", locale="zh-CN")

    async def listed(route):
        await route.fulfill(json={"models": ["small", "large"], "suggested": "small"})

    await page.route("**/api/chat/providers/openai/models", listed)
    model = row(page, "models").get_by_label("模型", exact=True)
    await expect(row(page, "models").get_by_text("能否看图片。 images")).to_be_visible()
    await expect(row(page, "models").locator("datalist option")).to_have_count(0)
    await model.focus()
    values = row(page, "models").locator("datalist option")
    await expect(values).to_have_count(2)
    assert await values.evaluate_all("(options) => options.map(({value}) => value)") == ["small", "large"]
    await expect(model).to_be_focused()


@pytest.mark.more
async def test_models_that_a_provider_did_not_list_are_asked_for_again(start_webui, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    ui = await start_webui(config=CONFIG)
    ui.allowed_errors.append("502")
    page = await ui.page("#/settings")
    asked = []

    async def list_models(route):
        asked.append(route.request.url)
        if len(asked) == 1:
            error = {"type": "provider_unreachable", "message": "nothing answers"}
            await route.fulfill(status=502, json={"ok": False, "error": error})
        else:
            await route.fulfill(json={"models": ["small"], "suggested": "small"})

    await page.route("**/api/chat/providers/openai/models", list_models)
    model = row(page, "models").get_by_label("Model", exact=True)
    async with page.expect_response("**/api/chat/providers/openai/models"):
        await model.focus()
    values = row(page, "models").locator("datalist option")
    for _ in range(2):  # a focus while the failed request ends is part of it
        await model.blur()
        await model.focus()
    await expect(values).to_have_count(1)
    assert len(asked) == 2
