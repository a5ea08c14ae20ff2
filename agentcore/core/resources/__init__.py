"""Resources, which survive calls, with their queues and their tabs."""

from agentcore.core.resources.last_seen import LastSeen
