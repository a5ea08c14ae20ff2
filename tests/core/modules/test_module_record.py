from itertools import product

import pytest

from agentcore.core.declarations.manifest import Manifest
from agentcore.core.modules.module_record import ModuleRecord, Offer, WrongTransitionError

WAYS = {
    "loading": (),
    "ready": ("ready",),
    "stopping": ("ready", "stopping"),
    "stopped": ("ready", "stopping", "stopped"),
    "failed": ("failed",),
    "missing": ("missing",),
}
ALLOWED = {
    ("loading", "ready"),
    ("loading", "failed"),
    ("loading", "missing"),
    ("ready", "stopping"),
    ("ready", "failed"),
    ("stopping", "stopped"),
    ("failed", "failed"),
    ("failed", "stopped"),
    ("missing", "stopped"),
}


def change(record: ModuleRecord, state: str) -> None:
    match state:
        case "ready":
            record.mark_ready(order=1, started_ms=2.0, at_ms=3)
        case "stopping":
            record.mark_stopping()
        case "stopped":
            record.mark_stopped()
        case "failed":
            record.fail("it broke")
        case "missing":
            record.mark_missing("there is none")


def record_in(state: str) -> ModuleRecord:
    record = ModuleRecord("clock")
    for step in WAYS[state]:
        change(record, step)
    assert record.state == state
    return record


@pytest.mark.parametrize(("before", "after"), list(product(WAYS, [state for state in WAYS if state != "loading"])))
def test_record_changes_its_state_only_as_a_module_can(before, after):
    record = record_in(before)
    if (before, after) in ALLOWED:
        change(record, after)
        assert record.state == after
    else:
        with pytest.raises(WrongTransitionError, match=f"'clock' is {before}, and cannot become {after}"):
            change(record, after)
        assert record.state == before


@pytest.mark.parametrize("state", [state for state in WAYS if state != "loading"])
def test_only_a_module_that_is_loading_can_get_a_plugin(state):
    with pytest.raises(WrongTransitionError, match=f"is {state}, and not loading"):
        record_in(state).adopt_plugin(object())


def test_release_removes_all_that_belongs_to_a_run_and_leaves_its_failed_definitions_listed():
    record = ModuleRecord("clock")
    undone = []
    record.declare(Manifest(hooks={"init": object()}))
    record.begin_init(object())
    record.set_report_reader(object)
    record.offer_instructions("Ask for the time.")
    record.publish_offer(Offer(errors=("tool 'x' is left out",), instructions="Ask for the time."))
    record.add_note("clock", "it is slow", "wind it up")
    record.undo.append(lambda: undone.append("route"))
    record.fail("its host has ended")
    record.undo_registrations()
    record.release()
    assert undone == ["route"]
    assert (record.runtime, record.report, record.hooks, record.notes) == (None, None, {}, {})
    assert record.list_problems() == ["tool 'x' is left out"]


def test_traceback_of_a_failed_reload_replaces_that_of_the_start():
    record = ModuleRecord("clock")
    record.fail("it broke", "Traceback of the start")
    record.mark_stopped()
    assert (record.reason, record.traceback) == ("", "Traceback of the start")
    record.reject_reload("the code on the disk was not loaded", "Traceback of the reload")
    assert (record.reload_error, record.traceback) == (
        "the code on the disk was not loaded",
        "Traceback of the reload",
    )


def test_every_change_of_its_state_is_reported_once():
    seen = []
    record = ModuleRecord("clock")
    record.watch(lambda changed: seen.append((changed.state, changed.reason)))
    change(record, "ready")
    change(record, "failed")
    assert seen == [("ready", ""), ("failed", "it broke")]
