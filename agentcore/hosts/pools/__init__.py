"""Pools of hosts that an added kind finds: their machines, placement of new work, ownership of resources."""
