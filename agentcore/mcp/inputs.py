"""What a call can ask of the client that made it, and of the person in front of that client."""

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
"""How long a person may be waited for at most."""

_ANSWER = "answer"
_OTHER = "other"
_OF_FORMS = ("type", "properties", "required")


class Inputs(Protocol):
    """The ways back to the client of one call."""

    @property
    def capabilities(self) -> types.ClientCapabilities:
        """What the client has said that it can be asked."""
        ...

    async def request_input(self, name: str, request: types.InputRequest) -> types.InputResponse:
        """Have the client answer a request.

        Args:
            name: What the answer is called, where several are wanted at once.
            request: What it is asked.
        Raises:
            ToolError: `no_person`: it cannot be asked, or its answer is none.
        """
        ...

    def show_approval(self, call_id: str, url: str) -> AbstractContextManager[None]:
        """Have the client offer its person the approval view, for as long as the call waits.

        Whatever the client says to that decides nothing: some decline by themselves.
        """
        ...


class NoInputs:
    """Implements `Inputs` for a client that can be asked nothing."""

    capabilities = types.ClientCapabilities()

    async def request_input(self, name: str, request: types.InputRequest) -> types.InputResponse:
        """Nothing can be asked."""
        raise ToolError("no_person", "this client cannot be asked anything")

    def show_approval(self, call_id: str, url: str) -> AbstractContextManager[None]:
        """Nothing can be shown."""
        return nullcontext()


class DirectInputs:
    """Implements `Inputs` for a client that can be asked on the way.

    Args:
        ctx: The request that makes the call.
    """

    def __init__(self, ctx: ServerRequestContext[Any, Any]) -> None:
        self._session = ctx.session
        self._request_id = ctx.request_id
        self.capabilities = ctx.session.client_capabilities or types.ClientCapabilities()

    async def request_input(self, name: str, request: types.InputRequest) -> types.InputResponse:
        """See `Inputs.request_input`."""
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
        """See `Inputs.show_approval`."""
        if not supports_urls(self.capabilities):
            yield
            return
        showing = asyncio.ensure_future(self._show_approval(call_id, url))
        try:
            yield
        finally:
            showing.cancel()

    async def _show_approval(self, call_id: str, url: str) -> None:
        with suppress(ToolError):  # it is offered besides: what waits can be found without it
            await self.request_input("approval", approval_request(call_id, url))


RESPONSES: dict[str, type[Any]] = {
    "elicitation/create": types.ElicitResult,
    "sampling/createMessage": types.CreateMessageResult,
    "roots/list": types.ListRootsResult,
}
"""What answers which request to a client."""


def can_be_asked(capabilities: types.ClientCapabilities) -> bool:
    """Whether a client takes any request at all."""
    return any(each is not None for each in (capabilities.elicitation, capabilities.sampling, capabilities.roots))


def supports_forms(capabilities: types.ClientCapabilities) -> bool:
    """Whether a client shows its person forms; one that says nothing else of elicitation does."""
    elicitation = capabilities.elicitation
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def supports_urls(capabilities: types.ClientCapabilities) -> bool:
    """Whether a client opens addresses for its person."""
    return capabilities.elicitation is not None and capabilities.elicitation.url is not None


def approval_request(call_id: str, url: str) -> types.ElicitRequest:
    """Asks a client to open the approval view."""
    message = "A call waits for your approval. Decide on it in the approval view."
    return types.ElicitRequest(params=types.ElicitRequestURLParams(message=message, url=url, elicitation_id=call_id))


class ClientAsker:
    """Implements the host's `Asker` with what the client shows and gives.

    Args:
        inputs: The way to it.
    """

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs

    async def ask(self, question: str, options: Sequence[str] | None, timeout_s: float) -> str:
        """See `agentcore.api.ToolContext.ask`."""
        content = await self.fill_in(question, _build_form(options), timeout_s)
        said = (content.get(name) for name in (_OTHER, _ANSWER))
        answer = next((each for each in said if isinstance(each, str) and each.strip()), None)
        if answer is None:
            raise ToolError("no_person", f"the person gave no answer: {question!r}")
        return answer

    async def fill_in(self, question: str, schema: Mapping[str, Any], timeout_s: float) -> Mapping[str, Any]:
        """See `Asker.fill_in`. The title of the schema is what the answer is called among others."""
        if not supports_forms(self._inputs.capabilities):
            raise ToolError("no_person", f"this client shows its person no forms, so nobody can be asked: {question!r}")
        shown = {name: value for name, value in schema.items() if name in _OF_FORMS}
        request = types.ElicitRequest(params=types.ElicitRequestFormParams(message=question, requested_schema=shown))
        response = await self._request_answer(str(schema.get("title") or _ANSWER), request, question, timeout_s)
        if response.action != "accept":
            raise ToolError("no_person", f"the person gave no answer: {question!r}")
        return response.content or {}

    async def _request_answer(
        self, name: str, request: types.ElicitRequest, question: str, timeout_s: float
    ) -> types.ElicitResult:
        limit_s = min(timeout_s, ASK_SECONDS)
        try:
            async with asyncio.timeout(limit_s):
                response = await self._inputs.request_input(name, request)
        except TimeoutError:
            raise ToolError("no_person", f"nobody answered within {limit_s:g} s: {question!r}") from None
        if not isinstance(response, types.ElicitResult):
            raise ToolError("no_person", f"the client's answer is none that is known: {question!r}")
        return response

    async def open_address(self, question: str, url: str, timeout_s: float) -> None:
        """See `Asker.open_address`. Of clients that tell when it is done none has to be waited for any longer."""
        if not supports_urls(self._inputs.capabilities):
            raise ToolError("no_person", f"this client opens no addresses for its person: {question!r}")
        params = types.ElicitRequestURLParams(message=question, url=url, elicitation_id=secrets.token_hex(8))
        response = await self._request_answer("address", types.ElicitRequest(params=params), question, timeout_s)
        if response.action != "accept":
            raise ToolError("no_person", f"the person did not open the address: {question!r}")

    async def sample(self, prompt: str, system: str, max_tokens: int) -> str:
        """See `agentcore.api.ToolContext.sample`."""
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
        """See `agentcore.api.ToolContext.client_roots`."""
        if self._inputs.capabilities.roots is None:
            return ()
        response = await self._inputs.request_input("roots", types.ListRootsRequest())
        return [str(root.uri) for root in response.roots] if isinstance(response, types.ListRootsResult) else ()


def _build_form(options: Sequence[str] | None) -> dict[str, Any]:
    """A form for one answer; beside options, one of the person's own."""
    if options is None:
        return {"type": "object", "properties": {_ANSWER: {"type": "string"}}, "required": [_ANSWER]}
    own = {"type": "string", "description": "Another answer"}
    return {"type": "object", "properties": {_ANSWER: {"type": "string", "enum": list(options)}, _OTHER: own}}
