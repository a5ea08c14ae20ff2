"""The nine tasks as models did them: each can be done, and nothing else is changed."""

import asyncio
from pathlib import Path

import pytest

from tests.tasks.playing import Answer, Messages, Names, play
from tests.tasks.recordings import load_recording
from tests.tasks.worlds import PROGRAMS, TASKS

pytestmark = [pytest.mark.more, pytest.mark.usefixtures("bubblewrap", "chromium", "ripgrep")]

LOOKS = 20
LOOK: Answer = {"calls": [{"name": "browser_snapshot", "arguments": {}}]}
"""A page on a busy machine may not show yet what it did when the model looked at it: one looks again then."""


@pytest.mark.parametrize("name", list(TASKS))
async def test_task_is_done_as_a_model_did_it(tmp_path: Path, name: str) -> None:
    if TASKS[name].needs_programs and not (PROGRAMS / ".installed").exists():
        pytest.skip("Wagtail and JupyterLab are missing: make task-programs")
    answers = load_recording(name)

    looks = 0

    async def model(conversation: str, messages: Messages, tools: object, names: Names) -> Answer:
        nonlocal looks
        await asyncio.sleep(TASKS[name].thinking_s)
        # a conversation that the recording does not know begins with other words than it did then
        if not names.know_all(answers[conversation][0]) and looks < LOOKS:
            looks += 1
            await asyncio.sleep(1)
            return LOOK
        return answers[conversation].pop(0)

    played = await play(TASKS[name], tmp_path, model)
    assert TASKS[name].check(played.workspace, played.text) == [], played.errors
    assert [conversation for conversation, left in answers.items() if left] == []
