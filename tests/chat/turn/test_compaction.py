"""Sessions that get longer than their model's context: shortened by the host, whole for the person, never dead."""

import json
import re

import pytest

from tests.chat.conftest import Reply
from tests.chat.turn.shelf import (
    ALLOW,
    Shelf,
    check_pairs,
    is_summing_up,
    page,
    size_of,
    within,
)

pytestmark = pytest.mark.spec("K9")

LIMIT = 6_000


def read(number, tool="shelf_read"):
    return Reply("", [(f"c{number}", tool, json.dumps({"number": number}))])


def reading(pages, tool="shelf_read"):
    """A model that reads pages, looks for the secret of the first in what was kept of it, and says it."""
    done = 0

    def play(request):
        nonlocal done
        check_pairs(request)
        if is_summing_up(request):
            return Reply(f"Pages were read, first {re.search(r'art_[0-9a-f]{32}', str(request))[0]}.")
        if done < pages:
            done += 1
            return read(done, tool)
        told = str(request["messages"])
        if secret := re.search(r"the secret of page 1 is (\d+)", told):
            return Reply(f"It is {secret[1]}.")
        artifact = re.search(r"art_[0-9a-f]{32}", told)[0]
        return Reply("", [("find", "shelf_find", json.dumps({"id": artifact, "word": "secret"}))])

    return play


async def test_session_longer_than_the_context_ends_its_task(open_talk, provider):
    provider.script = within(LIMIT, reading(16))
    async with open_talk(Shelf(), model={"context_tokens": LIMIT}, **ALLOW) as talk:
        session_id = await talk.begin()
        events = await talk.say(session_id, "Read all pages and tell me the secret of page 1.")
        items = await talk.items(session_id)
    assert items[-1]["text"] == "It is 7919."
    assert not [event for event in events if event["type"] == "session.error"]
    compacted = [event["compaction"] for event in events if event["type"] == "session.compacted"]
    assert all(size_of(request) <= LIMIT for request in provider.requests)
    assert any(each["shortenedResults"] for each in compacted)
    assert any(each.get("summary", "").startswith("Pages were read") for each in compacted)
    # the person goes on seeing everything, and when it happened
    results = [call["result"]["content"][0]["text"] for item in items for call in item.get("calls", ())]
    assert results[:16] == [page(number, 8_000) for number in range(1, 17)]
    assert [item["compaction"] for item in items if "compaction" in item] == compacted
    # the task stays in the person's own words
    assert all("secret of page 1." in str(request["messages"]) for request in provider.requests)
