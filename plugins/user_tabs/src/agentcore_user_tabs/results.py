"""Responses of a tab, which are validated strictly because they contain text from pages, and structured results."""

from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, ValidationError
from typing_extensions import TypedDict

from agentcore.api import BaseModel, Field, ToolError

M = TypeVar("M", bound=BaseModel)
ELEMENTS = 500
TEXT_CHARS = 200_000


class _Answer(BaseModel, defer_build=True):
    model_config = ConfigDict(extra="ignore", frozen=True)


class StepAnswer(_Answer):
    """How one action went."""

    success: bool
    message: Annotated[str, Field(max_length=TEXT_CHARS)]


class Element(_Answer):
    """One element of a page, by the id that later actions name."""

    id: Annotated[str, Field(max_length=64)]
    desc: Annotated[str, Field(max_length=2_000)]


class ActionsAnswer(_Answer):
    """How all actions of a call went, in order, and the elements that refusals name."""

    success: bool
    results: Annotated[list[StepAnswer], Field(max_length=200)]
    summary: Annotated[str, Field(max_length=2_000)]
    elements: Annotated[list[Element], Field(max_length=ELEMENTS, default_factory=list)]


class ElementsAnswer(_Answer):
    """Elements of a page."""

    success: bool
    elements: Annotated[list[Element], Field(max_length=ELEMENTS)]


class SelectionAnswer(_Answer):
    """What the person has selected; empty: nothing."""

    success: bool
    text: Annotated[str, Field(max_length=TEXT_CHARS)] = ""


class ClearAnswer(_Answer):
    """The page is as it was."""

    success: bool
    message: Annotated[str, Field(max_length=2_000)] = ""


class ActionStep(TypedDict):
    """How one action went."""

    success: bool
    message: str


class PageActions(TypedDict):
    """How all actions went, and the tab."""

    success: bool
    results: list[ActionStep]
    summary: str
    resourceId: str


class PageElement(TypedDict):
    """One element."""

    id: str
    desc: str


class PageElements(TypedDict):
    """Elements, and the page that they are of."""

    success: bool
    elements: list[PageElement]
    url: str
    title: str
    resourceId: str


class SelectedText(TypedDict):
    """What is selected."""

    success: bool
    text: str
    resourceId: str


class ClearedStyles(TypedDict):
    """The marks are gone."""

    success: bool
    message: str
    resourceId: str


def read_answer(model: type[M], result: dict[str, Any]) -> M:
    """Validate a tab's response.

    Raises:
        ToolError: `user_tab_failed` if the tab reports a failure or the response is invalid.
    """
    if result.get("success") is False and isinstance(error := result.get("error"), str):
        raise ToolError("user_tab_failed", error[:4_000], untrusted=True)
    try:
        return model.model_validate(result)
    except ValidationError as exc:
        where = ".".join(str(part) for part in exc.errors()[0]["loc"])
        message = f"the extension answered in another form than it should ({where or 'all of it'}); update it"
        raise ToolError("user_tab_failed", message) from exc
