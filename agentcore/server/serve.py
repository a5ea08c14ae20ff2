"""From a configuration to a server that runs, and to its orderly end."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Iterable
from types import FrameType
from typing import Any, Self, TextIO

import structlog
from aiohttp import web

from agentcore.host import AppConfig, Host
from agentcore.server.addresses import Addresses
from agentcore.server.app import ServerApplication, create_app
from agentcore.server.descriptors import raise_descriptor_limit
from agentcore.server.listening import listen, own_name
from agentcore.store import StateDir

log = structlog.get_logger(__name__)

STOP_SECONDS = 60.0
"""The longest that an orderly end may take; then the process ends as it is, which loses nothing acknowledged."""

_ANSWER_SECONDS = 2.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)

Console = Callable[[Host], Coroutine[Any, Any, None]]
"""What a person can type at the server's terminal; runs beside the server and is cancelled at its end."""


async def serve(
    config: AppConfig,
    state: StateDir,
    *,
    host: str | None = None,
    port: int | None = None,
    allow_remote: bool = False,
    terminal: TextIO | None = None,
    on_ready: Callable[[str], None] | None = None,
    console: Console | None = None,
    before_modules: Callable[[], None] | None = None,
    stop_limit_s: float = STOP_SECONDS,
) -> None:
    """Serve until SIGINT or SIGTERM, then end in order; a second signal ends at once.

    Args:
        config: What app.json says.
        state: The state folder, locked by this process. The caller closes it afterwards.
        host: Address to bind; None: the configured one.
        port: Port to bind, 0 for any; None: the configured one.
        allow_remote: Whether an address other than loopback may be bound.
        terminal: Where a person reads the address with a one-time code; None: nobody does, and nothing secret is
            written anywhere.
        on_ready: Told the address with a one-time code, once, when the modules have started (to open a browser).
        console: Runs at the server's terminal.
        before_modules: Called in a thread once the server answers, before the modules start.
        stop_limit_s: The longest that the orderly end may take, in seconds.
    Raises:
        ListenError: The address must not or cannot be bound.
    """
    server = config.server
    raise_descriptor_limit()
    listener = listen(
        server.host if host is None else host,
        server.port if port is None else port,
        allow_remote=allow_remote,
        declared_hosts=server.hosts,
    )
    with listener, _Ending(stop_limit_s) as ending:
        addresses = Addresses(listener.getsockname()[1], server.hosts, own_name(listener))
        async with Host.open(config, state, start=False) as running:
            app = create_app(running, addresses=addresses)
            runner = web.AppRunner(app, shutdown_timeout=_ANSWER_SECONDS)
            await runner.setup()
            site = web.SockSite(runner, listener)
            await site.start()
            state.write_server_info({"page": addresses.base_url})
            if terminal is not None:
                _greet(terminal, addresses.base_url, _page_url(running, addresses))
            starting = _start(app, running, addresses, on_ready, before_modules)
            beside = [starting, *([console(running)] if console else ())]
            await _run(ending.wished, beside)
            await _stop(running, runner, site)
    log.info("server_stopped", address=addresses.base_url)


def _greet(terminal: TextIO, address: str, page_url: str) -> None:
    terminal.write(f"agentcore serves {address}\nOpen this address in a browser, once: {page_url}\n")
    terminal.flush()


async def _start(
    app: ServerApplication,
    host: Host,
    addresses: Addresses,
    on_ready: Callable[[str], None] | None,
    before_modules: Callable[[], None] | None,
) -> None:
    """Start the modules, and say so; chat sessions that were cut off go on."""
    if before_modules is not None:
        await asyncio.to_thread(before_modules)
    await host.start()
    await app.dispatcher.parts.chat.resume()
    log.info("server_ready", address=addresses.base_url, pid=os.getpid(), tools=len(host.registry.tools))
    if on_ready is not None:
        await asyncio.to_thread(on_ready, _page_url(host, addresses))


async def _run(ending: asyncio.Event, beside: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Let this work go on beside the server until it is to end."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_guarded(work)) for work in beside]
        await ending.wait()
        for task in tasks:
            task.cancel()


async def _guarded(work: Coroutine[Any, Any, None]) -> None:
    """Run what stands beside the server: its failure is logged and ends nothing else."""
    try:
        await work
    except Exception:
        log.exception("beside_server_failed")


def _page_url(host: Host, addresses: Addresses) -> str:
    # in the fragment, which no browser sends, logs or passes on as a referrer
    return f"{addresses.base_url}/#code={host.store.page_sessions.create_code()}"


async def _stop(host: Host, runner: web.AppRunner, site: web.SockSite) -> None:
    """Stop accepting, end streams, let calls end, stop modules, answer what waits, close connections."""
    log.info("server_stopping", calls=len(host.calls.in_flight))
    await site.stop()
    await runner.shutdown()
    await host.stop()
    await runner.cleanup()


class _Ending:
    """Notices the wish to end, and sees to it that the process does end.

    Its handlers run between the steps of Python code and its limit in a thread: code of a module that holds the
    event loop must not keep a person from ending the server.
    """

    def __init__(self, limit_s: float) -> None:
        self.wished = asyncio.Event()
        self._limit_s = limit_s
        self._loop = asyncio.get_running_loop()
        self._has_begun = False
        self._is_over = threading.Event()
        self._former: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            self._former[number] = signal.signal(number, self._take)
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        for number, handler in self._former.items():
            signal.signal(number, handler)

    def _take(self, number: int, _frame: FrameType | None) -> None:
        if self._has_begun:
            os._exit(128 + number)
        self._has_begun = True
        threading.Thread(target=self._watch, name="agentcore-ending", daemon=True).start()
        self._loop.call_soon_threadsafe(self.wished.set)

    def _watch(self) -> None:
        if not self._is_over.wait(self._limit_s):
            log.error("server_stop_timeout", limit_s=self._limit_s)
            os._exit(1)
