"""app.json as it counts: defaults, the file, the environment, and errors that say where."""

from pathlib import Path
from typing import Any

import pytest

from agentcore.config.config_errors import PROBLEMS_SHOWN, ConfigError, ConfigProblem
from agentcore.config.json_source import JsonPath
from agentcore.config.loading import AppConfig, load_config, set_modules


@pytest.fixture
def app_json(tmp_path: Path) -> Path:
    return tmp_path / "app.json"


def refused(path: Path, text: str, **environ: str) -> ConfigError:
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(path, environ)
    assert path.read_text() == text
    return caught.value


@pytest.mark.spec("M1", "K5")
def test_missing_file_gives_the_defaults_and_a_notice(app_json: Path) -> None:
    config = load_config(app_json, {})
    assert config.modules == ()
    assert (config.server.host, config.server.port, config.server.approval_port) == ("127.0.0.1", 8765, None)
    assert (config.approvals.mode, config.approvals.api_token, config.locale) == ("ask", False, "en")
    assert (config.limits.init_timeout, config.limits.shutdown_timeout) == (30, 10)
    assert config.modules_folder == app_json.parent / "modules"
    assert [str(app_json) in notice for notice in config.notices] == [True]
    assert not app_json.exists()


@pytest.mark.spec("M1")
def test_file_without_modules_loads_none_and_is_no_fault(app_json: Path) -> None:
    app_json.write_text("{}")
    config = load_config(app_json, {})
    assert (config.modules, config.notices) == ((), ())


@pytest.mark.spec("K5")
def test_whole_document_is_read(app_json: Path) -> None:
    app_json.write_text(
        """{"$schema": "app.schema.json", "modules": ["fs_tools", "b2"], "modules_dir": "mine",
        "config": {"other": {"kept": true}}, "workspace": {"roots": ["w", "~/v"], "protected": ["*.key"]},
        "server": {"host": "::1", "port": 0, "approval_port": 9001, "hosts": ["agent.example:443", "[::1]:80"]},
        "models": {"fast": {"endpoint": "x"}}, "agents": {"default": {"tools": ["*"]}},
        "approvals": {"mode": "ask_writes", "rules": [{"decision": "deny", "tool": "bash"}], "api_token": true},
        "limits": {"init_timeout": 5, "result_bytes": 4096}, "locale": "zh"}"""
    )
    config = load_config(app_json, {})
    assert config.modules == ("fs_tools", "b2")
    assert config.modules_folder == app_json.parent / "mine"
    assert config.config == {"other": {"kept": True}}
    assert config.workspace.roots == ("w", "~/v")
    assert config.server.hosts == ("agent.example:443", "[::1]:80")
    assert config.models == {"fast": {"endpoint": "x"}}
    assert [(rule.decision, rule.tool) for rule in config.approvals.rules] == [("deny", "bash")]
    assert (config.limits.init_timeout, config.limits.shutdown_timeout) == (5, 10)


@pytest.mark.spec("M3")
def test_syntax_error_names_file_line_and_column(app_json: Path) -> None:
    error = refused(app_json, '{\n  "modules": ["a",]\n}')
    (problem,) = error.problems
    assert (problem.file, problem.line, problem.column) == (app_json, 2, 18)
    assert str(error).startswith(f"{app_json}:2:18: a comma before")


@pytest.mark.spec("K5")
@pytest.mark.parametrize(
    ("text", "place", "path", "says"),
    [
        ('{\n "modles": []}', (2, 2), ("modles",), "unknown key; did you mean 'modules'?"),
        ('{"server": {\n "prot": 1}}', (2, 2), ("server", "prot"), "unknown key; did you mean 'port'?"),
        ('{"limits": {"zzz": 1}}', (1, 13), ("limits", "zzz"), "unknown key; known are call_timeout_max,"),
        ('{"schema_": ""}', (1, 2), ("schema_",), "did you mean '$schema'?"),
        ('{"modules": "a"}', (1, 2), ("modules",), "expected a list, found text"),
        ('{"modules": ["a",\n 7]}', (2, 2), ("modules", 1), "expected text, found a whole number"),
        ('{"modules": ["Fs-Tools"]}', (1, 14), ("modules", 0), "string should match pattern"),
        (
            '{"hosts": {"x": {"kind": "process", "modules": ["a"]},\n"y": {"kind": "process", "modules": ["b", "a"]}}}',
            (2, 43),
            ("hosts", "y", "modules", 1),
            "module 'a' runs in one host only, and is claimed by 'x' and 'y'",
        ),
        (
            '{"hosts": {"x": {"kind": "process", "modules": ["a", "a"]}}}',
            (1, 54),
            ("hosts", "x", "modules", 1),
            "'a' listed more than once",
        ),
        ('{"modules": ["a", "b", "a"]}', (1, 2), ("modules",), "'a' listed more than once"),
        ('{"server": {"port": "80"}}', (1, 13), ("server", "port"), "expected a whole number, found text"),
        ('{"server": {"port": true}}', (1, 13), ("server", "port"), "found true or false"),
        ('{"server": {"port": 65536}}', (1, 13), ("server", "port"), "less than or equal to 65535"),
        ('{"server": {"hosts": ["http://x"]}}', (1, 23), ("server", "hosts", 0), "pattern"),
        ('{"server": null}', (1, 2), ("server",), "expected an object, found null"),
        ('{"locale": "fr"}', (1, 2), ("locale",), "expected 'en' or 'zh', found text"),
        ('{"approvals": {"mode": []}}', (1, 16), ("approvals", "mode"), "'allow' or 'deny', found a list"),
        ('{"limits": {"init_timeout": 0}}', (1, 13), ("limits", "init_timeout"), "greater than 0"),
        ('{"workspace": {"roots": []}}', (1, 16), ("workspace", "roots"), "expected at least one folder"),
        ('{"workspace": {"roots": ["a\\u0000"]}}', (1, 26), ("workspace", "roots", 0), "expected a path"),
        ('{"config": 1.5}', (1, 2), ("config",), "expected an object, found a number"),
    ],
)
def test_wrong_value_is_named_with_its_place(
    app_json: Path, text: str, place: tuple[int, int], path: JsonPath, says: str
) -> None:
    error = refused(app_json, text)
    (problem,) = error.problems
    assert (problem.file, problem.line, problem.column, problem.path) == (
        app_json,
        *place,
        path,
    )
    assert says in error.problems[0].message


def test_all_problems_are_told_in_the_order_of_the_file(app_json: Path) -> None:
    error = refused(app_json, '{"locale": 1,\n "zzz": 2,\n "modules": 3}')
    assert [problem.path for problem in error.problems] == [("locale",), ("zzz",), ("modules",)]
    assert len(str(error).splitlines()) == 3


def test_very_many_problems_are_counted() -> None:
    error = ConfigError([ConfigProblem("wrong")] * (PROBLEMS_SHOWN + 3))
    assert str(error).splitlines()[-1] == "… and 3 more"


def test_message_never_shows_the_value(app_json: Path) -> None:
    assert "hunter2" not in str(refused(app_json, '{"server": {"port": "hunter2"}, "locale": "hunter2"}'))


def test_description_of_a_configuration_does_not_show_settings(app_json: Path) -> None:
    app_json.write_text('{"config": {"weather": {"api_key": "hunter2"}}, "models": {"x": {"api_key": "hunter2"}}}')
    config = load_config(app_json, {"AGENTCORE_CONFIG__WEATHER__PASSWORD": "hunter2"})
    assert "hunter2" not in repr(config) + repr(config.sources)


@pytest.mark.spec("K5")
def test_each_value_knows_where_it_comes_from(app_json: Path) -> None:
    app_json.write_text('{\n  "server": {\n    "port": 1, "host": "::1"\n  }\n}')
    config = load_config(app_json, {"AGENTCORE_SERVER__PORT": "2"})
    port, host = config.origin_of(("server", "port")), config.origin_of(("server", "host"))
    assert (port.kind, port.variable, port.is_read_only) == ("environment", "AGENTCORE_SERVER__PORT", True)
    assert (host.kind, host.file, host.line, host.column, host.path) == ("app", app_json, 3, 16, ("server", "host"))
    assert not host.is_read_only
    assert config.origin_of(("locale",)).kind == "default"
    assert [str(origin) for origin in (port, host, config.origin_of(("locale",)))] == [
        "environment variable AGENTCORE_SERVER__PORT",
        f"{app_json}:3",
        "default",
    ]


def test_path_is_made_absolute(app_json: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(app_json.parent)
    config = load_config(Path("app.json"), {})
    assert (config.file, config.folder) == (app_json, app_json.parent)


def test_configuration_without_a_file_has_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = AppConfig(modules=("clock",))
    assert (config.modules, config.server.port, config.file) == (("clock",), 8765, tmp_path / "app.json")


@pytest.mark.spec("M4")
def test_modules_are_rewritten_and_nothing_else(app_json: Path) -> None:
    text = '{\n    "$schema": "s.json",\n    "modules": [\n        "a"\n    ],\n    "config" : {"b":{}}\n}\n'
    app_json.write_text(text)
    set_modules(app_json, ("a", "b"))
    assert app_json.read_text() == text.replace('"a"\n', '"a",\n        "b"\n')
    assert load_config(app_json, {}).modules == ("a", "b")


@pytest.mark.parametrize("names", [("Not-A-Name",), ("a", "a")])
def test_names_that_are_none_are_not_written(app_json: Path, names: tuple[str, ...]) -> None:
    app_json.write_text('{"modules": []}')
    with pytest.raises(ConfigError):
        set_modules(app_json, names)
    assert app_json.read_text() == '{"modules": []}'


def test_folder_in_place_of_app_json_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not a regular file"):
        load_config(tmp_path, {})


@pytest.mark.parametrize("kept", [{"a": 1}, [1, None], "x", None])
@pytest.mark.parametrize("key", ["models", "agents"])
def test_parts_that_others_read_are_accepted_as_they_are(app_json: Path, key: str, kept: Any) -> None:
    assert getattr(AppConfig.model_validate({key: kept}), key) == kept
