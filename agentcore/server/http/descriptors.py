"""How many connections the process has descriptors for."""

import resource

from agentcore.server.http.bounds import CONNECTIONS, DESCRIPTORS_RESERVED

_FEWEST = 16


def connection_limit() -> int:
    """Connections at one time that leave descriptors for everything else."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return CONNECTIONS
    return max(min(CONNECTIONS, soft - DESCRIPTORS_RESERVED), _FEWEST)


def raise_descriptor_limit() -> None:
    """Allow this process as many descriptors as all connections need, if the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + DESCRIPTORS_RESERVED
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
