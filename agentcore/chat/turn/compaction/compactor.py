"""Requests answers within a model's context: shortens the history before it is too long, and after a refusal once."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, islice
from typing import Any, Protocol

import structlog
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, UserPromptPart

from agentcore.chat.chat_limits import (
    COMPACT_AT,
    COMPACT_TO,
    CONTEXT_TOKENS,
    LARGEST_SHARE,
    RESULT_ROOM_SHARE,
    RESULT_SHARE,
    SUMMARY_SHARE,
    SUMMARY_TOKENS,
)
from agentcore.chat.model.model_requests import BrokenAnswerError, Engine
from agentcore.chat.model.offered_tools import OfferedTool
from agentcore.chat.model.system_message_text import Instructions
from agentcore.chat.session.event_stream import Stream
from agentcore.chat.session.model_scales import ModelScales
from agentcore.chat.session.session_view import ContextView
from agentcore.chat.settings import ModelChoice
from agentcore.chat.texts import localized_text
from agentcore.chat.turn.attachments.image_loading import (
    list_images,
    may_refuse_images,
    mentions_images,
    prepare_to_send,
)
from agentcore.chat.turn.compaction.model_history import ModelHistory
from agentcore.chat.turn.compaction.plan import CompactionPlan, CompactionResult
from agentcore.chat.turn.compaction.shortening import Shortener
from agentcore.chat.turn.compaction.summary import cut_to_tokens, write_summary
from agentcore.chat.turn.model_reply import ModelReply, Prompt, ask_model, instructions_of
from agentcore.chat.turn.token_estimate import text_tokens, tools_tokens
from agentcore.errors import ToolError

log = structlog.get_logger(__name__)

_LEAST_ROOM = 0.15
"""Minimum share of the context for messages, if tool definitions and instructions leave less."""

_READ_SHARE = 0.6
"""Maximum share of the context for a conversation to summarise."""

_REFUSAL_CHARS = 160
"""Maximum length of a provider's message about images that is shown to the user."""

_TRIES = 12
"""Maximum requests that each leave out other images, if the provider's message is about images."""

_VAGUE_TRIES = 3
"""The same if it is not."""

_BLIND_AFTER = 3
"""Images that a provider has refused, and accepted none, before no other one is sent to it."""

_ENOUGH = 1.15
"""Up to this factor over the target, no summary is requested."""


class CompactionKeeper(Protocol):
    """Stores what a compaction did, and the tokens and artifacts that it used."""

    async def store_compaction(self, result: CompactionResult) -> bool:
        """Store it in one step, and publish it; False if the session changed meanwhile, so that nothing was stored."""
        ...

    async def count_usage(self, response: ModelResponse) -> None:
        """Count the tokens of an answer to a request for a summary."""
        ...

    async def save_artifact(self, data: bytes, mime: str, name: str, *, is_untrusted: bool) -> str | None:
        """Save an artifact of the session; return its id, or None if it cannot be stored."""
        ...

    async def load_artifact(self, artifact_id: str) -> bytes | None:
        """Load the bytes of an artifact; None if it no longer exists."""
        ...

    async def post_notice(self, text: str) -> None:
        """Store a notice for the user in the session, and publish it."""
        ...

    def call_for(self, artifact_id: str) -> str:
        """Return the call by which the model reads an artifact; empty if there is none."""
        ...


class Compactor:
    """Keeps one conversation within the contexts of its models.

    Args:
        engine: Sends the requests.
        stream: Receives the answers.
        keeper: Stores what is done.
        scales: What the session has learned about its models.
    """

    def __init__(self, engine: Engine, stream: Stream, keeper: CompactionKeeper, scales: ModelScales) -> None:
        self._engine = engine
        self._stream = stream
        self._keeper = keeper
        self._scales = scales
        self._tools: tuple[Sequence[OfferedTool], int] = ((), 0)
        self._sizes: dict[str, int | None] = {}

    async def ask(self, prompt: Prompt, history: ModelHistory, *, can_repair: bool) -> ModelReply:
        """Request an answer from a model, within its context.

        Raises:
            BrokenAnswerError: As `ask_model`; `context_too_long`: even after the history was shortened.
        """
        await self._shorten_to_fit(prompt, history)
        try:
            return await self._request_once(prompt, history, can_repair=can_repair)
        except BrokenAnswerError as exc:
            if exc.type != "context_too_long":
                raise
            size = self._estimate_overhead(prompt) + await history.measure_tokens()
            limit = await self._find_context_limit(prompt.choice)
            named = exc.context.get("context_tokens")
            self._scales.record_length_refusal(
                _model_name(prompt.choice),
                size,
                limit,
                named if isinstance(named, int) else None,
                await self._find_context_tokens(prompt.choice),
            )
            log.info(
                "context_too_long",
                model=prompt.choice.model,
                context_tokens=await self._find_context_limit(prompt.choice),
            )
            if not await self._shorten_to_fit(prompt, history):
                raise self._too_long(exc, prompt) from exc
        try:
            return await self._request_once(prompt, history, can_repair=can_repair)
        except BrokenAnswerError as exc:
            raise (self._too_long(exc, prompt) if exc.type == "context_too_long" else exc) from exc

    async def find_window(self, choice: ModelChoice) -> int | None:
        """Return the size of a model's context in tokens, as far as it is known; None if it is not."""
        stated = await self._find_context_tokens(choice)
        lowered = self._scales.find_context_limit(_model_name(choice), stated)
        sizes = [size for size in (lowered, stated) if size is not None]
        return min(sizes, default=None)

    async def estimate_result_tokens(self, prompt: Prompt) -> int | None:
        """Return how many tokens one result may have; None if the size of the model's context is unknown."""
        window = await self.find_window(prompt.choice)
        if window is None:
            return None
        room = await self._estimate_room(prompt.choice, self._estimate_overhead(prompt))
        return int(min(RESULT_SHARE * window, RESULT_ROOM_SHARE * room))

    async def context_after(self, prompt: Prompt, history: ModelHistory, response: ModelResponse) -> ContextView:
        """Return how full a model's context is after its answer."""
        choice = prompt.choice
        used = response.usage
        sent = used.input_tokens
        if not sent:  # the provider does not report it
            sent = round(
                (self._estimate_overhead(prompt) + await history.measure_tokens())
                * self._scales.find_token_scale(_model_name(choice))
            )
        stated = await self._find_context_tokens(choice)
        is_known = stated is not None or self._scales.find_context_limit(_model_name(choice), stated) is not None
        return ContextView(
            model=_model_name(choice),
            tokens=sent + used.output_tokens,
            limit_tokens=await self._find_context_limit(choice),
            is_limit_known=is_known,
        )

    async def summarise_history(
        self, choice: ModelChoice, history: ModelHistory, first_kept: int, written: str | None
    ) -> CompactionResult | None:
        """Replace all messages before one with a summary; None if nothing was replaced.

        Args:
            choice: The model that writes it.
            history: The history.
            first_kept: Index of the first message that stays in full.
            written: The summary; None: the model writes it.
        """
        await history.measure_tokens()
        plan = CompactionPlan(history, self._create_shortener())
        if not plan.can_replace(first_kept):
            return None
        room = await self._estimate_room(choice, 0)
        await plan.replace_with_summary(
            first_kept, room, self._create_summary_writer(choice, written), self._current_todos(), self._stream.locale
        )
        return await self._apply_plan(plan, history, self._scales.find_token_scale(_model_name(choice)))

    # -- shortening --------------------------------------------------------------------------------------------

    async def _shorten_to_fit(self, prompt: Prompt, history: ModelHistory) -> bool:
        """Shorten the history if it fills too much of the context; False if that was not necessary or not possible."""
        scale = self._scales.find_token_scale(_model_name(prompt.choice))
        overhead, size = self._estimate_overhead(prompt), await history.measure_tokens()
        if (overhead + size) * scale <= COMPACT_AT * CONTEXT_TOKENS and not self._is_small(prompt.choice):
            return False  # short enough for any model, so the provider need not be asked for the context size
        limit = await self._find_context_limit(prompt.choice)
        if (overhead + size) * scale <= COMPACT_AT * limit:
            return False
        room = await self._estimate_room(prompt.choice, overhead)
        plan = CompactionPlan(history, self._create_shortener())
        target = int(COMPACT_TO * room)
        await plan.shorten_results(target)
        if plan.tokens > target * _ENOUGH:
            await plan.cut_parts(int(LARGEST_SHARE * room), ModelHistory(plan.told).newest_step())
        first_kept = plan.find_boundary(room)
        if plan.tokens > target * _ENOUGH and plan.can_replace(first_kept):
            write = self._create_summary_writer(prompt.choice, None)
            await plan.replace_with_summary(first_kept, room, write, self._current_todos(), self._stream.locale)
        if plan.tokens > room:
            await plan.cut_to_fit(room)
        if plan.has_changes:
            await self._apply_plan(plan, history, scale)
        return plan.has_changes

    async def _apply_plan(self, plan: CompactionPlan, history: ModelHistory, scale: float) -> CompactionResult | None:
        result = plan.build_result(scale)
        is_kept = await self._keeper.store_compaction(result)
        # even if it was not stored: this request would be too long otherwise, and the next one reloads the session
        history.told = plan.told
        return result if is_kept else None

    async def _estimate_room(self, choice: ModelChoice, overhead: int) -> int:
        """Return the estimated tokens available for messages."""
        limit = await self._find_context_limit(choice) / self._scales.find_token_scale(_model_name(choice))
        return int(max(COMPACT_AT * limit - overhead, _LEAST_ROOM * limit))

    def _is_small(self, choice: ModelChoice) -> bool:
        """True if the context is known to be smaller than the default."""
        known = [
            size
            for size in (
                choice.context_tokens,
                self._scales.find_context_limit(_model_name(choice), choice.context_tokens),
            )
            if size is not None
        ]
        return min(known, default=CONTEXT_TOKENS) < CONTEXT_TOKENS

    async def _find_context_tokens(self, choice: ModelChoice) -> int | None:
        """Return the context size of a model. A provider that does not tell it is asked only once a turn."""
        name = _model_name(choice)
        if name not in self._sizes:
            self._sizes[name] = await self._engine.find_context_tokens(choice)
        return self._sizes[name]

    async def _find_context_limit(self, choice: ModelChoice) -> int:
        stated = await self._find_context_tokens(choice)
        lowered = self._scales.find_context_limit(_model_name(choice), stated)
        known = stated or CONTEXT_TOKENS
        return known if lowered is None else min(known, lowered)

    def _estimate_overhead(self, prompt: Prompt) -> int:
        """Estimate the tokens of what is sent besides the messages."""
        tools = [] if prompt.choice.tools == "prompted" else prompt.tools
        if self._tools[0] != tools:
            self._tools = (tools, tools_tokens(tools))
        return self._tools[1] + sum(map(text_tokens, instructions_of(prompt, self._stream.locale)))

    # -- requests ----------------------------------------------------------------------------------------------

    async def _request_once(self, prompt: Prompt, history: ModelHistory, *, can_repair: bool) -> ModelReply:
        if not self._scales.accepts_images(_model_name(prompt.choice)):
            prompt = _without_images(prompt)
        messages = await self._prepare_messages(prompt, history)
        try:
            reply = await ask_model(self._engine, prompt, messages, self._stream, can_repair=can_repair)
        except BrokenAnswerError as exc:
            if not (prompt.choice.images and may_refuse_images(exc)):
                raise
            new, older = list_images(messages)
            if not (new or older):
                raise
            reply = await self._retry_without_image(prompt, history, exc, new, older, can_repair=can_repair)
        estimated = self._estimate_overhead(prompt) + await history.measure_tokens()
        self._scales.record_token_count(_model_name(prompt.choice), estimated, reply.response.usage.input_tokens)
        return reply

    async def _prepare_messages(
        self, prompt: Prompt, history: ModelHistory, left_out: Collection[str] = ()
    ) -> list[ModelMessage]:
        refused = {*self._scales.find_refused_images(_model_name(prompt.choice)), *left_out}
        return await prepare_to_send(
            history.messages, self._keeper.load_artifact, images=prompt.choice.images, refused=refused
        )

    async def _retry_without_image(
        self,
        prompt: Prompt,
        history: ModelHistory,
        refusal: BrokenAnswerError,
        new: Sequence[str],
        older: Sequence[str],
        *,
        can_repair: bool,
    ) -> ModelReply:
        """Find the images that were refused, by leaving out some until the request is answered.

        What was left out then is never sent to the model again: every later request would be refused too.

        Args:
            new: Digests of images that the provider has not accepted yet, newest first.
            older: Digests of the other images.
        """
        name = _model_name(prompt.choice)
        said = str(refusal.context.get("said") or refusal.message)[:_REFUSAL_CHARS].rstrip(".")
        await self._keeper.post_notice(localized_text(self._stream.locale, "pictures_refused", said=said))
        last = refusal
        for left_out in _sets_to_leave_out(new, older, _TRIES if mentions_images(refusal) else _VAGUE_TRIES):
            messages = await self._prepare_messages(prompt, history, left_out)
            try:
                reply = await ask_model(self._engine, prompt, messages, self._stream, can_repair=can_repair)
            except BrokenAnswerError as exc:
                if not may_refuse_images(exc):
                    raise
                last = exc
                continue
            self._record_refused(name, left_out, is_all=not older and len(left_out) == len(new))
            return reply
        raise refusal from last  # the images were not the cause

    def _record_refused(self, name: str, left_out: Collection[str], *, is_all: bool) -> None:
        is_blind = is_all and len(self._scales.find_refused_images(name)) >= _BLIND_AFTER
        log.info("images_refused", model=name, count=len(left_out), is_blind=is_blind)
        if is_blind:
            self._scales.record_refused_images(name)
        else:
            self._scales.record_refused_digests(name, left_out)

    def _create_summary_writer(
        self, choice: ModelChoice, given: str | None
    ) -> Callable[[Sequence[ModelMessage]], Awaitable[str]]:
        async def write(messages: Sequence[ModelMessage]) -> str:
            limit = await self._find_context_limit(choice) / self._scales.find_token_scale(_model_name(choice))
            most = min(int(SUMMARY_SHARE * limit), SUMMARY_TOKENS)
            if given is not None:
                return cut_to_tokens(given, most)

            async def ask(wish: str) -> str:
                return await self._ask_for_text(choice, wish)

            written = await write_summary(
                ask, messages, read_tokens=int(_READ_SHARE * limit), write_tokens=most, locale=self._stream.locale
            )
            return cut_to_tokens(written, most)

        return write

    async def _ask_for_text(self, choice: ModelChoice, wish: str) -> str:
        """Return the session's model's answer to one message; empty if there is no usable one."""
        messages = [ModelRequest(parts=[UserPromptPart(wish)])]
        try:
            response = await self._engine.request_response(
                choice,
                messages,
                (),
                Instructions("", ""),
                on_text=_ignore,
                on_thinking=_ignore,
                on_wait=self._stream.publish_model_wait,
            )
        except BrokenAnswerError as exc:
            if exc.type not in _UNFIT:
                raise  # the session's own request would fail too
            log.warning("summary_failed", model=choice.model, error=exc.type)
            return exc.partial.text or "" if exc.partial is not None else ""
        await self._keeper.count_usage(response)
        return response.text or ""

    def _create_shortener(self) -> Shortener:
        return Shortener(self._keeper.save_artifact, self._keeper.call_for)

    def _current_todos(self) -> Sequence[Mapping[str, Any]]:
        return self._stream.live.todos if self._stream.thread is None else ()

    def _too_long(self, exc: BrokenAnswerError, prompt: Prompt) -> BrokenAnswerError:
        """Create the error that tells the user what to do if shortening was not enough."""
        tokens = round(self._estimate_overhead(prompt) * self._scales.find_token_scale(_model_name(prompt.choice)))
        message = (
            f"{exc.message} Its history was made as short as it can be, and tools and instructions take about "
            f"{tokens:,} tokens besides: choose a model with a longer context, or give the agent fewer tools or "
            "instructions."
        )
        error = BrokenAnswerError(ToolError("context_too_long", message), exc.partial)
        error.context = exc.context
        return error


_UNFIT = frozenset(("context_too_long", "answer_cut", "provider_refused", "provider_stream_broken"))
"""Errors that may affect only the request for a summary."""


def _sets_to_leave_out(new: Sequence[str], older: Sequence[str], tries: int) -> list[tuple[str, ...]]:
    """Return which images to leave out in each attempt: one, then two, then all new ones, then all."""
    one_or_two = chain(combinations([*new, *older], 1), combinations(new, 2))
    attempts: list[tuple[str, ...]] = [*islice(one_or_two, tries), tuple(new), (*new, *older)]
    return [left_out for left_out in dict.fromkeys(attempts) if left_out]


def _without_images(prompt: Prompt) -> Prompt:
    return replace(prompt, choice=prompt.choice.model_copy(update={"images": False}))


def _model_name(choice: ModelChoice) -> str:
    return f"{choice.provider}:{choice.model}"


def _ignore(piece: str) -> None:
    """Ignore a chunk: a summary is shown when it is complete."""
