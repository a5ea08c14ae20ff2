"""Arguments that many tools have, and how they name the page or tab that they act on."""

from typing import Annotated

from agentcore.api import Field, ResourceUse

LONGEST_S = 600.0
"""Time limit of a call by the host; the tools' own limit is `timeoutMs`."""

DEFAULT_MS = 30_000
"""Limit of a call that names none."""

PAGE = ResourceUse("browser", create=True)
PAGE_IF_ANY = ResourceUse("browser")
PAGE_AT_ONCE = ResourceUse("browser", skip_queue=True)
TAB = ResourceUse("chrome_tab", argument="tabId", key="tabId", not_found="tab_not_found")
TAB_AT_ONCE = ResourceUse("chrome_tab", argument="tabId", key="tabId", not_found="tab_not_found", skip_queue=True)

BrowserId = Annotated[str, Field(max_length=64, description="Id that chrome_launch gave.")]
TabId = Annotated[str, Field(max_length=64, description="Id that chrome_new_tab gave; chrome_list shows them.")]
TabSelector = Annotated[
    str, Field(min_length=1, max_length=4096, description="CSS selector; of several matches the first is taken.")
]
PageId = Annotated[str | None, Field(max_length=200, description="The page; default: the first.", pattern=r"^\S+$")]
PageSelector = Annotated[
    str,
    Field(min_length=1, max_length=4096, description="CSS selector, or a reference such as e12."),
]
Url = Annotated[str, Field(min_length=1, max_length=16_384, description="Address, such as https://example.org/a.")]
Script = Annotated[str, Field(min_length=1, max_length=1_000_000, description="Expression, function, or statements.")]
ShowChanges = Annotated[
    bool | None, Field(description="Wait for what it sets going and tell what changed; left out: for models, yes.")
]
LimitMs = Annotated[int, Field(ge=1, le=300_000, description="Limit in ms.")]
