"""Compaction: shortens the history sent to a model so that a session stays within the model's context."""

from agentcore.chat.turn.compaction.compaction_storage import SessionKeeper, SubAgentKeeper
from agentcore.chat.turn.compaction.compactor import Compactor
from agentcore.chat.turn.compaction.model_history import ModelHistory, load_history
from agentcore.chat.turn.compaction.on_demand import compact_session
