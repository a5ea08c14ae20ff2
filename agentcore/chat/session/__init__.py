"""A chat session: what is stored, shown and streamed of it."""

from agentcore.chat.session.mode import agent_and_mode
from agentcore.chat.session.view import MessagesView, QueueView, SessionDetail, SessionsView
