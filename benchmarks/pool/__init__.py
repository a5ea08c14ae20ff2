"""A pool of hosts, each a process of its own: under load, and while hosts, the server, NATS and links are killed."""

from benchmarks.pool.whole import run

__all__ = ["run"]
