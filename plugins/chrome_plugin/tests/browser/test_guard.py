"""The way that connections go: by the guard, and by the proxy of the settings."""

import asyncio
import contextlib
import struct

import pytest
import pytest_asyncio
from agentcore_chrome.browser.guard import Guard, _relay_streams
from structlog.testing import capture_logs

from agentcore.api import ToolError
from agentcore.testing.hosting import HostPlan, running_host

STARTS_HOSTS = True
pytestmark = pytest.mark.spec("B1")


class Proxy:
    """A proxy on loopback that speaks SOCKS 5 and HTTP's CONNECT, and keeps what it was asked for."""

    def __init__(self):
        self.asked = []
        self.refuses = False
        self._talks = set()

    async def start(self):
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        return self._server.sockets[0].getsockname()[1]

    async def stop(self):
        self._server.close()
        for talk in self._talks:
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)

    async def _take(self, reader, writer):
        self._talks.add(asyncio.current_task())
        try:
            first = await reader.readexactly(1)
            host, port, yes, no = await (self._socks(reader, writer) if first == b"\x05" else self._http(reader))
            self.asked.append(f"{host}:{port}")
            writer.write(no if self.refuses else yes)
            await writer.drain()
            if not self.refuses:
                far_reader, far_writer = await asyncio.open_connection(host, port)
                with contextlib.closing(far_writer):
                    await asyncio.gather(self._carry(reader, far_writer), self._carry(far_reader, writer))
        except (OSError, asyncio.IncompleteReadError):
            return  # one side went away
        finally:
            self._talks.discard(asyncio.current_task())
            writer.close()

    async def _http(self, reader):
        line = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[0].decode()
        host, port = line.split(" ")[1].rsplit(":", 1)
        return host, int(port), b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 403 Forbidden\r\n\r\n"

    async def _socks(self, reader, writer):
        await reader.readexactly((await reader.readexactly(1))[0])
        writer.write(b"\x05\x00")
        assert (await reader.readexactly(4)) == b"\x05\x01\x00\x03"
        host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        (port,) = struct.unpack("!H", await reader.readexactly(2))
        end = b"\x00\x01" + bytes(6)
        return host, port, b"\x05\x00" + end, b"\x05\x02" + end

    async def _carry(self, reader, writer):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()


async def test_browsers_that_start_at_one_time_share_one_guard_and_nothing_of_it_stays():
    class Anywhere:
        async def resolve(self, url):
            return ["127.0.0.1"]

    guard = Guard(Anywhere())
    address, again = await asyncio.gather(guard.start(), guard.start())
    assert address == again
    port = int(address.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"\x05\x01\x00")
    assert await reader.readexactly(2) == b"\x05\x00"
    await guard.stop()
    assert await reader.read() == b""
    writer.close()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)


async def test_answer_that_goes_on_after_the_request_was_ended_arrives_whole(monkeypatch):
    monkeypatch.setattr("agentcore_chrome.browser.guard._HALF_CLOSED_SECONDS", 0.5)

    async def answer_slowly(reader, writer):
        await reader.read()
        for _ in range(8):
            writer.write(b"piece ")
            await asyncio.sleep(0.2)
        writer.close()

    async with await asyncio.start_server(answer_slowly, "127.0.0.1", 0) as server:
        relayed = asyncio.get_running_loop().create_future()

        async def relay(reader, writer):
            there = await asyncio.open_connection(*server.sockets[0].getsockname())
            await _relay_streams(reader, writer, *there)
            writer.close()
            relayed.set_result(None)

        async with await asyncio.start_server(relay, "127.0.0.1", 0) as between:
            reader, writer = await asyncio.open_connection(*between.sockets[0].getsockname())
            writer.write_eof()
            assert await reader.read() == b"piece " * 8
            writer.close()
            await relayed


@pytest_asyncio.fixture(loop_scope="module", params=["http", "socks5"])
async def proxied(request, hosting, tmp_path):
    """A host whose connections go through a proxy, and the proxy."""
    proxy = Proxy()
    port = await proxy.start()
    async with hosting(tmp_path / "host", proxy=f"{request.param}://127.0.0.1:{port}") as host:
        yield host, proxy
    await proxy.stop()


@pytest.mark.more
async def test_connections_go_through_the_proxy_and_the_policy_counts_before_it(proxied, site):
    """A page comes through it; what it refuses is a failed navigation; what the policy refuses never gets to it."""
    host, proxy = proxied

    async def go(url):
        return await host.outcome("browser_navigate", {"url": url}, session_id="chat")

    assert (await go(site.url("/second"))).unwrap().data["title"] == "Second"
    assert set(proxy.asked) == {site.address.removeprefix("http://")}
    assert (await go(site.url("/redirect-blocked"))).error.type == "url_blocked"
    assert not any("blocked.test" in place for place in proxy.asked)
    proxy.refuses = True
    refused = (await go("http://127.0.0.1:47113/")).error
    assert (refused.type, refused.context["netError"]) == ("navigation_failed", "net::ERR_CONNECTION_REFUSED")
    assert "127.0.0.1:47113" in proxy.asked


@pytest.mark.parametrize("proxy", ["ftp://127.0.0.1:1", "http://", "http://ada:secret@127.0.0.1:1"])
async def test_proxy_that_cannot_be_used_is_refused_at_the_start(tmp_path, proxy):
    plan = HostPlan(("browser",), {"config": {"chrome": {"proxy": proxy}}}, is_failure_expected=True)
    async with running_host(plan, tmp_path) as host:
        record = host.host.modules.records["browser"]
        assert record.state == "failed"
        assert "proxy" in record.reason
        assert "secret" not in record.reason


@pytest.mark.spec("S6")
async def test_script_of_a_page_reaches_nothing_of_this_machine_past_the_policy(start_host, site, other_site):
    """Browsers like to leave loopback out of what goes by their proxy."""
    host = await start_host(("browser",), blocked_hosts=[other_site.address.removeprefix("http://")])
    await host.call("browser_navigate", url=site.url("/"))

    async def fetch(url: str) -> str:
        script = f"fetch({url!r}, {{mode: 'no-cors'}}).then(() => 'reached', () => 'refused')"
        return (await host.call("browser_evaluate", script=script)).data["value"]

    assert await fetch(site.url("/second")) == "reached"
    assert await fetch(other_site.url("/second")) == "refused"
    assert await fetch(other_site.url("/second").replace("127.0.0.1", "localhost")) == "refused"
    assert other_site.asked == []


@pytest.mark.more
@pytest.mark.spec("S6")
async def test_browser_tells_nobody_of_the_fields_in_a_form(start_host, site):
    """What asks a service about them is refused like any other connection, and so it would be in the log."""
    host = await start_host(("browser",), blocked_hosts=["googleapis.com", "blocked.test"])
    with capture_logs() as logs:
        for _ in range(3):
            await host.call("browser_navigate", url=site.url("/form"))
        with pytest.raises(ToolError):
            await host.call("browser_navigate", url=site.url("/redirect-blocked"))
    refused = {log["host"] for log in logs if log["event"] == "browser_connection_refused"}
    assert refused - {"update.googleapis.com"} == {"blocked.test"}  # the one asks for updates, once, whatever we say
