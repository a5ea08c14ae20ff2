"""What a schema of settings says about one place: known or not, secret or not, harmless or not."""

import enum
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import pytest
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from agentcore.config.app_json import HARMLESS
from agentcore.core.settings.app_schema import module_schema
from agentcore.core.settings.settings_schema import SettingsSchema

T = TypeVar("T")
Marked = Annotated[T, Field(json_schema_extra=HARMLESS)]


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


@pytest.fixture(scope="module")
def schema() -> SettingsSchema:
    made = module_schema(Tree)
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
    assert schema.classify_path(path) == place


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


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(BaseModel):
    model_config = ConfigDict(extra="forbid")
    width: Marked[int] = 1
    height: Marked[int] = 1


class Half(BaseModel):
    model_config = ConfigDict(extra="forbid")
    width: Marked[int] = 1
    name: str = ""


class Open(BaseModel):
    width: Marked[int] = 1


class Nested(BaseModel):
    model_config = ConfigDict(extra="forbid")
    inner: "Nested | None" = None
    width: Marked[int] = 1


class Marks(BaseModel):
    model_config = ConfigDict(extra="forbid")
    count: Marked[int] = 1
    ratio: Marked[float] = 0.5
    is_quiet: Marked[bool] = False
    unit: Marked[Literal["c", "k"]] = "c"
    colour: Marked[Colour] = Colour.RED
    perhaps: Marked[int | None] = None
    choice: Marked[Literal["a"] | bool | None] = None
    size: Size = Size()
    size_perhaps: Size | None = None

    unmarked: int = 1
    text: Marked[str] = ""
    file: Marked[Path] = Path()
    secret: Marked[SecretStr | None] = None
    many: Marked[list[int]] = []
    by_name: Marked[dict[str, int]] = {}
    anything: Marked[Any] = None
    number_or_text: Marked[int | str] = 0
    duration: Marked[timedelta] = timedelta()
    both: Annotated[int, Field(json_schema_extra={"x-harmless": True, "x-policy": True})] = 1
    said: Annotated[int, Field(json_schema_extra={"x-harmless": "yes"})] = 1
    half: Half = Half()
    marked_half: Marked[Half] = Half()
    policy_size: Annotated[Size, Field(json_schema_extra={"x-policy": True})] = Size()
    open: Open = Open()
    nested: Nested = Nested()
    proxy: Size = Size()
    aliased: Annotated[bool, Field(alias="envVars", json_schema_extra={"x-harmless": True})] = False


@pytest.fixture(scope="module")
def marks() -> SettingsSchema:
    made = module_schema(Marks)
    assert made is not None
    return SettingsSchema(made)


@pytest.mark.spec("K5")
@pytest.mark.parametrize(
    "path",
    [
        *(("count",), ("ratio",), ("is_quiet",), ("unit",), ("colour",), ("perhaps",), ("choice",)),
        *(("size",), ("size", "width"), ("size_perhaps",), ("size_perhaps", "height"), ("half", "width")),
        *(("open", "width"), ("nested", "width"), ("nested", "inner", "width")),
    ],
)
def test_marked_numbers_switches_and_choices_are_harmless(marks: SettingsSchema, path: Any) -> None:
    assert marks.is_harmless(path)


@pytest.mark.spec("K5")
@pytest.mark.parametrize(
    "path",
    [
        *((), ("unmarked",), ("text",), ("file",), ("secret",), ("many",), ("many", 0), ("by_name",), ("by_name", "x")),
        *(("anything",), ("number_or_text",), ("duration",), ("both",), ("said",)),
        *(("half",), ("half", "name"), ("marked_half",), ("policy_size",), ("policy_size", "width")),
        *(("open",), ("nested",), ("proxy",), ("proxy", "width"), ("envVars",), ("nothing",), ("size", "depth")),
    ],
)
def test_all_else_is_policy_whatever_its_mark(marks: SettingsSchema, path: Any) -> None:
    assert not marks.is_harmless(path)


@pytest.mark.spec("K5")
@pytest.mark.parametrize(
    "name",
    [
        *("executable", "command", "args", "env", "environment", "path", "basePath", "work_dir", "directory", "root"),
        *("chroot", "hosts", "hostname", "baseUrl", "urls", "cdp_endpoint", "proxy", "allow_private", "allowed_hosts"),
        *("blocked", "sandbox", "no_sandbox", "trusted", "unprotected", "writable", "profile", "USE_PROXY"),
    ],
)
def test_name_that_tells_of_programs_places_or_rights_is_never_harmless(name: str) -> None:
    part = {"type": "boolean", "x-harmless": True}
    schema = SettingsSchema({"type": "object", "properties": {name: part, "quiet": part}})
    assert not schema.is_harmless((name,))
    assert schema.is_harmless(("quiet",))


def test_kinds_of_values_that_a_schema_tells_of(marks: SettingsSchema) -> None:
    taken = {"count": 3, "ratio": 1, "is_quiet": True, "unit": "k", "perhaps": None, "size": {"width": 4}}
    assert all(marks.accepts_value((key,), value) for key, value in taken.items())
    others = {"count": "3", "ratio": True, "is_quiet": 1, "unit": "x", "size": {"depth": 1}, "perhaps": [], "colour": 1}
    assert not any(marks.accepts_value((key,), value) for key, value in others.items())


def test_declared_places_end_although_the_model_holds_itself(schema: SettingsSchema) -> None:
    declared = schema.declared_paths()
    assert ("leaf", "key") in declared
    assert ("left", "left", "leaf", "size") in declared
    assert max(map(len, declared)) == 8


def test_model_that_json_schema_cannot_say_has_none() -> None:
    class Odd(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        thing: SettingsSchema

    assert module_schema(Odd) is None
