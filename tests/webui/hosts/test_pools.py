"""Pools in the view of hosts: what they are, their hosts, and what a person can do about those."""

import os
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.webui.hosts.pool_variants import in_pool, list_twenty, pool
from tests.webui.serving import PHONE

pytestmark = [pytest.mark.spec("H3"), pytest.mark.spec("M7")]

FAILED = {"reason": "hosts.farm: the key no.seed cannot be read"}
TALL = {"width": 1280, "height": 1900}
LOOKS = {
    "twenty-phone": (list_twenty(), {"viewport": PHONE | {"height": 3400}}),
    "twenty-chinese": (list_twenty(), {"locale": "zh", "viewport": TALL}),
    "chinese-phone": (
        [pool(labels=["gpu"]), in_pool("box1"), in_pool("box2", "away")],
        {"locale": "zh", "viewport": PHONE},
    ),
    "four": ([pool(labels=["gpu"]), *(in_pool(f"box{n}", labels=["gpu"]) for n in range(1, 5))], {}),
    "empty-phone": ([pool("away", labels=["gpu"])], {"viewport": PHONE}),
    "failed-chinese": ([pool("failed", **FAILED)], {"locale": "zh"}),
}


def row(page, name):
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name))


REPEATED = ("twenty-chinese", "chinese-phone")


@pytest.mark.parametrize("look", [pytest.param(look, marks=[pytest.mark.more] * (look in REPEATED)) for look in LOOKS])
async def test_pool_fits_and_is_accessible_however_many_hosts_it_has(show, axe_problems, look):
    hosts, options = LOOKS[look]
    page, _ = await show("pool", "running", hosts=hosts, **options)
    if folder := os.environ.get("AGENTCORE_SHOTS"):
        await page.locator("ac-pool-card").screenshot(path=Path(folder) / f"pool-{look}.png")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await axe_problems(page) == []


async def test_hosts_of_a_pool_say_how_full_they_are_and_what_is_wrong_with_them(show):
    page, _ = await show("pool", "running", hosts=list_twenty())
    card = page.get_by_role("article", name="farm", exact=True)
    for text in ("tls://nats-1.example.org:4222", "17 of 20 there", "of 850", "Desk", "3 tools"):
        await expect(card).to_contain_text(text)
    for name, words in {
        "box5": ("Running", "50 of 50", "eu", "12 ms", "all 2"),
        "box3": ("Away", "gave no sign of life"),
        "box7": ("Draining",),
        "box15": ("Drained",),
        "box18": ("1 of 2", "Desk: Chromium is not installed"),
        "box19": ("1 of 2", "without desk"),
    }.items():
        for word in words:
            await expect(row(page, name)).to_contain_text(word)
    await expect(row(page, "box3").get_by_role("button")).to_have_count(0)


async def test_host_of_a_pool_is_drained_and_takes_work_again_by_keyboard(show):
    page, player = await show("pool", "running")
    await page.get_by_role("button", name="Drain farm.box1").focus()
    await page.keyboard.press("Enter")
    await expect(row(page, "box1")).to_contain_text("Drained")
    await expect(page.get_by_text("farm.box1 gets no new work")).to_be_visible()
    await page.get_by_role("button", name="Take work again: farm.box1").press("Enter")
    await expect(row(page, "box1")).to_contain_text("Running")
    for name in ("Disconnect", "Forget"):
        await expect(page.get_by_role("button", name=f"{name} farm.box1")).to_have_count(0)
    path = "POST /api/hosts/farm.box1/drain"
    assert player.sent == [f'{path} {{"on":true}}', f'{path} {{"on":false}}']


async def test_pool_without_hosts_says_how_one_is_started(show):
    page, _ = await show("pool", "empty")
    command = "agentcore host --pool farm --server nats://127.0.0.1:8765 --label gpu"
    await expect(page.get_by_text(command)).to_be_visible()
    await expect(page.get_by_text("no host of it is there")).to_be_visible()


async def test_pool_that_failed_says_why_and_offers_no_way_to_start_a_host(show):
    page, _ = await show("pool", "empty", hosts=[pool("failed", **FAILED)])
    await expect(page.get_by_text(FAILED["reason"])).to_be_visible()
    await expect(page.get_by_text("agentcore host --pool")).to_have_count(0)
