"""Settings of the engine, which both modules share under `config.chrome`."""

from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, model_validator
from pydantic.config import JsonDict

from agentcore.api import BaseModel, Field, Module, SecretStr
from agentcore_chrome.endpoint import create_endpoint

Channel = Literal["chromium", "chrome", "chrome-beta", "chrome-dev", "msedge", "msedge-beta", "msedge-dev"]

_HARMLESS: JsonDict = {"x-harmless": True}

_PROXY_SCHEMES = ("http://", "socks5://")


class Viewport(BaseModel, defer_build=True):
    """The size of a page in CSS pixels."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    width: Annotated[int, Field(ge=50, le=7680, json_schema_extra=_HARMLESS)] = 1280
    height: Annotated[int, Field(ge=50, le=4320, json_schema_extra=_HARMLESS)] = 720


def _known_proxy(address: str | None) -> str | None:
    if address is None:
        return None
    if not address.startswith(_PROXY_SCHEMES):
        raise ValueError(f"begin with {' or '.join(_PROXY_SCHEMES)}")
    if not (parts := urlsplit(address)).hostname or "@" in parts.netloc:
        raise ValueError("name a host, without user and password, which are not sent")
    return address


def _user_and_password(login: SecretStr) -> SecretStr:
    if ":" not in login.get_secret_value():
        raise ValueError("write user:password")
    return login


def _create_address_validator(schemes: tuple[str, ...]) -> AfterValidator:
    """Return a validator of addresses whose errors never quote the address, which may contain a token."""

    def check(address: SecretStr | None) -> SecretStr | None:
        if address is None:
            return None
        try:
            parts = urlsplit(address.get_secret_value())
            is_whole = bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_whole = False
        if not is_whole or parts.scheme not in schemes:
            raise ValueError(f"write an address that begins with {', '.join(f'{one}://' for one in schemes)}")
        return address

    return AfterValidator(check)


Permission = Literal["geolocation", "notifications", "camera", "microphone", "clipboard-read", "midi"]


class Location(BaseModel, defer_build=True):
    """A place on earth."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    latitude: Annotated[float, Field(ge=-90, le=90)]
    longitude: Annotated[float, Field(ge=-180, le=180)]


class EngineSettings(Module.Settings):
    """Settings of the browsers, for the modules `chrome` and `browser` together."""

    executable: Annotated[
        Path | None, Field(description="The browser's program; left out, it is looked for in the usual places.")
    ] = None
    # Not harmless, although one of a fixed set: it decides which program runs.
    channel: Annotated[
        Channel | None, Field(description="Which installed browser to use, instead of the first one that is found.")
    ] = None
    headless: Annotated[
        bool, Field(description="Whether browsers run without a window.", json_schema_extra=_HARMLESS)
    ] = True
    sandbox: Annotated[
        bool,
        Field(description="Whether the browser's own sandbox is used; root has none, whatever stands here."),
    ] = True
    args: Annotated[
        tuple[str, ...], Field(max_length=64, description="Further switches for the browser, such as `--lang=de`.")
    ] = ()
    profile: Annotated[
        Path | None,
        Field(description="A profile folder to keep log-ins in; all sessions share it. Left out, nothing is kept."),
    ] = None
    keep_state: Annotated[
        bool,
        Field(
            description="Keep the log-ins of each chat session (cookies, local storage, IndexedDB) for its next page, "
            "after a restart too. In a pool of hosts they are in its object store, and all its hosts can read them."
        ),
    ] = False
    proxy: Annotated[
        str | None,
        Field(description="A proxy for all connections, `http://host:port` or `socks5://host:port`."),
        AfterValidator(_known_proxy),
    ] = None
    locale: Annotated[str | None, Field(max_length=35, description="Language of pages, such as `de-DE`.")] = None
    viewport: Annotated[Viewport, Field(description="Size of a page.")] = Viewport()
    allow_private: Annotated[
        bool, Field(description="Whether pages of this machine and of private networks may be opened.")
    ] = False
    allowed_hosts: Annotated[
        tuple[str, ...], Field(description="Only these hosts, such as `example.org` or `*.example.org`.")
    ] = ()
    blocked_hosts: Annotated[tuple[str, ...], Field(description="Never these hosts.")] = ()
    permissions: Annotated[
        dict[Annotated[str, Field(pattern=r"^https?://[^/\s]+$")], tuple[Permission, ...]],
        Field(
            description="What sites may do that browsers ask a person about, by origin, such as "
            '`{"https://maps.example.org": ["geolocation"]}`. All else is refused.'
        ),
    ] = Field(default_factory=dict)
    location: Annotated[
        Location | None, Field(description="Where the browser says that it is, to sites with `geolocation`.")
    ] = None
    cdp_endpoint: Annotated[
        SecretStr | None,
        Field(
            description="Address of a browser that runs, such as `http://127.0.0.1:9222`: attach instead of launching."
        ),
        _create_address_validator(("http", "https", "ws", "wss")),
    ] = None
    playwright_endpoint: Annotated[
        SecretStr | None,
        Field(
            description="Address of a Playwright server, such as `wss://browsers.example.org/`: its browsers are used.",
        ),
        _create_address_validator(("ws", "wss")),
    ] = None
    endpoint_without_tls: Annotated[
        bool,
        Field(
            description="Speak to an endpoint on another machine without encryption: who listens on the way reads and "
            "changes all that passes, passwords too, and can drive that browser."
        ),
    ] = False
    # Not harmless: it decides whether pages are opened as tabs of that browser or by the program around it.
    view_timeout: Annotated[
        float,
        Field(
            ge=0,
            le=300,
            description="Seconds that the program at cdp_endpoint has to show a page marked with its resource's id, "
            "where it opens the pages itself. 0: none is waited for, and a tab is opened.",
        ),
    ] = 0.0
    basic_auth: Annotated[
        dict[str, Annotated[SecretStr, AfterValidator(_user_and_password)]],
        Field(
            default_factory=dict,
            max_length=100,
            description="What hosts are given that ask for a log-in by HTTP: `user:password` by `host` or `host:port`.",
        ),
    ]
    stealth: Annotated[
        bool,
        Field(
            description="Hide from simple checks of sites that a program drives the browser; no help against others."
        ),
    ] = False
    max_browsers: Annotated[
        int, Field(ge=1, le=64, description="Browser processes at once.", json_schema_extra=_HARMLESS)
    ] = 8
    max_tabs: Annotated[
        int, Field(ge=1, le=500, description="Tabs at once, over all browsers.", json_schema_extra=_HARMLESS)
    ] = 50
    launch_timeout: Annotated[
        float, Field(gt=0, le=300, description="Seconds for a browser to start.", json_schema_extra=_HARMLESS)
    ] = 60.0
    dialog_timeout: Annotated[
        float,
        Field(
            ge=0,
            le=600,
            description="Seconds that a dialog stays open for browser_handle_dialog.",
            json_schema_extra=_HARMLESS,
        ),
    ] = 60.0
    # Not harmless: it offers models more tools.
    extra_tools: Annotated[
        bool, Field(description="Whether `browser` has more than its fifteen tools: snapshot, tabs, forms, …")
    ] = True

    @property
    def is_elsewhere(self) -> bool:
        """True if the browser is not launched here."""
        return self.cdp_endpoint is not None or self.playwright_endpoint is not None

    @model_validator(mode="after")
    def _can_be_reached(self) -> Self:
        if self.cdp_endpoint is not None and self.playwright_endpoint is not None:
            raise ValueError("give one of cdp_endpoint and playwright_endpoint: the browser runs in one place")
        endpoint = create_endpoint(self)
        if endpoint is not None and not (endpoint.is_encrypted or endpoint.is_local or self.endpoint_without_tls):
            raise ValueError(
                f"{endpoint} is on another machine and not encrypted: who listens on the way could read and drive all; "
                "use wss:// or https://, an SSH tunnel to 127.0.0.1, or set endpoint_without_tls to true"
            )
        return self
