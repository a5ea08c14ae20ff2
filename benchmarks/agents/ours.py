"""The words with agentcore's tools: the real server and its chat, whose model is a script behind a provider's address.

The script gets what a model gets – the request that the chat sends to the provider – and nothing else. Calls are asked
about as the mode says, and a paired client approves them, as a person would in the approval view.
"""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from benchmarks.agents.agent import Agent, FailedError
from benchmarks.agents.programs import Programs
from benchmarks.agents.sites import serving
from benchmarks.servers import free_port

_LIMIT_S = 120
_START_S = 60
_CONTEXT_TOKENS = 200_000  # as today's models have; no session comes near to it
_ARTIFACT = re.compile(r"\bart_\w+")
_REPOSITORY = Path(__file__).parents[2]


@dataclass(slots=True)
class Ours(Agent):
    """The chat of agentcore with all modules of the repository's `app.json`."""

    requests: asyncio.Queue[dict[str, Any]] = field(default_factory=asyncio.Queue)
    replies: asyncio.Queue[tuple[str, dict[str, Any]] | None] = field(default_factory=asyncio.Queue)

    offered: frozenset[str] = frozenset()

    async def next(self) -> list[dict[str, Any]]:
        """Take the next request to the provider: note what stands before the talk, and give the talk."""
        async with asyncio.timeout(_LIMIT_S):
            request = await self.requests.get()
        self.offered = frozenset(tool["function"]["name"] for tool in request["tools"])
        # name, description and parameters, as on the other side: not what this provider's API puts around each
        functions = [tool["function"] for tool in request["tools"]]
        definitions = json.dumps(functions, ensure_ascii=False, separators=(",", ":"))
        system = [message for message in request["messages"] if message["role"] in {"system", "developer"}]
        self.definitions_chars = len(definitions) + sum(len(_text(message["content"])) for message in system)
        messages: list[dict[str, Any]] = request["messages"]
        return messages

    async def _call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        if tool not in self.offered and tool != "find_tools":
            await self.call("find_tools", query=tool.replace("_", " "))
        await self.replies.put((tool, arguments))
        messages = await self.next()
        spoken = max(number for number, message in enumerate(messages) if message["role"] == "assistant")
        came = messages[spoken + 1 :]
        self.images += sum(
            part.get("type") == "image_url"
            for message in came
            if isinstance(message["content"], list)
            for part in message["content"]
        )
        text = "\n".join(_text(message["content"]) for message in came)
        return text, _says_failed(text)

    async def open(self, url: str) -> str:
        self.seen.clear()
        self.is_on_page = True
        return await self.call("browser_navigate", url=url)

    async def look_up(self, url: str, words: str) -> str:
        return await self.call("web_fetch", url=url, find=words)

    async def look(self) -> str:
        return await self.call("browser_snapshot")

    async def find(self, text: str) -> str:
        return await self.call("browser_snapshot", find=text)

    async def click_ref(self, ref: str, what: str, *, double: bool = False) -> str:
        more = {"doubleClick": True} if double else {}
        return await self.call("browser_click", selector=ref, **more)

    async def type(self, role: str, name: str, text: str, nth: int = 0) -> str:
        return await self.call("browser_type", selector=await self.ref(role, name, nth), text=text)

    async def type_here(self, text: str, *, is_empty: bool = False) -> str:
        return await self.call("browser_type", text=text)

    async def type_by_code(self, text: str) -> str:
        return await self.script(f"() => document.execCommand('insertText', false, {json.dumps(text)})")

    async def press(self, key: str) -> str:
        return await self.call("browser_press_key", key=key)

    async def choose(self, role: str, name: str, values: Sequence[str]) -> str:
        selector = await self.ref(role, name)
        return await self.call("browser_select_option", selector=selector, values=list(values))

    async def set(self, kind: str, name: str, value: str) -> str:
        selector = await self.ref(kind, name)
        wanted: str | bool = value == "true" if kind in {"checkbox", "radio", "switch"} else value
        return await self.call("browser_fill_form", fields=[{"selector": selector, "value": wanted}])

    async def scroll_to(self, text: str, role: str, name: str = "") -> str:
        selector = await self.ref(role, name)
        return await self.call("browser_scroll", selector=selector, text=text)

    async def wait(self, text: str) -> str:
        return await self.call("browser_wait_for", text=text)

    async def upload(self, path: str) -> str:
        return await self.call("browser_file_upload", paths=[path])

    async def script(self, function: str) -> str:
        return await self.call("browser_evaluate", script=function)

    async def read(self, path: str, around: str = "") -> str:
        if not around:
            return await self.call("read_file", path=path)
        found = await self.call("grep", pattern=around, path=path)
        line = re.search(r"^\D*?(\d+)[:\t-]|:(\d+):", found, re.MULTILINE)
        if line is None:
            raise FailedError(f"no line number in {found[:200]!r}")
        number = int(line[1] or line[2])
        return await self.call("read_file", path=path, offset=max(1, number - 10), limit=60)

    async def write(self, path: str, text: str) -> str:
        return await self.call("write_file", path=path, content=text)

    async def replace(self, path: str, old: str, new: str) -> str:
        return await self.call("edit", path=path, edits=[{"old": old, "new": new}])

    async def search(self, text: str, folder: str, files: str) -> str:
        return await self.call("grep", pattern=text, path=folder, glob=files)

    async def glob(self, folder: str, pattern: str) -> str:
        return await self.call("glob", pattern=pattern, path=folder)

    async def read_download(self, told: str, name: str) -> str:
        found = _ARTIFACT.search(told)
        if found is None:
            raise FailedError(f"no artifact is named in {told[:300]!r}")
        return await self.call("artifact", action="search", id=found[0], query="primes:")

    async def run(self, command: str) -> str:
        return await self.call("bash", command=command, timeoutMs=100_000)

    # -- the provider --------------------------------------------------------------------------------------------

    async def complete(self, request: web.Request) -> web.StreamResponse:
        """`POST /v1/chat/completions`: give the request to the script, and stream the call that it wants."""
        await self.requests.put(await request.json())
        wanted = await self.replies.get()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        delta: dict[str, Any] = {"role": "assistant", "content": "" if wanted else "Done."}
        if wanted:
            function = {"name": wanted[0], "arguments": json.dumps(wanted[1], ensure_ascii=False)}
            delta["tool_calls"] = [{"index": 0, "id": f"call{self.calls}", "type": "function", "function": function}]
        reason = "tool_calls" if wanted else "stop"
        for choice in ({"delta": delta, "finish_reason": None}, {"delta": {}, "finish_reason": reason}):
            chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "script"}
            chunk["choices"] = [{"index": 0, **choice}]
            await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        await response.write(b"data: [DONE]\n\n")
        return response


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""


def _says_failed(text: str) -> bool:
    return text.startswith("Error ")


@asynccontextmanager
async def session(programs: Programs, folder: Path, task: str, *, verbose: bool) -> AsyncIterator[Ours]:
    """A server over a workspace folder, and one session of its chat that has been given the task."""
    agent = Ours(verbose)
    async with _provider(agent) as base_url, _server(programs, folder, base_url) as (address, key):
        headers = {"Authorization": f"Bearer {key}"}
        async with aiohttp.ClientSession(address, headers=headers) as person:
            made = await _ask(person, "/api/sessions", {})
            approving = asyncio.create_task(_approve(person, agent))
            try:
                await _ask(person, f"/api/sessions/{made['sessionId']}/messages", {"text": task})
                await agent.next()
                yield agent
                await agent.replies.put(None)
            finally:
                approving.cancel()
                with suppress(asyncio.CancelledError):
                    await approving


@asynccontextmanager
async def _provider(agent: Ours) -> AsyncIterator[str]:
    app = web.Application(client_max_size=256 * 1024 * 1024)
    app.router.add_post("/v1/chat/completions", agent.complete)
    async with serving(app) as address:
        yield f"{address}/v1"


@asynccontextmanager
async def _server(programs: Programs, folder: Path, base_url: str) -> AsyncIterator[tuple[str, str]]:
    """`agentcore serve` with the modules of the repository's `app.json`: its address, and a paired client's key."""
    home = folder.parent
    app = json.loads((_REPOSITORY / "app.json").read_text())
    app["workspace"] = {"roots": [str(folder)]}
    app["config"] = {"chrome": {"allow_private": True}, "web_tools": {"allow_private": True}}
    app["models"] = {"script": {"provider": "openai", "base_url": base_url, "context_tokens": _CONTEXT_TOKENS}}
    app["approvals"] = {"mode": "ask_writes"}
    (home / "app.json").write_text(json.dumps(app))
    port, approval_port, code_file = free_port(), free_port(), home / "code"
    search = f"{programs.python.parent}{os.pathsep}{os.environ['PATH']}"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "agentcore", "serve", "--config", str(home / "app.json")),
        *("--port", str(port), "--approval-port", str(approval_port), "--approver-code-file", str(code_file)),
        cwd=_REPOSITORY,
        env=os.environ | {"AGENTCORE_STATE_DIR": str(home / "state"), "PATH": search},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=(home / "server.log").open("w"),
    )
    try:
        address, approval = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{approval_port}"
        await _ready(address, code_file)
        yield address, await _pair(address, approval, code_file.read_text().strip())
    finally:
        process.terminate()
        async with asyncio.timeout(30):
            await process.wait()


async def _ready(address: str, code_file: Path) -> None:
    async with asyncio.timeout(_START_S), aiohttp.ClientSession() as client:
        while True:
            with suppress(aiohttp.ClientConnectionError):
                async with client.get(f"{address}/api/health") as response:
                    if response.status == 200 and code_file.exists():
                        return
            await asyncio.sleep(0.05)


async def _pair(address: str, approval: str, code: str) -> str:
    """Pair a client that may chat and approve, as a person does it in the approval view; its key."""
    jar = aiohttp.CookieJar(unsafe=True)  # of an address without a name, too
    async with aiohttp.ClientSession(address) as client, aiohttp.ClientSession(approval, cookie_jar=jar) as view:
        logged_in = await _ask(view, "/api/session", {"code": code})
        view.headers["X-Agentcore-Session"] = logged_in["session"]
        short = await _ask(view, "/api/approvers/code", {})
        wanted = {"code": short["code"], "name": "benchmark", "scopes": ["approve", "chat"]}
        asked = await _ask(client, "/api/approvers", wanted)
        decision = {"approved": True, "scopes": ["approve", "chat"]}
        await _ask(view, f"/api/pairings/{asked['pairingId']}/decision", decision)
        paired = await _ask(client, "/api/approvers/key", {"ticket": asked["ticket"]})
        return str(paired["key"])


async def _ask(client: aiohttp.ClientSession, path: str, body: dict[str, Any]) -> dict[str, Any]:
    async with client.post(path, json=body) as response:
        answer = await response.json()
        if response.status >= 400:
            raise RuntimeError(f"{path}: {answer}")
        return dict(answer)


async def _approve(person: aiohttp.ClientSession, agent: Ours) -> None:
    """Approve what waits, as soon as it does."""
    async with person.get(
        "/api/events", params={"types": "approval.requested"}, timeout=aiohttp.ClientTimeout()
    ) as events:
        async for line in events.content:
            if not line.startswith(b"data: {"):
                continue
            async with person.get("/api/approvals") as response:
                waiting = (await response.json())["calls"]
            for call in waiting:
                agent.questions += 1
                path = f"/api/approvals/{call['callId']}/decision"
                await _ask(person, path, {"approved": True, "digest": call["digest"]})
