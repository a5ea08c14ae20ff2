"""Workspace roots: from app.json to folders that exist."""

import json
from pathlib import Path

import pytest

from agentcore.config.config_errors import ConfigError
from agentcore.config.loading import load_config
from agentcore.config.workspace_roots import control_patterns, open_workspace, prepare_roots
from agentcore.files.workspace import Workspace


def roots_of(folder: Path, roots: list[str] | None = None, state_dir: Path | None = None, **environ: str) -> list[Path]:
    document = {} if roots is None else {"workspace": {"roots": roots}}
    (folder / "app.json").write_text(json.dumps(document, indent=1))
    return [*prepare_roots(load_config(folder / "app.json", environ), state_dir)]


def refused(folder: Path, roots: list[str], state_dir: Path | None = None) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        roots_of(folder, roots, state_dir)
    return caught.value


@pytest.mark.spec("K5")
def test_default_root_is_made_beside_app_json(tmp_path: Path) -> None:
    assert roots_of(tmp_path) == [tmp_path / "workspace"]
    assert (tmp_path / "workspace").is_dir()
    assert roots_of(tmp_path) == [tmp_path / "workspace"]


def test_default_root_is_made_where_app_json_writes_it_out(tmp_path: Path) -> None:
    assert roots_of(tmp_path, ["workspace"]) == [tmp_path / "workspace"]


def test_default_root_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "workspace").symlink_to("real")
    assert roots_of(tmp_path) == [tmp_path / "real"]


def test_default_root_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "workspace").write_text("")
    with pytest.raises(ConfigError, match="cannot make the default root"):
        roots_of(tmp_path)


def test_roots_count_from_the_folder_of_app_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("a", "home/b", "c"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to("c")
    assert roots_of(tmp_path, ["a", "~/b", str(tmp_path / "link")]) == [
        tmp_path / "a",
        tmp_path / "home/b",
        tmp_path / "c",
    ]


def test_root_from_the_environment_counts_too(tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    assert roots_of(tmp_path, ["missing"], AGENTCORE_WORKSPACE__ROOTS='["e"]') == [tmp_path / "e"]


@pytest.mark.spec("K5")
@pytest.mark.parametrize(
    ("root", "says"),
    [
        ("missing", "root 'missing': no such file or directory; make the folder"),
        ("file", "root 'file' is not a folder"),
        ("loop", "root 'loop': "),
        ("~nobody-of-that-name/x", "begins with the home folder of nobody known here"),
        ("a/b", "overlaps another root"),
        ("to-a", "overlaps another root"),
        (".", "overlaps another root"),
    ],
)
def test_root_that_cannot_be_used_is_named_with_its_place(tmp_path: Path, root: str, says: str) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "to-a").symlink_to("a")
    error = refused(tmp_path, ["a", root])
    (problem,) = error.problems
    assert (problem.file, problem.line, problem.path) == (
        tmp_path / "app.json",
        5,
        ("workspace", "roots", 1),
    )
    assert says in error.problems[0].message
    assert not (tmp_path / "workspace").exists()
    assert not (tmp_path / "missing").exists()


@pytest.mark.spec("S2")
@pytest.mark.parametrize("root", ["state", ".", "state/inner"])
def test_root_may_not_meet_the_state_folder(tmp_path: Path, root: str) -> None:
    (tmp_path / "state" / "inner").mkdir(parents=True)
    assert "overlaps the server's state folder" in refused(tmp_path, [root], tmp_path / "state").problems[0].message


@pytest.mark.spec("S2")
@pytest.mark.parametrize("name", ["app.json", "conf[1].json"])
def test_what_decides_what_runs_is_protected_inside_of_a_root_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    """A model's `write_file` into the settings of a module, and a reload, would let it run anything."""
    folder = tmp_path / "project"
    (folder / "elsewhere").mkdir(parents=True)
    (tmp_path / "link").symlink_to("project")
    (folder / name).write_text(json.dumps({"workspace": {"roots": ["."]}, "modules_dir": "local"}))
    for way in (folder, tmp_path / "link"):
        config = load_config(way / name, {})
        roots = prepare_roots(config)
        with Workspace(roots, control_patterns(config, roots)) as workspace:
            for path in (name, "modules", "modules/chrome.json", "modules/new/x.py", "local/lamp.py", "LOCAL/lamp.py"):
                assert workspace.is_protected(workspace.locate(path)), path
            for path in ("conf1.json", "elsewhere/modules/x.json", "elsewhere/local/x.py", "notes.md"):
                assert not workspace.is_protected(workspace.locate(path)), path


@pytest.mark.spec("S2")
@pytest.mark.parametrize("root", ["modules", "modules/lamp", "local"])
def test_folder_of_modules_is_no_root(tmp_path: Path, root: str) -> None:
    (tmp_path / root).mkdir(parents=True)
    (tmp_path / "app.json").write_text(json.dumps({"modules_dir": "local", "workspace": {"roots": [root]}}))
    with pytest.raises(ConfigError, match="lies in a folder of modules, whose files run here; choose another"):
        prepare_roots(load_config(tmp_path / "app.json", {}))


@pytest.mark.spec("S2", "S3")
@pytest.mark.parametrize(
    "pattern",
    [
        "secret/*.key",
        "linked/*.key",
        "{project}/secret/*.key",
        "{project}/linked/*.key",
        "{spelled}/secret/*.key",
        "{spelled}/linked/*.key",
        "~/spelled/linked/*.key",
    ],
)
def test_protected_patterns_and_absolute_paths_work_in_the_spelling_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "project"
    spelled = tmp_path / "spelled"
    (project / "secret").mkdir(parents=True)
    (project / "secret/a.key").touch()
    (project / "linked").symlink_to("secret")
    spelled.symlink_to("project")
    document = {"workspace": {"roots": ["spelled"], "protected": [pattern.format(project=project, spelled=spelled)]}}
    (tmp_path / "app.json").write_text(json.dumps(document))
    workspace, _ = open_workspace(load_config(tmp_path / "app.json", {}), tmp_path / "state")
    with workspace:
        for way in ("", f"{project}/", f"{spelled}/"):
            for name in ("secret/a.key", "linked/a.key", "secret/new.key", "linked/new.key"):
                assert workspace.is_protected(workspace.locate(way + name)), way + name
            assert not workspace.is_protected(workspace.locate(f"{way}secret/notes.md"))


@pytest.mark.spec("S2")
def test_protected_pattern_follows_a_link_that_leads_elsewhere_than_before(tmp_path: Path) -> None:
    (tmp_path / "workspace/other").mkdir(parents=True)
    (tmp_path / "app.json").write_text(json.dumps({"workspace": {"protected": ["linked/*.key"]}}))
    workspace, _ = open_workspace(load_config(tmp_path / "app.json", {}), tmp_path / "state")
    with workspace:
        assert not workspace.is_protected(workspace.locate("other/a.key"))
        (tmp_path / "workspace/linked").symlink_to("other")
        assert workspace.is_protected(workspace.locate("other/a.key"))
        assert workspace.is_protected(workspace.locate("linked/a.key"))
