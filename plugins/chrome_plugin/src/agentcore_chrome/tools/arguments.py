"""How the tools of `browser` name the page that they act on, and arguments that many of them have."""

from typing import Annotated

from agentcore.api import Field, ResourceUse

LONGEST_S = 600.0
"""Time limit of a call by the host; the tools' own limit is `timeoutMs`."""

PAGE = ResourceUse("browser", create=True)
PAGE_IF_ANY = ResourceUse("browser")
PAGE_AT_ONCE = ResourceUse("browser", skip_queue=True)

PageId = Annotated[
    str | None, Field(max_length=200, description="The page; left out, the session's first one.", pattern=r"^\S+$")
]
Url = Annotated[str, Field(min_length=1, max_length=16_384, description="Address, such as https://example.org/a.")]
Selector = Annotated[
    str,
    Field(min_length=1, max_length=4096, description="CSS selector, or a reference of browser_snapshot such as e12."),
]
ShowChanges = Annotated[bool, Field(description="Tell what changed in the page.")]
LimitMs = Annotated[int, Field(ge=1, le=300_000, description="Limit in milliseconds.")]
