"""The program of a host on another machine, from its app.json to its end."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from agentcore.api.host_kinds.host_side import MakeProgram
from agentcore.config.loading import AppConfig
from agentcore.config.workspace_roots import open_workspace
from agentcore.core.module_code.containment import report_loop_error
from agentcore.core.module_code.ownership import track_owners
from agentcore.core.module_code.threads import worker_threads
from agentcore.files.workspace import Workspace
from agentcore.hosts.machine_program.dial_in import Connection, Server
from agentcore.hosts.machine_program.machine_worker import MachineWorker
from agentcore.hosts.machine_program.own_modules import OwnModules
from agentcore.hosts.machine_program.server_key import ServerKey
from agentcore.hosts.machine_program.shared_machine import SharedMachine
from agentcore.hosts.machine_program.user_messages import HostCallbacks
from agentcore.hosts.worker.module_environment import HostSurroundings
from agentcore.store.state.state_dir import StateDir

log = structlog.get_logger(__name__)

_STOP_SECONDS = 10.0
_LEAVE_SECONDS = 3.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


async def run_host_for_server(
    config: AppConfig, state: StateDir, server: Server, name: str, told: HostCallbacks, *, pairs: bool
) -> None:
    """Run the modules of an app.json for a server, until SIGINT or SIGTERM.

    Args:
        state: The state folder of this machine, locked by this process.
        name: The name of this host at the server.
        pairs: True to pair it again, though it has a key.
    Raises:
        HostNotPaired: The server does not accept this host any more.
    """
    async with _set_up_program(config, state) as (workspace, over):
        worker = MachineWorker(name, HostSurroundings(workspace, state.path, (state.path,), config.locale, name))
        kept = ServerKey(state.path, server.address, name)
        connection = Connection(worker, server, None if pairs else kept.read(), told.state)

        def take_key(key: str) -> None:
            kept.write(key)
            connection.set_key(key)

        worker.on_code = told.code
        worker.on_key = take_key
        if told.resource is not None:
            worker.watch_resources(told.resource)
        try:
            await OwnModules(worker, config).start()
            told.offers(worker.tools, worker.failed, workspace.roots)
            await _run_until_stopped(connection, over)
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_STOP_SECONDS):
                    await worker.stop()


async def run_host_program(config: AppConfig, state: StateDir, make_program: MakeProgram, told: HostCallbacks) -> None:
    """Run the modules of an app.json for the servers that an added kind of hosts serves, until SIGINT or SIGTERM.

    Args:
        state: The state folder of this machine, locked by this process.
    Raises:
        Exception: Raised by the program.
    """
    async with _set_up_program(config, state) as (workspace, over):
        program = make_program(SharedMachine(config, state.path, workspace, told))
        loop = asyncio.get_running_loop()
        running = loop.create_task(program.run(), name="program")
        ending = loop.create_task(over.wait(), name="over")
        try:
            await asyncio.wait({running, ending}, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                running.result()
        finally:
            for task in (running, ending):
                task.cancel()
            await asyncio.wait({running, ending})
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_STOP_SECONDS):
                    await program.stop()


@asynccontextmanager
async def _set_up_program(config: AppConfig, state: StateDir) -> AsyncIterator[tuple[Workspace, asyncio.Event]]:
    """Set up the environment of the program; the event is set when it is to end."""
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(report_loop_error)
    track_owners()
    over = asyncio.Event()
    for each in _SIGNALS:
        loop.add_signal_handler(each, over.set)
    try:
        with worker_threads(), contextlib.closing(open_workspace(config, state.path)[0]) as workspace:
            yield workspace, over
    finally:
        for each in _SIGNALS:
            loop.remove_signal_handler(each)


async def _run_until_stopped(connection: Connection, over: asyncio.Event) -> None:
    """Stay connected until the program is to end, and disconnect then."""
    loop = asyncio.get_running_loop()
    running = loop.create_task(connection.run(), name="connection")
    ending = loop.create_task(over.wait(), name="over")
    try:
        await asyncio.wait({running, ending}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
        connection.disconnect()
        await asyncio.wait({running}, timeout=_LEAVE_SECONDS)
    finally:
        for task in (running, ending):
            task.cancel()
        await asyncio.wait({running, ending})
