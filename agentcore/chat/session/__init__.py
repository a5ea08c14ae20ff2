"""A chat session: what is stored, shown and streamed of it."""

from agentcore.chat.session.session_view import MessagesView, QueueView, SessionDetail, SessionsView
