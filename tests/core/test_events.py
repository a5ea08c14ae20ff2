"""The event bus: order, resuming, and listeners that fail."""

import ast
import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentcore
from agentcore.api import Module, tool
from agentcore.core.event_types import ENVELOPE, EVENT_TYPES
from agentcore.core.events import EventBus
from agentcore.limits import EVENTS_KEPT_BYTES, MODULE_EVENTS_KEPT_BYTES
from scripts.event_table import DOCUMENT, with_table
from tests.declared_events import DECLARED, fields_of


def numbers(events):
    return [json.loads(event.encode())["n"] for event in events]


@given(total=st.integers(0, 60), kept=st.integers(1, 20), seen=st.integers(0, 60))
def test_resuming_gives_exactly_what_was_missed_or_says_that_it_cannot(total, kept, seen):
    bus = EventBus(kept=kept)
    ids = [bus.last_id]
    for n in range(1, total + 1):
        bus.publish("x", {"n": n})
        ids.append(bus.last_id)
    seen = min(seen, total)
    missed = bus.events_since(ids[seen])
    if total - seen > kept:
        assert missed is None
    else:
        assert missed is not None
        assert numbers(missed) == list(range(seen + 1, total + 1))


@pytest.mark.spec("S7")
def test_events_of_one_module_take_their_share_of_bytes_and_drop_nothing_of_others():
    bus = EventBus()
    bus.publish("call.finished", {"n": 0})
    start = bus.last_id
    text = "x" * (MODULE_EVENTS_KEPT_BYTES // 4)
    for n in range(1, 4):
        bus.publish("loud.shouted", {"n": n, "text": text}, publisher="loud")
    assert numbers(bus.events_since(start)) == [1, 2, 3]
    bus.publish("quiet.said", {"n": 4}, publisher="quiet")
    before = bus.last_id
    for n in range(5, 25):
        bus.publish("loud.shouted", {"n": n, "text": text}, publisher="loud")
    # who was there in time is told that something is missing, and the rest is what there is room for
    assert bus.events_since(before) is None
    assert numbers(bus._kept) == [0, 4, 22, 23, 24]


@pytest.mark.spec("S7")
def test_events_of_all_together_are_bounded_in_bytes_and_the_oldest_go():
    bus = EventBus()
    text = "x" * 1_000_000
    for n in range(100):
        bus.publish("server.said", {"n": n, "text": text})
    kept = list(bus._kept)
    assert EVENTS_KEPT_BYTES - 2_000_000 < sum(len(event.encode()) for event in kept) <= EVENTS_KEPT_BYTES
    assert numbers(kept) == list(range(100 - len(kept), 100))


@pytest.mark.more
@pytest.mark.spec("S7")
def test_kept_event_holds_no_values_beside_its_text():
    """100,000 empty lists are 300 kB as text, and more than 5 MB as values."""
    bus = EventBus()
    heard = []
    bus.subscribe("*", heard.append)
    tracemalloc.start()
    try:
        for n in range(3):
            bus.publish("loud.shouted", {"n": n, "lists": [[] for _ in range(100_000)]}, publisher="loud")
            heard.clear()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert numbers(bus._kept) == [0, 1, 2]
    assert held < MODULE_EVENTS_KEPT_BYTES


@pytest.mark.more
@pytest.mark.spec("S7")
@pytest.mark.parametrize(
    "fields",
    [
        {"text": "x" * 300_000},
        {"y" * 300_000: 1},
        {f"field{n}": n for n in range(20_000)},
        {"number": 1 << 1_000_000},
    ],
    ids=["long value", "long name", "many fields", "large number"],
)
def test_large_events_of_plain_values_take_their_share_of_bytes(fields):
    bus = EventBus()
    for n in range(30):
        bus.publish("loud.shouted", {"n": n, **fields}, publisher="loud")
    kept = list(bus._kept)
    assert 5 < len(kept) < 30
    assert sum(len(event.encode()) for event in kept) <= MODULE_EVENTS_KEPT_BYTES


def test_bus_that_keeps_nothing_resumes_nothing():
    bus = EventBus(kept=0)
    before = bus.last_id
    assert bus.events_since(before) == []
    bus.publish("x", {"n": 1})
    assert bus.events_since(before) is None


def test_id_of_another_run_or_from_the_future_cannot_be_resumed():
    bus = EventBus()
    bus.publish("x", {"n": 1})
    assert EventBus().events_since(bus.last_id) is None
    assert bus.events_since(bus.last_id.replace("-1", "-9")) is None
    assert bus.events_since("nonsense") is None


def test_event_that_is_not_kept_is_told_but_not_resumed():
    bus = EventBus()
    heard = []
    bus.subscribe("frame", heard.append)
    before = bus.last_id
    bus.publish("frame", {"n": 1}, kept=False)
    bus.publish("x", {"n": 2})
    assert numbers(heard) == [1]
    assert numbers(bus.events_since(before)) == [2]


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
    (event,) = bus.events_since(bus.last_id.replace("-1", "-0"))
    assert json.loads(event.encode())["type"] == "x"
    assert b"NaN" not in event.encode()


def test_event_on_the_wire_has_id_type_time_and_session():
    bus = EventBus()
    bus.publish("call.started", {"callId": "c1"}, session_id="s1")
    (event,) = bus.events_since(bus.last_id.replace("-1", "-0"))
    wire = json.loads(event.encode())
    assert set(wire) == {"id", "type", "time", "sessionId", "callId"}


class _Publishing(ast.NodeVisitor):
    """Finds what is published under a name that stands in the code: the name, and the names of the fields that do."""

    def __init__(self):
        self.found = []

    def visit_Call(self, node):
        self.generic_visit(node)
        name = getattr(getattr(node.func, "body", node.func), "attr", "")
        constants = [each.value for each in node.args if isinstance(each, ast.Constant)]
        texts = [text for text in constants if isinstance(text, str) and "." in text]
        if not name.lstrip("_").startswith("publish") or not texts:
            return
        fields = [each for each in node.args if isinstance(each, ast.Dict)]
        keys = [key.value for each in fields for key in each.keys if isinstance(key, ast.Constant)]
        self.found.append((texts[0], set(keys), bool(fields) and None not in fields[0].keys))


def published():
    visitor = _Publishing()
    root = Path(agentcore.__file__).parent
    for file in root.rglob("*.py"):
        if file.is_relative_to(root / "hosts" / "worker"):
            continue  # what a host tells its server is no event
        visitor.visit(ast.parse(file.read_text("utf-8")))
    return visitor.found


@pytest.mark.more
@pytest.mark.slow
def test_all_that_the_server_publishes_is_declared_with_its_fields():
    found = published()
    by_hand = {"resource.progress", "resource.log", "resource.screenshot", "resource.error", "events.reset"}
    assert {name for name, *_ in found} == DECLARED.keys() - by_hand
    for name, keys, is_whole in found:
        always, allowed = fields_of(DECLARED[name])
        assert keys <= allowed, name
        assert not is_whole or always <= keys, name


@pytest.mark.parametrize("event", EVENT_TYPES, ids=lambda event: event.name)
def test_no_event_is_declared_with_a_field_of_the_envelope(event):
    always, allowed = fields_of(event)
    assert ENVELOPE.isdisjoint(always | (allowed or set()))


def test_table_of_events_in_the_documents_is_the_declared_one():
    document = DOCUMENT.read_text("utf-8")
    assert document == with_table(document), "write it anew: python -m scripts.event_table"
    assert all(f"| `{event.name}` |" in document for event in EVENT_TYPES)


@given(st.dictionaries(st.sampled_from([*ENVELOPE, "n", "message"]), st.integers()), st.sampled_from([None, "s1"]))
def test_no_data_stands_in_the_place_of_the_envelope(data, session_id):
    bus, heard = EventBus(), []
    bus.subscribe("*", heard.append)
    bus.publish("clock.ticked", data, session_id=session_id)
    (event,) = heard
    envelope = {"id": event.id, "type": "clock.ticked", "time": event.time_ms}
    envelope |= {} if session_id is None else {"sessionId": session_id}
    own = {name: value for name, value in data.items() if name not in ENVELOPE}
    assert json.loads(event.encode()) == envelope | own


class Loud(Module):
    """Publishes much."""

    name = "loud"

    @tool(read_only=True)
    async def shout(self, times: int) -> str:
        """Publish events of half a megabyte."""
        for n in range(times):
            self.runtime.publish("shouted", {"n": n, "text": "x" * 500_000})
        return "done"


@pytest.mark.spec("S7")
async def test_module_that_publishes_much_has_its_share_of_the_events_that_are_kept(agentcore_host):
    host = await agentcore_host([Loud()])
    await host.call("shout", times=100)
    kept = [event for event in host.host.events._kept if event.type == "loud.shouted"]
    assert 0 < sum(len(event.encode()) for event in kept) <= MODULE_EVENTS_KEPT_BYTES
    assert numbers(kept) == list(range(100 - len(kept), 100))
    assert any(event.type == "module.stateChanged" for event in host.host.events._kept)
