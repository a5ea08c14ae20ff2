"""Settings of the web tools."""

from typing import Annotated

from agentcore.api import Field, Module, SecretStr
from agentcore_web_tools.searching import ProviderName

_HARMLESS = {"x-harmless": True}
MARGIN_S = 25.0
"""Seconds that reading a large page may take in addition to fetching it."""

LONGEST_S = 120.0


class WebSettings(Module.Settings):
    """Settings of the web tools."""

    allow_private: Annotated[bool, Field(description="Whether this machine and private networks may be reached.")] = (
        False
    )
    allowed_hosts: Annotated[
        tuple[str, ...],
        Field(description="If any are listed, only these: example.com (and below it), *.example.com, 192.0.2.0/24."),
    ] = ()
    blocked_hosts: Annotated[tuple[str, ...], Field(description="Never these hosts, in the same spelling.")] = ()
    timeout: Annotated[
        float,
        Field(ge=1, le=LONGEST_S - MARGIN_S, description="Seconds for one address.", json_schema_extra=_HARMLESS),
    ] = 30.0
    max_bytes: Annotated[
        int,
        Field(
            ge=10_000,
            le=50_000_000,
            description="Bytes of a decompressed document that are taken.",
            json_schema_extra=_HARMLESS,
        ),
    ] = 8_000_000
    user_agent: Annotated[
        str,
        Field(min_length=1, max_length=500, pattern=r"^[\x20-\x7e]+$", description="How the client names itself."),
    ] = "Mozilla/5.0 (compatible; agentcore-web-tools/0.1)"
    search_provider: Annotated[
        ProviderName, Field(description="Who searches: an instance of SearXNG, or the Brave Search API.")
    ] = "none"
    search_url: Annotated[
        str | None,
        Field(description="Address of the SearXNG instance (which may be on this machine); for Brave of its API."),
    ] = None
    search_key: Annotated[SecretStr | None, Field(description="API key of the provider; SearXNG needs none.")] = None
