"""Configuration files on a real disk: what is read, and how one value is rewritten."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agentcore.config.config_errors import ConfigChangedError, ConfigError
from agentcore.config.config_file import FILE_BYTES, ConfigFile, set_value

TEXT = '{\r\n\t"modules": ["a"],   \r\n\t"x": {"ä": 1}\r\n}'


@pytest.fixture
def app_json(tmp_path: Path) -> Path:
    path = tmp_path / "app.json"
    path.write_bytes(TEXT.encode())
    return path


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.spec("M4")
def test_rewrite_keeps_every_other_byte_and_the_mode(app_json: Path) -> None:
    app_json.chmod(0o640)
    ConfigFile.read(app_json).with_value(("modules",), ["a", "b"])
    assert app_json.read_bytes() == TEXT.replace('["a"]', '["a", "b"]').encode()
    assert stat.S_IMODE(app_json.stat().st_mode) == 0o640
    assert names_in(app_json.parent) == ["app.json"]


def test_one_edit_follows_the_other(app_json: Path) -> None:
    file = ConfigFile.read(app_json).with_value(("modules",), [])
    file.with_value(("x", "ä"), 2)
    assert app_json.read_bytes() == TEXT.replace('["a"]', "[]").replace("1", "2").encode()


def test_value_that_is_there_already_leaves_the_file_alone(app_json: Path) -> None:
    before = app_json.stat()
    set_value(app_json, ("modules",), ["a"])
    assert (app_json.stat().st_ino, app_json.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_link_stays_a_link_to_the_rewritten_file(app_json: Path, tmp_path: Path) -> None:
    link = tmp_path / "sub" / "link.json"
    link.parent.mkdir()
    link.symlink_to("../app.json")
    set_value(link, ("modules",), [])
    assert link.is_symlink()
    assert '"modules": []' in app_json.read_text()
    assert names_in(link.parent) == ["link.json"]


def test_file_that_somebody_changed_is_not_overwritten(app_json: Path) -> None:
    file = ConfigFile.read(app_json)
    app_json.write_text('{"modules": ["mine"]}')
    with pytest.raises(ConfigChangedError, match="changed by another program") as caught:
        file.with_value(("modules",), [])
    assert caught.value.problems[0].file == app_json
    assert app_json.read_text() == '{"modules": ["mine"]}'
    assert names_in(app_json.parent) == ["app.json"]


def test_file_that_somebody_removed_is_not_made_again(app_json: Path) -> None:
    file = ConfigFile.read(app_json)
    app_json.unlink()
    with pytest.raises(ConfigChangedError):
        file.with_value(("modules",), [])
    assert names_in(app_json.parent) == []


def test_missing_file_is_made_private(tmp_path: Path) -> None:
    path = tmp_path / "app.json"
    assert not ConfigFile.read(path).exists
    set_value(path, ("modules",), [])
    assert path.read_text() == '{\n  "modules": []\n}\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert names_in(tmp_path) == ["app.json"]


def test_file_made_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "app.json"
    file = ConfigFile.read(path)
    path.write_text("{}")
    with pytest.raises(ConfigChangedError):
        file.with_value(("modules",), [])
    assert path.read_text() == "{}"


def test_folder_that_does_not_exist_is_an_error_about_the_file(tmp_path: Path) -> None:
    path = tmp_path / "none" / "app.json"
    with pytest.raises(ConfigError, match="cannot write: no such file or directory") as caught:
        set_value(path, ("modules",), [])
    assert caught.value.problems[0].file == path


@pytest.mark.spec("M3")
def test_invalid_file_is_named_with_line_and_column_and_left_alone(app_json: Path) -> None:
    app_json.write_text('{\n  "modules": [],,\n}')
    with pytest.raises(ConfigError) as caught:
        set_value(app_json, ("modules",), ["a"])
    error = caught.value
    (problem,) = error.problems
    assert (problem.file, problem.line, problem.column) == (app_json, 2, 17)
    assert str(error) == f"{app_json}:2:17: {error.problems[0].message}"
    assert app_json.read_text() == '{\n  "modules": [],,\n}'


def test_root_that_is_no_object_is_an_error_with_its_place(app_json: Path) -> None:
    app_json.write_text("\n []")
    with pytest.raises(ConfigError, match="expected an object") as caught:
        ConfigFile.read(app_json)
    assert (caught.value.problems[0].line, caught.value.problems[0].column) == (2, 2)


def test_value_that_leads_through_a_list_is_an_error(app_json: Path) -> None:
    with pytest.raises(ConfigError, match="modules is not an object that could get") as caught:
        set_value(app_json, ("modules", "a"), 1)
    assert caught.value.problems[0].path == ("modules", "a")
    assert app_json.read_bytes() == TEXT.encode()


def test_value_that_json_does_not_have_is_an_error(app_json: Path) -> None:
    with pytest.raises(ConfigError):
        set_value(app_json, ("x",), "\ud800")
    assert app_json.read_bytes() == TEXT.encode()


def test_folder_in_place_of_a_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not a regular file"):
        ConfigFile.read(tmp_path)


def test_fifo_in_place_of_a_file_does_not_hold_the_reader(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "app.json")
    with pytest.raises(ConfigError, match="not a regular file"):
        ConfigFile.read(tmp_path / "app.json")


def test_loop_of_links_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "app.json").symlink_to("app.json")
    with pytest.raises(ConfigError, match="cannot read: too many levels"):
        ConfigFile.read(tmp_path / "app.json")


def test_file_beyond_the_bound_is_an_error(app_json: Path) -> None:
    app_json.write_text('{"x": "' + "y" * FILE_BYTES + '"}')
    with pytest.raises(ConfigError, match="larger than"):
        ConfigFile.read(app_json)


def test_two_threads_that_change_one_file_never_lose_a_change(app_json: Path) -> None:
    app_json.write_text("{}")

    def add(key: str) -> None:
        while True:
            try:
                set_value(app_json, (key,), 1)
            except ConfigChangedError:
                continue
            return

    keys = [f"key{number}" for number in range(40)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(add, keys))
    assert sorted(json.loads(app_json.read_text())) == sorted(keys)
