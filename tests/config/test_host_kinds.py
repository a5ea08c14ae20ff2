"""Kinds of hosts that installed distributions add, in app.json."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentcore.config.config_errors import ConfigError, ConfigProblem
from agentcore.config.host_config import modules_only_in
from agentcore.config.loading import AppConfig, load_config

RACK = """
from typing import Literal

from agentcore.api.host_kinds import HostGroupConfig


class RackConfig(HostGroupConfig):
    kind: Literal["rack"]
    height: int


class Racks:
    config = RackConfig
"""
POINTS = "[agentcore.host_kinds]\nrack = added_rack:Racks\nprocess = added_rack:Racks\nbroken = no_such_package:X\n"


@pytest.fixture
def _with_racks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "site" / "added_rack-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text(POINTS)
    (tmp_path / "site" / "added_rack.py").write_text(RACK)
    monkeypatch.syspath_prepend(tmp_path / "site")


def load(folder: Path, host: dict[str, Any]) -> AppConfig:
    path = folder / "app.json"
    path.write_text(json.dumps({"hosts": {"x": host}}))
    return load_config(path, {})


def refused(folder: Path, host: dict[str, Any]) -> ConfigProblem:
    with pytest.raises(ConfigError) as caught:
        load(folder, host)
    (problem,) = caught.value.problems
    return problem


@pytest.mark.usefixtures("_with_racks")
def test_host_of_an_added_kind_is_read_with_the_model_of_that_kind(tmp_path: Path) -> None:
    host = load(tmp_path, {"kind": "rack", "modules": ["a"], "height": 42}).hosts["x"]
    assert type(host).__name__ == "RackConfig"
    assert host.model_dump() == {
        "kind": "rack",
        "modules": ("a",),
        "height": 42,
        "labels": (),
        "keep_minutes": 30,
        "chats": False,
    }


@pytest.mark.usefixtures("_with_racks")
def test_wrong_key_of_an_added_kind_is_named_with_its_place(tmp_path: Path) -> None:
    problem = refused(tmp_path, {"kind": "rack", "modules": ["a"], "height": "tall"})
    assert problem.path == ("hosts", "x", "height")
    assert problem.message == "expected a whole number, found text"


def test_kind_that_is_not_installed_names_the_distribution(tmp_path: Path) -> None:
    problem = refused(tmp_path, {"kind": "moon_base", "modules": ["a"]})
    assert problem.path == ("hosts", "x")
    assert "pip install agentcore-moon-base-hosts" in problem.message


def test_near_kind_is_suggested(tmp_path: Path) -> None:
    problem = refused(tmp_path, {"kind": "proces", "modules": ["a"]})
    assert problem.message == "there is no kind 'proces' of hosts; did you mean 'process'?"


@pytest.mark.usefixtures("_with_racks")
def test_kind_that_cannot_be_imported_says_whose_it_is(tmp_path: Path) -> None:
    assert "'broken', of added-rack, cannot be loaded" in refused(tmp_path, {"kind": "broken"}).message


@pytest.mark.usefixtures("_with_racks")
def test_kinds_of_agentcore_itself_cannot_be_replaced(tmp_path: Path) -> None:
    assert modules_only_in(load(tmp_path, {"kind": "process", "modules": ["a"]}).hosts["x"]) == ("a",)
