"""What a model is told before the conversation, in parts whose source a person sees, and may leave out."""

from agentcore.chat.system.parts import SystemChoice, SystemPart, SystemPlan, seen_from
from agentcore.chat.system.planning import plan_system
