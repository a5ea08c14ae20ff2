"""Whether a name in an address means this machine."""

import ipaddress


def is_loopback_name(name: str) -> bool:
    """Whether a host's name, or its address as text, can only be this machine."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
