"""Settings from environment variables."""

from pathlib import Path
from typing import Any

import pytest

from agentcore.config.config_errors import ConfigError
from agentcore.config.loading import AppConfig, load_config


@pytest.fixture
def app_json(tmp_path: Path) -> Path:
    path = tmp_path / "app.json"
    path.write_text(
        '{"modules": ["a"], "server": {"port": 1, "host": "::1"}, "models": {"Fast": {"apiKey": "k", "size": 1}}}'
    )
    return path


def load(path: Path, **environ: str) -> AppConfig:
    return load_config(path, {"PATH": "/bin", "AGENTCORE": "x", **environ})


def refused(path: Path, **environ: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(path, **environ)
    return caught.value


@pytest.mark.spec("K5")
def test_environment_wins_over_the_file(app_json: Path) -> None:
    config = load(app_json, AGENTCORE_SERVER__PORT="9000", AGENTCORE_MODULES='["b", "c"]')
    assert (config.server.port, config.server.host) == (9000, "::1")
    assert config.modules == ("b", "c")
    assert config.origin_of(("modules",)).is_read_only


@pytest.mark.spec("K5")
@pytest.mark.parametrize(
    ("text", "value"),
    [("zh", "zh"), ('"zh"', "zh")],
)
def test_text_needs_no_quotes(app_json: Path, text: str, value: str) -> None:
    assert load(app_json, AGENTCORE_LOCALE=text).locale == value


def test_text_that_looks_like_a_number_stays_a_text_where_one_is_expected(app_json: Path) -> None:
    assert load(app_json, AGENTCORE_MODULES_DIR="2026").modules_dir == "2026"


def test_null_is_null(app_json: Path) -> None:
    assert load(app_json, AGENTCORE_SERVER__APPROVAL_PORT="null").server.approval_port is None


def test_longer_name_refines_the_value_of_a_shorter_one(app_json: Path) -> None:
    config = load(
        app_json, AGENTCORE_SERVER__PORT="7", AGENTCORE_SERVER='{"port": 5, "approval_port": 6}', AGENTCORE_AGENTS="{}"
    )
    assert (config.server.host, config.server.port, config.server.approval_port) == ("::1", 7, 6)
    assert config.origin_of(("server", "approval_port")).variable == "AGENTCORE_SERVER"
    assert config.origin_of(("server", "port")).variable == "AGENTCORE_SERVER__PORT"


def test_names_find_keys_of_any_case(app_json: Path) -> None:
    config = load(app_json, AGENTCORE_MODELS__FAST__APIKEY="new", AGENTCORE_MODELS__SLOW__SIZE="2")
    assert config.models == {"Fast": {"apiKey": "new", "size": 1}, "slow": {"size": 2}}


def test_value_in_the_way_of_a_longer_path_is_replaced(app_json: Path) -> None:
    config = load(app_json, AGENTCORE_MODELS__FAST__SIZE__SMALL="true")
    assert config.models == {"Fast": {"apiKey": "k", "size": {"small": True}}}


@pytest.mark.parametrize("name", ["AGENTCORE_TOKEN", "AGENTCORE_STATE_DIR"])
def test_our_variables_that_are_no_settings_are_left_alone(app_json: Path, name: str) -> None:
    assert load(app_json, **{name: "x"}).notices == ()


def test_single_name_that_is_no_setting_is_a_notice(app_json: Path) -> None:
    (notice,) = load(app_json, AGENTCORE_LOCAL="zh").notices
    assert "AGENTCORE_LOCAL is not a setting" in notice
    assert "did you mean AGENTCORE_LOCALE?" in notice


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("AGENTCORE_SERVER__PROT", "did you mean AGENTCORE_SERVER__PORT?"),
        ("AGENTCORE_SEVER__PORT", "did you mean AGENTCORE_SERVER__PORT?"),
        ("AGENTCORE_ZZZ__PORT", "no key 'zzz'; known are agents, "),
        ("AGENTCORE_SERVER____PORT", "empty part"),
        ("AGENTCORE_SERVER__", "empty part"),
        ("AGENTCORE___SERVER", "empty part|no key"),
        ("AGENTCORE_CONFIG__", "empty part"),
        ("AGENTCORE_CONFIG__FS_TOOLS__", "empty part"),
    ],
)
def test_path_that_no_setting_has_is_an_error(app_json: Path, name: str, says: str) -> None:
    error = refused(app_json, **{name: "1"})
    assert error.problems[0].variable == name
    assert any(part in str(error) for part in says.split("|"))


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("AGENTCORE_SERVER__PORT", "abc", "server.port: expected a whole number, found text"),
        ("AGENTCORE_SERVER__PORT", "", "server.port: expected a whole number, found text"),
        ("AGENTCORE_SERVER", "5", "server: expected an object, found a whole number"),
        ("AGENTCORE_MODULES", "fs_tools", "modules: expected a list, found text"),
        ("AGENTCORE_MODULES__A", "1", "modules: expected a list, found an object"),
        ("AGENTCORE_CONFIG", "/etc/app.json", "app.json itself is named by --config"),
        ("AGENTCORE_LOCALE", "\udcff", "not UTF-8"),
    ],
)
def test_wrong_value_names_the_variable(app_json: Path, name: str, text: str, says: str) -> None:
    error = refused(app_json, **{name: text})
    assert str(error).startswith(f"environment variable {name}: ")
    assert says in str(error)
    (problem,) = error.problems
    assert (problem.file, problem.line) == (None, None)


def test_value_of_a_variable_is_not_shown(app_json: Path) -> None:
    assert "hunter2" not in str(refused(app_json, AGENTCORE_SERVER__PORT="hunter2"))


@pytest.mark.parametrize("value", ["NaN", '{"a": 1, "a": 2}', "[1,]"])
def test_what_is_not_quite_json_is_text(app_json: Path, value: Any) -> None:
    assert load(app_json, AGENTCORE_AGENTS=value).agents == value
