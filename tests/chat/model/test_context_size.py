"""Context sizes of models: looked up again after a while, and by one request for turns that ask at the same time."""

import asyncio

import pytest

from agentcore.chat.model.context_size import ContextSizes
from agentcore.chat.settings import ModelChoice


class Unknown:
    """A model that the library's table does not have."""

    context_window = None


def choice(provider, **more):
    return ModelChoice(provider="openai", model="m", base_url=f"{provider.url}/v1", **more)


@pytest.mark.more
async def test_model_that_was_not_listed_is_looked_up_again_after_a_while(provider):
    now = [0.0]
    sizes = ContextSizes(lambda: now[0])
    provider.listed = {"data": []}
    found = [await sizes.find_size(choice(provider), Unknown())]
    provider.listed = {"data": [{"id": "m", "max_model_len": 48_000}]}
    found.append(await sizes.find_size(choice(provider), Unknown()))
    for size in (48_000, 16_000):
        now[0] += 61
        provider.listed = {"data": [{"id": "m", "max_model_len": size}]}
        found.append(await sizes.find_size(choice(provider), Unknown()))
    now[0] += 61
    provider.list_status = 500
    found.append(await sizes.find_size(choice(provider), Unknown()))
    assert found == [None, None, 48_000, 16_000, 16_000]
    assert await sizes.find_size(choice(provider, context_tokens=7), Unknown()) == 7
    assert len(provider.headers) == 4


async def test_turns_that_ask_at_the_same_time_share_one_request(provider):
    provider.listed = {"data": [{"id": "m", "max_model_len": 48_000}]}
    sizes = ContextSizes()
    found = await asyncio.gather(*(sizes.find_size(choice(provider), Unknown()) for _ in range(3)))
    assert found == [48_000] * 3
    assert len(provider.headers) == 1


async def test_provider_without_a_list_is_not_asked_in_each_turn(provider):
    now = [0.0]
    sizes = ContextSizes(lambda: now[0])
    provider.list_status = 404
    for _ in range(3):
        assert await sizes.find_size(choice(provider), Unknown()) is None
    assert len(provider.headers) == 1
    now[0] += 61
    provider.list_status = 200
    provider.listed = {"data": [{"id": "m", "max_model_len": 48_000}]}
    assert await sizes.find_size(choice(provider), Unknown()) == 48_000
