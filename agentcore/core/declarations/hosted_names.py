"""Names of modules on other machines: `laptop/shell_tools` is the module `shell_tools` of the host `laptop`.

`farm.box7/browser` is the module `browser` of the host `box7` of the pool `farm`.
"""

_BETWEEN = "/"
_IN_POOL = "."
"""Both stand in no name of a module, of a host or of a pool."""


def hosted_name(host: str, module: str) -> str:
    """What a module of a host is called at the server."""
    return f"{host}{_BETWEEN}{module}" if host else module


def host_in(name: str) -> str:
    """The host whose module this is; empty: the server's own."""
    host, between, _ = name.partition(_BETWEEN)
    return host if between else ""


def host_title(host: str) -> str:
    """A host in a sentence."""
    return f"host {host!r}" if host else "the server"


def member_name(pool: str, member: str) -> str:
    """What a host of a pool is called at the server."""
    return f"{pool}{_IN_POOL}{member}"


def pool_of(host: str) -> str:
    """The pool of a host, by whose name people speak of all that is in it; of a host of none, the host itself."""
    return host.partition(_IN_POOL)[0]


def is_member(host: str) -> bool:
    """Whether a host is one of a pool."""
    return _IN_POOL in host


def name_for_people(module: str) -> str:
    """A module's name where it does not matter which host of a pool has it."""
    return hosted_name(pool_of(host_in(module)), module.rpartition(_BETWEEN)[2])
