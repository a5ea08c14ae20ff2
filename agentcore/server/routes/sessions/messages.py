"""Routes for messages to a session and its queue; the results are sent as `session.*` events."""

from http import HTTPStatus
from typing import Annotated, Self

from pydantic import Field, model_validator

from agentcore.chat.chat_limits import MESSAGE_CHARS
from agentcore.chat.client_context import dump_client_tools, dump_page
from agentcore.chat.client_messages import Attachments, ClientTools, PageInfo
from agentcore.chat.session.session_view import QueueView
from agentcore.chat.sessions import SentState, Sessions
from agentcore.encoding import to_json
from agentcore.server.body_models import StrictWireModel, WireModel
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.route_table import ServerRoute
from agentcore.store.chat.message_queue import MessageTime, UserMessage

When = Annotated[
    MessageTime,
    Field(
        description="While a turn goes on: `queue` has the message wait for a turn of its own, `steer` gives it to the "
        "model with the next request of this turn; calls that run go on, those that wait are rejected as superseded."
    ),
]


class SendMessageBody(StrictWireModel):
    """A message of the person's; model and agent count from it on."""

    text: Annotated[str, Field(max_length=MESSAGE_CHARS)] = ""
    attachments: Attachments = ()
    when: When = "queue"
    model: Annotated[str | None, Field(max_length=200, description="`provider:model`, or a name of app.json.")] = None
    agent_id: Annotated[str | None, Field(min_length=1, max_length=64)] = None
    browser_tools: Annotated[
        ClientTools | None,
        Field(description="Tools that the client runs, for the rest of the turn; left out, those of the turn stay."),
    ] = None
    current_page_info: Annotated[
        PageInfo | None, Field(description="The page that the person looks at, for the rest of the turn.")
    ] = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.text or self.attachments):
            raise ValueError("a message has a text, or something is attached to it")
        return self


class QueueChange(StrictWireModel):
    """Whether what waits is held."""

    is_paused: bool


class QueuedChange(StrictWireModel):
    """What to change of a message that waits; what is left out stays."""

    text: Annotated[str | None, Field(min_length=1, max_length=MESSAGE_CHARS)] = None
    when: When | None = None


class Sent(WireModel):
    """The message was taken: its turn has begun, it waits, or it goes with the next request of the turn."""

    message_id: str
    state: SentState


async def post_message(exchange: Exchange) -> Answer:
    """Accept a message: start the turn, or queue the message."""
    body: SendMessageBody = exchange.body
    message = UserMessage(
        body.text,
        attachments=body.attachments,
        when=body.when,
        model=body.model or "",
        agent_id=body.agent_id or "",
        page=dump_page(body.current_page_info),
        client_tools=dump_client_tools(body.browser_tools),
    )
    message_id, state = await _get_sessions(exchange).send_message(_session_id(exchange), message, exchange.principal)
    sent = Sent(message_id=message_id, state=state)
    return Answer(to_json(sent.model_dump(by_alias=True)), HTTPStatus.ACCEPTED)


async def show_queue(exchange: Exchange) -> Answer:
    """Send the queue."""
    return _queue_answer(await _get_sessions(exchange).describe_queue(_session_id(exchange)))


async def change_queue(exchange: Exchange) -> Answer:
    """Pause or resume the queue, and send it."""
    body: QueueChange = exchange.body
    return _queue_answer(
        await _get_sessions(exchange).set_queue_paused(_session_id(exchange), is_paused=body.is_paused)
    )


async def change_message(exchange: Exchange) -> Answer:
    """Change a queued message, and send the queue."""
    body: QueuedChange = exchange.body
    changed = await _get_sessions(exchange).change_queued_message(
        _session_id(exchange), exchange.path_values["message_id"], text=body.text, when=body.when
    )
    return _queue_answer(changed)


async def remove_message(exchange: Exchange) -> Answer:
    """Remove a queued message, and send the queue."""
    return _queue_answer(
        await _get_sessions(exchange).remove_queued_message(_session_id(exchange), exchange.path_values["message_id"])
    )


def _get_sessions(exchange: Exchange) -> Sessions:
    return exchange.parts.chat.sessions


def _session_id(exchange: Exchange) -> str:
    return exchange.path_values["session_id"]


def _queue_answer(view: QueueView) -> Answer:
    return Answer(to_json(view.to_json()))


_ONE = "/api/sessions/{session_id}"
_MESSAGE = f"{_ONE}/queue/{{message_id}}"

ROUTES = (
    ServerRoute(
        "POST",
        f"{_ONE}/messages",
        post_message,
        "Say something. With nothing going on, the answer begins at once; else the message waits. What comes of it "
        "arrives as `session.*` events.",
        action="converse",
        body=SendMessageBody,
        answer=Sent,
        is_for_extensions=True,
    ),
    ServerRoute(
        "GET",
        f"{_ONE}/queue",
        show_queue,
        "Messages that wait.",
        action="follow",
        answer=QueueView,
        is_for_extensions=True,
    ),
    ServerRoute(
        "PATCH",
        f"{_ONE}/queue",
        change_queue,
        "Let the messages go on that wait, as after a stop; or hold them.",
        action="converse",
        body=QueueChange,
        answer=QueueView,
        is_for_extensions=True,
    ),
    ServerRoute(
        "PATCH",
        _MESSAGE,
        change_message,
        "Change the text of a message that waits, or have it go out with the next request (`steer`).",
        action="converse",
        body=QueuedChange,
        answer=QueueView,
        is_for_extensions=True,
    ),
    ServerRoute(
        "DELETE",
        _MESSAGE,
        remove_message,
        "Take out a message that waits.",
        action="converse",
        answer=QueueView,
        is_for_extensions=True,
    ),
)
