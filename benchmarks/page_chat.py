"""A long chat in the page: processor time of the page's main thread for a key, a step of scrolling, another chat.

Processor time, not time by the clock: what else the machine does at the moment is not in it.
"""

import asyncio
import json
import statistics
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from playwright.async_api import CDPSession, Page, async_playwright

from agentcore.core.core import Core
from agentcore.store.chat.chat_rows import NewMessage
from benchmarks.browser_hosts import find_browser
from benchmarks.measure import Row
from benchmarks.own_host import open_host
from benchmarks.ui_page import served

_MESSAGES, _CARDS, _LINES = 1_000, 40, 100_000
_TARGET_MS = 50
_ROUNDS = 60
_SWITCHES = 10
_PAUSE_S = 1
"""Between changes of chats: running cards ask for their output after a moment, which is no part of the next change."""
_LONG, _OTHER = "s_long", "s_other"
_WAIT_MS = 120_000

_WRITER = f'''
import asyncio
from agentcore.api import Module, ToolContext, tool

class Writer(Module):
    """Writes as a long command does."""

    @tool(read_only=True, timeout_s=3600, display={{"command": "command"}})
    async def write_lines(self, ctx: ToolContext, command: str) -> str:
        """Write, and run until it is stopped."""
        for number in range(0, {_LINES // _CARDS}, 50):
            lines = (f"{{number + one}} a line of a log, of usual length, with words\\n" for one in range(50))
            ctx.show_output("".join(lines))
            await asyncio.sleep(0.01)
        await asyncio.Event().wait()
'''
_START = """async ([id, count]) => {
  const {client} = await import('/static/client/client.js');
  const command = (n) => ({tool: 'write_lines', arguments: {command: `make part-${n}`}});
  await Promise.all(Array.from({length: count}, (_, n) => client.post(`/api/sessions/${id}/command`, command(n))));
}"""
_OPEN = """async (id) => {
  location.hash = `#/chats/${id}`;
  while (conversation.chat.id !== id) await new Promise((resolve) => setTimeout(resolve));
  await conversation.chat.whenLoaded(); // to look again with each frame would be in the figures
  await conversation.updateComplete;
}"""
_FRAME = "new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))"
"""Until what was changed is painted."""


def run() -> list[Row]:
    """Measure, and give the rows; none where there is no Chromium."""
    chromium = find_browser()
    if chromium is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(Path(folder) / "app", chromium))


async def _measure(folder: Path, chromium: str) -> list[Row]:
    (folder / "modules").mkdir(parents=True)
    (folder / "modules" / "writer.py").write_text(_WRITER)
    app = {"modules": ["writer"], "server": {"port": 0}, "approvals": {"mode": "allow"}}
    async with open_host(folder, app) as core, served(core) as address, async_playwright() as playwright:
        for session_id in (_LONG, _OTHER):
            await _write_chat(core, session_id)
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = await (await browser.new_context(viewport={"width": 1280, "height": 800})).new_page()
        page.set_default_timeout(_WAIT_MS)
        await page.goto(f"{address}/#code={core.store.page_sessions.create_code()}")
        await page.evaluate("location.hash = '#/chats'")
        # once, for a search of the driver's goes through all elements, and would be in the figures
        await page.locator("ac-chat-conversation").evaluate("(element) => { window.conversation = element; }")
        await _open_chat(page, _LONG)
        await page.evaluate(_START, [_LONG, _CARDS])
        await _until_written(page)
        await _load_all(page)
        rows = await _rows(page)
        await page.evaluate("import('/static/client/client.js').then(({client}) => client.post('/api/stop', {}))")
        await browser.close()
    return rows


async def _write_chat(core: Core, session_id: str) -> None:
    """A chat of many messages, a person's and a model's by turns, as the model library stores them."""
    await core.store.chats.get_or_create(session_id, owner="page", user_id="", agent_id="default", model="")
    made = [_message(number) for number in range(_MESSAGES)]
    await core.store.chats.append_messages(
        session_id, [NewMessage(json.dumps([message]), "said", "") for message in made]
    )


def _message(number: int) -> dict[str, object]:
    time = "2026-01-01T00:00:00Z"
    if number % 2 == 0:
        part = {"content": f"Question {number}", "timestamp": time, "part_kind": "user-prompt"}
        return {"parts": [part], "kind": "request"}
    text = f"Answer {number}:\n\n- one\n- two\n\n```python\nprint({number})\n```"
    return {"parts": [{"content": text, "part_kind": "text"}], "kind": "response", "model_name": "m", "timestamp": time}


async def _open_chat(page: Page, session_id: str) -> None:
    await page.evaluate(_OPEN, session_id)


async def _until_written(page: Page) -> None:
    """All calls have written what they write, and the page has heard of it."""
    written = (
        f"(all) => all.length === {_CARDS} && all.every(({{text}}) => text.includes('{_LINES // _CARDS - 1} a line'))"
    )
    async with asyncio.timeout(_WAIT_MS / 1000):
        while not await page.locator("ac-output").evaluate_all(written):
            await asyncio.sleep(0.2)


async def _load_all(page: Page) -> None:
    """Scroll back to the first message, and to the newest one again."""
    frame = page.locator("ac-chat-messages .frame")
    async with asyncio.timeout(_WAIT_MS / 1000):
        while await page.locator("ac-chat-message").count() < _MESSAGES:
            await frame.evaluate("(frame) => { frame.scrollTop = 0; }")
            await page.evaluate(_FRAME)
    await page.get_by_role("button", name="Newest").click()
    await page.evaluate(_FRAME)


async def _rows(page: Page) -> list[Row]:
    thread = await _MainThread.of(page)
    text = page.get_by_role("textbox", name="Message", exact=True)
    await text.focus()
    key = await thread.spent(lambda: page.keyboard.press("x"), _ROUNDS)
    await page.mouse.move(700, 300)
    scroll = await thread.spent(lambda: page.mouse.wheel(0, -400), _ROUNDS)
    switch: list[float] = []
    for _ in range(_SWITCHES):
        for session_id in (_OTHER, _LONG):
            await asyncio.sleep(_PAUSE_S)
            switch += await thread.spent(partial(_open_chat, page, session_id), 1)
    what = f"{_MESSAGES:,} messages, {_CARDS} running cards, {_LINES:,} lines of output"
    return [
        Row(f"page with {what}: a key, processor time of the page's thread", statistics.median(key), 0, _TARGET_MS),
        Row("the same, at most", max(key), 0, _TARGET_MS),
        Row("a step of the wheel there", statistics.median(scroll), 0, _TARGET_MS),
        Row("the same, at most", max(scroll), 0, _TARGET_MS),
        Row("from all of these messages to another chat", switch[0], 0, None),
        Row("from the newest of them to another chat, and back", statistics.median(switch[1:]), 0, _TARGET_MS),
    ]


class _MainThread:
    """Processor time of the thread that runs a page's scripts, its layout and its painting."""

    def __init__(self, cdp: CDPSession, page: Page) -> None:
        self._cdp = cdp
        self._page = page

    @classmethod
    async def of(cls, page: Page) -> "_MainThread":
        cdp = await page.context.new_cdp_session(page)
        await cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
        return cls(cdp, page)

    async def spent(self, act: Callable[[], Awaitable[object]], rounds: int) -> list[float]:
        """Milliseconds of each round until what it changed is painted."""
        times = []
        for _ in range(rounds):
            before = await self._task_ms()
            await act()
            await self._page.evaluate(_FRAME)
            times.append(await self._task_ms() - before)
        return times

    async def _task_ms(self) -> float:
        metrics = (await self._cdp.send("Performance.getMetrics"))["metrics"]
        return next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration") * 1000
