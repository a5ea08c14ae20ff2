"""The HTTP proxy by which a server is dialled, as the environment of the program names it."""

from collections.abc import Mapping
from dataclasses import field
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from agentcore.errors import AgentcoreError
from agentcore.late_dataclasses import dataclass

_NAMES = "the environment's HTTPS_PROXY (or https_proxy)"


class ProxyAddressError(AgentcoreError):
    """The environment names an invalid proxy; the message says which variable, and why."""


@dataclass(frozen=True)
class Proxy:
    """A proxy for tunnels (CONNECT).

    Args:
        address: `http://NAME[:PORT]`; errors name it.
        headers: Headers for it, such as credentials, which no error contains.
    """

    address: str
    headers: Mapping[str, str] = field(repr=False)


def proxy_for(address: str) -> Proxy | None:
    """The proxy for an address: that of `HTTPS_PROXY`, unless `NO_PROXY` names the server; None: there is none.

    aiohttp would read the environment, too, but with it `~/.netrc`, whose credentials are none of this server's.

    Args:
        address: An `https://` address.
    Raises:
        ProxyAddressError: It cannot be used.
    """
    given = getproxies().get("https", "").strip()
    if not given or proxy_bypass(urlsplit(address).hostname or ""):
        return None
    try:
        parts = urlsplit(given if "://" in given else f"http://{given}")
        name = parts.hostname
        port = "" if parts.port is None else f":{parts.port}"
        headers = _build_headers(parts.username, parts.password)
    except ValueError:
        raise ProxyAddressError(f"{_NAMES} is no address: give one such as http://proxy.example.org:3128") from None
    if parts.scheme != "http" or not name:
        raise ProxyAddressError(
            f"{_NAMES} names a proxy of kind {parts.scheme!r}; only those of kind http are known here, which open "
            "tunnels for https addresses all the same"
        )
    return Proxy(f"http://{f'[{name}]' if ':' in name else name}{port}", headers)


def _build_headers(user: str | None, password: str | None) -> Mapping[str, str]:
    if user is None:
        return {}
    return {"Proxy-Authorization": aiohttp.encode_basic_auth(unquote(user), unquote(password or ""))}
