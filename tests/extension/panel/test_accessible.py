"""axe-core finds nothing serious in the panel, in both themes; and a panel that rests takes nothing."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.extension.panel.conftest import LIMIT_MS, SENTENCE, searching

AXE = Path(__file__).parents[2] / "webui" / "vendor" / "axe.min.js"


async def problems(panel):
    """What axe-core takes seriously, one text each."""
    await panel.evaluate(AXE.read_text("utf-8"))
    result = await panel.evaluate("axe.run(document, {resultTypes: ['violations'], iframes: false})")
    serious = [each for each in result["violations"] if each["impact"] in {"serious", "critical"}]
    return [f"{each['id']}: {node['html']}" for each in serious for node in each["nodes"]]


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_panel_is_accessible(beside, theme):
    at = await beside()
    await at.panel.emulate_media(color_scheme=theme)
    at.server.provider.script = searching()
    await at.panel.get_by_role("button", name="Corner shop").click()
    await expect(at.panel.get_by_role("group", name="Goes with your next message")).to_be_visible(timeout=LIMIT_MS)
    assert await problems(at.panel) == []
    await at.say(SENTENCE)
    await expect(at.call()).to_be_visible(timeout=LIMIT_MS)
    assert await problems(at.panel) == []
    await at.panel.get_by_role("button", name="Settings").click()
    await at.panel.get_by_role("button", name="Pair another server").click()
    await expect(at.panel.get_by_role("heading", name="Connect to agentcore")).to_be_visible(timeout=LIMIT_MS)
    assert await problems(at.panel) == []


async def test_panel_that_rests_computes_nothing(beside):
    """Over five seconds, by the browser's own figures: hardly any task, no layout."""
    at = await beside()
    await expect(at.panel.get_by_role("button", name="Corner shop")).to_be_visible(timeout=LIMIT_MS)
    session = await at.panel.context.new_cdp_session(at.panel)
    await session.send("Performance.enable")

    async def figures():
        metrics = (await session.send("Performance.getMetrics"))["metrics"]
        return {each["name"]: each["value"] for each in metrics}

    await at.panel.wait_for_timeout(2000)
    before = await figures()
    await at.panel.wait_for_timeout(5000)
    after = await figures()
    # a sign of life of the server may come in between, and shows nothing
    assert [after[name] - before[name] for name in ("LayoutCount", "RecalcStyleCount")] == [0, 0]
    assert after["TaskDuration"] - before["TaskDuration"] < 0.25
