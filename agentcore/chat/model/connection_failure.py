"""Explains why a provider could not be reached: in a sentence for the user, and in technical terms."""

import errno
import socket
import ssl
from collections.abc import Iterator
from typing import Literal
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from agentcore.errors import ToolError
from agentcore.valid_text import valid_text

Reason = Literal[
    "refused", "unknown_host", "no_network", "certificate", "not_secure", "closed", "proxy", "redirected", "other"
]

_SENTENCES: dict[Reason, str] = {
    "refused": "Nothing answers at {address}. Is it running? Look at its address.",
    "unknown_host": "No host is named {host}. Look at the address, and whether this machine is online.",
    "no_network": "There is no way to {address} from this machine. Is it online?",
    "certificate": "The certificate of {address} cannot be trusted, so nothing was sent. Look at the address.",
    "not_secure": "No secure connection to {address} came about. A local server's address may begin with http://.",
    "closed": "{address} closed the connection without an answer. Try again, or look at its address.",
    "proxy": "The proxy of this machine's settings does not answer, so {address} was not reached.",
    "redirected": "{address} redirects to {target}, which got nothing. Write that address, if you trust it.",
    "other": "{address} cannot be reached. Look at its address.",
}
_NO_NETWORK = frozenset((errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL))
_DETAIL_CHARS = 300


def no_connection(exc: BaseException, base_url: str) -> ToolError:
    """Create the error for a provider that cannot be reached: `provider_unreachable`.

    Args:
        exc: The exception of an HTTP client, or of an SDK based on one.
        base_url: The requested address.
    Returns:
        An error whose context has `address`, `reason` (a `Reason`), and `detail`, the technical message.
    """
    reason, cause = _reason_of(exc, base_url)
    address = address_of(base_url)
    message = _SENTENCES[reason].format(address=address, host=urlsplit(base_url).hostname or address)
    detail = valid_text(f"{type(cause).__name__}: {cause}")[:_DETAIL_CHARS]
    return ToolError("provider_unreachable", message, retryable=True, address=address, reason=reason, detail=detail)


def redirected(base_url: str, location: str) -> ToolError:
    """Create the error for a provider that answers with a redirect: `provider_unreachable`.

    Redirects are not followed: the key and the conversation would go to an address that nobody chose.

    Args:
        base_url: The requested address.
        location: Where the provider redirects to; may be relative.
    """
    address, target = address_of(base_url), address_of(urljoin(base_url, valid_text(location)))
    message = _SENTENCES["redirected"].format(address=address, target=target)
    return ToolError("provider_unreachable", message, address=address, reason="redirected", target=target)


def no_answer_in_time(base_url: str, limit_s: float) -> ToolError:
    """Create the error for a provider that is too slow: `provider_timeout`."""
    address = address_of(base_url)
    message = f"{address} did not answer within {limit_s:g} s. Try again, or look at its address."
    return ToolError("provider_timeout", message, retryable=True, address=address, reason="timeout", limit_s=limit_s)


def address_of(base_url: str) -> str:
    """Return a provider's address as shown to users: scheme, host and port, without password or query."""
    parts = urlsplit(base_url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _reason_of(exc: BaseException, base_url: str) -> tuple[Reason, BaseException]:
    causes = list(_iterate_causes(exc))
    for reason, kinds in _KINDS:
        if (found := next((cause for cause in causes if isinstance(cause, kinds)), None)) is not None:
            return ("proxy" if reason == "refused" and _has_proxy(base_url) else reason), found
    for cause in causes:
        if getattr(cause, "errno", None) in _NO_NETWORK:
            return "no_network", cause
    return "other", causes[-1]


_KINDS: tuple[tuple[Reason, tuple[type[BaseException], ...]], ...] = (
    ("certificate", (ssl.SSLCertVerificationError, aiohttp.ClientConnectorCertificateError)),
    ("not_secure", (ssl.SSLError,)),
    ("unknown_host", (socket.gaierror, aiohttp.ClientConnectorDNSError)),
    ("refused", (ConnectionRefusedError,)),
    ("closed", (ConnectionResetError, BrokenPipeError, aiohttp.ServerDisconnectedError)),
)
"""Errors that indicate a reason; the first entry that matches counts."""


def _iterate_causes(exc: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes, outermost first; of several attempts all of them."""
    waiting = [exc]
    seen = set[int]()
    while waiting:
        cause = waiting.pop(0)
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        behind = (cause.__cause__ or cause.__context__, getattr(cause, "os_error", None))
        attempts = cause.exceptions if isinstance(cause, BaseExceptionGroup) else ()
        waiting += [one for one in (*behind, *attempts) if isinstance(one, BaseException)]


def _has_proxy(base_url: str) -> bool:
    parts = urlsplit(base_url)
    return parts.scheme in getproxies() and not proxy_bypass(parts.hostname or "")
