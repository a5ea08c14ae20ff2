"""Pools of hosts that servers share over NATS, a kind of hosts of agentcore. See `kind.py`."""
