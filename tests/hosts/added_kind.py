"""A kind of hosts as a distribution adds one: machines that connect over a Unix socket. It uses the public API only."""

import asyncio
import contextlib
import json
import struct
from typing import Literal

import click

from agentcore.api import ToolError
from agentcore.api.host_kinds import FrameQueue, HostAnnouncement, HostGroupConfig

_HEADER = struct.Struct("!BI")
_TEXT, _PIECE = 1, 2


class RackConfig(HostGroupConfig):
    """Machines that connect over a Unix socket."""

    kind: Literal["rack"]
    socket: str


class Connection(FrameQueue):
    """Carries the frames of a peer over a stream; implements `Carrier` and `Transport`."""

    def __init__(self, reader, writer, make_peer, on_ready=lambda: None):
        super().__init__()
        self._reader = reader
        self._writer = writer
        self._on_ready = on_ready
        self.peer = make_peer(self)

    async def carry_frames(self):
        sending = asyncio.create_task(self._send_frames())
        try:
            self._on_ready()
            while True:
                kind, size = _HEADER.unpack(await self._reader.readexactly(_HEADER.size))
                payload = await self._reader.readexactly(size)
                (self.peer.receive_text if kind == _TEXT else self.peer.receive_binary)(payload)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._mark_lost()
            sending.cancel()
            await asyncio.wait({sending})
            self.peer.abort("the connection was lost")
            self._writer.close()

    async def _send_frames(self):
        while not (self._is_closing and not self._texts):
            self._news.clear()
            while self._texts:
                await self._send(_TEXT, self._pop_text())
            if self._piece is not None:
                await self._send(_PIECE, self._pop_chunk())
                self._sent.set()
            elif not self._is_closing:
                await self._news.wait()
        self._writer.close()

    async def _send(self, kind, payload):
        self._writer.write(_HEADER.pack(kind, len(payload)) + payload)
        await self._writer.drain()


class Leases:
    """The leases where one server alone uses the hosts."""

    def __init__(self):
        self.held = {}

    async def acquire_lease(self, resource_id, host, limit_s):
        self.held[resource_id] = 1

    def release_lease(self, resource_id):
        self.held.pop(resource_id, None)


class Slot:
    """One host; implements `HostDriver`."""

    def __init__(self, writer):
        self._writer = writer

    def is_silent(self):
        return False

    async def set_drained(self, *, is_on):
        raise ConnectionResetError("a rack cannot be drained")

    def abort(self, reason):
        self._writer.close()

    async def close(self):
        self._writer.close()


class Rack:
    """The hosts that connect to a socket; implements `HostSource`."""

    def __init__(self, config, group):
        self._config = config
        self._group = group
        self._hosts = {}
        self._is_listening = False
        self.leases = Leases()

    @property
    def address(self):
        return self._config.socket

    @property
    def is_reachable(self):
        return self._is_listening

    async def run(self):
        server = await asyncio.start_unix_server(self._serve_host, self._group.folder / self._config.socket)
        self._is_listening = True
        self._group.set_state("")
        async with server:
            await asyncio.Event().wait()

    async def close(self):
        self._is_listening = False

    async def wait_until_found(self):
        return

    async def find_room(self, session_id):
        for name, host in self._hosts.items():
            if host.is_connected and not host.is_drained:
                return name
        raise ToolError("pool_full", "no host of the rack is connected", retryable=True)

    def open_storage(self, module):
        raise NotImplementedError

    async def _serve_host(self, reader, writer):
        name = (await reader.readline()).decode().strip()
        writer.write(json.dumps([self._group.name, self._group.server, self._config.modules]).encode() + b"\n")
        host = self._hosts[name] = self._group.add_host(name, Slot(writer))
        host.handle_announcement(HostAnnouncement(capacity=3, used=0))
        with contextlib.suppress(ConnectionError):
            await host.serve_connection(lambda make_peer: Connection(reader, writer, make_peer), "a slot")
        host.mark_dead("the host was pulled out of the rack")


class SlotProgram:
    """Connects the machine to a rack; implements `HostProgram`."""

    def __init__(self, machine, socket, name):
        self._machine = machine
        self._socket = socket
        self._name = name
        self._worker = None

    async def run(self):
        reader, writer = await asyncio.open_unix_connection(self._socket)
        writer.write(self._name.encode() + b"\n")
        group, server, modules = json.loads(await reader.readline())
        worker = self._worker = await self._machine.start_worker(f"{group}.{self._name}", server, modules)
        self._machine.report_state(f"in the rack as {self._name}")
        connection = Connection(
            reader, writer, lambda transport: worker.attach(transport, lambda reason: None), worker.send_hello
        )
        await connection.carry_frames()

    async def stop(self):
        if self._worker is not None:
            await self._worker.stop()


class Racks:
    """The kind `rack`."""

    config = RackConfig

    def open_group(self, config, group):
        return Rack(config, group)

    def host_options(self):
        return _OPTIONS

    def host_commands(self):
        return {}

    def join(self, options, *, server, name, ca):
        return (lambda machine: SlotProgram(machine, server, name)) if options["is_in_rack"] else None


_OPTIONS = (click.Option(["--in-rack", "is_in_rack"], is_flag=True, help="Of a rack: --server is its socket."),)
