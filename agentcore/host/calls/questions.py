"""Questions of a call to a person: over the client that made it, else in the chat that it belongs to."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentcore.errors import ToolError
from agentcore.host.calls.call import Asker, Call
from agentcore.host.calls.conversation import Conversation
from agentcore.host.calls.forms import Field, read_answers, read_form

_TRIES = 3
"""How often a person is asked for the same thing before that counts as no answer."""


class Questions:
    """Asks for one call.

    Args:
        call: Whose questions they are.
        chat: The chat of the host, if it has one.
        asker: The client of the call, if the call came by one.
    """

    def __init__(self, call: Call, chat: Conversation | None, asker: Asker | None) -> None:
        self._call, self._chat, self._asker = call, chat, asker

    async def ask(self, question: str, options: Sequence[str] | None, timeout_s: float) -> str:
        """One answer in words.

        Raises:
            ToolError: `no_person`.
        """
        if self._asker is not None:
            return await self._asker.ask(question, options, timeout_s)
        if self._chat is None:
            raise ToolError("no_person", f"nobody can be asked here: {question!r}")
        return await self._chat.ask(self._call, question, options, timeout_s)

    async def fill_in(self, question: str, schema: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        """A form, filled in.

        Raises:
            ToolError: `no_person`: also where what was filled in is wrong again and again.
            TypeError: The schema is none of a form.
        """
        fields, told = read_form(schema), question
        for _ in range(_TRIES):
            if self._asker is None:
                return await self._field_by_field(fields, question, timeout_s)
            content = await self._asker.fill_in(told, schema, timeout_s)
            try:
                return read_answers(fields, content)
            except ValueError as exc:
                told, fault = f"{question}\n\n{exc}", str(exc)
        raise ToolError("no_person", f"the answer is none that was asked for ({fault}): {question!r}")

    async def _field_by_field(self, fields: Sequence[Field], question: str, timeout_s: float) -> dict[str, Any]:
        answers: dict[str, Any] = {}
        for field in fields:
            answers[field.name] = await self._field(field, f"{question}\n\n{field.title}", timeout_s)
        return answers

    async def _field(self, field: Field, question: str, timeout_s: float) -> Any:
        options, told = field.choices, question
        if field.schema["type"] == "boolean":
            options = ["yes", "no"]
        for _ in range(_TRIES):
            said = await self.ask(told, options, timeout_s)
            try:
                return field.read(said.strip())
            except ValueError as exc:
                told, fault = f"{question}\n\n{exc}", str(exc)
        raise ToolError("no_person", f"the answer is none that was asked for ({fault}): {question!r}")
