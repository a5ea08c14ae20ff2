"""Names and addresses of this machine."""

import ipaddress


def is_loopback_name(name: str) -> bool:
    """Return True if a host name, or an address as text, can only be this machine."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
