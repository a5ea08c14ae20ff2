"""Patterns of addresses in rules: a host, or scheme, host and path, matched against parsed addresses."""

import re
from fnmatch import fnmatchcase

from pydantic_core import Url, ValidationError

_DEFAULT_PORT = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9.*_-]+|\[[0-9a-f:.]+\]")
_ENCODED_STEP = re.compile(r"%(2e|2f|5c)", re.IGNORECASE)
"""An encoded dot or slash, which this parser does not decode and a server may."""


class UrlPattern:
    """A pattern of addresses.

    Args:
        pattern: `example.com`, `*.example.com` (only subdomains), `https://example.com:8443/docs/*`. Without a scheme
            it matches http and https, without a path all paths. A `*` in the host does not match beyond the host.
    Raises:
        ValueError: It has none of these forms.
    """

    def __init__(self, pattern: str) -> None:
        scheme, mark, rest = pattern.strip().lower().partition("://") if "://" in pattern else ("", "", pattern.lower())
        original = pattern.strip()[len(scheme) + len(mark) :]
        authority, slash, _ = rest.strip().partition("/")
        path = original[len(authority) :]
        host, colon, port = authority.rpartition(":") if re.search(r":(\d+|\*)$", authority) else (authority, "", "")
        if not _HOST.fullmatch(host) or (mark and not re.fullmatch(r"[a-z][a-z0-9+.-]*|\*", scheme)):
            raise ValueError(
                f"{pattern!r} is no pattern of addresses; write a host such as '*.example.com' or "
                "'https://example.com/docs/*', names of other alphabets in their xn-- form"
            )
        self._schemes = (scheme,) if mark else ("http", "https")
        self._host = host
        self._port = port if colon else None
        self._path = path if slash and path not in ("/**", "/*") else None

    def matches(self, url: str, *, surely: bool) -> bool:
        """Return True if the pattern matches an address.

        Args:
            url: An absolute address.
            surely: If true, ambiguous addresses do not match, and a pattern without a port matches only the scheme's
                default port; else ambiguous addresses match, and it matches any port.
        """
        try:
            parsed = Url(url)
        except ValidationError:
            return not surely
        host = (parsed.host or "").rstrip(".")
        if surely and (parsed.username or parsed.password or _ENCODED_STEP.search(parsed.path or "")):
            return False
        return (
            any(fnmatchcase(parsed.scheme, scheme) for scheme in self._schemes)
            and (host == self._host or (not self._host.startswith("[") and fnmatchcase(host, self._host)))
            and self._matches_port(parsed, surely=surely)
            and self._matches_path(parsed)
        )

    def _matches_port(self, parsed: Url, *, surely: bool) -> bool:
        port = parsed.port or _DEFAULT_PORT.get(parsed.scheme)
        if self._port is None:
            return not surely or port == _DEFAULT_PORT.get(parsed.scheme)
        return self._port == "*" or self._port == str(port)

    def _matches_path(self, parsed: Url) -> bool:
        if self._path is None:
            return True
        path = parsed.path or "/"
        requested = path if parsed.query is None else f"{path}?{parsed.query}"
        return fnmatchcase(requested, self._path) or fnmatchcase(path, self._path)


def origin_of(url: str) -> str | None:
    """Return scheme, host and port of an address as a pattern that matches exactly these; None if it has no host."""
    try:
        parsed = Url(url)
    except ValidationError:
        return None
    if not parsed.host:
        return None
    port = parsed.port
    shown = "" if port is None or port == _DEFAULT_PORT.get(parsed.scheme) else f":{port}"
    return f"{parsed.scheme}://{parsed.host}{shown}"


def host_of(url: str) -> str | None:
    """Return the host of an address, or None if it has none."""
    try:
        return Url(url).host
    except ValidationError:
        return None
