"""The CONNECT proxy lets through what it should, and nothing else: tests of hosts behind one rest on it."""

import asyncio

import pytest
from aiohttp import web

from tests.hosts.network.connect_proxy import basic, connect_proxy
from tests.hosts.network.relay import LOOPBACK

WAIT_S = 30.0


@pytest.fixture
async def target(aiohttp_server):
    """A server without any page."""
    return await aiohttp_server(web.Application())


async def _connect(port: int, *lines: str) -> tuple[int, asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    writer.write("\r\n".join((*lines, "", "")).encode())
    head = await reader.readuntil(b"\r\n\r\n")
    return int(head.split(b" ")[1]), reader, writer


async def test_tunnel_leads_to_what_its_name_stands_for(target):
    names = {"agent.example.com:80": (LOOPBACK, target.port)}
    async with connect_proxy(names) as proxy, asyncio.timeout(WAIT_S):
        status, reader, writer = await _connect(
            proxy.port, "CONNECT agent.example.com:80 HTTP/1.1", "Host: agent.example.com:80"
        )
        assert status == 200
        writer.write(b"GET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 404")
        writer.close()
    assert proxy.tunnels == ["agent.example.com:80"]


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("CONNECT elsewhere.example.com:443 HTTP/1.1", 403),
        ("GET http://agent.example.com/ HTTP/1.1", 405),
    ],
)
async def test_everything_else_is_refused(line, status):
    async with connect_proxy({"agent.example.com:443": (LOOPBACK, 1)}) as proxy, asyncio.timeout(WAIT_S):
        got, _, writer = await _connect(proxy.port, line)
        assert got == status
        writer.close()
    assert proxy.refused == [(status, line.split(" ")[1])]
    assert proxy.tunnels == []


@pytest.mark.parametrize(("shown", "status"), [(None, 407), ("me:wrong", 407), ("me:secret", 200)])
async def test_credentials_are_asked_for(target, shown, status):
    names = {"agent.example.com:80": (LOOPBACK, target.port)}
    async with connect_proxy(names, credentials="me:secret") as proxy, asyncio.timeout(WAIT_S):
        lines = ["CONNECT agent.example.com:80 HTTP/1.1"]
        if shown is not None:
            lines.append(f"Proxy-Authorization: {basic(shown)}")
        got, _, writer = await _connect(proxy.port, *lines)
        assert got == status
        writer.close()
