"""The agent loop over a session: models, calls that wait for a person, tools that a client runs."""

from agentcore.chat.chat import Chat
from agentcore.chat.session.live import Sink
from agentcore.chat.wire import ChatBody

__all__ = ["Chat", "ChatBody", "Sink"]
