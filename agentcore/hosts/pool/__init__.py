"""A pool of hosts that servers share over NATS: membership, placement of new work, ownership of resources."""
