"""What a model is told, made shorter so that a session stays within the model's context."""

from agentcore.chat.turn.compaction.compactor import Compactor
from agentcore.chat.turn.compaction.keeping import SessionKeeper, SubAgentKeeper
from agentcore.chat.turn.compaction.on_demand import compact_session
from agentcore.chat.turn.compaction.told import ModelHistory, load_history
