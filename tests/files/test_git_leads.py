"""Where real git looks for hooks and configuration is protected, and ordinary files are not."""

import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcore.api import Workspace
from agentcore.files.git_config import GitConfig

pytestmark = pytest.mark.spec("S2")

Git = Callable[..., str]
ORDINARY = ("src/main.py", "scripts/build.sh", "hooks.md", "config", "README")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with a configuration of git's that names the user."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (folder / ".gitconfig").write_text('[user]\n\tname = A\n\temail = a@b.test\n[protocol "file"]\n\tallow = always\n')
    return folder


@pytest.fixture
def run_git(home: Path, git: str) -> Git:
    """Runs git in a folder."""

    def run(folder: Path, *words: str) -> str:
        done = subprocess.run([git, *words], cwd=folder, capture_output=True, text=True, timeout=60, check=True)
        return done.stdout + done.stderr

    return run


@pytest.fixture
def project(tmp_path: Path, run_git: Git) -> Path:
    """A repository with one commit."""
    folder = tmp_path / "project"
    folder.mkdir()
    run_git(folder, "init", "-q")
    run_git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    return folder


def add_hook(folder: Path, name: str) -> str:
    """Write a hook that says where it is; returns what it says."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\necho ran {folder}\n")
    (folder / name).chmod(0o755)
    return f"ran {folder}"


def protected(root: Path, *paths: str) -> list[str]:
    """Those of some paths whose change needs the user's approval."""
    with Workspace([root]) as workspace:
        return [path for path in paths if workspace.is_protected(workspace.locate(path))]


def test_hooks_of_a_worktree_are_those_that_its_repository_names(tmp_path: Path, project: Path, run_git: Git) -> None:
    run_git(project, "config", "core.hooksPath", "scripts/hooks")
    run_git(project, "config", "include.path", str(tmp_path / "tree/more.inc"))
    run_git(project, "worktree", "add", "-q", "../tree")
    tree = tmp_path / "tree"
    said = add_hook(tree / "scripts/hooks", "pre-commit")
    assert said in run_git(tree, "commit", "--allow-empty", "-m", "two")
    paths = ("scripts/hooks/pre-commit", "scripts/hooks/new", "scripts/hooks", "more.inc")
    assert protected(tree, *paths, *ORDINARY) == list(paths)
    inside = [f"tree/{path}" for path in paths]
    assert protected(tmp_path, *inside, "tree/src/main.py", "other/scripts/hooks/pre-commit") == inside


def test_hooks_that_a_worktree_names_for_itself_are_its_own(tmp_path: Path, project: Path, run_git: Git) -> None:
    run_git(project, "worktree", "add", "-q", "../tree")
    tree = tmp_path / "tree"
    run_git(project, "config", "extensions.worktreeConfig", "true")
    run_git(tree, "config", "--worktree", "core.hooksPath", "own")
    assert add_hook(tree / "own", "pre-commit") in run_git(tree, "commit", "--allow-empty", "-m", "two")
    assert protected(tmp_path, "tree/own/x", "project/own/x", "tree/x") == ["tree/own/x"]


def test_hooks_of_a_submodule_are_those_that_it_names(tmp_path: Path, project: Path, run_git: Git) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    run_git(outer, "init", "-q")
    run_git(outer, "submodule", "--quiet", "add", str(project), "part")
    part = outer / "part"
    assert (part / ".git").is_file()
    run_git(part, "config", "core.hooksPath", "tools")
    assert add_hook(part / "tools", "pre-commit") in run_git(part, "commit", "--allow-empty", "-m", "two")
    assert protected(outer, "part/tools/pre-commit", "tools/x", "part/src/x") == ["part/tools/pre-commit"]
    assert protected(part, "tools/pre-commit", *ORDINARY) == ["tools/pre-commit"]


def test_hooks_of_a_bare_repository_lie_where_it_names_them(tmp_path: Path, project: Path, run_git: Git) -> None:
    store = tmp_path / "store"
    run_git(tmp_path, "init", "-q", "--bare", "store")
    run_git(store, "config", "core.hooksPath", "tools")
    said = add_hook(store / "tools", "post-update")
    assert said in run_git(project, "push", str(store), "HEAD:main")
    paths = ["store/tools/post-update", "store/config", "store/hooks/post-update"]
    assert protected(tmp_path, *paths, "store/description", "store/notes.md", "tools/x", "HEAD") == paths
    assert protected(store, "tools/post-update", "description") == ["tools/post-update"]


def test_repository_that_a_file_leads_to_may_be_anywhere(tmp_path: Path, home: Path, run_git: Git) -> None:
    run_git(tmp_path, "init", "-q", "--separate-git-dir=store", "work")
    work = tmp_path / "work"
    run_git(work, "config", "core.hooksPath", "tools")
    assert add_hook(work / "tools", "pre-commit") in run_git(work, "commit", "--allow-empty", "-m", "one")
    paths = ["work/tools/x", "store/config", "store/hooks/x", "work/.git"]
    assert protected(tmp_path, *paths, "work/x", "store/description") == paths
    assert protected(work, "tools/x", *ORDINARY) == ["tools/x"]


@pytest.mark.parametrize("place", [".gitconfig", ".config/git/config", "xdg/git/config"])
def test_hooks_that_the_users_own_configuration_names_are_protected_in_each_repository(
    home: Path, project: Path, run_git: Git, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    assert protected(project, "tools/x", "more.inc") == []
    if place.startswith("xdg"):
        monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
    file = home / place
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as config:
        config.write(f"[core]\n\thooksPath = tools\n[include]\n\tpath = {project}/more.inc\n")
    assert add_hook(project / "tools", "pre-commit") in run_git(project, "commit", "--allow-empty", "-m", "two")
    assert protected(project, "tools/x", "more.inc", *ORDINARY) == ["tools/x", "more.inc"]
    (project / "more.inc").write_text(f"[core]\n\thooksPath = {home}/shared\n")
    found = protected(home, "shared/pre-commit", place, "tools/x", "notes.md")
    assert found == ["shared/pre-commit", place]


def test_repository_above_the_root_counts(project: Path, run_git: Git) -> None:
    run_git(project, "config", "core.hooksPath", "part/tools")
    (project / "part").mkdir()
    assert protected(project / "part", "tools/x", *ORDINARY) == ["tools/x"]


def test_many_threads_find_the_same(project: Path, run_git: Git) -> None:
    run_git(project, "config", "core.hooksPath", "tools")
    paths = [f"{top}/deep/{number}/x" for number in range(200) for top in ("tools", "src")]
    with Workspace([project]) as workspace, ThreadPoolExecutor(8) as threads:
        for _ in range(5):
            found = threads.map(lambda path: workspace.is_protected(workspace.locate(path)), paths)
            assert list(found) == [True, False] * 200


def test_what_is_no_configuration_leads_nowhere(tmp_path: Path, home: Path) -> None:
    root = tmp_path / "root"
    (root / "odd").mkdir(parents=True)
    os.mkfifo(root / "odd/.git")
    (root / "loop").mkdir()
    (root / "loop/.git").symlink_to(".git")
    (root / "nul").mkdir()
    (root / "nul/.git").write_text("gitdir: a\0b\n")
    (root / "cycle/.git").mkdir(parents=True)
    (root / "cycle/.git/config").write_text("[include]\n\tpath = config\n")
    assert protected(root, "odd/x", "loop/x", "nul/x", "cycle/x") == []


_NAMES = st.sampled_from(["core", "include", "Alias", 'remote "a b"', 'includeIf "gitdir:x\\"y"', "core.Sub"])
# a tab in the middle is a space for git before 2.45, and a tab since
_PIECES = st.sampled_from(
    ["a", "B", " ", "  ", '"', "\\\\", '\\"', "\\n", "\\t", "#", ";", "=", "/", "~", "é", "\\\n", "\\\n  ", "["]
)
_VALUES = st.lists(_PIECES, max_size=8).map("".join)
_LINES = st.one_of(
    _NAMES.map(lambda name: f"[{name}]\n"),
    st.builds("[{}] key = {}\n".format, _NAMES, _VALUES),
    st.builds("\t{} = {}\n".format, st.sampled_from(["hooksPath", "path", "x-1"]), _VALUES),
    st.builds("{}={}\r\n".format, st.sampled_from(["hooksPath", "PATH"]), _VALUES),
    st.sampled_from(["\n", "# hooksPath = a\n", "\t; x\n", "\tbare\n", " [core]\n", "[core] # x\n"]),
)


@pytest.mark.more
@pytest.mark.usefixtures("git")
@settings(deadline=None, max_examples=150)
@given(st.lists(_LINES, max_size=6).map(lambda lines: "[core]\n" + "".join(lines)))
def test_configuration_is_read_as_git_reads_it(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.mktemp("config") / "config"
    file.write_bytes(text.encode())
    done = subprocess.run(
        ["git", "config", "--no-includes", "-z", "-f", file, "--list"], capture_output=True, timeout=60, check=False
    )
    config = GitConfig(text)
    if done.returncode != 0:
        assert not config.is_plain
        return
    pairs = [each.partition("\n") for each in done.stdout.decode().split("\0")[:-1]]
    assert [(line.key.rpartition(".")[2], line.value) for line in config.lines if line.key] == [
        (key.rpartition(".")[2], value) for key, _, value in pairs
    ]
    assert [line.key.partition(".")[0] for line in config.lines if line.key] == [
        key.partition(".")[0] for key, _, _ in pairs
    ]
    assert "\n".join(line.text for line in config.lines) == text.removesuffix("\n")
