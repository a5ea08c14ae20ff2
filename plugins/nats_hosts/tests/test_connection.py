"""The connection to NATS, whatever its users do."""

import asyncio

import pytest
from agentcore_nats_hosts.connection import NatsConnection, NatsServers

from tests.hosts.pool_of_hosts import nats_running, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


async def test_a_flush_that_is_given_up_leaves_the_connection_hearing(tmp_path):
    """A link that ends gives up what it waits for: others hear what is said all the same."""
    async with nats_running(tmp_path / "nats") as nats:
        one, other = (
            NatsConnection(NatsServers((nats.address,)), name, f"_INBOX_{name}", print) for name in ("one", "other")
        )
        await one.open()
        await other.open()
        heard = asyncio.Event()

        async def take(message):
            heard.set()

        async with one.subscribe("somewhere", take):
            flushing = asyncio.create_task(one.flush())
            await asyncio.sleep(0)
            flushing.cancel()
            await asyncio.wait({flushing})
            await one.client.flush()
            await other.publish("somewhere", b"news")
            async with asyncio.timeout(4):
                await heard.wait()
        await one.close()
        await other.close()
