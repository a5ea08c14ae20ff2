"""A question of a tool: what stands above it."""

import pytest
from playwright.async_api import expect

QUESTION = {"questionId": "q_1", "kind": "text", "text": "Your password?", "askedBy": "laptop/notes", "options": []}


@pytest.mark.spec("H1")
async def test_question_of_another_machine_names_it(mount):
    shown = await mount("ac-chat-question", question={**QUESTION, "host": "laptop"})
    await expect(shown.element).to_contain_text("The machine “laptop” asks, and gets your answer.")
    await shown.put(question={**QUESTION, "questionId": "q_2", "host": ""})
    await expect(shown.element).to_contain_text("Your password?")
    await expect(shown.element).not_to_contain_text("machine")
