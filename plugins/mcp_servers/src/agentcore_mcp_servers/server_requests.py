"""`Asked`: handles a server's requests during a call: roots, elicitation of user input, and sampling.

A request outside of any call is refused. Over stdio a request does not say which call it belongs to: while calls of
several chats run, it is refused as well, so that no chat sees another's question.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal

import mcp_types as types
import structlog
from mcp.client.session import ClientRequestContext
from mcp.shared.exceptions import MCPError

from agentcore.api import ToolContext, ToolError

log = structlog.get_logger(__name__)

_CALL: ContextVar[ToolContext | None] = ContextVar("mcp_servers_call", default=None)

_QUESTION_CHARS = 4_000
_PROMPT_CHARS = 100_000
_ANSWER_TOKENS = 4_000
_SECONDS = 600.0
_URLS = 3
"""Maximum number of URLs that a refused call may ask the user to open."""


class Asked:
    """Handles the requests of one server.

    Args:
        server: The server's key.
        folders: The roots that it may list; None to not offer roots.
        may_sample: True if it may request sampling from a model.
    """

    def __init__(self, server: str, folders: Sequence[Path] | None, *, may_sample: bool) -> None:
        self._server = server
        self._folders = folders
        self._may_sample = may_sample
        self._calls: list[ToolContext] = []

    def build_callbacks(self) -> dict[str, Any]:
        """Return the callbacks for the SDK's client; capabilities without a callback are not advertised."""
        callbacks: dict[str, Any] = {"elicitation_callback": self._handle_elicitation}
        if self._folders is not None:
            callbacks["list_roots_callback"] = self._list_roots
        if self._may_sample:
            callbacks["sampling_callback"] = self._handle_sampling
        return callbacks

    @contextmanager
    def serving_call(self, ctx: ToolContext) -> Iterator[None]:
        """Attribute the server's requests within the block to this call."""
        token = _CALL.set(ctx)
        self._calls.append(ctx)
        try:
            yield
        finally:
            self._calls.remove(ctx)
            _CALL.reset(token)

    async def ask_to_open_urls(self, refusal: MCPError) -> bool:
        """Ask the user to open the URLs that a server requires before a call can run.

        Returns:
            True if the user opened them, so that the call can be sent again; False if the refusal has another reason.
        Raises:
            ToolError: `no_person`, `declined`.
        """
        if refusal.code != types.URL_ELICITATION_REQUIRED:
            return False
        requested = types.ElicitationRequiredErrorData.model_validate(refusal.data)
        for params in requested.elicitations[:_URLS]:
            await self._ask_to_open(params)
        return bool(requested.elicitations)

    async def _ask_to_open(self, params: types.ElicitRequestURLParams) -> None:
        try:
            await self._find_call().ask(self._prefix_question(params.message), url=params.url, timeout_s=_SECONDS)
        except ValueError as exc:
            raise ToolError("no_person", str(exc)) from exc

    def _prefix_question(self, question: str) -> str:
        """Prefix a question, which the server wrote, with the server's name."""
        return f"The MCP server {self._server} wants to know: {question[:_QUESTION_CHARS]}"

    def _find_call(self) -> ToolContext:
        """Return the call that a question belongs to.

        Raises:
            ToolError: `no_person` if no call runs, or calls of several sessions.
        """
        call = _CALL.get()
        if call is not None and call in self._calls:
            return call
        if len({(each.principal, each.session_id) for each in self._calls}) != 1:
            message = "calls of several sessions run" if self._calls else "no call runs"
            raise ToolError("no_person", f"nobody can be asked: {message}, and the question does not say for which")
        return self._calls[-1]

    async def _list_roots(self, _: ClientRequestContext) -> types.ListRootsResult:
        folders = self._folders or ()
        return types.ListRootsResult(roots=[types.Root(uri=path.as_uri(), name=path.name or None) for path in folders])

    async def _handle_elicitation(
        self, _: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        try:
            if isinstance(params, types.ElicitRequestURLParams):
                await self._ask_to_open(params)
                return types.ElicitResult(action="accept")
            question = self._prefix_question(params.message)
            content = await self._find_call().ask(question, schema=params.requested_schema, timeout_s=_SECONDS)
            return types.ElicitResult(action="accept", content=content)
        except ToolError as exc:
            log.info("mcp_question_not_answered", reason=exc.message[:500])
            return types.ElicitResult(action=_choose_action(exc))
        except (TypeError, ValueError) as exc:
            return types.ErrorData(code=types.INVALID_PARAMS, message=str(exc)[:500])

    async def _handle_sampling(
        self, _: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult | types.ErrorData:
        try:
            text = await self._find_call().sample(
                _join_conversation(params),
                system=params.system_prompt or "",
                max_tokens=min(params.max_tokens, _ANSWER_TOKENS),
                is_shown_first=True,
            )
        except ToolError as exc:
            return types.ErrorData(code=types.INVALID_REQUEST, message=f"{exc.type}: {exc.message}"[:500])
        return types.CreateMessageResult(
            role="assistant", content=types.TextContent(text=text), model="agentcore", stop_reason="endTurn"
        )


def _choose_action(error: ToolError) -> Literal["decline", "cancel"]:
    return "decline" if error.type == "declined" else "cancel"


def _join_conversation(params: types.CreateMessageRequestParams) -> str:
    """Join a conversation into the single text that is sent to the model.

    Raises:
        ToolError: `no_model` if it is empty, too long, or contains tools or anything but text.
    """
    if params.tools:
        raise ToolError("no_model", "tools are not given to a model that writes for a server")
    parts = [_format_message(message, is_alone=len(params.messages) == 1) for message in params.messages]
    told = "\n\n".join(parts)
    if not told.strip() or len(told) > _PROMPT_CHARS:
        raise ToolError("no_model", f"the model is told between 1 and {_PROMPT_CHARS:,} characters, not {len(told):,}")
    return told


def _format_message(message: types.SamplingMessage, *, is_alone: bool) -> str:
    blocks = message.content if isinstance(message.content, list) else [message.content]
    if not all(isinstance(block, types.TextContent) for block in blocks):
        raise ToolError("no_model", "only text is given to a model that writes for a server")
    text = "\n".join(block.text for block in blocks if isinstance(block, types.TextContent))
    return text if is_alone else f"{message.role}: {text}"
