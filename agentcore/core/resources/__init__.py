"""What lives longer than a call: resources, their queues and their tabs."""

from agentcore.core.resources.last_seen import LastSeen
