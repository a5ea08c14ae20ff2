"""What a schema of settings says about one place: known or not, secret or not, policy or not."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from agentcore.host.config_model import POLICY
from agentcore.host.config_schema import settings_schema
from agentcore.host.settings_schema import SettingsSchema


class Leaf(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["leaf"] = "leaf"
    key: SecretStr | None = None
    size: int = 1


class Tree(BaseModel):
    model_config = ConfigDict(extra="forbid")
    left: "Tree | None" = None
    leaf: Leaf = Leaf()
    either: Leaf | int = 0
    leaves: list[Leaf] = []
    by_name: dict[str, Leaf] = {}
    pair: tuple[int, SecretStr] | None = None
    free: Any = None
    texts: dict[str, str] = {}
    allowed: Annotated[list[str], Field(json_schema_extra=POLICY)] = []


@pytest.fixture(scope="module")
def schema() -> SettingsSchema:
    made = settings_schema(Tree)
    assert made is not None
    return SettingsSchema(made)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), "declared"),
        (("leaf", "size"), "declared"),
        (("left", "left", "leaf", "size"), "declared"),
        (("leaves", 3, "size"), "declared"),
        (("by_name", "x"), "open"),
        (("by_name", "x", "size"), "open"),
        (("texts", "Authorization"), "open"),
        (("free", "x", 0), "open"),
        (("leaf", "sise"), "unknown"),
        (("leaf", "size", "x"), "unknown"),
        (("nothing",), "unknown"),
        (("leaf", 0), "unknown"),
    ],
)
def test_place_is_declared_open_or_unknown(schema: SettingsSchema, path: Any, place: str) -> None:
    assert schema.place(path) == place


@pytest.mark.parametrize(
    "path",
    [
        ("leaf", "key"),
        ("either", "key"),
        ("left", "leaf", "key"),
        ("leaves", 0, "key"),
        ("by_name", "x", "key"),
        ("pair", 1),
    ],
)
def test_secret_is_known_through_unions_lists_and_itself(schema: SettingsSchema, path: Any) -> None:
    assert schema.is_secret(path)
    assert schema.is_secret((*path, "inside"))
    assert not schema.is_secret((*path[:-1], "size"))


@pytest.mark.parametrize(
    "path", [("leaf",), ("leaves",), ("by_name",), ("pair",), ("left",), ("allowed",), ("allowed", 0)]
)
def test_what_holds_a_secret_or_says_what_is_allowed_is_policy(schema: SettingsSchema, path: Any) -> None:
    assert schema.is_policy(path)


@pytest.mark.parametrize("path", [("leaf", "size"), ("leaves", 0, "size"), ("texts",), ("free",), ("left", "texts")])
def test_the_rest_is_not_policy(schema: SettingsSchema, path: Any) -> None:
    assert not schema.is_policy(path)


def test_declared_places_end_although_the_model_holds_itself(schema: SettingsSchema) -> None:
    declared = schema.declared()
    assert ("leaf", "key") in declared
    assert ("left", "left", "leaf", "size") in declared
    assert max(map(len, declared)) == 8


def test_model_that_json_schema_cannot_say_has_none() -> None:
    class Odd(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        thing: SettingsSchema

    assert settings_schema(Odd) is None
