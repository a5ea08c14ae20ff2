from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentcore.api import Workspace
from agentcore.cli.clients.client_catalog import CLIENTS, AgentClient
from agentcore.files.protection import Protection


@pytest.mark.spec("S2")
@pytest.mark.parametrize(
    "path",
    ["app.json", "deep/app.json", ".git/hooks/pre-commit", "x/.git/config", ".git", ".bashrc", "home/.zshrc",
     ".vscode/tasks.json", ".claude/settings.json", "AGENTS.md", "sub/CLAUDE.md", ".GIT/hooks/x", "a.code-workspace",
     "home/.config/fish/config.fish", ".github/copilot-instructions.md", "secrets/key", "x/deep/y/z", "a.pem"],
)  # fmt: skip
def test_control_files_are_protected_at_any_depth(path: str) -> None:
    assert Protection(["/secrets/**", "x/**/y", "*.pem"]).is_protected(path.split("/"))


@pytest.mark.parametrize(
    "path", ["src/main.py", "git/config", "Makefile", "sub/secrets/key", "x/z", ".config/other", ".gitignore"]
)
def test_ordinary_files_are_not_protected(path: str) -> None:
    assert not Protection(["/secrets/**", "x/**/y", "*.pem"]).is_protected(path.split("/"))


_NAMES = st.sampled_from(
    [".git", ".config", "fish", "git", "AGENTS.md", "x", "y", "z", "secrets", "key", "a.pem", "src", "ends", ".GITHUB",
     "copilot-instructions.md", "deep"]
)  # fmt: skip


@given(st.lists(_NAMES, max_size=4), st.lists(_NAMES, min_size=1, max_size=6, unique=True))
def test_walk_finds_exactly_the_entries_whose_paths_are_protected(folder: list[str], names: list[str]) -> None:
    protection = Protection(["/secrets/**", "x/**/y", "*.pem", "/src/**/e*"])
    assume(not protection.is_protected(folder))
    expected = [name for name in names if protection.is_protected((*folder, name))]
    assert protection.protected_among(folder, names) == expected


def test_walk_finds_the_modules_folder_beside_a_control_file_only() -> None:
    assert Protection().protected_among((), ["modules", "src"]) == []
    assert sorted(Protection().protected_among(("src",), ["app.json", "modules"])) == ["app.json", "modules"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".git/hooks").mkdir(parents=True)
    (tmp_path / "src/modules").mkdir(parents=True)
    (tmp_path / "modules").mkdir()
    return tmp_path


def is_protected(root: Path, path: str) -> bool:
    with Workspace([root], [str(root / "keys"), "*.secret"]) as workspace:
        return workspace.is_protected(workspace.locate(path))


def test_link_gives_no_way_around(root: Path) -> None:
    (root / "innocent").symlink_to(".git")
    (root / "file").symlink_to(".git/config")
    assert is_protected(root, "innocent/hooks/pre-commit")
    assert is_protected(root, "innocent/hooks/deep/new")
    assert is_protected(root, "src/../.git/config")
    (root / ".git/config").touch()
    assert is_protected(root, "file")


def test_absolute_pattern_through_a_link_above_the_root_holds(tmp_path: Path) -> None:
    real = tmp_path / "real/root"
    (real / "keys").mkdir(parents=True)
    (real / "inner").symlink_to("keys")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "direct").symlink_to("real/root/keys")
    for pattern in ("link/root/keys", "direct", "link/root/k*", "link/root/inner"):
        with Workspace([real], [str(tmp_path / pattern)]) as workspace:
            assert workspace.is_protected(workspace.locate("keys/a")), pattern
            assert not workspace.is_protected(workspace.locate("other")), pattern
    with Workspace([real], [str(tmp_path / "link/root/inner")]) as workspace:
        assert workspace.is_protected(workspace.locate("inner"))


@pytest.mark.spec("S2")
def test_hooks_and_configuration_that_a_repository_names_are_protected(root: Path) -> None:
    for path in ("scripts/hooks/pre-commit", "more.inc", "deep.inc"):
        assert not is_protected(root, path)
    (root / ".git/config").write_text("[core]\n\thooksPath = scripts/hooks\n[include] path = ../more.inc\n")
    (root / "more.inc").write_text('[includeIf "gitdir:x"]\n\tpath = "deep.inc"\n')
    for path in ("scripts/hooks/pre-commit", "scripts/hooks", "more.inc", "deep.inc"):
        assert is_protected(root, path), path
    (root / "src/.git").mkdir()
    (root / "src/.git/config").write_text("[core]\n\thooksPath =\n")
    for path in ("scripts/other", "src/hooks/x"):
        assert not is_protected(root, path), path
    with Workspace([root]) as workspace:
        scripts = workspace.locate("scripts")
        assert workspace.is_protected(scripts, holding=scripts)


def test_patterns_of_the_host_hold_too(root: Path) -> None:
    assert is_protected(root, "keys/a")
    assert is_protected(root, "src/a.secret")
    assert not is_protected(root, "src/keys")


@pytest.mark.spec("S2")
def test_repository_by_any_name_is_protected_and_so_is_what_would_make_one(root: Path) -> None:
    bare = root / "docs"
    for path in ("config", "hooks/post-commit", "HEAD", "objects/x"):
        assert not is_protected(root, f"docs/{path}")
    (bare / "objects").mkdir(parents=True)
    (bare / "refs").mkdir()
    assert not is_protected(root, "docs/config")
    assert is_protected(root, "docs/HEAD")
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    assert is_protected(root, "docs/config")
    assert is_protected(root, "docs/hooks/post-commit")
    assert not is_protected(root, "docs/description")
    (root / "tree").mkdir()
    (root / "tree/HEAD").write_text("ref: refs/heads/main\n")
    assert is_protected(root, "tree/commondir")


def test_modules_folder_is_protected_beside_a_control_file_only(root: Path) -> None:
    assert not is_protected(root, "modules/x.json")
    (root / "app.json").write_text("{}")
    assert is_protected(root, "modules/x.json")
    assert not is_protected(root, "src/modules/x.json")


def test_folder_that_holds_a_protected_file_counts_where_it_goes(root: Path) -> None:
    (root / "evil/hooks").mkdir(parents=True)
    (root / "evil/.vscode").mkdir()
    with Workspace([root]) as workspace:
        evil, target, plain = (workspace.locate(path) for path in ("evil", "target", "src"))
        assert workspace.is_protected(target, holding=evil)
        assert not workspace.is_protected(evil)
        assert not workspace.is_protected(target, holding=plain)
        assert not workspace.is_protected(target, holding=workspace.locate("nowhere"))


def test_link_that_leads_out_is_judged_by_its_own_place(root: Path) -> None:
    (root / "src/out").symlink_to("/etc/passwd")
    (root / "src/loop").symlink_to("loop")
    (root / ".git/out").symlink_to("/etc/passwd")
    assert not is_protected(root, "src/out")
    assert not is_protected(root, "src/loop")
    assert is_protected(root, ".git/out")


@pytest.mark.spec("S2")
@pytest.mark.parametrize("client", CLIENTS.values(), ids=lambda client: client.name)
def test_files_that_a_known_client_reads_in_a_project_are_protected(client: AgentClient) -> None:
    assert client.project_files or client.name == "claude-desktop"  # which opens no projects
    unprotected = [
        path for path in client.project_files if not Protection().is_protected(("project", *path.split("/")))
    ]
    assert unprotected == []


@pytest.mark.spec("S2")
@pytest.mark.parametrize(
    "path",
    [".nvim.lua", ".hg/hgrc", ".jj/repo/config.toml", ".agents/skills/x/run.py", ".kiro/settings/mcp.json",
     ".qwen/settings.json", "QWEN.md", "crush.json", ".helix/languages.toml", ".amazonq/mcp.json",
     ".junie/guidelines.md", ".trae/mcp.json", "mise.toml", ".cargo/config.toml", ".config/zed/settings.json",
     ".bash_aliases", ".tmux.conf", "x.sublime-project", ".lefthook.yml", ".devcontainer.json", ".pdbrc",
     "skills/x/SKILL.md", ".kilocode/mcp.json", ".github/hooks/x.json", "sub/.github/skills/x/run.py", ".sl/config",
     ".sl/sharedpath", "_darcs/prefs/defaults", ".hg/hgrc-not-shared", ".hg/sharedpath", ".jj/repo", "deep/.jj/repo",
     ".pijul/config", ".fossil-settings/x", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pnpmfile.mjs",
     "bunfig.toml", ".Rprofile", ".Renviron", ".ghci", ".irbrc", ".iex.exs", ".vs/launch.vs.json", ".lvimrc",
     ".vimspector.json", ".config/Code/User/settings.json", ".factory/x", ".warp/x", ".amp/x", ".copilot/x", ".pi/x",
     ".kimi/x", ".tabnine/x", "mcp.json", ".config/nushell/config.nu", ".config/kitty/kitty.conf",
     ".config/zellij/config.kdl", ".config/starship.toml", ".xonshrc", ".wezterm.lua", ".xsessionrc"],
)  # fmt: skip
def test_files_of_common_editors_shells_and_agents_are_protected(path: str) -> None:
    assert Protection().is_protected(path.split("/"))


def test_ordinary_files_of_other_version_control_systems_are_not_protected() -> None:
    assert not Protection().is_protected((".hg", "store", "00changelog.i"))
    assert not Protection().is_protected((".jj", "repo", "store", "x"))
    assert not Protection().is_protected((".sl", "store", "x"))
    assert not Protection().is_protected(("_darcs", "hashed_inventory"))


def test_walk_tells_a_folder_of_jujutsu_from_a_file_that_leads_to_one() -> None:
    assert Protection().protected_among((".jj",), ["repo", "working_copy"]) == ["repo"]
    assert Protection().protected_among((".jj",), ["repo", "working_copy"], {"repo", "working_copy"}) == []


def test_link_on_the_way_to_protected_files_is_known_with_what_is_protected_below_it() -> None:
    protection = Protection(["/secrets/deep/key", "/x/*.pem", "/src/**/e*"])
    found = protection.beginnings_among((), [".CARGO", ".hg", "secrets", "x", "src", "other", "app.json"])
    assert found[".CARGO"] == ["config", "config.toml"]
    assert found["secrets"] == ["deep/key"]
    assert found["x"] == [""]
    assert sorted(found) == [".CARGO", ".hg", "secrets", "src", "x"]
    assert protection.beginnings_among(("deep", ".jj"), ["repo"]) == {"repo": ["config.toml"]}
    assert protection.beginnings_among(("src",), ["foo"]) == {}
    assert protection.beginnings_among(("deep",), ["secrets"]) == {}
