"""Actions of an agent in a page and their targets: the tool's arguments, which are also sent to the extension."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict

from agentcore.api import BaseModel, Field, known_to_models

Kind = Literal["fill", "click", "highlight", "underline", "select", "check", "scroll", "read"]
READING: frozenset[Kind] = frozenset(("highlight", "underline", "scroll", "read"))
"""Actions that change nothing but the page's appearance for the user."""

ACTIONS = 50
VALUE_CHARS = 100_000


class Target(BaseModel, defer_build=True):
    """What an action is about."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    elementId: Annotated[str | None, Field(max_length=64, json_schema_extra=known_to_models())] = None  # noqa: N815
    selector: Annotated[
        str | None, Field(max_length=2_000, description="CSS selector.", json_schema_extra=known_to_models())
    ] = None
    description: Annotated[
        str | None,
        Field(
            max_length=500, description="What it is called, where no id is known.", json_schema_extra=known_to_models()
        ),
    ] = None


def _as_text(value: object) -> object:
    """Convert numbers to text, because models pass `16` where a field expects digits."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


class Params(BaseModel, defer_build=True):
    """How an action is carried out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: Annotated[
        Annotated[str, Field(max_length=VALUE_CHARS)] | bool | None,
        BeforeValidator(_as_text),
        Field(description="Text to fill in; the option to select; true or false to check."),
    ] = None
    color: Annotated[
        str | None, Field(max_length=64, description="A CSS colour.", json_schema_extra=known_to_models())
    ] = None
    direction: Annotated[
        Literal["up", "down", "top", "bottom"] | None,
        Field(description="Where to scroll.", json_schema_extra=known_to_models()),
    ] = None


class PageAction(BaseModel, defer_build=True):
    """One action."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    action: Kind
    target: Annotated[Target, Field(description="By `elementId` where known; {} is the selection.")]
    params: Params | None = None


def are_read_only(kinds: Iterable[Kind]) -> bool:
    """Return True if none of these actions changes the page or its site."""
    return READING.issuperset(kinds)
