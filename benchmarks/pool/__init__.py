"""A pool of hosts, each a process of its own."""
