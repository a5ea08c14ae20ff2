"""Connection limits that follow from the file descriptors of the process."""

import resource

from agentcore.server.http.server_limits import CONNECTIONS, DESCRIPTORS_RESERVED

_FEWEST = 16


def connection_limit() -> int:
    """Return the number of connections that leaves enough descriptors for everything else."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return CONNECTIONS
    return max(min(CONNECTIONS, soft - DESCRIPTORS_RESERVED), _FEWEST)


def raise_descriptor_limit() -> None:
    """Raise this process's descriptor limit to what all connections need, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    requested = CONNECTIONS + DESCRIPTORS_RESERVED
    if hard != resource.RLIM_INFINITY:
        requested = min(requested, hard)
    if soft != resource.RLIM_INFINITY and soft < requested:
        resource.setrlimit(resource.RLIMIT_NOFILE, (requested, hard))
