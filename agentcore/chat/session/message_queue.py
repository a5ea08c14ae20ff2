"""The waiting user messages of a session, as a page sees them."""

from agentcore.chat.client_context import ClientContext, build_page_view
from agentcore.chat.session.event_stream import Stream
from agentcore.chat.session.session_view import QueuedMessageView, QueueView
from agentcore.store.chat.chat_store import ChatStore


async def queue_view(chats: ChatStore, session_id: str) -> QueueView:
    """Return the waiting messages of a session."""
    queue = await chats.queue.load_queue(session_id)
    messages = [
        QueuedMessageView(
            message_id=each.message_id,
            text=each.text,
            attachments=list(each.attachments),
            when=each.when,
            created_at=each.created_at_ms,
            page=None if (page := ClientContext(each.page).page) is None else build_page_view(page),
        )
        for each in queue.messages
    ]
    return QueueView(messages=messages, is_paused=queue.is_paused)


async def publish_queue(chats: ChatStore, stream: Stream) -> None:
    """Publish the whole queue to pages, so that a page that missed a change is correct after the next one."""
    stream.publish_to_pages("session.queue", (await queue_view(chats, stream.session_id)).to_json())
