"""What lives longer than a call: resources, their queues and their tabs."""

from agentcore.host.resources.last_seen import LastSeen
