"""How long the ordinary operations take, each against a target: `make bench ARGS=budget`.

Each row is measured once in each of five rounds, its floor right beside it, and all rows take turns: what disturbs the
machine for a while disturbs one round of many rows, not all rounds of one. The median of the five ratios counts; the
least and the largest show their spread. `make bench ARGS='budget calls'` measures one group.
"""

import asyncio
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import servers
from benchmarks.browser_hosts import PAGES, find_browser, serve_pages, settings
from benchmarks.calls import BODY, NOOP
from benchmarks.counts import ALL_MODULES
from benchmarks.events import listening
from benchmarks.files import write_lines
from benchmarks.http_client import Connection, request_bytes, throughput
from benchmarks.measure import Row, merge
from benchmarks.own_host import open_host
from benchmarks.provider import provider
from benchmarks.ui_page import BareSocket

ROUNDS = 5
_READS = NOOP.format(name="noop_call")
_ACTS = NOOP.replace("@tool(read_only=True)", "@tool").replace("class Noop", "class Acting").format(name="acting_call")
_AT_ONCE = 64
_FILES, _FOLDERS = 44_000, 14_000
_WORDS = 200
_PAUSE_S = 5
_CHANGING_PAGE = """<title>Change</title><ul id=list></ul>
<button onclick="list.append(Object.assign(document.createElement('li'), {textContent: 'row ' + list.children.length}))"
>Add</button>"""

Group = Callable[[Path], AbstractAsyncContextManager[Callable[[], Awaitable[list[Row]]]]]
"""Sets something up in an empty folder; gives what measures the rows of one round."""

GROUPS: dict[str, Group] = {}


def run(names: Sequence[str] = ()) -> list[Row]:
    """Measure the groups with these names, or all, and give the rows."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(Path(folder), names or tuple(GROUPS)))


async def _measure(folder: Path, names: Sequence[str]) -> list[Row]:
    async with AsyncExitStack() as stack:
        rounds = []
        for name in names:
            (folder / name).mkdir()
            rounds.append((name, await stack.enter_async_context(GROUPS[name](folder / name))))
        found: dict[str, list[Row]] = defaultdict(list)
        for turn in range(ROUNDS + 1):
            for name, measure in rounds:
                print(f"round {turn} of {ROUNDS}: {name}", file=sys.stderr)
                for row in await measure():
                    if turn:  # the first one warms up
                        found[row.name].append(row)
    return [merge(rows) for rows in found.values()]


def _group(function: Callable[[Path], AsyncIterator[Callable[[], Awaitable[list[Row]]]]]) -> Group:
    GROUPS[function.__name__] = asynccontextmanager(function)
    return GROUPS[function.__name__]


class _Api:
    """Calls tools over one connection, and reconnects after a pause, because the server closes idle connections."""

    def __init__(self, server: servers.Running, session_id: str = "") -> None:
        self._server = server
        self._session_id = session_id
        self._connection: Connection | None = None
        self._used_at = 0.0

    def request(self, tool: str, **arguments: Any) -> bytes:
        """Return the bytes of a call."""
        body = {"arguments": arguments} | ({"session_id": self._session_id} if self._session_id else {})
        path = f"/api/tools/{tool}/call"
        return request_bytes("POST", path, self._server.port, json.dumps(body).encode(), self._server.token)

    def send(self, request: bytes) -> bytes:
        """Carry a call out.

        Raises:
            AssertionError: It failed.
        """
        answer = self.try_sending(request)
        assert answer.startswith(b"HTTP/1.1 200"), answer[:1000]
        # only where it can be: looking for it in 1 MB of text takes longer than the server's part of the call
        assert b'{"ok":false' not in answer[:2000], answer[:1000]
        return answer

    def try_sending(self, request: bytes) -> bytes:
        """Carry a call out that may fail."""
        if self._connection is None or time.monotonic() - self._used_at > _PAUSE_S:
            self._connection = Connection(self._server.port)
        answer = self._connection.send(request)
        self._used_at = time.monotonic()
        return answer

    def call(self, tool: str, **arguments: Any) -> bytes:
        """Call a tool and return the whole answer."""
        return self.send(self.request(tool, **arguments))


def _median_ms(work: Callable[[], object], times: int) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


async def _median_ms_async(work: Callable[[], Awaitable[object]], times: int) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        await work()
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


def _request_first_call(port: int, token: str) -> bytes:
    """Return the request of a call that a server with the modules of app.json can answer."""
    body = json.dumps({"arguments": {"path": "."}}).encode()
    ends = {"Connection": "close"}
    return request_bytes("POST", "/api/tools/file_stat/call", port, body, token, headers=ends)


@_group
async def start(folder: Path) -> AsyncIterator[Callable[[], Awaitable[list[Row]]]]:
    """From nothing to the first 200, and to the first tool call answered with the modules of app.json."""

    async def measure() -> list[Row]:
        with servers.agentcore(folder / "one", {"noop": _READS}) as one:
            ready, memory = one.ready_ms, one.pss_mib
        with servers.bare() as floor:
            bare = floor.ready_ms
        with servers.agentcore(folder / "all", {}, {"modules": ALL_MODULES}, first=_request_first_call) as running:
            first_call, memory_then = running.ready_ms, running.pss_mib
        return [
            Row("start to the first 200, × bare aiohttp", ready, bare, 1.6),
            Row("start to the first tool call answered, modules of app.json, × bare aiohttp", first_call, bare, 2.2),
            Row("memory at the first 200", memory, 0, 45, "MiB"),
            Row("memory at the first call, modules of app.json", memory_then, 0, 65, "MiB"),
        ]

    yield measure


@_group
async def calls(folder: Path) -> AsyncIterator[Callable[[], Awaitable[list[Row]]]]:
    """A tool that does nothing, over HTTP and in this process."""
    from agentcore.api.tool_context import Principal
    from agentcore.core.calls.call import CallRequest

    (folder / "own" / "modules").mkdir(parents=True)
    (folder / "own" / "modules" / "noop.py").write_text(_READS)
    principal = Principal("cli")
    async with open_host(folder / "own", app={"modules": ["noop"]}) as core:
        with servers.agentcore(folder / "app", {"noop": _READS, "acting": _ACTS}) as ours, servers.bare() as floor:
            api, bare = _Api(ours), Connection(floor.port)
            arguments = json.loads(BODY)["arguments"]
            reads, acts = api.request("noop_call", **arguments), api.request("acting_call", **arguments)
            least = request_bytes("POST", "/call", floor.port, BODY, "x" * 43)

            async def in_process() -> None:
                for _ in range(200):
                    outcome = await core.run_call(CallRequest("noop_call", {"text": "x"}, principal))
                    assert outcome.ok, outcome.error

            async def measure() -> list[Row]:
                floor_ms = _median_ms(lambda: bare.send(least), 200)
                reading, acting = (_median_ms(partial(api.send, request), 200) for request in (reads, acts))
                at_once = 1000 / await throughput(ours.port, reads, _AT_ONCE, 0.7)
                bare_at_once = 1000 / await throughput(floor.port, least, _AT_ONCE, 0.7)
                return [
                    Row("HTTP call, read-only, × bare aiohttp", reading, floor_ms, 1.3),
                    Row("HTTP call with effects, × bare aiohttp", acting, floor_ms, 1.6),
                    Row("HTTP call, 64 at once, × bare aiohttp", at_once, bare_at_once, 1.7),
                    Row("call in process", await _median_ms_async(in_process, 3) * 1000 / 200, 0, 25, "µs"),
                ]

            yield measure


@_group
async def events(folder: Path) -> AsyncIterator[Callable[[], Awaitable[list[Row]]]]:
    """A call while a thousand clients read the events."""
    with servers.agentcore(folder / "app", {"noop": _READS}) as ours:
        api = _Api(ours)
        call = api.request("noop_call", **json.loads(BODY)["arguments"])
        async with listening(ours.port, ours.token):

            async def measure() -> list[Row]:
                taken = []
                for _ in range(20):
                    taken.append(_median_ms(lambda: api.send(call), 1))
                    await asyncio.sleep(0.1)  # until all have read its events
                return [Row("a call with 1,000 event listeners", statistics.median(taken), 0, 2)]

            yield measure


@_group
async def files(folder: Path) -> AsyncIterator[Callable[[], Awaitable[list[Row]]]]:
    """Reading and searching over HTTP, and commands in the sandbox."""
    root = folder / "app" / "workspace"
    root.mkdir(parents=True)
    write_lines(root / "one.txt")
    for number in range(17):
        (root / "few").mkdir(exist_ok=True)
        (root / "few" / f"{number}.py").write_text(
            "def function():\n    return 1\n" * 20 + "the needle is here\n" * (number == 3)
        )
    for number in range(_FOLDERS):
        place = root / "many" / str(number % 120) / str(number)
        place.mkdir(parents=True)
        for each in range(_FILES // _FOLDERS + (number < _FILES % _FOLDERS)):
            (place / f"{each}.py").touch()
    rg = shutil.which("rg") or str(Path(sys.executable).with_name("rg"))
    app = {"modules": ["fs_tools", "shell_tools"], "workspace": {"roots": ["workspace"]}}
    app_with_sandbox = {**app, "config": {"shell_tools": {"sandbox": "require"}}}

    def bare_read() -> None:
        with (root / "one.txt").open(encoding="utf-8") as file:
            file.read()

    def bare_search(*arguments: str) -> Callable[[], object]:
        return lambda: _run_quietly(rg, *arguments, cwd=root)

    has_sandbox = shutil.which("bwrap") is not None
    chosen = app_with_sandbox if has_sandbox else app
    with (
        servers.agentcore(folder / "app", {}, chosen) as large,
        servers.agentcore(folder / "empty", {}, chosen) as empty,
    ):
        api, in_empty = _Api(large), _Api(empty)

        async def measure() -> list[Row]:
            floor = _median_ms(bare_read, 9)
            raw = _median_ms(lambda: api.call("read_file", path="one.txt", limit=100_000, raw=True), 5)
            numbered = _median_ms(lambda: api.call("read_file", path="one.txt", limit=100_000), 5)
            grep = _median_ms(lambda: api.call("grep", pattern="needle is", path="few"), 9)
            rg_grep = _median_ms(bare_search("--line-number", "--no-heading", "needle is", "few"), 9)
            glob = _median_ms(lambda: api.call("glob", pattern="**/*.py", path="many"), 2)
            rg_files = _median_ms(bare_search("--files", "many"), 2)
            rows = [
                Row("read_file of 1 MB over HTTP, raw, × open().read()", raw, floor, 12),
                Row("read_file of 1 MB over HTTP, numbered, × open().read()", numbered, floor, 16),
                Row("grep over 17 files, × rg", grep, rg_grep, 1.1),
                Row("glob newest first, 44,000 files, × rg --files", glob, rg_files, 2),
            ]
            if has_sandbox:
                for name, where, target in (
                    ("an empty workspace", in_empty, 9),
                    ("44,000 files in 14,000 folders", api, 15),
                ):
                    taken = _median_ms(partial(where.call, "bash", command="true"), 9)
                    rows.append(Row(f"`true` in the sandbox, {name}", taken, 0, target))
            return rows

        yield measure


def _run_quietly(*command: str, cwd: Path) -> None:
    import subprocess

    subprocess.run(command, cwd=cwd, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


@_group
async def chat(folder: Path) -> AsyncIterator[Callable[[], Awaitable[list[Row]]]]:
    """Processor time of the server for a turn of one word, and for each word of a long answer."""
    import aiohttp

    from benchmarks.chat import answer

    with provider() as base_url:
        app = {"models": {"m": {"provider": "openai", "base_url": base_url}}}
        with servers.agentcore(folder / "app", {"noop": _READS}, app) as server:
            headers = {"Authorization": f"Bearer {server.token}"}
            async with aiohttp.ClientSession(f"http://127.0.0.1:{server.port}", headers=headers) as ours:

                async def spent(words: int, turns: int) -> float:
                    began = servers.cpu_ms(server.pid)
                    for _ in range(turns):
                        await answer(ours, words, 0.002)
                    await asyncio.sleep(0.3)  # until what a turn leaves behind is written
                    return (servers.cpu_ms(server.pid) - began) / turns

                async def measure() -> list[Row]:
                    turn, long_turn = await spent(1, 5), await spent(_WORDS, 1)
                    return [
                        Row("chat: processor time of a turn", turn, 0, 6),
                        Row("chat: processor time of a streamed word", (long_turn - turn) / (_WORDS - 1), 0, 0.2),
                    ]

                yield measure


@_group
async def browser(folder: Path) -> AsyncIterator[Callable[[], Awaitable[list[Row]]]]:
    """Actions in a page over HTTP, each beside the same one by Playwright."""
    from playwright.async_api import async_playwright

    program = find_browser()
    if program is None:
        raise SystemExit("no Chromium here: name the other groups")
    app = {"modules": ["browser", "chrome"], "workspace": {"roots": ["workspace"]}, "config": settings(program)}
    pages = {**PAGES, "/change": _CHANGING_PAGE}
    async with serve_pages(pages) as address, async_playwright() as playwright:
        raw = await playwright.chromium.launch(executable_path=program)
        page = await raw.new_page(viewport={"width": 1280, "height": 720})
        await page.goto(f"{address}/")
        with servers.agentcore(folder / "app", {}, app) as server:
            api = _Api(server, "bench")
            changing = _Api(server, "changing")
            await asyncio.to_thread(api.call, "browser_navigate", url=f"{address}/")
            await asyncio.to_thread(changing.call, "browser_navigate", url=f"{address}/change")
            launched = json.loads(_body(await asyncio.to_thread(api.call, "chrome_launch")))["data"]
            opened = await asyncio.to_thread(
                api.call, "chrome_new_tab", browserId=launched["browserId"], url=f"{address}/"
            )
            tab_id = json.loads(_body(opened))["data"]["tabId"]
            fields = [{"selector": "input", "value": "Ada"}]

            async def measure() -> list[Row]:
                pairs: tuple[tuple[str, float, bytes, Callable[[], Awaitable[object]]], ...] = (
                    ("click", 1.1, api.request("browser_click", selector="button"), lambda: page.click("button")),
                    ("fill", 1.6, api.request("browser_fill_form", fields=fields), lambda: page.fill("input", "Ada")),
                    ("evaluate", 1.5, api.request("browser_evaluate", script="1 + 1"), lambda: page.evaluate("1 + 1")),
                )
                rows = []
                for name, target, request, floor in pairs:
                    ours, theirs = [], []
                    for _ in range(12):
                        ours.append(_median_ms(partial(api.send, request), 1))
                        theirs.append(await _median_ms_async(floor, 1))
                    what = f"browser: {name} over HTTP, × Playwright"
                    rows.append(Row(what, statistics.median(ours), statistics.median(theirs), target))
                click = changing.request("browser_click", selector="button")
                rows.append(
                    Row(
                        "browser: a click with what changed after it",
                        _median_ms(lambda: changing.send(click), 5),
                        0,
                        150,
                    )
                )
                for tool, arguments in (
                    ("browser_screenshot", {"inline": True}),
                    ("chrome_screenshot", {"tabId": tab_id}),
                ):
                    answer = _body(api.call(tool, **arguments))
                    picture = _picture_size(answer)
                    what = f"browser: answer of {tool}, × the picture"
                    rows.append(Row(what, len(answer) / 1024, picture / 1024, 1.36, "KiB"))
                return rows

            yield measure
        await raw.close()


def _body(answer: bytes) -> bytes:
    return answer.partition(b"\r\n\r\n")[2]


def _picture_size(body: bytes) -> int:
    """Return the bytes of the picture of an answer, in its content or its data."""
    import base64

    answer = json.loads(body)
    images = [block["base64"] for block in answer["content"] if block["type"] == "image"]
    (encoded,) = images or [answer["data"]["dataBase64"]]
    return len(base64.b64decode(encoded))


@_group
async def page(folder: Path) -> AsyncIterator[Callable[[], Awaitable[list[Row]]]]:
    """A script of agentcore's page over HTTP, beside a page that answers on a bare WebSocket."""
    from playwright.async_api import async_playwright

    program = find_browser()
    if program is None:
        raise SystemExit("no Chromium here: name the other groups")
    with servers.agentcore(folder / "app", {}, {"modules": ["ui_page"]}) as server:
        async with async_playwright() as playwright:
            launched = await playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            opened = await (await launched.new_context()).new_page()
            connection = Connection(server.port)
            code = connection.send(request_bytes("POST", "/api/session/code", server.port, b"{}", server.token))
            key = json.loads(_body(code))["code"]
            await opened.goto(f"http://127.0.0.1:{server.port}/#code={key}")
            api = _Api(server)
            script = api.request("ui_page_eval_js", script="1+1")
            async with asyncio.timeout(60):
                while b'"value":2' not in await asyncio.to_thread(api.try_sending, script):
                    await asyncio.sleep(0.2)
            bare = await BareSocket.open(launched)

            async def measure() -> list[Row]:
                one, floor = [], []
                for _ in range(30):
                    one.append(_median_ms(lambda: api.send(script), 1))
                    floor.append(await bare.take_ms(1))
                many = 1000 / await throughput(server.port, script, _AT_ONCE, 0.7)
                bare_many = statistics.median([await bare.take_ms(_AT_ONCE) / _AT_ONCE for _ in range(15)])
                return [
                    Row(
                        "page script over HTTP, × a bare WebSocket",
                        statistics.median(one),
                        statistics.median(floor),
                        1.8,
                    ),
                    Row("page script over HTTP, 64 at once, × a bare WebSocket", many, bare_many, 3),
                ]

            yield measure
            await bare.close()
            await launched.close()


_SDK_SERVER = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("noop")

@server.tool()
def noop(text: str = "", number: int = 0) -> str:
    "Do nothing."
    return "ok"

server.run()
"""


@_group
async def mcp(folder: Path) -> AsyncIterator[Callable[[], Awaitable[list[Row]]]]:
    """Calls through `agentcore mcp`, beside the same client on a server of the SDK."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    (folder / "server.py").write_text(_SDK_SERVER)
    block = {"command": sys.executable, "args": [str(folder / "server.py")]}
    # a sandbox has a /tmp of its own, without the program
    app = {
        "modules": ["fs_tools", "mcp_noop"],
        "workspace": {"roots": ["workspace"]},
        "mcpServers": {"noop": {**block, "agentcore": {"sandbox": "off"}}},
        "clients": {"bench": {"mode": "allow"}},
    }
    (folder / "app" / "workspace").mkdir(parents=True)
    (folder / "app" / "workspace" / "file.txt").write_text("text")
    async with open_host(folder / "app", app) as core:  # in the same state folder: it accepts what the server offers
        while "noop_noop" not in core.registry.tools:
            await asyncio.sleep(0.01)
    with servers.agentcore(folder / "app", {}, app) as server:
        environ = {"AGENTCORE_STATE_DIR": str(folder / "app-state"), "AGENTCORE_TOKEN": server.token}
        command = ["-m", "agentcore", "mcp", "--client", "bench", "--config", str(folder / "app" / "app.json")]
        async with (
            _client(
                ClientSession,
                stdio_client,
                StdioServerParameters(command=sys.executable, args=command, env={**os.environ, **environ}),
            ) as ours,
            _client(ClientSession, stdio_client, StdioServerParameters(**block)) as bare,
        ):

            async def call(client: Any, tool: str, **arguments: Any) -> None:
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, result

            async with asyncio.timeout(60):
                while "noop_noop" not in [tool.name for tool in (await ours.list_tools()).tools]:
                    await asyncio.sleep(0.2)

            async def measure() -> list[Row]:
                own, mounted, floor = [], [], []
                for _ in range(60):
                    own.append(await _median_ms_async(lambda: call(ours, "file_stat", path="file.txt"), 1))
                    mounted.append(
                        await _median_ms_async(lambda: call(ours, "noop_noop", text="some text", number=7), 1)
                    )
                    floor.append(await _median_ms_async(lambda: call(bare, "noop", text="some text", number=7), 1))
                least = statistics.median(floor)
                return [
                    Row(
                        "MCP over stdio: file_stat, × a call of a server of the SDK", statistics.median(own), least, 0.5
                    ),
                    Row(
                        "MCP over stdio: a mounted tool, × the same called directly",
                        statistics.median(mounted),
                        least,
                        1.8,
                    ),
                ]

            yield measure


@asynccontextmanager
async def _client(session: Any, transport: Any, parameters: Any) -> AsyncIterator[Any]:
    async with transport(parameters) as streams, session(*streams) as client:
        await client.initialize()
        yield client
