"""Names of modules on other machines: `laptop/shell_tools` is the module `shell_tools` of the host `laptop`."""

_BETWEEN = "/"
"""Stands in no name of a module or of a host."""


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
