"""Names of modules on foreign machines: `laptop/shell_tools` is the module `shell_tools` of the host `laptop`.

`farm.box7/browser` is the module `browser` of the host `box7` of the pool `farm`.
"""

_BETWEEN = "/"
_IN_POOL = "."
"""Neither occurs in names of modules, hosts or pools."""

_SINGLE_KINDS = ("process", "remote", "member")


def hosted_name(host: str, module: str) -> str:
    """Return the name of a host's module at the server."""
    return f"{host}{_BETWEEN}{module}" if host else module


def host_in(name: str) -> str:
    """Return the host of a module; empty: the server's own."""
    host, between, _ = name.partition(_BETWEEN)
    return host if between else ""


def host_title(host: str) -> str:
    """Return the name of a host for use in a sentence."""
    return f"host {host!r}" if host else "the server"


def name_in_pool(pool: str, host: str) -> str:
    """Return the name of a pool's host at the server."""
    return f"{pool}{_IN_POOL}{host}"


def pool_of(host: str) -> str:
    """Return the pool of a host, which users know all its hosts by; for a host of none, the host itself."""
    return host.partition(_IN_POOL)[0]


def is_pooled_host(host: str) -> bool:
    """True if a host is one of a pool."""
    return _IN_POOL in host


def name_for_people(module: str) -> str:
    """Return a module's name without the host of the pool."""
    return hosted_name(pool_of(host_in(module)), module.rpartition(_BETWEEN)[2])


def is_pool_kind(kind: str) -> bool:
    """True if a host of this kind is a pool: all kinds that distributions add are."""
    return kind not in _SINGLE_KINDS
