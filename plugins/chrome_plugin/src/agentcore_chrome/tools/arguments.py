"""Arguments shared by many tools, and how tools name the page or tab that they act on."""

from typing import Annotated, Any

from pydantic.config import JsonDict

from agentcore.api import HIDDEN_FROM_MODELS, Field, ResourceUse, also_called, known_to_models

LONGEST_S = 600.0
"""Time limit that the core sets for a call; the tools' own limit is `timeoutMs`."""

DEFAULT_MS = 30_000
"""Limit of a call without `timeoutMs`."""

PAGE = ResourceUse("browser", create=True)
PAGE_IF_ANY = ResourceUse("browser")
PAGE_AT_ONCE = ResourceUse("browser", skip_queue=True)
TAB = ResourceUse("chrome_tab", argument="tabId", key="tabId", not_found="tab_not_found")
TAB_AT_ONCE = ResourceUse("chrome_tab", argument="tabId", key="tabId", not_found="tab_not_found", skip_queue=True)


NO_NAMES: JsonDict = {}
ELEMENT_NAMES = also_called("ref", "target", ignored=("element", "elementDescription"))
"""What widely used browser tool servers call an element: its reference, and a description for their users."""
TIMEOUT_NAMES = also_called("timeout")


def known_field(description: str, *, told: str = "", names: JsonDict = NO_NAMES, **bounds: Any) -> Any:
    """Return a field that models understand from its name and the module's instructions.

    Args:
        description: The description for users and programs.
        told: The description for models; empty: none.
        names: Names that models know from other products (`also_called`).
        bounds: Constraints, as in `Field`.
    """
    return Field(description=description, json_schema_extra=known_to_models(told) | names, **bounds)


def for_programs(description: str, *, names: JsonDict = NO_NAMES, **bounds: Any) -> Any:
    """Return a field that is hidden from models because they do not need it; they may still set it."""
    return Field(description=description, json_schema_extra=HIDDEN_FROM_MODELS | names, **bounds)


def element_field(description: str, *, told: str = "") -> Any:
    """Return the field of an optional element."""
    return known_field(description, told=told, names=ELEMENT_NAMES)


BrowserId = Annotated[str, Field(max_length=64, description="Id that chrome_launch gave.")]
TabId = Annotated[str, Field(max_length=64, description="Id that chrome_new_tab gave; chrome_list shows them.")]
TabSelector = Annotated[
    str, Field(min_length=1, max_length=4096, description="CSS selector; of several matches the first is taken.")
]
TabElement = Annotated[
    str, Field(min_length=1, max_length=4096, description="CSS selector that one visible element matches.")
]
PageId = Annotated[str | None, known_field("The page; default: the first.", max_length=2000, pattern=r"^\S+$")]
PageSelector = Annotated[str, known_field("CSS selector, or a reference such as e12.", min_length=1, max_length=4096)]
ActedElement = Annotated[
    str, known_field("CSS selector, or a reference such as e12.", names=ELEMENT_NAMES, min_length=1, max_length=4096)
]
Url = Annotated[str, known_field("Address, such as https://example.org/a.", min_length=1, max_length=16_384)]
Script = Annotated[str, known_field("Expression, function, or statements.", min_length=1, max_length=1_000_000)]
ShowChanges = Annotated[
    bool | None, for_programs("Wait for what it sets going and tell what changed; left out: for models, yes.")
]
ElementLimitMs = Annotated[
    int | None,
    known_field(
        "Limit in ms; left out, 5,000 for the element to be there and usable.", names=TIMEOUT_NAMES, ge=1, le=300_000
    ),
]
HiddenElementLimitMs = Annotated[
    int | None,
    for_programs(
        "Limit in ms; left out, 5,000 for the element to be there and usable.", names=TIMEOUT_NAMES, ge=1, le=300_000
    ),
]
"""The same, where models hardly ever need another one: it is accepted from them, and not described to them."""
LimitMs = Annotated[int, for_programs("Limit in ms.", names=TIMEOUT_NAMES, ge=1, le=300_000)]
PageLimitMs = Annotated[int, known_field("Limit in ms.", names=TIMEOUT_NAMES, ge=1, le=300_000)]
"""Limit of calls whose duration depends on the page, so that a model may have to raise it."""
