"""Another machine becomes a host, as people see it: its code is typed, what it brings is shown, it is among the hosts.

Its program is a real one, on this machine; the pictures follow each other as the steps of a person do.
"""

import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Page

from agentcore.testing.serving import ServerClient

NAMES = ("hosts-add", "hosts")
_LIMIT_S = 60.0
_CODE = re.compile(r"approval view of \S+: (\S+)")
_APP = {"modules": ["fs_tools", "shell_tools"], "workspace": {"roots": ["projects"]}}


async def take_other_machine(page: Page, server: ServerClient, target: Path, look: str) -> None:
    """Take the pictures on a page that is logged in, and may approve.

    Args:
        page: Where they are taken.
        server: One with hosts of its own.
        target: The folder that they go to.
        look: Ends their names.
    """

    async def take(name: str) -> None:
        await page.mouse.move(0, 0)
        await asyncio.sleep(0.7)  # what moves has come to rest
        await page.screenshot(path=target / f"{name}-{look}.png")

    with tempfile.TemporaryDirectory(prefix="laptop-") as folder:
        async with _dialled_in(server, Path(folder)) as code:
            await page.goto(f"{server.approval_address}/#add-host")
            field = page.locator("ac-approval-hosts input")
            await field.fill(code)
            await field.press("Enter")
            card = page.locator("ac-approval-host")
            await card.locator("summary").first.click()
            await card.evaluate("(element) => element.scrollIntoView({block: 'start'})")
            await take("hosts-add")
            await card.locator("button.yes").scroll_into_view_if_needed()
            await card.locator('button.yes[aria-disabled="false"]').click()
            await card.wait_for(state="detached")
            await page.goto(f"{server.make_url('/')}#/hosts")
            await page.locator("ac-remote-host-card .card.running").wait_for()
            await page.locator("ac-remote-host-card").get_by_text(re.compile(r"\d\s*(ms|毫秒)")).first.wait_for()
            await page.locator("ac-host-card").get_by_text("MiB").first.wait_for()
            await take("hosts")


@asynccontextmanager
async def _dialled_in(server: ServerClient, folder: Path) -> AsyncIterator[str]:
    """A machine that has dialled in and waits; gives the code that it shows."""
    (folder / "projects").mkdir()
    (folder / "app.json").write_text(json.dumps(_APP), encoding="utf-8")
    address = str(server.make_url("/")).rstrip("/")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-u", "-m", "agentcore", "host", "--server", address, "--name", "laptop"),
        cwd=folder,
        env={**os.environ, "AGENTCORE_STATE_DIR": str(folder / "state")},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield await _code(process)
    finally:
        process.terminate()
        await process.communicate()


async def _code(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None  # noqa: S101 - asked for above
    async with asyncio.timeout(_LIMIT_S):
        async for line in process.stdout:
            if (found := _CODE.search(line.decode())) is not None:
                return found[1]
    raise RuntimeError("the other machine's program ended without a code")
