"""A real llama.cpp server tells how far it has read a long request before it answers."""

import pytest

pytestmark = [pytest.mark.more, pytest.mark.usefixtures("start_llama"), pytest.mark.spec("C2")]

_ANSWER_S = 300
"""A model that runs on the processor of a busy machine takes its time."""


async def test_reading_of_a_long_message_is_shown_by_the_server_s_own_counters(open_talk, start_llama):
    model = {"base_url": f"{start_llama(4096)}/v1", "timeout_s": 600}
    words = " ".join(f"word{number}" for number in range(250))
    async with open_talk(model=model) as talk:
        session = await talk.begin()
        async with talk.events(session) as events:
            await talk.ask("POST", f"/api/sessions/{session}/messages", {"text": words}, status=202)
            seen = []
            while not seen or seen[-1]["type"] != "session.finished":
                seen.append(await events.next(limit_s=_ANSWER_S))
    waits = [event["wait"] for event in seen if event["type"] == "session.modelWait"]
    assert waits[-1] is None
    read = [wait["readTokens"] for wait in waits[:-1]]
    (total,) = {wait["promptTokens"] for wait in waits[:-1]}
    assert total > 1_000
    assert len(read) >= 4
    assert read == sorted(set(read))
    assert read[-1] == total
    told = [event["type"] for event in seen]
    last = max(at for at, kind in enumerate(told) if kind == "session.modelWait")
    assert told.index("session.content") > last
