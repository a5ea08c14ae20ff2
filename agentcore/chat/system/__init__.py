"""The system message, in parts whose source the user sees, and which they may leave out."""

from agentcore.chat.system.parts import SystemChoice, SystemPart, SystemPlan, plan_system, resolve_modules_and_host
