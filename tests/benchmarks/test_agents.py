"""What scripted agents read out of results, and the rows that come of their steps."""

import pytest

from benchmarks.agents.agent import FailedError, Step, refs_around, refs_in
from benchmarks.agents.ours import Ours
from benchmarks.agents.playing import SIDES, Played, Session, keep
from benchmarks.agents.report import markdown, rows
from benchmarks.agents.scenarios.grid import TITLE

OURS = """+ - button "Save draft" [ref=e3]
~ - button [ref=e4] [active]:
+  - emphasis: Publish
- - link "Save" [ref=e5] [url=/save]"""
THEIRS = """- generic [ref=f1e1]:
  - button "Save" [ref=f1e7] [cursor=pointer]
  - generic [ref=f1e8] [cursor=pointer]:
    - switch "News *\""""


@pytest.mark.parametrize(
    ("text", "role", "name", "refs"),
    [
        (OURS, "button", "Save", ["e3"]),
        (OURS, "button", "publish", ["e4"]),
        (OURS, "button|link", "Save", ["e3", "e5"]),
        (THEIRS, "button", "Save", ["f1e7"]),
        (THEIRS, "switch", "News", []),
    ],
)
def test_reference_is_found_by_role_and_name_in_the_text_of_a_result(text, role, name, refs):
    assert refs_in(text, role, name) == refs


def test_exact_name_leaves_out_longer_ones():
    assert refs_in(OURS, "button|link", "Save", is_exact=True) == ["e5"]


def test_what_is_around_an_element_without_a_reference_is_the_nearest_line_with_one():
    assert refs_around(THEIRS, "switch", "News") == "f1e8"


async def test_step_counts_by_the_way_that_did_it():
    async def done():
        pass

    async def failed():
        raise FailedError("no such thing")

    agent = Ours()
    for ways in ((done,), (failed, done), (failed,)):
        await agent.step("a step", *ways)
    assert [step.outcome for step in agent.steps] == ["first try", "work-around", "impossible"]


def test_rows_hold_steps_and_context_against_the_other_side(tmp_path):
    ours = Session((Step("a", "first try"), Step("b", "work-around")), results_chars=300)
    played = [Played(TITLE, dict(zip(SIDES, (ours, Session(results_chars=1000)), strict=False)))]
    impossible, work_arounds, context = rows(played)
    assert (impossible.holds, work_arounds.value, work_arounds.holds) == (True, 50, False)
    assert (context.value, context.holds) == (0.3, True)
    assert f"| {TITLE} | b | agentcore | work-around |" in markdown(played)
    assert keep(played, tmp_path / "kept.json") == keep([], tmp_path / "kept.json") == played
