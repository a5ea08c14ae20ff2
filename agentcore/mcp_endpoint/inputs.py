"""Requests of a call to the client that made it, and to the user of that client."""

import asyncio
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, Protocol

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from pydantic import ValidationError

from agentcore.errors import ToolError

ASK_SECONDS = 3600.0
"""Maximum time to wait for the user."""

_ANSWER = "answer"
_OTHER = "other"
_OF_FORMS = ("type", "properties", "required")


class Inputs(Protocol):
    """Sends requests to the client of one call."""

    @property
    def capabilities(self) -> types.ClientCapabilities:
        """The requests that the client has declared to accept."""
        ...

    async def request_input(self, name: str, request: types.InputRequest) -> types.InputResponse:
        """Send a request to the client, and return its answer.

        Args:
            name: Name of the answer, if several are requested at once.
            request: The request.
        Raises:
            ToolError: `no_person`: the client cannot be asked, or its answer is not valid.
        """
        ...

    def show_approval(self, call_id: str, url: str) -> AbstractContextManager[None]:
        """Have the client offer the approval view to its user while the call waits.

        The client's response to that decides nothing: some clients decline automatically.
        """
        ...


class NoInputs:
    """Implements `Inputs` for a client that cannot be asked anything."""

    capabilities = types.ClientCapabilities()

    async def request_input(self, name: str, request: types.InputRequest) -> types.InputResponse:
        """Raise an error, because nothing can be asked."""
        raise ToolError("no_person", "this client cannot be asked anything")

    def show_approval(self, call_id: str, url: str) -> AbstractContextManager[None]:
        """Do nothing, because nothing can be shown."""
        return nullcontext()


class DirectInputs:
    """Implements `Inputs` for a client that can be asked during the call.

    Args:
        ctx: The request that makes the call.
    """

    def __init__(self, ctx: ServerRequestContext[Any, Any]) -> None:
        self._session = ctx.session
        self._request_id = ctx.request_id
        self.capabilities = ctx.session.client_capabilities or types.ClientCapabilities()

    async def request_input(self, name: str, request: types.InputRequest) -> types.InputResponse:
        """Send a request to the client while its own request is open, and return its answer."""
        metadata = ServerMessageMetadata(related_request_id=self._request_id)
        kind = RESPONSES[request.method]
        try:
            response: types.InputResponse = await self._session.send_request(request, kind, metadata=metadata)
        except MCPError as exc:
            raise ToolError("no_person", f"the client cannot answer {request.method}: {exc.message}") from exc
        except ValidationError as exc:
            raise ToolError("no_person", f"the client's answer to {request.method} is none that is known") from exc
        return response

    @contextmanager
    def show_approval(self, call_id: str, url: str) -> Iterator[None]:
        """Have the client open the approval view while the call waits, if it can open addresses."""
        if not supports_urls(self.capabilities):
            yield
            return
        showing = asyncio.ensure_future(self._show_approval(call_id, url))
        try:
            yield
        finally:
            showing.cancel()

    async def _show_approval(self, call_id: str, url: str) -> None:
        with suppress(ToolError):  # optional: a pending approval can be found without it
            await self.request_input("approval", approval_request(call_id, url))


RESPONSES: dict[str, type[Any]] = {
    "elicitation/create": types.ElicitResult,
    "sampling/createMessage": types.CreateMessageResult,
    "roots/list": types.ListRootsResult,
}
"""The result type of each request to a client."""


def can_be_asked(capabilities: types.ClientCapabilities) -> bool:
    """True if a client accepts any request at all."""
    return any(each is not None for each in (capabilities.elicitation, capabilities.sampling, capabilities.roots))


def supports_forms(capabilities: types.ClientCapabilities) -> bool:
    """True if a client shows forms to its user; elicitation without further details includes that."""
    elicitation = capabilities.elicitation
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def supports_urls(capabilities: types.ClientCapabilities) -> bool:
    """True if a client opens addresses for its user."""
    return capabilities.elicitation is not None and capabilities.elicitation.url is not None


def approval_request(call_id: str, url: str) -> types.ElicitRequest:
    """Create a request to open the approval view."""
    message = "A call waits for your approval. Decide on it in the approval view."
    return types.ElicitRequest(params=types.ElicitRequestURLParams(message=message, url=url, elicitation_id=call_id))


class ClientAsker:
    """Implements the core's `Asker` through requests to the client.

    Args:
        inputs: Sends the requests.
    """

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs

    async def ask(self, question: str, options: Sequence[str] | None, timeout_s: float | None) -> str:
        """Ask the user a question, with optional suggestions; return the answer."""
        content = await self.fill_in(question, _build_form(options), timeout_s)
        said = (content.get(name) for name in (_OTHER, _ANSWER))
        answer = next((each for each in said if isinstance(each, str) and each.strip()), None)
        if answer is None:
            raise ToolError("no_person", f"the person gave no answer: {question!r}")
        return answer

    async def fill_in(self, question: str, schema: Mapping[str, Any], timeout_s: float | None) -> Mapping[str, Any]:
        """Have the user fill in a form; the title of the schema is the name of the answer among others."""
        if not supports_forms(self._inputs.capabilities):
            raise ToolError("no_person", f"this client shows its person no forms, so nobody can be asked: {question!r}")
        shown = {name: value for name, value in schema.items() if name in _OF_FORMS}
        request = types.ElicitRequest(params=types.ElicitRequestFormParams(message=question, requested_schema=shown))
        response = await self._request_answer(str(schema.get("title") or _ANSWER), request, question, timeout_s)
        if response.action != "accept":
            raise ToolError("no_person", f"the person gave no answer: {question!r}")
        return response.content or {}

    async def _request_answer(
        self, name: str, request: types.ElicitRequest, question: str, timeout_s: float | None
    ) -> types.ElicitResult:
        limit_s = ASK_SECONDS if timeout_s is None else min(timeout_s, ASK_SECONDS)
        try:
            async with asyncio.timeout(limit_s):
                response = await self._inputs.request_input(name, request)
        except TimeoutError:
            raise ToolError("no_person", f"nobody answered within {limit_s:g} s: {question!r}") from None
        if not isinstance(response, types.ElicitResult):
            raise ToolError("no_person", f"the client's answer is none that is known: {question!r}")
        return response

    async def open_address(self, question: str, url: str, timeout_s: float | None) -> None:
        """Have the user open an address; returns when they accept, and does not wait until they are done there."""
        if not supports_urls(self._inputs.capabilities):
            raise ToolError("no_person", f"this client opens no addresses for its person: {question!r}")
        params = types.ElicitRequestURLParams(message=question, url=url, elicitation_id=secrets.token_hex(8))
        response = await self._request_answer("address", types.ElicitRequest(params=params), question, timeout_s)
        if response.action != "accept":
            raise ToolError("no_person", f"the person did not open the address: {question!r}")

    async def sample(self, prompt: str, system: str, max_tokens: int) -> str:
        """Have the client's model answer a prompt; return its text."""
        if self._inputs.capabilities.sampling is None:
            raise ToolError("no_model", "this client gives no model to ask (sampling)")
        message = types.SamplingMessage(role="user", content=types.TextContent(text=prompt))
        params = types.CreateMessageRequestParams(
            messages=[message], max_tokens=max_tokens, system_prompt=system or None
        )
        response = await self._inputs.request_input("sample", types.CreateMessageRequest(params=params))
        content = response.content if isinstance(response, types.CreateMessageResult) else None
        if not isinstance(content, types.TextContent):
            raise ToolError("no_model", "the client's model wrote no text")
        return content.text

    async def roots(self) -> Sequence[str]:
        """Return the addresses of the client's roots; empty if it does not provide them."""
        if self._inputs.capabilities.roots is None:
            return ()
        response = await self._inputs.request_input("roots", types.ListRootsRequest())
        return [str(root.uri) for root in response.roots] if isinstance(response, types.ListRootsResult) else ()


def _build_form(options: Sequence[str] | None) -> dict[str, Any]:
    """Build a form for one answer; beside options, it has a field for another answer."""
    if options is None:
        return {"type": "object", "properties": {_ANSWER: {"type": "string"}}, "required": [_ANSWER]}
    own = {"type": "string", "description": "Another answer"}
    return {"type": "object", "properties": {_ANSWER: {"type": "string", "enum": list(options)}, _OTHER: own}}
