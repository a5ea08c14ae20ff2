"""Clients that wait to be paired: what is not decided, or not fetched, in time is dropped."""

import asyncio

import pytest

from agentcore.api import ToolError
from agentcore.core.approvals.client_pairings import PairingRequest, Pairings

pytestmark = pytest.mark.spec("K11")

REQUEST = PairingRequest("panel", "program", "", frozenset(("approve",)))


class Clock:
    now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
async def pairings(make_host, clock):
    host = await make_host()
    return Pairings(host.events, host.store.record, host.store.client_keys, now=clock, clock=clock)


async def failure(work):
    with pytest.raises(ToolError) as raised:
        await work
    return raised.value.type


async def test_client_that_nobody_decided_on_in_time_gets_nothing(pairings, clock):
    pairing, ticket = pairings.request_pairing(pairings.create_code(), REQUEST)
    assert await pairings.wait_for_key(ticket, 0) is None
    clock.now += 601
    assert pairings.waiting == []
    assert await failure(pairings.wait_for_key(ticket, 0)) == "pairing_not_found"
    with pytest.raises(ToolError):
        pairings.decide_pairing(pairing.pairing_id, ["approve"], "terminal")


async def test_key_that_is_not_fetched_in_time_is_never_made(pairings, clock):
    pairing, ticket = pairings.request_pairing(pairings.create_code(), REQUEST)
    pairings.decide_pairing(pairing.pairing_id, ["approve"], "terminal")
    clock.now += 601
    assert await failure(pairings.wait_for_key(ticket, 0)) == "pairing_not_found"


async def test_whoever_waits_while_it_expires_is_told(pairings, clock):
    _, ticket = pairings.request_pairing(pairings.create_code(), REQUEST)
    waiting = asyncio.create_task(failure(pairings.wait_for_key(ticket, 60)))
    await asyncio.sleep(0)
    clock.now += 601
    assert pairings.waiting == []
    async with asyncio.timeout(30):
        assert await waiting == "pairing_not_found"
