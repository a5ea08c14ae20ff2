"""The WebSocket protocol between browser extension and module: one JSON object per message.

Messages of the extension are validated strictly here, because they may contain text from pages.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, ConfigDict, StringConstraints, TypeAdapter, model_validator
from pydantic.alias_generators import to_camel

from agentcore.api import BaseModel, Field

VERSION = 1
"""The protocol version; an extension with another version is refused."""

SHARES = 8
"""Maximum number of tabs that one browser shares at one time."""

RESULTS_KEPT = 64
"""Maximum number of results that an extension may send when it reconnects."""

ICON_CHARS = 180_000
"""Maximum length of an icon's data URL: 128 KiB of image data."""

URL_CHARS = 8_192
TITLE_CHARS = 1_000
PICTURE_CHARS = 900_000
"""Maximum length of a screenshot in base64; messages of the socket are limited to 1 MiB."""

Tool = Literal["page_action", "request_more_elements", "get_selected_text", "clear_ai_styles"]
"""The tools that agents can call in a tab."""


def _web_address(url: str) -> str:
    if not url.lower().startswith(("http://", "https://")):
        raise ValueError("only pages at http:// and https:// addresses can be shared")
    return url


Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
WebAddress = Annotated[str, Field(max_length=URL_CHARS), AfterValidator(_web_address)]
Title = Annotated[str, Field(max_length=TITLE_CHARS)]
Icon = Annotated[
    str, StringConstraints(pattern=r"^data:image/(png|jpeg|webp|gif|x-icon);base64,", max_length=ICON_CHARS)
]


class Message(BaseModel, defer_build=True):
    """What every message has in common: camelCase on the wire, and no field that nobody knows."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True)


class Failure(Message):
    """Why a tab did not do what it was asked."""

    type: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
    message: Annotated[str, Field(max_length=4_000)]


class CallResult(Message):
    """How one call ended: `result` when `ok`, else `error`."""

    call_id: Id
    ok: bool
    result: dict[str, Any] | None = None
    error: Failure | None = None

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Self:
        if (self.result is None) is self.ok or (self.error is None) is not self.ok:
            raise ValueError("`result` stands there exactly when `ok` is true, and `error` when it is false")
        return self


class TabOffer(Message):
    """One tab that the person shares with one session."""

    share_id: Id
    session_id: Id
    resource_id: Annotated[str, Field(max_length=200)] | None = None
    """Under which the server knew it last; None: it has not been shared before."""
    url: WebAddress
    title: Title = ""
    icon: Icon | None = None
    state: Literal["ready", "paused"] = "ready"


class Hello(Message):
    """Begins a conversation: who it is, what is shared already, and what became of calls of before a break."""

    type: Literal["hello"]
    version: int
    instance: Id
    browser: Annotated[str, Field(max_length=200)] = ""
    extension_version: Annotated[str, Field(max_length=40)] = ""
    locale: Annotated[str, Field(max_length=40)] = "en"
    shares: Annotated[tuple[TabOffer, ...], Field(max_length=SHARES)] = ()
    results: Annotated[tuple[CallResult, ...], Field(max_length=RESULTS_KEPT)] = ()


class Share(TabOffer):
    """The person has shared a tab."""

    type: Literal["share"]


class Update(Message):
    """A shared tab shows something else; `paused` while it waits for the person, for it has left its site."""

    type: Literal["update"]
    share_id: Id
    url: WebAddress | None = None
    title: Title | None = None
    icon: Icon | None = None
    state: Literal["ready", "paused"] | None = None


class Unshare(Message):
    """The person has ended it, or the tab was closed."""

    type: Literal["unshare"]
    share_id: Id


class Result(CallResult):
    """How a call ended, when it ends."""

    type: Literal["result"]


class Ping(Message):
    """A sign of life."""

    type: Literal["ping"]


Incoming = Hello | Share | Update | Unshare | Result | Ping
INCOMING: TypeAdapter[Incoming] = TypeAdapter(Annotated[Incoming, Field(discriminator="type")])
"""Validates messages of the extension."""


class TabScreenshot(BaseModel, defer_build=True):
    """A still picture of a tab."""

    model_config = ConfigDict(alias_generator=to_camel, extra="ignore", frozen=True)

    mime: Literal["image/png", "image/jpeg", "image/webp"]
    taken_at: Annotated[int, Field(ge=0, le=1 << 53, description="Milliseconds since 1970.")]
    base64: Annotated[str, Field(max_length=PICTURE_CHARS)]
