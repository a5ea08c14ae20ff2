"""`UrlPolicy`: the web addresses that tools may open; all modules share this one implementation."""

import asyncio
import copy
import socket
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from agentcore.errors import ToolError
from agentcore.installing import pip_command
from agentcore.late_dataclasses import dataclass
from agentcore.secrets import mask_address

if TYPE_CHECKING:
    from agentcore.net.public_address import Address
    from agentcore.net.whatwg_url import WebUrl

BlockReason = Literal[
    "invalid",
    "scheme",
    "credentials",
    "own_address",
    "metadata_address",
    "private_address",
    "blocked_host",
    "not_allowed",
]
"""Reason for blocking an address: `context.reason` of the error `url_blocked`."""

RESOLVE_SECONDS = 10.0
"""Time limit for resolving a name."""

URL_LIMIT = 16_384
"""Maximum length of an address in characters."""

_OWN_ORIGINS = 64
"""Number of the server's own origins and of services whose parsed form is cached."""

_LOCALHOST = "localhost"
_USUAL_LOOPBACK = ("127.0.0.1", "::1", _LOCALHOST)
"""`localhost` is one or the other, so that a service at one of them is meant by all."""

_LOOPBACK_NAMES = ("localhost", "localdomain", "ip6-localhost", "ip6-loopback")
_PRIVATE_NAMES = (*_LOOPBACK_NAMES, "local", "internal", "home.arpa", "lan", "intranet")
_METADATA_NAMES = ("metadata.google.internal", "metadata.goog", "instance-data.ec2.internal")


@dataclass(frozen=True, slots=True)
class ServiceAddress:
    """The address of a service of a session on this machine: a command of the session listens there.

    Args:
        name: Its short id.
        url: Its address on loopback.
        problem: Why this machine does not reach it, as a clause; empty if it does. Such an address is not opened.
    """

    name: str
    url: str
    problem: str = ""

    @property
    def is_reachable(self) -> bool:
        """True if this machine reaches it."""
        return not self.problem


FindServices = Callable[[str], Sequence[ServiceAddress]]
"""Returns the services of a session now."""


class OwnOrigins:
    """The origins of everything that this process serves; each server declares its own when it knows its port.

    Attributes:
        on_change: Callbacks to run after a declaration.
        find_services: Finds the services of a session on this machine; no process but the server knows any.
    """

    def __init__(self, find_services: FindServices = lambda _session_id: ()) -> None:
        self._declared: dict[str, frozenset[str]] = {}
        self.on_change: list[Callable[[], None]] = []
        self.find_services = find_services

    def declare(self, server: str, origins: Collection[str]) -> None:
        """Declare where a server can be reached, replacing its previous declaration.

        Args:
            server: Name of the server that declares, such as `page`.
            origins: Its origins, such as `http://127.0.0.1:8765`.
        """
        self._declared[server] = frozenset(origins)
        for tell in self.on_change:
            tell()

    def __call__(self) -> frozenset[str]:
        """Return all declared origins."""
        return frozenset().union(*self._declared.values())


class UrlPolicy:
    """Blocks addresses that tools must not open: this server, this machine, private networks, blocked hosts.

    Three checks are needed, because a name can resolve differently each time: `check` before anything happens and for
    every redirect, `resolve` if another program will connect, `check_address` when a connection is made. A module gets
    its policy from `runtime.url_policy(…)`, which knows the server's own addresses. Refusals are `ToolError` of type
    `url_blocked` with `url` and `reason` (`BlockReason`).

    Needs the extra `agentcore-runtime[urls]`.

    Args:
        allow_private: Allow loopback, private and link-local networks. The server's own addresses and cloud metadata
            services stay blocked.
        allowed_hosts: If not empty, only these: `example.com` (with subdomains), `*.example.com` (only subdomains),
            addresses, networks such as `192.0.2.0/24`; with `:port` only that port.
        blocked_hosts: Hosts that are always blocked, in the same notation.
        schemes: Allowed schemes. `about` allows only `about:blank`; `blob` is checked by its origin.
        own_origins: Returns the origins of this server; called at each check.
    Raises:
        ValueError: A pattern is not a host.
        ImportError: The extra is not installed.
    """

    def __init__(
        self,
        *,
        allow_private: bool = False,
        allowed_hosts: Sequence[str] = (),
        blocked_hosts: Sequence[str] = (),
        schemes: frozenset[str] = frozenset(("http", "https")),
        own_origins: Callable[[], Collection[str]] = tuple,
    ) -> None:
        self._parser = _load_part("whatwg_url")
        self._addresses = _load_part("public_address")
        pattern = _load_part("host_pattern").HostPattern
        self._allowed = [pattern.read(text) for text in allowed_hosts]
        self._blocked = [pattern.read(text) for text in blocked_hosts]
        self._allow_private = allow_private
        self._schemes = schemes
        self._own_origins = own_origins
        self._list_services: Callable[[], Sequence[ServiceAddress]] = tuple
        self._read_own = lru_cache(_OWN_ORIGINS)(self._parser.read_url)

    def with_services(self, session_id: str) -> "UrlPolicy":
        """Return the policy for calls of a session, which also opens the addresses of the session's services.

        Only addresses on loopback that a command of the session listens on at the time of the check; the server's own
        addresses stay blocked. Use it only for a connection whose URL names loopback itself: see `find_service`.
        """
        if not isinstance(self._own_origins, OwnOrigins):
            return self
        policy = copy.copy(self)
        policy._list_services = partial(self._own_origins.find_services, session_id)  # noqa: SLF001 - its own class
        return policy

    def find_service(self, url: str) -> ServiceAddress | None:
        """Return the service at an address that names loopback itself; None for any other name, whatever it is."""
        try:
            parsed = self._parse_url(url)
        except ToolError:
            return None
        service = self._service_at(parsed.host, parsed.address, parsed.port)
        return service if service is not None and service.is_reachable else None

    def check(self, url: str) -> str:
        """Check an address as written, without name resolution.

        Args:
            url: Any spelling that a browser accepts.
        Returns:
            The normalised address. Open this one: other parsers read it as this policy did.
        Raises:
            ToolError: `url_blocked`.
        """
        parsed = self._parse_url(url)
        if parsed.scheme not in self._schemes or (parsed.scheme == "about" and parsed.path != "blank"):
            raise _blocked_error(
                url, "scheme", f"opens only {_format_schemes(self._schemes)}, and not {parsed.scheme + ':'!r}"
            )
        if parsed.has_credentials:
            raise _blocked_error(
                url, "credentials", "carries a name or a password, which is left out of addresses here"
            )
        if parsed.scheme == "blob":
            self.check(parsed.path)
        elif parsed.scheme != "about":
            self._check_host(url, parsed)
        return parsed.href

    def check_address(self, host: str, address: str, port: int) -> None:
        """Check an address when a connection to it is made, whatever its name was.

        Args:
            host: The name that resolved to it, for the message; may be empty.
            address: IPv4 or IPv6, with or without a zone.
            port: The port of the connection.
        Raises:
            ToolError: `url_blocked`.
        """
        shown = f"{host} ({address}:{port})" if host and host != address else f"{address}:{port}"
        try:
            found = self._addresses.read_address(address)
        except ValueError as exc:
            raise _blocked_error(shown, "invalid", "is no address of the internet") from exc
        self._check_network(shown, found, port)
        if any(pattern.covers_address(found, port) for pattern in self._blocked):
            raise _blocked_host_error(shown)

    async def resolve(self, url: str) -> list[str]:
        """Check an address, resolve its name, and check every address it resolves to.

        Returns:
            The addresses; the address itself if the host is one. Empty if the scheme has no host.
        Raises:
            ToolError: `url_blocked`; `host_not_found`: the name is unknown, or resolving took longer than 10 s.
        """
        parsed = self._parse_url(self.check(url))
        if parsed.port is None:
            return []
        found = [str(parsed.address)] if parsed.address is not None else await _resolve_host(parsed.host, parsed.port)
        for address in found:
            self.check_address(parsed.host, address, parsed.port)
        return found

    def _parse_url(self, url: str) -> "WebUrl":
        if len(url) > URL_LIMIT:
            raise _blocked_error(
                f"{url[:100]}…", "invalid", f"has {len(url)} characters, and {URL_LIMIT} are the limit"
            )
        try:
            parsed: WebUrl = self._parser.read_url(url)
        except ValueError as exc:
            hint = "is no address that a browser could open; write it in full, such as https://example.com/page"
            raise _blocked_error(url, "invalid", hint) from exc
        return parsed

    def _check_host(self, url: str, parsed: "WebUrl") -> None:
        if not parsed.host or parsed.port is None:
            raise _blocked_error(url, "invalid", "names no host")
        if self._is_own(parsed):
            raise _own_address_error(url)
        if parsed.address is not None:
            self._check_network(url, parsed.address, parsed.port)
        elif _is_below(parsed.host, _METADATA_NAMES):
            raise _metadata_error(url)
        elif not self._allow_private and _is_below(parsed.host, _PRIVATE_NAMES):
            _require_service(url, self._service_at(parsed.host, None, parsed.port))
        if any(pattern.covers(parsed) for pattern in self._blocked):
            raise _blocked_host_error(url)
        if self._allowed and not any(pattern.covers(parsed) for pattern in self._allowed):
            raise _blocked_error(
                url, "not_allowed", "is not at one of the hosts that the setting `allowed_hosts` lists"
            )

    def _check_network(self, shown: str, address: "Address", port: int) -> None:
        if port in self._own_ports() and (self._addresses.is_loopback(address) or _is_of_this_machine(address)):
            raise _own_address_error(shown)
        if self._addresses.is_metadata(address):
            raise _metadata_error(shown)
        if self._allow_private or self._addresses.is_public(address):
            return
        _require_service(shown, self._service_at("", address, port))

    def _service_at(self, host: str, address: "Address | None", port: int | None) -> ServiceAddress | None:
        """Return the service that listens at a loopback address, or at `localhost`; those that can be reached first."""
        for service in sorted(self._list_services(), key=lambda service: not service.is_reachable):
            known = self._read_own(service.url)
            is_at = known.address if known.address is not None else _LOCALHOST
            if known.port != port:
                continue
            if str(is_at) in _USUAL_LOOPBACK and (host == _LOCALHOST or str(address) in _USUAL_LOOPBACK):
                return service
            if address is not None and address == is_at:
                return service
        return None

    def _is_own(self, parsed: "WebUrl") -> bool:
        if parsed.address is None and _is_below(parsed.host, _LOOPBACK_NAMES) and parsed.port in self._own_ports():
            return True
        return any((own.host, own.port) == (parsed.host, parsed.port) for own in self._parse_own_urls())

    def _own_ports(self) -> set[int | None]:
        """Return the ports that this process itself listens on, not those of a proxy in front of it."""
        return {
            own.port
            for own in self._parse_own_urls()
            if own.host == "localhost" or (own.address and own.address.is_loopback)
        }

    def _parse_own_urls(self) -> "list[WebUrl]":
        return [self._read_own(origin) for origin in self._own_origins()]


async def _resolve_host(host: str, port: int) -> list[str]:
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except TimeoutError as exc:
        message = f"Looking up {host!r} took longer than {RESOLVE_SECONDS:g} s; try again later."
        raise ToolError("host_not_found", message, retryable=True, host=host) from exc
    except (OSError, UnicodeError) as exc:
        message = f"No address is known for the host {host!r} ({exc}); check its spelling."
        is_temporary = isinstance(exc, socket.gaierror) and exc.errno == socket.EAI_AGAIN
        raise ToolError("host_not_found", message, retryable=is_temporary, host=host) from exc
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _is_of_this_machine(address: "Address") -> bool:
    """Return True if the address belongs to this machine, which is tested by binding it."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6  # noqa: PLR2004 - the version of the protocol
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(address), 0))
        except OSError:
            return False
    return True


def _is_below(host: str, names: Sequence[str]) -> bool:
    return any(host == name or host.endswith(f".{name}") for name in names)


def _blocked_error(url: str, reason: BlockReason, why: str) -> ToolError:
    shown = mask_address(url)
    return ToolError("url_blocked", f"{shown!r} is not opened: it {why}.", url=shown, reason=reason)


def _own_address_error(url: str) -> ToolError:
    return _blocked_error(url, "own_address", "leads to agentcore itself, which no tool may reach")


def _metadata_error(url: str) -> ToolError:
    return _blocked_error(url, "metadata_address", "leads to the service that hands out this machine's credentials")


def _require_service(url: str, service: ServiceAddress | None) -> None:
    """Block a private address unless a service that can be reached is there."""
    if service is None:
        why = "leads to this machine or a private network; a person can allow that with the setting `allow_private`"
        raise _private_address_error(url, why)
    if service.problem:
        raise _private_address_error(url, f"leads to {service.name}, which cannot be reached: {service.problem}")


def _private_address_error(url: str, why: str) -> ToolError:
    return _blocked_error(url, "private_address", why)


def _blocked_host_error(url: str) -> ToolError:
    return _blocked_error(url, "blocked_host", "is at a host that the setting `blocked_hosts` lists")


def _format_schemes(schemes: frozenset[str]) -> str:
    return ", ".join(f"{scheme}:" for scheme in sorted(schemes))


def _load_part(part: str) -> Any:
    # at first use: the parser is an extra, and importing the public API stays light
    try:
        return import_module(f"agentcore.net.{part}")
    except ModuleNotFoundError as exc:
        raise ImportError(
            f"addresses of the web need a parser that is not installed: {pip_command('agentcore-runtime[urls]')}"
        ) from exc
