"""The same words with Playwright's and the file system's MCP servers, as their READMEs say to start them."""

import asyncio
import json
import os
import re
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.agents.agent import Agent, FailedError, NoToolError
from benchmarks.agents.programs import Programs
from benchmarks.browser_hosts import find_browser

_LIMIT_S = 120
_LINE_BYTES = 64 * 1024 * 1024


@dataclass(slots=True)
class Theirs(Agent):
    """`@playwright/mcp` and `@modelcontextprotocol/server-filesystem`, driven by an MCP client."""

    folder: Path = Path()
    bridge: Any = None

    async def _call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        self.bridge.stdin.write(json.dumps({"tool": tool, "arguments": arguments}).encode() + b"\n")
        async with asyncio.timeout(_LIMIT_S):
            result = json.loads(await self.bridge.stdout.readline())
        self.images += result["images"]
        return result["text"], result["isError"]

    async def open(self, url: str) -> str:
        await self._go(url)
        return await self.look()

    async def _go(self, url: str) -> str:
        self.seen.clear()
        self.is_on_page = True
        return await self.call("browser_navigate", url=url)

    async def look_up(self, url: str, words: str) -> str:
        await self._go(url)
        return await self.find(words)

    async def look(self) -> str:
        return await self.call("browser_snapshot")

    async def find(self, text: str) -> str:
        return await self.call("browser_find", text=text)

    async def click_ref(self, ref: str, what: str, *, double: bool = False) -> str:
        more = {"doubleClick": True} if double else {}
        return await self.call("browser_click", element=what, target=ref, **more)

    async def type(self, role: str, name: str, text: str, nth: int = 0) -> str:
        target = await self.ref(role, name, nth)
        return await self.call("browser_type", element=f"{name} {role}".strip(), target=target, text=text)

    async def type_here(self, text: str, *, is_empty: bool = False) -> str:
        active = [line for line in (await self.look()).splitlines() if "[active]" in line and "[ref=" in line]
        if not active:
            raise FailedError("the tree shows no element with the focus, and no tool types without one")
        target = active[-1].split("[ref=")[1].split("]")[0]
        more = {} if is_empty else {"slowly": True}  # what is not typed slowly replaces what is there
        return await self.call("browser_type", element="what has the focus", target=target, text=text, **more)

    async def type_by_code(self, text: str) -> str:
        code = f"async page => {{ await page.keyboard.type({json.dumps(text)}); }}"
        return await self.call("browser_run_code_unsafe", code=code)

    async def press(self, key: str) -> str:
        return await self.call("browser_press_key", key=key)

    async def choose(self, role: str, name: str, values: Sequence[str]) -> str:
        target = await self.ref(role, name)
        return await self.call(
            "browser_select_option", element=f"{name} {role}".strip(), target=target, values=list(values)
        )

    async def set(self, kind: str, name: str, value: str) -> str:
        target = await self.ref(kind, name)
        field = {"target": target, "name": name, "type": kind, "value": value}
        return await self.call("browser_fill_form", fields=[field])

    async def scroll_to(self, text: str, role: str, name: str = "") -> str:
        raise NoToolError("no tool scrolls")

    async def wait(self, text: str) -> str:
        return await self.call("browser_wait_for", text=text)

    async def upload(self, path: str) -> str:
        return await self.call("browser_file_upload", paths=[str(self.folder / path)])

    async def script(self, function: str) -> str:
        return await self.call("browser_evaluate", function=function)

    async def read(self, path: str, around: str = "") -> str:
        # it reads heads and tails, but no place in the middle
        return await self.call("read_text_file", path=str(self.folder / path))

    async def write(self, path: str, text: str) -> str:
        return await self.call("write_file", path=str(self.folder / path), content=text)

    async def replace(self, path: str, old: str, new: str) -> str:
        return await self.call("edit_file", path=str(self.folder / path), edits=[{"oldText": old, "newText": new}])

    async def search(self, text: str, folder: str, files: str) -> str:
        raise NoToolError("no tool searches in files")

    async def glob(self, folder: str, pattern: str) -> str:
        return await self.call("search_files", path=str(self.folder / folder), pattern=pattern)

    async def read_download(self, told: str, name: str) -> str:
        found = re.search(r'to "?([^"\n]+)', told[told.index("ownloaded") :])
        if found is None:
            raise FailedError(f"no file is named in {told[:300]!r}")
        # the whole export has 280,000 characters; who knows that the output stands at the end asks for that
        return await self.call("read_text_file", path=str(self.folder / found[1]), tail=100)

    async def run(self, command: str) -> str:
        raise NoToolError("no tool runs a command")


@asynccontextmanager
async def session(
    programs: Programs, folder: Path, task: str, *, verbose: bool, knows_names: bool = False
) -> AsyncIterator[Theirs]:
    """Both servers, and one session with them over a workspace folder."""
    node = shutil.which("node") or "node"
    modules = programs.node_modules
    playwright = [node, str(modules / "@playwright/mcp/cli.js"), "--executable-path", find_browser() or ""]
    files = [node, str(modules / "@modelcontextprotocol/server-filesystem/dist/index.js"), str(folder)]
    bridge = await asyncio.create_subprocess_exec(
        *(str(programs.python), str(Path(__file__).with_name("mcp_bridge.py"))),
        *(*playwright, "--no-sandbox", "--headless", "--isolated", "--", *files),
        cwd=folder,
        env=os.environ.copy(),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=_LINE_BYTES,
    )
    assert bridge.stdin is not None
    assert bridge.stdout is not None
    try:
        tools = json.loads(await bridge.stdout.readline())["tools"]
        agent = Theirs(verbose, knows_names, folder=folder, bridge=bridge)
        agent.definitions_chars = len(json.dumps(tools, ensure_ascii=False, separators=(",", ":")))
        yield agent
    finally:
        bridge.stdin.close()  # it ends its servers, and these their browser
        async with asyncio.timeout(30):
            await bridge.wait()
