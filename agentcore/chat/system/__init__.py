"""What a model is told before the conversation, in parts whose source a person sees, and may leave out."""

from agentcore.chat.system.parts import SystemChoice, SystemPart, SystemPlan, resolve_modules_and_host
from agentcore.chat.system.planning import plan_system
