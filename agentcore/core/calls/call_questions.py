"""Questions of a call to the user: through the client that made it, else in the chat that it belongs to."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from agentcore.core.calls.call import Asker, Call
from agentcore.core.calls.chat_protocols import Conversation, Inquiry, Reply, declined_error
from agentcore.core.calls.question_form import FormField, read_answers, read_form
from agentcore.core.declarations.hosted_names import host_title
from agentcore.errors import ToolError

URL_CHARS = 2048

_TRIES = 3
"""How often the same question is asked before that counts as no answer."""


class Questions:
    """Asks questions for one call.

    Args:
        call: The call that asks.
        chat: The chat of the core, if it has one.
        asker: The client of the call, if the call came from one.
    """

    def __init__(self, call: Call, chat: Conversation | None, asker: Asker | None) -> None:
        self._call = call
        self._chat = chat
        self._asker = asker

    async def ask(self, question: str, options: Sequence[str] | None, timeout_s: float | None) -> str:
        """Ask for a text answer.

        Raises:
            ToolError: `no_person`, `declined`.
        """
        if self._asker is not None:
            return await self._asker.ask(self._label_question(question), options, timeout_s)
        return (await self._ask_in_chat(Inquiry(question, timeout_s, options=options))).text

    async def fill_in(self, question: str, schema: Mapping[str, Any], timeout_s: float | None) -> dict[str, Any]:
        """A form, filled in.

        Raises:
            ToolError: `no_person`: also where what was filled in is wrong again and again; `declined`.
            TypeError: The schema is none of a form.
        """
        fields = read_form(schema)
        told = question
        for _ in range(_TRIES):
            try:
                return read_answers(fields, await self._request_form(told, schema, fields, timeout_s))
            except ValueError as exc:
                told = f"{question}\n\n{exc}"
                fault = str(exc)
        raise ToolError("no_person", f"the answer is none that was asked for ({fault}): {question!r}")

    async def open_address(self, question: str, url: str, timeout_s: float | None) -> None:
        """Ask the user to open an address, and to confirm that they are done there.

        Raises:
            ToolError: `no_person`, `declined`.
            ValueError: It is not the address of a page.
        """
        check_address(url)
        if self._asker is not None:
            await self._asker.open_address(self._label_question(question), url, timeout_s)
        else:
            await self._ask_in_chat(Inquiry(question, timeout_s, "address", url=url))

    async def allow_sample(self, prompt: str, timeout_s: float | None) -> None:
        """Show the user the request to the session's model, and ask for permission.

        Raises:
            ToolError: `no_person`, `declined`.
        """
        await self._ask_in_chat(Inquiry(prompt, timeout_s, "sample"))

    async def _request_form(
        self, question: str, schema: Mapping[str, Any], fields: Sequence[FormField], timeout_s: float | None
    ) -> Mapping[str, Any]:
        if self._asker is not None:
            return await self._asker.fill_in(self._label_question(question), schema, timeout_s)
        return (await self._ask_in_chat(Inquiry(question, timeout_s, "form", fields=fields))).content or {}

    def _label_question(self, question: str) -> str:
        """Add the asking host to a question for a client that shows only its text."""
        host = self._call.asking_host
        return f"[{host_title(host)} asks] {question}" if host else question

    async def _ask_in_chat(self, inquiry: Inquiry) -> Reply:
        if self._chat is None:
            raise ToolError("no_person", f"nobody can be asked here: {inquiry.text!r}")
        reply = await self._chat.ask_user(self._call, inquiry)
        if reply.is_declined:
            raise declined_error(inquiry.text)
        return reply


def check_address(url: str) -> None:
    """Check that a browser opens an address as a page, and that the user sees which page.

    Raises:
        ValueError: It does not.
    """
    parts = urlsplit(url)
    is_plain = url.isascii() and url.isprintable() and " " not in url and len(url) <= URL_CHARS
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or not is_plain:
        raise ValueError(f"ask: url must be a plain http or https address without a name or password, not {url!r:.200}")
