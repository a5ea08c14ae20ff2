"""Conversion of connection failures to tool errors."""

import socket

import aiohttp

from agentcore.api import ToolError


def convert_error(exc: BaseException, url: str, timeout_s: float) -> ToolError:
    """Convert the failure of an exchange to a tool error.

    Args:
        exc: The exception of the client.
        url: The requested address.
        timeout_s: The time limit of the exchange.
    """
    if isinstance(exc, TimeoutError):
        message = f"{url!r} gave no answer within {timeout_s:g} s; try again later, or another address."
        return ToolError("timeout", message, retryable=True, url=url)
    if isinstance(exc, aiohttp.ClientConnectorCertificateError | aiohttp.ClientSSLError):
        message = f"The certificate or the TLS of {url!r} is not in order: {_describe_cause(exc)}. Nothing was sent."
        return ToolError("tls_error", message, url=url)
    if isinstance(exc, aiohttp.ClientConnectorDNSError) or isinstance(_os_error(exc), socket.gaierror):
        host = getattr(exc, "host", "") or url
        message = f"No address is known for the host {host!r}; check its spelling."
        return ToolError("host_not_found", message, retryable=_is_temporary(exc), url=url, host=host)
    if isinstance(exc, aiohttp.ClientConnectorError):
        message = f"No connection to {url!r}: {_describe_cause(exc)}."
        return ToolError("connection_failed", message, retryable=True, url=url)
    if isinstance(exc, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError | OSError):
        message = f"{url!r} closed the connection without an answer; try again."
        return ToolError("connection_failed", message, retryable=True, url=url)
    message = f"{url!r} answered with something that is no valid HTTP ({type(exc).__name__})."
    return ToolError("invalid_response", message, url=url)


def _os_error(exc: BaseException) -> BaseException | None:
    return getattr(exc, "os_error", None)


def _is_temporary(exc: BaseException) -> bool:
    return getattr(_os_error(exc), "errno", None) == socket.EAI_AGAIN


def _describe_cause(exc: BaseException) -> str:
    inner = getattr(exc, "certificate_error", None) or _os_error(exc) or exc
    text = getattr(inner, "verify_message", "") or getattr(inner, "strerror", "") or str(inner)
    return str(text).rstrip(".")[:300]
