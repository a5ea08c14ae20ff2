"""A server that was killed, and its hosts: what sessions have there is found again."""

import contextlib
from types import SimpleNamespace

import pytest

from tests.hosts.network.relay import LOOPBACK, relay_to
from tests.hosts.pool_of_hosts import member, member_place, members_running, nats_running, pool_place, why_not
from tests.hosts.two_machines import serving

pytestmark = [pytest.mark.skipif(bool(why_not()), reason=why_not()), pytest.mark.more]


async def test_a_session_goes_to_the_host_that_has_its_own_though_another_one_is_linked_before(tmp_path):
    """The host `far` hears everything a second late: the next server is linked to `near` long before."""
    async with contextlib.AsyncExitStack() as held:
        nats = await held.enter_async_context(nats_running(tmp_path / "nats"))
        relay = await held.enter_async_context(relay_to(LOOPBACK, nats.port))
        far = SimpleNamespace(address=f"nats://{LOOPBACK}:{relay.address[1]}")
        await held.enter_async_context(member(member_place(tmp_path / "far"), far, "far"))
        place = pool_place(tmp_path / "server", nats, "counting")
        async with serving(place) as server:
            await members_running(server, "far")
            assert (await server.call("count"))["data"]["count"] == 1
            await server.kill()
        relay.back.delay_s = 1.0
        await held.enter_async_context(member(member_place(tmp_path / "near"), nats, "near"))
        async with serving(place) as server:
            await members_running(server, "near")
            said = await server.call("count", timeout_ms=30_000)
            assert (said.get("data") or {}).get("count") == 2, said
