"""The recorded answers are what the server answers today."""

import difflib

import pytest

from tests.webui.recorded.player import ANSWERS, Recording, vary
from tests.webui.recorded.scenarios import SCENARIOS

pytestmark = pytest.mark.processes


async def find_difference(name, folder):
    """Record a scenario again; gives the lines that differ from its file."""
    recorder = await SCENARIOS[name](folder)
    again = folder / f"{name}.json"
    recorder.write(again)
    texts = [path.read_text(encoding="utf-8").splitlines() for path in (ANSWERS / again.name, again)]
    return list(difflib.unified_diff(*texts, "recorded", "answered today", lineterm=""))


async def check_recording(name, folder):
    difference = await find_difference(name, folder)
    if difference:
        pytest.fail("\n".join([*difference, f"run `make record-answers ARGS={name}`, and read what changed"]))


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name != "pool"])
async def test_recorded_answers_are_those_of_the_server(name, tmp_path):
    await check_recording(name, tmp_path)


@pytest.mark.more
@pytest.mark.usefixtures("nats")
async def test_recorded_answers_are_those_of_the_server_with_a_pool(tmp_path):
    await check_recording("pool", tmp_path)


def test_each_recording_has_a_scenario():
    assert {path.stem for path in ANSWERS.iterdir()} == set(SCENARIOS)


def test_fields_that_the_server_does_not_send_cannot_be_varied():
    laptop = Recording("machines").host("laptop", "running")
    assert vary(laptop, callsInFlight=3)["callsInFlight"] == 3
    with pytest.raises(KeyError, match="callsRunning"):
        vary(laptop, callsRunning=3)
