"""What a model is told before the conversation, in parts whose source a person sees, and may leave out."""

from agentcore.chat.system.parts import SystemChoice, SystemPart, SystemPlan, plan_system, resolve_modules_and_host
