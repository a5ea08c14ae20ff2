"""MCP both ways, as people see it: a server is put behind agentcore, and a client has its call decided.

The server is a real one of npm's, the client the SDK's; the pictures follow each other as the steps of a person do.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation
from playwright.async_api import Locator, Page
from provider import Steps, open_provider

from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import ServerClient, running_server

NAMES = ("mcp-add", "mcp-tools", "mcp-chat", "mcp-ask", "mcp-clients")
_ROOT = Path(__file__).resolve().parent.parent.parent
_START_MS = 120_000
"""npm may have to fetch the server first."""
_BLOCK = """{
  "mcpServers": {
    "memory": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-memory"]
    }
  }
}"""
_HARBOUR = {"name": "Harbour", "entityType": "place", "observations": ["High tide at 14:20"]}
_STEPS: Steps = (
    ("I keep that.", (("memory_create_entities", {"entities": [_HARBOUR]}),)),
    ("I know it now: high tide at the harbour is at 14:20.", ()),
)
_EDIT = {"path": "TODO.md", "edits": [{"old": "- water the plants\n", "new": "- water the plants\n- buy bread\n"}]}


async def take_both_ways(page: Page, server: ServerClient, target: Path, look: str) -> None:
    """Take the pictures on a page that is logged in, and may approve.

    Args:
        page: Where they are taken.
        server: What `serving_both_ways` gives.
        target: The folder that they go to.
        look: Ends their names.
    """

    async def take(view: Page, name: str) -> None:
        await view.mouse.move(0, 0)
        await asyncio.sleep(0.5)  # what moves has come to rest
        await view.screenshot(path=target / f"{name}-{look}.png")

    approvals = await page.context.new_page()
    await approvals.goto(server.approval_address)
    await page.bring_to_front()
    await page.goto(f"{server.make_url('/')}#/modules")
    await page.get_by_role("button", name="Add", exact=True).click()
    dialog = page.locator("ac-block-dialog")
    await dialog.get_by_label("What the documentation says").fill(_BLOCK)
    save = dialog.get_by_role("button", name="Save once confirmed")
    await dialog.get_by_text("mcp_memory").first.wait_for()
    await take(page, "mcp-add")
    await save.click()
    await approvals.bring_to_front()
    await _press(approvals.get_by_role("button", name="Apply"))
    heading = approvals.get_by_role("heading", name="Offer what mcp_memory brings to models")
    await heading.wait_for(timeout=_START_MS)
    await take(approvals, "mcp-tools")
    await _look_through(approvals)
    await _press(approvals.get_by_role("button", name="Apply"))
    await heading.wait_for(state="detached")
    await _chat(page, server)
    await take(page, "mcp-chat")
    await _decide_in_the_chat(page)
    async with _client(server) as session:
        calling = asyncio.create_task(session.call_tool("edit", _EDIT))
        await approvals.bring_to_front()
        yes = approvals.get_by_role("button", name="Approve").first
        await yes.wait_for()
        await take(approvals, "mcp-ask")
        await _press(yes)
        await calling
        await page.goto(f"{server.make_url('/')}#/clients")
        await page.bring_to_front()
        await page.get_by_role("article").first.wait_for()
        await take(page, "mcp-clients")
    await approvals.close()


@asynccontextmanager
async def serving_both_ways() -> AsyncIterator[ServerClient]:
    """A server with files, a model, and no MCP server yet."""
    async with open_provider(_STEPS) as provider:
        with tempfile.TemporaryDirectory(prefix="agentcore-") as name:
            workspace = Path(name) / "workspace"
            workspace.mkdir()
            (workspace / "TODO.md").write_text("# To do\n\n- water the plants\n", encoding="utf-8")
            models = {"example-model": {"provider": "openai", "base_url": provider}}
            config = {"modules": ["fs_tools"], "models": models, "approvals": {"mode": "ask_writes"}}
            async with running_server(HostPlan(config=config, roots=[workspace]), Path(name)) as server:
                yield server


@asynccontextmanager
async def _client(server: ServerClient) -> AsyncIterator[ClientSession]:
    async with server.post("/api/mcp/clients", json={"name": "my-agent"}) as answer:
        key = (await answer.json())["key"]
    shown = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=shown, timeout=60) as http,
        streamable_http_client(str(server.make_url("/mcp")), http_client=http) as streams,
        ClientSession(*streams[:2], client_info=Implementation(name="my-agent", version="1.0")) as session,
    ):
        await session.initialize()
        yield session


async def _chat(page: Page, server: ServerClient) -> None:
    """Up to the call of the mounted server's tool that waits."""
    await page.bring_to_front()
    await page.goto(f"{server.make_url('/')}#/chats")
    box = page.locator("ac-chat-composer textarea")
    await box.fill("Remember: high tide at the harbour is at 14:20.")
    await box.press("Enter")
    await page.frame_locator("ac-call-ask iframe").locator('button.yes[aria-disabled="false"]').first.wait_for()


async def _decide_in_the_chat(page: Page) -> None:
    frame = page.frame_locator("ac-call-ask iframe")
    await _press(frame.locator("button.yes").first)
    await page.get_by_text("I know it now").last.wait_for()


async def _look_through(approvals: Page) -> None:
    """To the last line, before which nothing can be accepted."""
    while await approvals.get_by_text("Look through all of it first").count():
        await approvals.mouse.wheel(0, 600)
        await asyncio.sleep(0.1)


async def _press(button: Locator) -> None:
    """As a person does: it counts once it was looked at, and the pointer came along."""
    await button.and_(button.page.locator('[aria-disabled="false"]')).wait_for()
    await button.hover(position={"x": 2, "y": 4})
    await button.and_(button.page.locator('[aria-disabled="false"]')).wait_for()
    await button.click()
