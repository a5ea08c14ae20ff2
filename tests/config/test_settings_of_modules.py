"""The settings of one module, from four places, and errors that fail it alone."""

import os
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import ConfigDict, field_validator, model_validator
from structlog.testing import capture_logs

from agentcore.api import BaseModel, Field, Module, SecretStr
from agentcore.config.config_errors import ConfigError
from agentcore.config.loading import load_config
from agentcore.config.settings_of_modules import RawSettings, module_settings, validate_settings


class Proxy(BaseModel):
    model_config = ConfigDict(extra="forbid")
    host: str = "localhost"
    password: SecretStr | None = None


class Settings(Module.Settings):
    api_key: SecretStr
    baseUrl: str = "https://example.org"  # noqa: N815 - a key that is not snake_case
    count: Annotated[int, Field(ge=1)] = 3
    proxy: Proxy = Proxy()
    proxies: dict[str, Proxy] = Field(default_factory=dict)
    tokens: list[SecretStr] = Field(default_factory=list)

    @field_validator("api_key")
    @classmethod
    def _not_short(cls, key: SecretStr) -> SecretStr:
        if len(key.get_secret_value()) < 3:
            raise ValueError(f"key {key.get_secret_value()!r} is too short; copy it whole")
        return key

    @model_validator(mode="after")
    def _one_host(self) -> "Settings":
        for token in self.tokens:
            if token.get_secret_value() == "revoked-token":
                raise ValueError("revoked-token was revoked")
        return self


class Folder:
    """A folder with an app.json, and the environment of a server that is started there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.environ: dict[str, str] = {}
        self.app('{"config": {}}')

    def app(self, text: str) -> None:
        (self.path / "app.json").write_text(text)

    def module(self, name: str, text: str) -> None:
        (self.path / "modules").mkdir(exist_ok=True)
        (self.path / "modules" / f"{name}.json").write_text(text)

    def raw(self, name: str = "weather", config_key: str | None = None, model: Any = Settings) -> RawSettings:
        return module_settings(load_config(self.path / "app.json", self.environ), name, config_key, model)

    def settings(self) -> Settings:
        return validate_settings(Settings, self.raw())

    def refused(self) -> ConfigError:
        with pytest.raises(ConfigError) as caught:
            self.settings()
        return caught.value


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.mark.spec("M3", "K5")
def test_each_place_overrides_the_one_before(folder: Folder) -> None:
    folder.app('{"config": {"weather": {"api_key": "app", "count": 1, "baseUrl": "app", "proxy": {"host": "app"}}}}')
    folder.module("weather", '{"count": 2, "baseUrl": "module", "proxy": {"password": "module"}}')
    folder.environ = {"AGENTCORE_CONFIG__WEATHER__BASEURL": "environment", "AGENTCORE_CONFIG__OTHER__COUNT": "9"}
    settings = folder.settings()
    assert (settings.api_key.get_secret_value(), settings.count, settings.baseUrl) == ("app", 2, "environment")
    assert settings.proxy.host == "app"
    assert settings.proxy.password == SecretStr("module")


@pytest.mark.spec("K5")
def test_each_setting_knows_where_it_comes_from(folder: Folder) -> None:
    folder.app('{"config": {\n "weather": {"api_key": "app", "count": 1}}}')
    folder.module("weather", '{\n\n "count": 2}')
    folder.environ = {"AGENTCORE_CONFIG__WEATHER__BASEURL": "x"}
    origins = folder.raw().origins
    key, count, url = origins["api_key",], origins["count",], origins["baseUrl",]
    assert (key.kind, key.file, key.line) == ("app", folder.path / "app.json", 2)
    assert key.path == ("config", "weather", "api_key")
    assert (count.kind, count.file, count.line) == ("module", folder.path / "modules" / "weather.json", 3)
    assert count.path == ("count",)
    assert (url.kind, url.variable) == ("environment", "AGENTCORE_CONFIG__WEATHER__BASEURL")


@pytest.mark.spec("K5")
@pytest.mark.parametrize(
    "environ",
    [
        {"AGENTCORE_CONFIG__WEATHER": '{"api_key": "new", "count": 7}'},
        {"AGENTCORE_CONFIG": '{"weather": {"api_key": "new", "count": 7}, "other": 1}'},
        {"AGENTCORE_CONFIG__WEATHER__API_KEY": "new", "AGENTCORE_CONFIG__WEATHER": '{"api_key": "old", "count": 7}'},
    ],
)
def test_environment_may_hold_whole_objects(folder: Folder, environ: dict[str, str]) -> None:
    folder.app('{"config": {"weather": {"api_key": "app", "baseUrl": "app"}}}')
    folder.environ = environ
    settings = folder.settings()
    assert (settings.api_key.get_secret_value(), settings.count, settings.baseUrl) == ("new", 7, "app")


def test_key_made_of_digits_in_the_environment_stays_a_text(folder: Folder) -> None:
    folder.environ = {
        "AGENTCORE_CONFIG__WEATHER__API_KEY": "12345",
        "AGENTCORE_CONFIG__WEATHER__PROXY__PASSWORD": "1e5",
        "AGENTCORE_CONFIG__WEATHER__COUNT": "5",
    }
    settings = folder.settings()
    assert settings.api_key.get_secret_value() == "12345"
    assert settings.proxy.password == SecretStr("1e5")
    assert settings.count == 5


def test_modules_that_share_a_key_share_settings(folder: Folder) -> None:
    folder.app('{"config": {"weather": {"api_key": "abc"}}}')
    assert folder.raw("radar", config_key="weather").values == {"api_key": "abc"}


def test_settings_under_the_name_of_a_module_with_another_key_are_warned_about(folder: Folder) -> None:
    folder.app('{"config": {"radar": {"api_key": "abc"}}}')
    with capture_logs() as logs:
        assert folder.raw("radar", config_key="weather").values == {}
    assert [(entry["event"], entry["unused"]) for entry in logs] == [("settings_unused", "config.radar")]


def test_without_a_model_the_merged_values_are_as_written(folder: Folder) -> None:
    folder.app('{"config": {"plain": {"Any": 1}}}')
    folder.environ = {"AGENTCORE_CONFIG__PLAIN__ANY": "2", "AGENTCORE_CONFIG__PLAIN__NEW_ONE": "3"}
    assert folder.raw("plain", model=None).values == {"Any": 2, "new_one": 3}


def test_change_of_either_file_is_seen_when_the_settings_are_read_again(folder: Folder) -> None:
    config = load_config(folder.path / "app.json", {})
    folder.module("weather", '{"count": 4}')
    assert module_settings(config, "weather").values == {"count": 4}
    folder.module("weather", '{"count": 5}')
    folder.app('{"config": {"weather": {"api_key": "new"}}}')
    assert module_settings(config, "weather").values == {"count": 5, "api_key": "new"}


@pytest.mark.spec("M3")
@pytest.mark.parametrize(
    ("settings", "line", "path", "says"),
    [
        ('{"api_key": "abc",\n "count": "many"}', 2, ("count",), "expected a valid integer, found text"),
        ('{"api_key": "abc", "count": 0}', 1, ("count",), "greater than or equal to 1, found a whole number"),
        ('{"api_key": ["abc"]}', 1, ("api_key",), "expected text, found a list"),
        ('{"api_key": "abc",\n "cuont": 1}', 2, ("cuont",), "unknown key; did you mean 'count'?"),
        ('{"api_key": "abc", "proxy": {"hots": "a"}}', 1, ("proxy", "hots"), "did you mean 'host'?"),
        ('{\n"count": 1}', 1, (), "the key 'api_key' is missing"),
        ('{"api_key": "abc", "tokens": ["a",\n 1]}', 2, ("tokens", 1), "expected text, found a whole number"),
    ],
)
def test_wrong_setting_names_file_key_type_and_what_was_expected(
    folder: Folder, settings: str, line: int, path: tuple[str, ...], says: str
) -> None:
    folder.app('{"config": {"weather": ' + settings + "}}")
    error = folder.refused()
    (problem,) = error.problems
    assert (problem.file, problem.line) == (folder.path / "app.json", line)
    assert error.problems[0].path == ("config", "weather", *path)
    assert says in error.problems[0].message


@pytest.mark.spec("M3")
def test_wrong_setting_of_the_module_file_is_named_there(folder: Folder) -> None:
    folder.app('{"config": {"weather": {"api_key": "abc"}}}')
    folder.module("weather", '{"count": {}}')
    error = folder.refused()
    assert error.problems[0].file == folder.path / "modules" / "weather.json"
    (problem,) = error.problems
    assert (problem.line, problem.column, problem.path) == (1, 2, ("count",))


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("AGENTCORE_CONFIG__WEATHER__CUONT", "1", "did you mean AGENTCORE_CONFIG__WEATHER__COUNT?"),
        ("AGENTCORE_CONFIG__WEATHER__PROXY__HOTS", "a", "did you mean AGENTCORE_CONFIG__WEATHER__PROXY__HOST?"),
        ("AGENTCORE_CONFIG__WEATHER__COUNT", "many", "expected a valid integer, found text"),
        ("AGENTCORE_CONFIG__WEATHER", "many", "expected an object of settings, found text"),
        ("AGENTCORE_CONFIG", '{"weather": []}', "expected an object of settings, found a list"),
    ],
)
def test_wrong_variable_is_named(folder: Folder, name: str, text: str, says: str) -> None:
    folder.app('{"config": {"weather": {"api_key": "abc"}}}')
    folder.environ = {name: text}
    error = folder.refused()
    assert error.problems[0].variable == name
    assert says in error.problems[0].message


def test_setting_that_is_missing_everywhere_names_the_place_where_it_belongs(folder: Folder) -> None:
    error = folder.refused()
    assert str(error) == (
        f"{folder.path / 'app.json'}: config.weather: the key 'api_key' is missing, and it has no default"
    )


def test_settings_that_are_no_object_are_an_error_of_that_module_alone(folder: Folder) -> None:
    folder.app('{"config": {"weather": [], "plain": {"a": 1}}}')
    assert "expected an object of settings, found a list" in folder.refused().problems[0].message
    assert folder.raw("plain", model=None).values == {"a": 1}


def test_module_file_that_is_not_json_is_an_error_of_that_module_alone(folder: Folder) -> None:
    folder.module("weather", "{]")
    error = folder.refused()
    (problem,) = error.problems
    assert (problem.file, problem.line, problem.column) == (
        folder.path / "modules" / "weather.json",
        1,
        2,
    )
    assert folder.raw("plain", model=None).values == {}


def test_module_file_that_cannot_be_read_is_an_error(folder: Folder) -> None:
    (folder.path / "modules").mkdir()
    os.mkfifo(folder.path / "modules" / "weather.json")
    assert "not a regular file" in folder.refused().problems[0].message


@pytest.mark.spec("M3")
@pytest.mark.parametrize(
    ("settings", "secret"),
    [
        ('{"api_key": "q7"}', "q7"),
        ('{"api_key": "abc", "tokens": ["revoked-token"]}', "revoked-token"),
        ('{"api_key": 918273}', "918273"),
        ('{"api_key": "abc", "proxy": {"password": ["s3cret"]}}', "s3cret"),
        ('{"api_key": "abc", "proxies": {"a": {"password": {"x": "s3cret"}}}}', "s3cret"),
    ],
)
def test_secret_is_in_no_message(folder: Folder, settings: str, secret: str) -> None:
    folder.app('{"config": {"weather": ' + settings + "}}")
    error = folder.refused()
    assert secret not in str(error).replace(str(folder.path), "")
    assert error.__cause__ is None
    assert error.__suppress_context__


def test_validator_of_the_module_says_what_is_wrong(folder: Folder) -> None:
    folder.app('{"config": {"weather": {"api_key": "q7"}}}')
    assert folder.refused().problems[0].message == "key '•••' is too short; copy it whole"


def test_raw_settings_do_not_show_values_when_they_are_logged(folder: Folder) -> None:
    folder.app('{"config": {"weather": {"api_key": "hunter2"}}}')
    assert "hunter2" not in repr(folder.raw())
