"""What the scenarios work on: pages, manuals and programs, served on loopback."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import aiohttp
from aiohttp import web

from benchmarks.agents.programs import Programs
from benchmarks.servers import free_port

_START_S = 120
_PAGES = Path(__file__).with_name("pages")


@asynccontextmanager
async def files(programs: Programs) -> AsyncIterator[str]:
    """The pages of this folder, npm packages below `/npm/`, Debian's manuals below `/doc/`; gives the address."""
    app = web.Application()
    app.router.add_static("/npm/", programs.node_modules, follow_symlinks=True)
    app.router.add_static("/doc/", programs.manuals, follow_symlinks=True)
    app.router.add_static("/", _PAGES)
    async with serving(app) as address:
        yield address


@asynccontextmanager
async def serving(app: web.Application) -> AsyncIterator[str]:
    """An application on loopback; gives its address."""
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def program(folder: Path, path: str, *command: str, environ: Mapping[str, str] = {}) -> AsyncIterator[str]:
    """A program that serves a port, which stands as `PORT` in its command; gives its address once `path` answers."""
    port = free_port()
    with (folder.parent / "program.log").open("w") as log:
        process = await asyncio.create_subprocess_exec(
            *(part.replace("PORT", str(port)) for part in command),
            cwd=folder,
            env=os.environ | environ,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=log,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        async with asyncio.timeout(_START_S), aiohttp.ClientSession() as client:
            while not await _answers(client, address + path):
                if process.returncode is not None:
                    raise RuntimeError(f"{command[0]} ended: {(folder.parent / 'program.log').read_text()[-2000:]}")
                await asyncio.sleep(0.1)
        yield address
    finally:
        if process.returncode is None:
            process.terminate()
        async with asyncio.timeout(30):
            await process.wait()


async def _answers(client: aiohttp.ClientSession, url: str) -> bool:
    with suppress(aiohttp.ClientConnectionError):
        async with client.get(url) as response:
            return response.status < 500
    return False


async def run(folder: Path, *command: str, environ: Mapping[str, str] = {}) -> None:
    """Run a command of the set-up.

    Raises:
        RuntimeError: It failed; the message has what it wrote.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env=os.environ | environ,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: {output.decode()[-2000:]}")
