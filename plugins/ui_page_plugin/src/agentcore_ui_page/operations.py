"""The operations of `ui_page_dom_patch`."""

from typing import Annotated, Literal

from agentcore.api import BaseModel, Field, known_to_models

Selector = Annotated[
    str,
    Field(
        min_length=1,
        max_length=2000,
        description="CSS selector; it also finds what stands inside of components.",
        json_schema_extra=known_to_models(),
    ),
]
Html = Annotated[
    str,
    Field(
        max_length=500_000,
        description="HTML; scripts in it do not run.",
        json_schema_extra=known_to_models(),
    ),
]
Text = Annotated[str, Field(max_length=500_000, description="Plain text.", json_schema_extra=known_to_models())]
# lengths are no part of patterns: counting repetitions of a Unicode class took 110 ms and 17 MiB to compile
ClassName = Annotated[
    str, Field(pattern=r"^[^\s]+$", max_length=200, description="One class.", json_schema_extra=known_to_models())
]


class _Operation(BaseModel, defer_build=True, extra="forbid", json_schema_extra=known_to_models()):
    pass


class SetText(_Operation):
    """Replace what an element holds by text."""

    op: Literal["setText"]
    selector: Selector
    text: Text


class SetHtml(_Operation):
    """Replace what an element holds by HTML."""

    op: Literal["setHtml"]
    selector: Selector
    html: Html


class SetAttr(_Operation):
    """Set an attribute."""

    op: Literal["setAttr"]
    selector: Selector
    name: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z_:][\w:.-]*$",
            max_length=200,
            description="The attribute's name.",
            json_schema_extra=known_to_models(),
        ),
    ]
    value: Text


class Remove(_Operation):
    """Take elements away."""

    op: Literal["remove"]
    selector: Selector


class InsertAdjacentHtml(_Operation):
    """Put HTML beside or into an element."""

    op: Literal["insertAdjacentHtml"]
    selector: Selector
    position: Annotated[
        Literal["beforebegin", "afterbegin", "beforeend", "afterend"],
        Field(description="Where, as in the DOM.", json_schema_extra=known_to_models()),
    ]
    html: Html


class AddClass(_Operation):
    """Give elements a class."""

    op: Literal["addClass"]
    selector: Selector
    className: ClassName  # noqa: N815 - spelled as it is on the wire


class RemoveClass(_Operation):
    """Take a class from elements."""

    op: Literal["removeClass"]
    selector: Selector
    className: ClassName  # noqa: N815 - spelled as it is on the wire


class InjectCss(_Operation):
    """Add a style sheet to the page."""

    op: Literal["injectCss"]
    css: Annotated[
        str,
        Field(
            max_length=500_000,
            description="CSS; the page's colours are custom properties.",
            json_schema_extra=known_to_models(),
        ),
    ]


Operation = Annotated[
    SetText | SetHtml | SetAttr | Remove | InsertAdjacentHtml | AddClass | RemoveClass | InjectCss,
    Field(discriminator="op"),
]

_CODE_ATTRIBUTES = frozenset(("srcdoc", "href", "src", "action", "formaction", "style"))


def brings_html(operation: Operation) -> bool:
    """Return True if an operation sets HTML, or an attribute that can act like it; such patches are `dangerous`."""
    if isinstance(operation, SetHtml | InsertAdjacentHtml):
        return True
    if not isinstance(operation, SetAttr):
        return False
    name = operation.name.lower()
    return name.startswith("on") or name in _CODE_ATTRIBUTES
