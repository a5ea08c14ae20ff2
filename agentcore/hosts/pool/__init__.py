"""A pool of hosts that servers share over NATS: who is in it, where something new goes, who owns what lives there."""
