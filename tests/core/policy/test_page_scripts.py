"""Once a script of a model has run in the page, what the page sends may come from it."""

from pathlib import Path

import pytest

from agentcore.core.policy.page_scripts import PageScripts

pytestmark = pytest.mark.spec("K3")


def open_scripts(state: Path, again: list[str], *, may_run: bool = True) -> PageScripts:
    """What a start of the server knows."""
    return PageScripts(state, lambda: may_run, lambda: again.append("decide"))


async def test_first_script_makes_the_page_doubtful_also_after_a_restart(tmp_path):
    state, again = tmp_path, []
    scripts = open_scripts(state, again)
    for harmless in ({"read"}, {"write"}, {"read", "write"}, {"session"}):
        await scripts.record_run(frozenset(harmless))
    assert (scripts.may_act, again) == (False, [])
    assert not open_scripts(state, again).may_act
    await scripts.record_run(frozenset(("write", "dangerous")))
    await scripts.record_run(frozenset(("dangerous",)))
    assert (scripts.may_act, again) == (True, ["decide"])
    assert open_scripts(state, again).may_act


@pytest.mark.parametrize("effect", ["egress", "execute", "dangerous"])
async def test_page_without_a_module_that_runs_scripts_is_the_user_s(tmp_path, effect):
    state = tmp_path
    await open_scripts(state, []).record_run(frozenset((effect,)))
    assert open_scripts(state, []).may_act
    assert not open_scripts(state, [], may_run=False).may_act
