"""The event bus: order, resuming, and listeners that fail."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentcore
from agentcore.host.events import OWN_TOPICS, EventBus

_PUBLISHED = re.compile(r'publish\((?:[a-z_.]+, )?\s*"([a-z]+)\.')


def numbers(events):
    return [event.data["n"] for event in events]


@given(total=st.integers(0, 60), kept=st.integers(1, 20), seen=st.integers(0, 60))
def test_resuming_gives_exactly_what_was_missed_or_says_that_it_cannot(total, kept, seen):
    bus = EventBus(kept=kept)
    ids = [bus.last_id]
    for n in range(1, total + 1):
        bus.publish("x", {"n": n})
        ids.append(bus.last_id)
    seen = min(seen, total)
    missed = bus.since(ids[seen])
    if total - seen > kept:
        assert missed is None
    else:
        assert missed is not None
        assert numbers(missed) == list(range(seen + 1, total + 1))


def test_id_of_another_run_or_from_the_future_cannot_be_resumed():
    bus = EventBus()
    bus.publish("x", {"n": 1})
    assert EventBus().since(bus.last_id) is None
    assert bus.since(bus.last_id.replace("-1", "-9")) is None
    assert bus.since("nonsense") is None


def test_event_that_is_not_kept_is_told_but_not_resumed():
    bus = EventBus()
    heard = []
    bus.subscribe("frame", heard.append)
    before = bus.last_id
    bus.publish("frame", {"n": 1}, kept=False)
    bus.publish("x", {"n": 2})
    assert numbers(heard) == [1]
    assert numbers(bus.since(before)) == [2]


def test_listener_hears_its_pattern_until_it_ends_and_a_failing_one_harms_nobody():
    bus = EventBus()
    heard = []

    def fail(event):
        raise RuntimeError("broken listener")

    bus.subscribe("*", fail)
    end = bus.subscribe("call.*", heard.append)
    bus.publish("call.started", {"n": 1})
    bus.publish("module.stateChanged", {"n": 2})
    end()
    end()
    bus.publish("call.finished", {"n": 3})
    assert numbers(heard) == [1]


def test_event_with_odd_values_is_still_json():
    bus = EventBus()
    bus.publish("x", {"nan": float("nan"), "text": "caf\udce9", "object": object(), "bytes": b"\xff"})
    (event,) = bus.since(bus.last_id.replace("-1", "-0"))
    assert json.loads(event.encoded())["type"] == "x"
    assert b"NaN" not in event.encoded()


def test_event_on_the_wire_has_id_type_time_and_session():
    bus = EventBus()
    bus.publish("call.started", {"callId": "c1"}, session_id="s1")
    (event,) = bus.since(bus.last_id.replace("-1", "-0"))
    wire = json.loads(event.encoded())
    assert set(wire) == {"id", "type", "time", "sessionId", "callId"}


@pytest.mark.spec("K8")
def test_modules_are_kept_from_all_that_the_server_itself_publishes():
    sources = Path(agentcore.__file__).parent.rglob("*.py")
    found = {topic for file in sources for topic in _PUBLISHED.findall(file.read_text("utf-8"))}
    assert {"approval", "session", "stop"} <= found
    assert found <= OWN_TOPICS
