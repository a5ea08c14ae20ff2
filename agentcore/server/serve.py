"""Runs the server: start, signals, and orderly shutdown."""

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from types import FrameType
from typing import Any, Self

import structlog
from aiohttp import web

from agentcore.config.loading import AppConfig
from agentcore.core.core import Core
from agentcore.core.module_code.process_exit import exit_now
from agentcore.errors import AgentcoreError
from agentcore.hosts.hosts import Hosts
from agentcore.late_dataclasses import dataclass
from agentcore.server.addresses import LOOPBACK, Addresses, view_addresses
from agentcore.server.app import Application, create_app, create_approval_app, create_apps_app
from agentcore.server.http.descriptors import raise_descriptor_limit
from agentcore.server.http.server_socket import ListenError, PortTakenError, open_listener, own_name
from agentcore.server.late_chat import LateChat
from agentcore.server.mcp_transports.pipes import Pipes
from agentcore.server.missing_requirements import install_missing, report_missing
from agentcore.store.state.private_file import write_private_file
from agentcore.store.state.state_dir import StateDir
from agentcore.supervision.loop_guard import STOP_SIGNALS
from agentcore.this_machine import is_in_container, is_root

log = structlog.get_logger(__name__)

STOP_SECONDS = 60.0
"""Maximum duration of an orderly shutdown. After it the process exits at once, which loses nothing acknowledged."""

_ANSWER_SECONDS = 2.0

Console = Callable[[Core], Coroutine[Any, Any, None]]
"""Reads commands from the server's terminal; runs beside the server and is cancelled when that stops."""


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that answers requests, for code that shows a user where it is.

    Args:
        core: Loads the modules.
        late_chat: The chat, which is created when it is used.
        page_url: Address of the page, without a final slash.
        approval_url: Address of the approval view, without a final slash.
    """

    core: Core
    late_chat: LateChat
    page_url: str
    approval_url: str

    def create_login_link(self) -> str:
        """Create a one-time link that logs a browser in to the approval view, from which it continues to the page."""
        # in the fragment, which no browser sends, logs or passes on as a referrer
        code = self.core.store.approval_sessions.create_code()
        return f"{self.approval_url}/#code={code}&page={self.core.store.page_sessions.create_code()}"


OnListening = Callable[[RunningServer], None]
"""Called when the server answers requests, before the modules start."""

OnReady = Callable[[RunningServer], Coroutine[Any, Any, None]]
"""Runs once the modules have started; may continue beside the server, and is cancelled when that stops."""


async def serve(
    config: AppConfig,
    state: StateDir,
    *,
    host: str | None = None,
    port: int | None = None,
    approval_port: int | None = None,
    allow_remote: bool = False,
    approver_code_file: Path | None = None,
    on_listening: OnListening | None = None,
    on_ready: OnReady | None = None,
    on_installation: Callable[[str], None] | None = None,
    console: Console | None = None,
    before_modules: Callable[[], None] | None = None,
    lives_for_clients: bool = False,
    installs_missing: bool = False,
    stop_limit_s: float = STOP_SECONDS,
) -> None:
    """Serve until SIGINT or SIGTERM, then shut down in order; a second signal exits at once.

    Args:
        config: The configuration from app.json.
        state: The state folder, locked by this process. The caller closes it afterwards.
        host: Address to bind; None: the configured one.
        port: Port to bind, 0 for any; None: the configured one.
        approval_port: Port of the approval view, 0 for any; None: the configured one, else the one used last time.
        allow_remote: True if an address other than loopback may be bound.
        approver_code_file: A new file that receives one login code for the approval view.
        on_listening: See `OnListening`.
        on_ready: See `OnReady`. Without these two, secrets are written only to `approver_code_file`.
        on_installation: Receives sentences about what `installs_missing` installs.
        console: Runs at the server's terminal.
        lives_for_clients: True if the server stops once no client of `agentcore mcp` is connected any more.
        before_modules: Called in a thread once the server answers, before the modules start.
        installs_missing: True if requirements of modules are installed without asking, as root in a container.
        stop_limit_s: Maximum duration of the orderly shutdown, in seconds.
    Raises:
        ListenError: The address must not or cannot be bound.
        ServerStartError: The server could not start.
    """
    own = config.server
    raise_descriptor_limit()
    bound = own.host if host is None else host
    listener = _listen_for_page(config, state, bound, port, allow_remote=allow_remote, takes_any=lives_for_clients)
    second = _listen_for_approvals(config, state, bound, approval_port, allow_remote=allow_remote)
    third = _listen_for_views(config, state, bound, allow_remote=allow_remote)
    with listener, second, third, _Ending(stop_limit_s) as ending:
        origins = _Origins(
            Addresses(listener.getsockname()[1], own.hosts, own_name(listener)),
            Addresses(second.getsockname()[1], own.approval_hosts, own_name(second)),
            view_addresses(third.getsockname()[1], own.apps_hosts),
        )
        async with Core.open(config, state, start=False, places=Hosts(config)) as running:
            await _store_approval_port(running, origins.approval.port)
            await asyncio.to_thread(running.state.save_apps_port, origins.apps.port)
            await asyncio.to_thread(running.state.save_page_port, origins.page.port)
            app = create_app(running, addresses=origins.page, approval=origins.approval, apps=origins.apps)
            page = await _start_site(app, listener)
            approval = await _start_site(create_approval_app(app, origins.approval), second)
            apps = await _start_site(create_apps_app(app, origins.apps), third)
            pipes = app.dispatcher.pipes
            assert pipes is not None  # noqa: S101 - the page's application has it
            addresses = {"page": origins.page.base_url, "approval": origins.approval.base_url, "mcp": str(pipes.path)}
            if lives_for_clients:
                pipes.on_idle = ending.wished.set
                pipes.is_needed = lambda: _is_in_use(running, app)
            state.write_server_info(addresses)
            server = RunningServer(
                running, app.dispatcher.parts.late_chat, origins.page.base_url, origins.approval.base_url
            )
            if on_listening is not None:
                on_listening(server)
            if approver_code_file is not None:
                write_private_file(approver_code_file, running.store.approval_sessions.create_code().encode() + b"\n")
            async with running.run_loop_guard(stop_limit_s):
                then: list[OnReady] = [] if on_ready is None else [on_ready]
                if installs_missing and is_root() and is_in_container():
                    then.append(
                        lambda server: install_missing(
                            server.core.requirements, server.core.config.locale, on_installation
                        )
                    )
                starting = _Starting(ending.wished)
                beside = [
                    starting.complete_start(
                        _start_modules(app, server, pipes, before_modules, lives_for_clients=lives_for_clients),
                        then,
                        server,
                    ),
                    *([_run_guarded(console(running))] if console else ()),
                ]
                await _run_until_stopped(ending.wished, beside)
                await _stop_server(running, page, approval, apps)
            starting.raise_failure()
    log.info("server_stopped", address=origins.page.base_url)


@dataclass(frozen=True, slots=True)
class _Origins:
    page: Addresses
    approval: Addresses
    apps: Addresses


def _listen_for_page(
    config: AppConfig, state: StateDir, host: str, port: int | None, *, allow_remote: bool, takes_any: bool
) -> socket.socket:
    """Open the socket of the page at the requested port, else the configured one.

    Args:
        takes_any: True if the port does not matter, as clients find the server by its state folder. It is the one
            used last time, else the configured one, else any that is free: the server of another folder may have it.
    """
    own = config.server
    names = own.hosts
    if port is not None or not takes_any:
        wanted = own.port if port is None else port
        return open_listener(host, wanted, allow_remote=allow_remote, declared_hosts=names)
    for wanted in dict.fromkeys((state.page_port or own.port, own.port)):
        try:
            return open_listener(host, wanted, allow_remote=allow_remote, declared_hosts=names)
        except PortTakenError:
            log.info("page_port_taken", port=wanted)
    return open_listener(host, 0, allow_remote=allow_remote, declared_hosts=names)


def _listen_for_approvals(
    config: AppConfig, state: StateDir, host: str, port: int | None, *, allow_remote: bool
) -> socket.socket:
    """Open the socket of the approval view, at the requested port, else the one used last time, else any."""
    chosen = config.server.approval_port if port is None else port
    # behind a proxy the page's names are declared; without declared names the approval view stays on this machine
    names = config.server.approval_hosts
    place = host if names or not allow_remote else LOOPBACK
    if chosen is None and (last := state.approval_port):
        try:
            return open_listener(place, last, allow_remote=allow_remote, declared_hosts=names)
        except ListenError:
            log.info("approval_port_taken", port=last)
    return open_listener(place, chosen or 0, allow_remote=allow_remote, declared_hosts=names, option="--approval-port")


def _listen_for_views(config: AppConfig, state: StateDir, host: str, *, allow_remote: bool) -> socket.socket:
    """Open the socket of tool views, at the configured port, else the one used last time, else any."""
    server = config.server
    place = host if server.apps_hosts or not allow_remote else LOOPBACK
    if server.apps_port is None and (last := state.apps_port):
        try:
            return open_listener(place, last, allow_remote=allow_remote, declared_hosts=server.apps_hosts)
        except ListenError:
            log.info("apps_port_taken", port=last)
    return open_listener(
        place,
        server.apps_port or 0,
        allow_remote=allow_remote,
        declared_hosts=server.apps_hosts,
        option="server.apps_port",
    )


async def _store_approval_port(core: Core, port: int) -> None:
    """Store the port of the approval view, and revoke its sessions if the port changed.

    Another program may have used the old port meanwhile and received the cookies that browsers store for it.
    """
    if core.state.approval_port not in (None, port):
        await core.store.approval_sessions.revoke_all()
    await asyncio.to_thread(core.state.save_approval_port, port)


async def _start_site(app: Application, listener: socket.socket) -> web.AppRunner:
    runner = web.AppRunner(app, shutdown_timeout=_ANSWER_SECONDS)
    await runner.setup()
    await web.SockSite(runner, listener).start()
    return runner


async def _start_modules(
    app: Application,
    server: RunningServer,
    pipes: Pipes,
    before_modules: Callable[[], None] | None,
    *,
    lives_for_clients: bool,
) -> None:
    """Start the modules, log that the server is ready and what is missing, and resume interrupted turns."""
    if before_modules is not None:
        await asyncio.to_thread(before_modules)
    core = server.core
    if lives_for_clients or any(known.kind == "mcp" for known in core.store.client_keys.list_clients()):
        await pipes.preload()
    await pipes.listen()  # before the modules start: a client must not wait for the slowest of them
    await server.late_chat.open_if_awaited()
    await server.late_chat.preload()
    await core.start()
    await server.late_chat.resume_turns()
    log.info(
        "server_ready",
        address=server.page_url,
        approval_address=server.approval_url,
        pid=os.getpid(),
        tools=len(server.core.registry.tools),
    )
    await report_missing(server.core.requirements)


def _is_in_use(core: Core, app: Application) -> bool:
    """True if a server that was started for its clients is used otherwise: by a page, a turn, a call or a resource."""
    parts = app.dispatcher.parts
    is_kept = any(resource.keep_running for resource in core.resources.list())
    is_watched = parts.live_connections.is_serving or parts.events.reader_count > 0
    return is_kept or is_watched or parts.late_chat.is_busy or bool(core.calls.in_flight)


class ServerStartError(AgentcoreError):
    """The server could not start; the log has the reason."""


class _Starting:
    """The start of a server. A failure stops the server, which would otherwise listen without any tools.

    Args:
        ending: Set if the start fails.
    """

    def __init__(self, ending: asyncio.Event) -> None:
        self._ending = ending
        self._failure: Exception | None = None

    async def complete_start(
        self, start: Coroutine[Any, Any, None], then: Iterable[OnReady], server: RunningServer
    ) -> None:
        """Wait for the start, then run the work that runs beside the server."""
        try:
            await start
        except Exception as exc:
            log.exception("server_start_failed")
            self._failure = exc
            self._ending.set()
            return
        async with asyncio.TaskGroup() as group:
            for work in then:
                group.create_task(_run_guarded(work(server)))

    def raise_failure(self) -> None:
        """Raise `ServerStartError` if the start failed."""
        if self._failure is not None:
            message = (
                f"the server could not start ({type(self._failure).__name__}: {self._failure}); its log says where"
            )
            raise ServerStartError(message) from self._failure


async def _run_until_stopped(ending: asyncio.Event, beside: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run this work beside the server until it is asked to stop."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work) for work in beside]
        await ending.wait()
        for task in tasks:
            task.cancel()


async def _run_guarded(work: Coroutine[Any, Any, None]) -> None:
    """Run work beside the server; its failure is logged and stops nothing else."""
    try:
        await work
    except Exception:
        log.exception("beside_server_failed")


async def _stop_server(core: Core, *runners: web.AppRunner) -> None:
    """Stop accepting, close streams, let calls finish, stop modules, answer what waits, close connections."""
    log.info("server_stopping", calls=len(core.calls.in_flight))
    for site in [site for runner in runners for site in runner.sites]:
        await site.stop()
    for runner in runners:
        await runner.shutdown()
    await core.stop()
    for runner in runners:
        await runner.cleanup()


class _Ending:
    """Handles the signals to stop, and makes sure that the process does exit.

    The handlers run between Python bytecodes and the time limit runs in a thread: module code that blocks the
    event loop must not prevent the user from stopping the server.
    """

    def __init__(self, limit_s: float) -> None:
        self.wished = asyncio.Event()
        self._limit_s = limit_s
        self._loop = asyncio.get_running_loop()
        self._has_begun = False
        self._is_over = threading.Event()
        self._former: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in STOP_SIGNALS:
            self._former[number] = signal.signal(number, self._handle_signal)
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        for number, handler in self._former.items():
            signal.signal(number, handler)

    def _handle_signal(self, number: int, _frame: FrameType | None) -> None:
        if self._has_begun:
            exit_now(128 + number)
        self._has_begun = True
        threading.Thread(target=self._enforce_limit, name="agentcore-ending", daemon=True).start()
        self._loop.call_soon_threadsafe(self.wished.set)

    def _enforce_limit(self) -> None:
        if not self._is_over.wait(self._limit_s):
            log.error("server_stop_timeout", limit_s=self._limit_s)
            exit_now(1)
