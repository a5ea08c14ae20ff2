"""Schemas of results: what is read off types is what pydantic makes of them."""

import sys
from importlib import import_module
from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict

import pytest
import typing_extensions
from pydantic import BaseModel, Field, TypeAdapter

from agentcore.api import Module, tool
from agentcore.api.return_schema import Untitled, build_output_schema, strip_titles
from agentcore.api.return_type import to_pydantic_hint
from agentcore.api.tool_method import create_tool_methods

HOLD_RESULTS = [
    "agentcore_agent_tools.results",
    "agentcore_chrome.tools.result_types",
    "agentcore_fs_tools.results",
    "agentcore_shell_tools.results",
    "agentcore_system_tools.results",
    "agentcore_ui_page.results",
    "agentcore_web_tools.fetching",
    "agentcore_web_tools.searching",
]


class Part(TypedDict, total=False):
    name: Required[str]
    size: Annotated[float, Field(description="In bytes.")]


class Node(typing_extensions.TypedDict):
    children: "list[Node]"


class Model(BaseModel):
    """A model."""

    nodes: list[Node]


class Whole(Part):
    """A whole.

    Its parts are parts.
    """

    parts: list[Part]
    main: Annotated[Part | None, Field(description="The first.")]
    kind: Literal["a", "b"]
    only: Literal["c"]
    more: NotRequired[dict[str, Any]]
    counts: dict[str, int]
    free: object


class Bounded(TypedDict):
    size: Annotated[int, Field(ge=0)]


class Numbered(TypedDict):
    number: Literal[1, 2]
    pair: tuple[int, str]


class Doubled(TypedDict):
    either: list[Any] | list[object] | None


class Old(typing_extensions.TypedDict):
    parts: list[Part]


class Other:
    class Part(TypedDict):
        other: int


class Homonyms(TypedDict):
    one: Part
    two: Other.Part


def of_pydantic(kind: Any) -> dict[str, Any]:
    adapter = TypeAdapter(to_pydantic_hint(kind))
    return strip_titles(adapter.json_schema(mode="serialization", schema_generator=Untitled))


@pytest.mark.parametrize("kind", [Part, Whole, Model, Bounded, Numbered, Doubled, Old, Node, Homonyms])
def test_schema_is_what_pydantic_makes_of_the_type(kind):
    assert build_output_schema(kind) == of_pydantic(kind)


@pytest.mark.parametrize("module", HOLD_RESULTS)
def test_schemas_of_bundled_tools_are_what_pydantic_makes_of_their_types(module):
    kinds = [kind for kind in vars(import_module(module)).values() if typing_extensions.is_typeddict(kind)]
    assert kinds
    for kind in kinds:
        assert build_output_schema(kind) == of_pydantic(kind)


class Tree(TypedDict):
    children: "list[Tree]"


class Forest(Module):
    @tool
    def tree(self) -> Tree:
        """Give a tree."""

    @tool
    def trees(self) -> list[Tree]:
        """Give trees."""


def test_tool_whose_type_cannot_be_checked_is_left_out():
    found = create_tool_methods(Forest(), {})
    if sys.version_info >= (3, 12):  # it can be checked there
        assert not found.faults
        schema = found.found["tree"].definition.output_schema
        assert schema is not None
        assert schema["$defs"]["Tree"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
        return
    assert not found.found
    assert [str(reason) for _, reason in found.faults] == 2 * [
        "Tree holds itself: take typing_extensions.TypedDict for it, or a model"
    ]
