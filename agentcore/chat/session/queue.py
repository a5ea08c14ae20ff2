"""The messages of a person that wait, as a page sees them."""

from agentcore.chat.client_context import ClientContext, page_view
from agentcore.chat.session.stream import Stream
from agentcore.chat.session.view import QueuedMessageView, QueueView
from agentcore.store.chat import ChatStore


async def queue_view(chats: ChatStore, session_id: str) -> QueueView:
    """What waits in a session."""
    queue = await chats.queue.load_queue(session_id)
    messages = [
        QueuedMessageView(
            message_id=each.message_id,
            text=each.text,
            attachments=list(each.attachments),
            when=each.when,
            created_at=each.created_at_ms,
            page=None if (page := ClientContext(each.page).page) is None else page_view(page),
        )
        for each in queue.messages
    ]
    return QueueView(messages=messages, is_paused=queue.is_paused)


async def publish_queue(chats: ChatStore, stream: Stream) -> None:
    """Tell pages what waits now; the whole of it, so that whoever missed a change sees it with the next."""
    stream.publish_to_pages("session.queue", (await queue_view(chats, stream.session_id)).to_json())
