"""What one side of a comparison does in a round, and what each of it costs; more is always worse.

Work that is bound by the processor is counted in its CPU time, of all threads and of the children that ended: other
programs disturb that least. Where a browser, a disk or a pause decides, it is the time on the clock.
"""

import asyncio
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

Round = Callable[[], Awaitable[dict[str, float]]]
Workload = Callable[[Path], AbstractAsyncContextManager[Round]]

WORKLOADS: dict[str, Workload] = {}

_CALLS = 200


def _workload(function: Callable[[Path], AsyncIterator[Round]]) -> Workload:
    WORKLOADS[function.__name__] = asynccontextmanager(function)
    return WORKLOADS[function.__name__]


def _own_cpu_ms() -> float:
    """CPU time of this process and of its children that ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (time.process_time() + children.ru_utime + children.ru_stime) * 1000


async def _cpu_of(work: Callable[[], Awaitable[object]], repeat: int = 1) -> float:
    began = _own_cpu_ms()
    for _ in range(repeat):
        await work()
    return (_own_cpu_ms() - began) / repeat


async def _clock_of(work: Callable[[], Awaitable[object]], repeat: int = 1) -> float:
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        await work()
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


@_workload
async def startup(folder: Path) -> AsyncIterator[Round]:
    """From nothing to the first 200, and the commands that need no server."""
    from benchmarks import servers
    from benchmarks.calls import NOOP
    from benchmarks.startup import FIND_THREE, make_site

    program = str(Path(sys.executable).with_name("agentcore"))
    found_in = make_site(folder / "site")

    async def run(*command: str, added: str = "") -> None:
        path = os.pathsep.join(filter(None, (added, os.environ.get("PYTHONPATH"))))
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": path})

    async def work() -> dict[str, float]:
        with servers.agentcore(folder / "app", {"noop": NOOP.format(name="noop_call")}) as ours:
            ready = {"CPU to the first 200, ms": ours.ready_cpu_ms, "memory then (PSS), MiB": ours.pss_mib}
        shown = await _cpu_of(lambda: run(sys.executable, program, "--help"))
        find = await _cpu_of(lambda: run(sys.executable, "-c", FIND_THREE, added=str(found_in)))
        return ready | {"agentcore --help, CPU ms": shown, "finding 3 of 1,000 entry points, CPU ms": find}

    yield work


@_workload
async def calls(folder: Path) -> AsyncIterator[Round]:
    """Calls over HTTP: what they cost the server."""
    from benchmarks import servers
    from benchmarks.calls import BODY, NOOP, many_tools
    from benchmarks.http_client import Connection, request_bytes, throughput

    with servers.agentcore(folder / "app", {"noop": NOOP.format(name="noop_call"), "many": many_tools()}) as server:
        connection = Connection(server.port)
        call = request_bytes("POST", "/api/tools/noop_call/call", server.port, BODY, server.token)
        listing = request_bytes("GET", "/api/tools", server.port, token=server.token)

        async def each(request: bytes) -> float:
            began = servers.cpu_ms(server.pid)
            for _ in range(_CALLS):
                answer = await asyncio.to_thread(connection.send, request)
                assert answer.startswith(b"HTTP/1.1 200"), answer[:300]
                assert b'"ok":false' not in answer, answer[:300]
            return (servers.cpu_ms(server.pid) - began) / _CALLS

        async def at_once() -> float:
            began, seconds = servers.cpu_ms(server.pid), 0.4
            count = await throughput(server.port, call, 64, seconds) * seconds
            return (servers.cpu_ms(server.pid) - began) / count

        async def work() -> dict[str, float]:
            return {
                "HTTP call of a no-op tool, server's CPU ms": await each(call),
                "HTTP call with 64 at once, server's CPU ms": await at_once(),
                "listing 100 tools, server's CPU ms": await each(listing),
            }

        yield work
        connection.close()


@_workload
async def host(folder: Path) -> AsyncIterator[Round]:
    """Calls in this process, with one module and with fifty."""
    from agentcore.api.tool_context import Principal
    from agentcore.core.calls.call import CallRequest
    from benchmarks.calls import NOOP
    from benchmarks.own_host import open_host

    person = Principal("cli")
    async with AsyncExitStack() as stack:
        running: list[tuple[str, Any, str]] = []
        for count in (1, 50):
            place = folder / f"host{count}"
            (place / "modules").mkdir(parents=True)
            names = [f"noop_{number}" for number in range(count)]
            for name in names:
                (place / "modules" / f"{name}.py").write_text(NOOP.format(name=f"{name}_call"))
            opened = await stack.enter_async_context(open_host(place, app={"modules": names}))
            what = f"host.call with {count} module{'s' * (count > 1)}, CPU ms"
            running.append((what, opened, f"{names[-1]}_call"))

        async def work() -> dict[str, float]:
            costs = {}
            for what, opened, tool in running:

                async def call(opened: Any = opened, tool: str = tool) -> None:
                    outcome = await opened.run_call(CallRequest(tool, {"text": "x"}, person))
                    assert outcome.ok, outcome.error

                costs[what] = await _cpu_of(call, 500)
            return costs

        yield work


@_workload
async def events(folder: Path) -> AsyncIterator[Round]:
    """One event to a thousand readers."""
    from benchmarks.events import READERS, publish, with_readers

    async with with_readers(folder / "app") as (opened, streams):

        async def work() -> dict[str, float]:
            times = []
            for _ in range(10):
                times.append(await _cpu_of(lambda: publish(opened, streams)))
                await asyncio.sleep(0.02)  # let the readers take it
            return {f"one event to {READERS} readers, CPU ms": statistics.median(times)}

        yield work


@_workload
async def files(folder: Path) -> AsyncIterator[Round]:
    """The file tools in this process, with the searches that they start."""
    from benchmarks.files import make_trees
    from benchmarks.own_host import calling

    make_trees(folder / "app" / "workspace")
    async with calling(folder / "app", "fs_tools") as call:

        async def work() -> dict[str, float]:
            read = {"path": "one.txt", "limit": 100_000}
            glob = {"pattern": "**/*.py", "path": "large"}
            return {
                "read_file of 1 MiB, raw, CPU ms": await _cpu_of(lambda: call("read_file", raw=True, **read), 10),
                "read_file of 1 MiB, numbered, CPU ms": await _cpu_of(lambda: call("read_file", **read), 10),
                "grep over 40,000 files, CPU ms": await _cpu_of(
                    lambda: call("grep", pattern="needle is", path="large")
                ),
                "grep over 20 files, CPU ms": await _cpu_of(
                    lambda: call("grep", pattern="needle is", path="small"), 20
                ),
                "glob over 40,000 files, unsorted, CPU ms": await _cpu_of(lambda: call("glob", sort="none", **glob)),
                "glob over 40,000 files, newest first, CPU ms": await _cpu_of(lambda: call("glob", **glob)),
            }

        yield work


@_workload
async def chat(folder: Path) -> AsyncIterator[Round]:
    """The words of a model on their way to the page."""
    import aiohttp

    from benchmarks import servers
    from benchmarks.calls import NOOP
    from benchmarks.chat import answer
    from benchmarks.provider import provider

    with provider() as base_url:
        app = {"models": {"m": {"provider": "openai", "base_url": base_url}}}
        with servers.agentcore(folder / "app", {"noop": NOOP.format(name="noop_call")}, app) as server:
            headers = {"Authorization": f"Bearer {server.token}"}
            async with aiohttp.ClientSession(f"http://127.0.0.1:{server.port}", headers=headers) as ours:
                await answer(ours, 3, 0)  # the model libraries are imported by the first message

                async def work() -> dict[str, float]:
                    began = servers.cpu_ms(server.pid)
                    ways = await answer(ours, _CALLS, 0.002)
                    spent = (servers.cpu_ms(server.pid) - began) / _CALLS
                    return {"a word to the page, server's CPU ms": spent, "its way, ms": statistics.median(ways)}

                yield work


@_workload
async def shell(folder: Path) -> AsyncIterator[Round]:
    """Commands, and a flood of output."""
    from benchmarks.own_host import calling
    from benchmarks.shell import read_flood, write_flood

    write_flood(folder / "app" / "workspace" / "flood.txt")
    async with calling(folder / "app", "shell_tools") as call:

        async def at_once() -> None:
            await asyncio.gather(*(call("bash", command="true") for _ in range(20)))

        async def work() -> dict[str, float]:
            return {
                "500 MB through a background process, ms": await _clock_of(lambda: read_flood(call)),
                "a command, ms": await _clock_of(lambda: call("bash", command="true"), 5),
                "20 commands at once, ms": await _clock_of(at_once),
            }

        yield work


@_workload
async def browsers(folder: Path) -> AsyncIterator[Round]:
    """The browser tools, on the clock."""
    from benchmarks.browser_hosts import driving_host, find_browser, serve_pages

    program = find_browser()
    if program is None:
        raise SystemExit("no Chromium here: leave `browsers` out")
    async with serve_pages() as address, driving_host(folder / "app", program) as call:
        url = f"{address}/"
        await call("browser_navigate", url=url)
        form = [{"selector": "input", "value": "Ada"}]
        actions: dict[str, Callable[[], Awaitable[Any]]] = {
            "go to a page": lambda: call("browser_navigate", url=url),
            "click": lambda: call("browser_click", selector="button"),
            "fill": lambda: call("browser_fill_form", fields=form),
            "evaluate": lambda: call("browser_evaluate", script="1 + 1"),
            "screenshot": lambda: call("browser_screenshot", inline=True),
            "snapshot of 100 rows": lambda: call("browser_snapshot"),
        }

        async def work() -> dict[str, float]:
            return {f"browser: {name}, ms": await _clock_of(action, 3) for name, action in actions.items()}

        yield work


@_workload
async def ui_page(folder: Path) -> AsyncIterator[Round]:
    """A script of the page, from approval to result, on the clock."""
    from benchmarks.ui_page import evaluate, page_in_browser

    async with page_in_browser(folder / "app") as opened:

        async def work() -> dict[str, float]:
            times = [await evaluate(opened) for _ in range(7)]
            return {"script of the page, from approval to result, ms": statistics.median(times)}

        yield work
