"""The JSON Schema of app.json: what an editor would accept, and what not."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import jsonschema_rs
import pytest
from pydantic import ConfigDict
from structlog.testing import capture_logs

from agentcore.api import BaseModel, Field, Module, SecretStr
from agentcore.config.loading import load_config
from agentcore.core.settings.app_schema import app_schema, installed_schema


class Part(BaseModel):
    size: int = 1


class Weather(Module.Settings):
    """Settings of the weather."""

    api_key: SecretStr = Field(description="From the provider's page.")
    unit: Literal["celsius", "kelvin"] = "celsius"
    parts: list[Part] = Field(default_factory=list)


class Odd:
    pass


class WithoutSchema(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    odd: Odd = Odd()


def accepts(schema: dict[str, Any], document: Any) -> bool:
    return jsonschema_rs.validator_for(schema).is_valid(document)


@pytest.mark.spec("M3")
@pytest.mark.parametrize(
    "document",
    [
        {},
        {"$schema": "app.schema.json", "modules": ["weather", "not_installed"], "locale": "zh"},
        {"config": {"weather": {"unit": "kelvin", "parts": [{"size": 2}]}, "unlisted": {"any": 1}}},
        {"workspace": {"roots": ["a"]}, "server": {"approval_port": None}, "limits": {"init_timeout": 5}},
        {
            "models": {"a": {}},
            "agents": {},
            "approvals": {"mode": "allow", "rules": [{"decision": "deny", "tool": "bash"}]},
        },
    ],
)
def test_document_that_loads_is_accepted(document: Any, tmp_path: Path) -> None:
    assert accepts(app_schema({"weather": Weather}, ["weather"]), document)
    (tmp_path / "app.json").write_text(json.dumps(document))
    load_config(tmp_path / "app.json", {})


@pytest.mark.spec("M3")
@pytest.mark.parametrize(
    "document",
    [
        [],
        {"modles": []},
        {"modules": "weather"},
        {"modules": ["Not-A-Name"]},
        {"modules": ["a", "a"]},
        {"config": {"unlisted": 1}},
        {"server": {"port": "80"}},
        {"server": {"port": 70000}},
        {"workspace": {"roots": []}},
        {"locale": "fr"},
    ],
)
def test_document_that_does_not_load_is_refused(document: Any) -> None:
    assert not accepts(app_schema({"weather": Weather}, ["weather"]), document)


@pytest.mark.spec("M3")
@pytest.mark.parametrize("settings", [{"unti": 1}, {"unit": "mile"}, {"parts": [{"size": "big"}]}])
def test_wrong_settings_of_a_module_are_refused(settings: Any) -> None:
    assert not accepts(app_schema({"weather": Weather}), {"config": {"weather": settings}})


def test_every_key_is_described() -> None:
    schema = app_schema({"weather": Weather})
    objects = [schema, *(part for name, part in schema["$defs"].items() if "." not in name)]
    plain = {key: value for part in objects for key, value in part["properties"].items() if "$ref" not in value}
    assert [key for key, value in plain.items() if "description" not in value] == ["unit", "parts"]
    assert all("description" in part for part in objects)
    assert schema["$defs"]["weather"]["description"] == "Settings of the weather."


def test_installed_modules_are_offered_by_name() -> None:
    items = app_schema({}, ["weather", "clock"])["properties"]["modules"]["items"]
    assert items["anyOf"][0] == {"enum": ["clock", "weather"]}


def test_models_of_one_name_in_two_modules_stay_apart() -> None:
    def settings(kind: type) -> type[BaseModel]:
        class Inner(BaseModel):
            value: kind  # type: ignore[valid-type]

        class Settings(BaseModel):
            inner: Inner

        return Settings

    schema = app_schema({"one": settings(int), "two": settings(str)})
    assert accepts(schema, {"config": {"one": {"inner": {"value": 1}}, "two": {"inner": {"value": "1"}}}})
    assert not accepts(schema, {"config": {"two": {"inner": {"value": 1}}}})


def test_settings_that_no_schema_can_say_are_any_object() -> None:
    with capture_logs() as logs:
        schema = app_schema({"odd": WithoutSchema})
    assert [(entry["event"], entry["config"]) for entry in logs] == [("settings_without_schema", "odd")]
    assert accepts(schema, {"config": {"odd": {"anything": 1}}})


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


LOCAL = """
from agentcore.api import Module
class {name}(Module):
    config_key = {key!r}
    class Settings(Module.Settings):
        size: int = 1
"""


@pytest.mark.spec("M3")
def test_schema_covers_what_is_installed_and_names_what_is_broken(folder: Path) -> None:
    (folder / "clock.py").write_text(LOCAL.format(name="Clock", key=None))
    (folder / "zebra.py").write_text(LOCAL.format(name="Zebra", key="shared"))
    (folder / "sonar.py").write_text("from agentcore.api import Module\nclass Sonar(Module): config_key = 'shared'\n")
    (folder / "plain.py").write_text("def init(runtime): ...\n")
    (folder / "leaving.py").write_text("raise SystemExit('bye')\n")
    schema, failures = installed_schema(folder)
    assert failures == {"leaving": "SystemExit: bye"}
    config = schema["properties"]["config"]["properties"]
    assert {"clock", "shared", "plain", "leaving"} <= set(config)
    assert {"zebra", "sonar"}.isdisjoint(config)
    assert config["leaving"] == config["plain"] == {"type": "object"}
    assert accepts(schema, {"config": {"clock": {"size": 2}, "shared": {"size": 2}}})
    assert not accepts(schema, {"config": {"clock": {"sise": 2}}})
