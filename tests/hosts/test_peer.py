"""Requests over a link, from their beginning to their end."""

import asyncio

import pytest

from agentcore.hosts.wire.peer import Peer


class Wire:
    """Carries messages to another peer, in the same process."""

    def __init__(self) -> None:
        self.other: Peer | None = None

    def send_text(self, data: bytes) -> None:
        asyncio.get_running_loop().call_soon(self.other.receive_text, data)

    async def send_binary(self, data: bytes) -> None:
        self.other.receive_binary(data)

    def close(self) -> None:
        pass


def linked(**on_request):
    """Two peers; the second one answers requests."""
    asking, answering = (Peer(Wire(), on_end=lambda reason: None) for _ in range(2))
    answering.add_request_handlers(on_request)
    asking._transport.other, answering._transport.other = answering, asking
    return asking, answering


async def test_request_that_nobody_waits_for_any_more_is_cancelled():
    ended = asyncio.Event()

    async def answer(message):
        try:
            await asyncio.sleep(600)
        finally:
            ended.set()

    asking, _ = linked(slow=answer)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await asking.request({"type": "slow"})
    async with asyncio.timeout(30):
        await ended.wait()
    assert asking.ended is None


async def test_message_of_very_many_values_ends_the_link_and_is_not_read():
    async def answer(message):
        return len(message["many"])

    asking, answering = linked(count=answer)
    assert await asking.request({"type": "count", "many": [0] * 100_000}) == 100_000
    with pytest.raises(TimeoutError):  # this wire carries no end
        async with asyncio.timeout(0.05):
            await asking.request({"type": "count", "many": [0] * 400_001})
    async with asyncio.timeout(10):
        while answering.ended is None:
            await asyncio.sleep(0)
    assert answering.ended == "a message of more than 400,000 values"


async def test_what_an_answer_fails_with_is_raised_to_whoever_asked_and_the_link_goes_on():
    async def answer(message):
        return {"found": {}[message["key"]]}

    asking, _ = linked(find=answer)
    for _ in range(2):
        with pytest.raises(KeyError):
            await asking.request({"type": "find", "key": "a"})
    assert asking.ended is None
