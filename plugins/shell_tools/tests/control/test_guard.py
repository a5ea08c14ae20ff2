"""What decides what runs outside of the sandbox: held by the kernel, or put aside before anything else runs."""

import asyncio
import json
import os
import subprocess
from pathlib import Path

import pytest

from agentcore.api import Caches, Confinement, ControlFiles, Workspace
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.spec("S2", "S5"), pytest.mark.usefixtures("needs_sandbox")]
_ASIDE = ".agentcore-aside"


@pytest.fixture
def git(root, monkeypatch, git):
    """Run git as the person does, outside of the sandbox."""
    program = git
    for name, value in {"NAME": "a", "EMAIL": "a@b"}.items():
        monkeypatch.setenv(f"GIT_AUTHOR_{name}", value)
        monkeypatch.setenv(f"GIT_COMMITTER_{name}", value)

    def run(*words: str, folder: Path = root) -> str:
        return subprocess.run([program, *words], cwd=folder, check=True, capture_output=True, text=True).stdout

    return run


@pytest.fixture
def repository(root, git):
    """A repository that was there before, in the root."""
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "first")
    return root


@pytest.fixture
def bash(host):
    async def run(command: str, **arguments):
        return (await host.call("bash", command=command, **arguments)).data

    return run


def put_aside(data) -> list[str]:
    return sorted(each["path"] for each in data["put_aside"])


@pytest.mark.more
async def test_command_beside_one_that_sleeps_is_looked_at(host, bash, root, monkeypatch):
    """It comes and goes between two looks; what sleeps meanwhile does not speak for it."""
    monkeypatch.setattr("agentcore.supervision.control_files.control_files.LOOK_SECONDS", 1.0)
    await bash("sleep 600", background=True)
    guard = host.host.control_files
    await wait_until(lambda: guard._rest is not None and guard._is_settled)  # it sleeps, and was looked at so
    assert put_aside(await bash("echo planted > .envrc")) == [".envrc"]
    assert not (root / ".envrc").exists()


@pytest.mark.more
async def test_repository_cannot_be_moved_away_to_make_another_in_its_place(bash, repository):
    data = await bash("mv .git g2; cp -r g2 .git; echo 'touch pwned' > .git/hooks/post-commit; rm -rf .git/hooks; true")
    assert "busy" in data["output"]
    assert not (repository / "g2").exists()
    assert not (repository / ".git/hooks/post-commit").exists()
    assert (repository / ".git/hooks").is_dir()


async def test_repository_below_the_root_is_protected_and_stays_in_its_place(bash, root, git):
    project = root / "deep/project"
    project.mkdir(parents=True)
    git("init", "-q", folder=project)
    script = """
    cd deep; mv project other; mv ../deep ../elsewhere
    echo x > project/.git/hooks/post-commit; echo x >> project/.git/config; ln -sf /tmp project/.git/hooks
    echo done
    """
    data = await bash(script)
    assert data["output"].endswith("done\n")
    assert project.is_dir()
    assert "x" not in (project / ".git/config").read_text().splitlines()
    assert not (project / ".git/hooks/post-commit").exists()


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("git init -q sub && echo 'touch pwned' > sub/.git/hooks/post-commit", ["sub/.git/hooks/post-commit"]),
        ("git init -q && printf 'x' > .git/hooks/pre-push && chmod +x .git/hooks/*", [".git/hooks/pre-push"]),
        ("git init -q sub && rm -r sub/.git/hooks && ln -s ../../evil sub/.git/hooks", ["sub/.git/hooks"]),
        ("git init -q sub && git -C sub config core.hooksPath evil", ["sub/.git/config"]),
        ("git init -q sub && git -C sub config core.fsmonitor ./evil.sh", ["sub/.git/config"]),
        ("git init -q sub && git -C sub config include.path ../evil", ["sub/.git/config"]),
        ("git init -q sub && printf '[core] fsmonitor = ./evil\\n' >> sub/.git/config", ["sub/.git/config"]),
        ("git init -q sub && printf '[alias]\\n\\tst = \"!./evil\"\\n' >> sub/.git/config", ["sub/.git/config"]),
        ("git init -q sub && git -C sub remote add o 'ext::sh -c ./evil'", ["sub/.git/config"]),
        ("git init -q sub && git -C sub remote add o $XDG_CACHE_HOME/evil.git", ["sub/.git/config"]),
        ("git init -q --bare docs && git -C docs config core.fsmonitor ./evil", ["docs/config"]),
        (
            "mkdir d && git init -q --separate-git-dir $PWD/d/x w && echo x > d/x/hooks/post-commit",
            ["d/x/hooks/post-commit"],
        ),
        ("mkdir w && echo gitdir: $XDG_CACHE_HOME/evil > w/.git", ["w/.git"]),
        ("mkdir w && ln -s $XDG_CACHE_HOME/evil w/.git", ["w/.git"]),
        ("echo x > .envrc", [".envrc"]),
        ("mkdir .vscode && echo {} > .vscode/tasks.json && echo {} > .vscode/settings.json", [".vscode"]),
        ("echo {} > app.json", ["app.json"]),
        ("ln -s notes CLAUDE.md", ["CLAUDE.md"]),
        ("mkdir -p .config/fish && echo x > .config/fish/config.fish", [".config/fish"]),
        ("mkdir -p .github/hooks && echo {} > .github/hooks/x.json", [".github/hooks"]),
        ("mkdir -p x/fish && echo x > x/fish/config.fish && ln -s x .config", [".config"]),
        (
            "mkdir -p x/hooks && ln -s ../x .github && ln -s x .cargo && mkdir .jj && ln -s ../x .jj/repo",
            [".cargo", ".github", ".jj/repo"],
        ),
        ("git init -q sub && git -C sub config core.worktree /usr/share", ["sub/.git/config"]),
        (
            (
                "git init -q sub && mkdir sub/.git/rebase-merge && cd sub/.git/rebase-merge && "
                "printf 'pick 1234 x\\nx ./evil\\n  exec ./evil\\n' > git-rebase-todo"
            ),
            ["sub/.git/rebase-merge/git-rebase-todo"],
        ),
        ("git init -q --bare d && ln -s ../d d/rebase-merge", ["d/rebase-merge"]),
        ("mkdir .jj && echo ../other/.jj/repo > .jj/repo", [".jj/repo"]),
    ],
)
async def test_what_appears_is_put_aside_and_told(bash, root, made, expected):
    data = await bash(made)
    assert data["exit_code"] == 0, data["output"]
    assert put_aside(data) == expected
    for each in data["put_aside"]:
        assert os.path.lexists(root / each["aside"])
        assert _ASIDE in each["aside"]
    evil = [path for path in root.rglob("*") if path.is_file() and path.suffix != ".sample" and _ASIDE not in str(path)]
    assert not any("evil" in path.read_text("utf-8", "replace") for path in evil)


async def test_result_the_record_and_the_page_tell_of_it(host, text):
    result = await host.call("bash", command="echo x > .envrc")
    assert ".envrc" in text(result)
    assert "file_move" in text(result)
    event = await host.events.wait_for("workspace.quarantined")
    assert event["files"][0]["path"] == ".envrc"
    await host.host.store.record.flush()
    rows = [each.row for each in await host.host.store.record.read_page()]
    (row,) = [row for row in rows if row.outcome == "control_file_quarantined"]
    assert row.module == "shell_tools"
    assert json.loads(row.arguments)["details"]["path"] == ".envrc"


async def test_changed_file_gets_its_old_content_back(bash, root):
    """A folder that was renamed takes its file out of the kernel's hands."""
    (root / "docs").mkdir()
    (root / "docs/AGENTS.md").write_text("as it was")
    data = await bash("mv docs d2 && mkdir docs && echo evil > docs/AGENTS.md")
    assert put_aside(data) == ["docs/AGENTS.md"]
    assert (root / "docs/AGENTS.md").read_text() == "as it was"
    assert (root / "d2/AGENTS.md").read_text() == "as it was"


@pytest.mark.more
async def test_usual_work_with_git_goes_on_without_a_word(bash, root, git):
    upstream = root / "upstream"
    upstream.mkdir()
    git("init", "-q", "-b", "main", folder=upstream)
    (upstream / "AGENTS.md").write_text("what an upstream says")
    git("add", ".", folder=upstream)
    git("commit", "-q", "-m", "first", folder=upstream)
    git("branch", "feature", folder=upstream)
    script = f"""
    set -e
    git clone -q {upstream} clone; cd clone
    git config user.name me; git config user.email me@example.org
    git checkout -q feature; git commit -q --allow-empty -m second; git checkout -q -b mine
    git worktree add -q ../tree main; git -C ../tree status --short
    git -c protocol.file.allow=always submodule --quiet add {upstream} part
    git commit -q -m third; git remote add other https://example.org/x.git
    git config pull.rebase true; git stash list; git tag v1; git branch -q -d main || true; cd ..; git init -q new
    """
    data = await bash(script)
    assert data["exit_code"] == 0, data["output"]
    assert put_aside(data) == []
    again = await bash(
        "cd clone && git config user.name you && git mv AGENTS.md x && git commit -q -m y && rm -rf ../clone"
    )
    assert (again["exit_code"], again["output"], again["put_aside"]) == (0, "", [])
    assert not (root / "clone").exists()


async def test_repository_of_the_person_can_be_worked_in(bash, repository, git):
    git("branch", "feature")
    git("worktree", "add", "-q", "tree", "feature")
    commit = "git -c user.name=a -c user.email=a@b commit -q -m x"
    data = await bash(f"git checkout -q -b mine; echo x > f; git add f; {commit}; git log --format=%s")
    assert (data["output"], data["put_aside"]) == ("x\nfirst\n", [])


async def test_hooks_path_that_an_installer_sets_is_left_out_and_the_rest_of_the_file_stays(bash, root):
    script = """
    git init -q p && cd p && git config user.name me && git config core.hooksPath .husky/_ &&
    mkdir -p .husky/_ && echo x > .husky/_/pre-commit
    """
    data = await bash(script)
    assert data["exit_code"] == 0
    config = (root / "p/.git/config").read_text()
    assert "hooksPath" not in config
    assert "name = me" in config
    assert "hooksPath" in (root / f"p/.git/config{_ASIDE}").read_text()


async def test_what_a_person_put_in_place_while_nothing_ran_is_trusted(bash, repository):
    (repository / ".git/hooks/pre-commit").write_text("#!/bin/sh\nexit 0\n")
    (repository / ".envrc").write_text("mine")
    assert (await bash("true"))["put_aside"] == []
    assert (repository / ".envrc").read_text() == "mine"


async def test_folder_that_a_hooks_path_of_the_person_names_is_held(bash, repository, git):
    (repository / "scripts/hooks").mkdir(parents=True)
    git("config", "core.hooksPath", "scripts/hooks")
    moved = "mv scripts s2; mkdir -p scripts/hooks; echo x > scripts/hooks/pre-push"
    data = await bash(f"echo x > scripts/hooks/pre-commit; echo rc $?; {moved}")
    assert "rc 1" in data["output"]
    assert not (repository / "scripts/hooks/pre-commit").exists()
    assert not (repository / "scripts/hooks/pre-push").exists()


async def test_folder_of_the_person_stays_theirs_when_a_command_moves_it(bash, root):
    (root / "mine").mkdir()
    await bash("mkdir made && mv mine made/mine && mkdir made/x/ && echo x > made/x/AGENTS.md")
    data = await bash("echo x > made/mine/AGENTS.md")
    assert put_aside(data) == ["made/mine/AGENTS.md"]
    copied = await bash("cp made/x/AGENTS.md AGENTS.md")
    assert put_aside(copied) == ["AGENTS.md"]


@pytest.mark.more
async def test_rebase_that_stops_half_way_goes_on_without_what_the_program_would_have_run(bash, root, git):
    conflict = """
    git init -q p && cd p && git config user.name a && git config user.email a@b && echo 1 > f && git add f
    git commit -q -m 1 && git checkout -q -b other && echo 2 > f && git commit -q -a -m 2 && git checkout -q -
    echo 3 > f && git commit -q -a -m 3 && echo x > g && git add g && git commit -q -m 4
    """
    data = await bash(f"{conflict}\ngit rebase -q other; true")
    assert put_aside(data) == []
    todo = root / "p/.git/rebase-merge/git-rebase-todo"
    assert "pick" in todo.read_text()
    data = await bash(f"echo 'exec touch {root}/pwned' >> p/.git/rebase-merge/git-rebase-todo")
    assert put_aside(data) == ["p/.git/rebase-merge/git-rebase-todo"]
    (root / "p/f").write_text("3")
    git("-c", "core.editor=true", "add", "f", folder=root / "p")
    git("-c", "core.editor=true", "rebase", "--continue", folder=root / "p")
    assert not (root / "pwned").exists()
    assert (root / "p/g").exists()


@pytest.mark.more
async def test_step_that_the_person_planned_stays(bash, repository, git):
    todo = repository / ".git/rebase-merge/git-rebase-todo"
    todo.parent.mkdir()
    todo.write_text("exec make test\npick 1234 x\n")
    data = await bash(f"printf 'pick 1234 x\\nexec make test\\n' > {todo}")
    assert put_aside(data) == []
    data = await bash(f"echo 'exec make evil' >> {todo}")
    assert put_aside(data) == [".git/rebase-merge/git-rebase-todo"]
    assert todo.read_text() == "pick 1234 x\nexec make test\n"


async def test_folder_of_the_person_that_is_moved_away_and_copied_back_stays_theirs(bash, root):
    (root / "mine/sub").mkdir(parents=True)
    await bash("mv mine away")
    data = await bash("cp -r away mine; mkdir made; echo x > mine/AGENTS.md")
    assert put_aside(data) == ["mine/AGENTS.md"]
    data = await bash("echo x > mine/sub/CLAUDE.md; echo x > made/AGENTS.md")
    assert put_aside(data) == ["mine/sub/CLAUDE.md"]


async def test_link_of_the_person_leads_to_protected_files(bash, root):
    (root / "dotfiles/config").mkdir(parents=True)
    (root / ".config").symlink_to("dotfiles/config")
    data = await bash("cd dotfiles/config && mkdir fish && echo x > fish/config.fish && echo x > other.conf")
    assert put_aside(data) == ["dotfiles/config/fish/config.fish"]
    assert (root / "dotfiles/config/other.conf").exists()
    data = await bash("mkdir -p x/fish; echo x > x/fish/config.fish; ln -sfn x .config")
    assert put_aside(data) == [".config"]
    assert (root / "dotfiles/config/other.conf").exists()


@pytest.mark.more
async def test_link_in_what_a_command_made_leads_nowhere_else(bash, root):
    (root / "mine/fish").mkdir(parents=True)
    (root / "mine/fish/notes").touch()
    await bash("sleep 600", background=True)
    data = await bash("mkdir made && ln -s ../mine made/.config && ln -s ../mine/fish/notes made/CLAUDE.md")
    assert put_aside(data) == []
    assert put_aside(await bash("true")) == []
    assert (root / "mine/fish/notes").exists()


@pytest.mark.more
async def test_background_process_is_looked_at_while_it_runs(host, root):
    started = await host.call("bash", command="echo x > .envrc; sleep 600", background=True)
    await wait_until((root / f".envrc{_ASIDE}").exists)
    assert not (root / ".envrc").exists()
    await host.call("bash_kill", process_id=started.data["process_id"])
    looked = await host.call("bash_output", process_id=started.data["process_id"])
    assert put_aside(looked.data) == [".envrc"]


async def test_file_that_is_not_held_from_a_command_beside_another_one_is_judged(host, bash, root):
    """Only what no running command can move away is held from the second one."""
    (root / "docs").mkdir()
    (root / "docs/AGENTS.md").write_text("as it was")
    started = await host.call("bash", command="sleep 600", background=True)
    data = await bash("echo evil > docs/AGENTS.md; true")
    assert put_aside(data) == ["docs/AGENTS.md"]
    assert (root / "docs/AGENTS.md").read_text() == "as it was"
    await host.call("bash_kill", process_id=started.data["process_id"])


@pytest.mark.in_server("makes a bound of the guard another one")
async def test_what_a_command_does_after_it_has_slept_for_long_is_its_doing(host, root, monkeypatch):
    for bound in ("LOOK_SECONDS", "LONGEST_PAUSE_S"):  # else a look that takes long has the next one wait for seconds
        monkeypatch.setattr(f"agentcore.supervision.control_files.control_files.{bound}", 0.05)
    guard = host.host.control_files
    os.mkfifo(root / "go")
    command = ": > asleep; read -r _ < go; echo x > .envrc; sleep 600"
    started = await host.call("bash", command=command, background=True)
    await wait_until((root / "asleep").exists)

    async def write_between_looks_while_it_sleeps():
        async with guard._turn:  # a look that began while it still ran takes all that it finds for its doing
            if is_asleep := guard._rest is not None and guard._rest == guard._read_rest():
                (root / ".bashrc").write_text("of the user")
            return is_asleep

    await wait_until(write_between_looks_while_it_sleeps)
    await wait_until(lambda: str(root / ".bashrc") in guard._known.entries)
    (root / "go").write_text("\n")
    await wait_until((root / f".envrc{_ASIDE}").exists)
    assert (root / ".bashrc").read_text() == "of the user"
    await host.call("bash_kill", process_id=started.data["process_id"])


async def test_command_waits_for_the_look_at_the_one_before(host, root):
    first = asyncio.create_task(host.call("bash", command="echo x > .envrc"))
    await first
    second = await host.call("bash", command="ls -A")
    assert f".envrc{_ASIDE}\n" in second.data["output"]
    assert ".envrc\n" not in second.data["output"]


async def test_cancelled_command_is_looked_at_too(host, root):
    calling = asyncio.create_task(host.call("bash", command="echo x > .envrc; touch ready; sleep 600"))
    await wait_until((root / "ready").exists)
    calling.cancel()
    await asyncio.wait((calling,))
    result = await host.call("bash", command="ls -A")
    assert ".envrc\n" not in result.data["output"]


async def test_next_server_looks_at_what_the_last_one_could_not(tmp_path, root):
    told = []
    confinement = Confinement("require", False, (), (), Caches(tmp_path / "cache", tmp_path), "the sandbox")
    with Workspace([root]) as workspace:
        crashed = ControlFiles(workspace, tmp_path / "control.json", told.append)
        await crashed.begin(confinement, "shell_tools")
        (root / ".envrc").write_text("of a command whose server was killed")
        after = ControlFiles(workspace, tmp_path / "control.json", told.append)
        await after.restore()
        await crashed.close()
    assert [each.path for report in told for each in report.quarantined] == [".envrc"]
    assert (root / f".envrc{_ASIDE}").exists()


@pytest.mark.in_server("makes a bound of the module's code another one")
async def test_tree_that_is_too_large_is_judged_as_far_as_it_was_seen_and_refuses_more(start, root, monkeypatch, text):
    monkeypatch.setattr("agentcore.supervision.control_files.control_files.FOLDERS_LOOKED_AT", 3)
    host = await start()
    result = await host.call("bash", command="mkdir 1 2 3 4; echo x > .envrc; mkdir .vscode; echo x > .vscode/x")
    *judged, unseen = result.data["put_aside"]
    assert sorted(each["path"] for each in judged) == [".envrc", ".vscode"]
    assert "not all of which were looked at" in unseen["why"]
    assert "nothing else starts in the sandbox" in text(result)
    assert not (root / ".envrc").exists()
    error = (await host.outcome("bash", {"command": "true"})).error
    assert error.type == "workspace_too_large"
    assert "workspace.roots" in error.message
    assert len(list(root.iterdir())) == 6


@pytest.mark.in_server("has the system refuse something in its own process")
async def test_what_could_not_be_put_aside_lets_no_other_command_begin(host, bash, root, monkeypatch):
    """A person's program may hold a name, or the disk be full: the file is not taken for trusted later."""

    def refuse(*_, **__):
        raise OSError("no space left")

    with monkeypatch.context() as full:
        full.setattr("agentcore.supervision.control_files.quarantine.Mover._rename_to_quarantine", refuse)
        data = await bash("echo x > .envrc")
        assert data["put_aside"][0]["aside"] == ""
        outcome = await host.outcome("bash", {"command": "touch made"})
    assert outcome.error.type == "cannot_start"
    assert not (root / "made").exists()
    assert (await bash("ls -A"))["output"] == f".envrc{_ASIDE}\n"


async def test_folder_that_was_closed_for_a_while_is_not_taken_for_a_new_one(bash, root, monkeypatch):
    (root / "mine/sub").mkdir(parents=True)
    scandir = os.scandir

    def refuse(path):
        if str(path).endswith("/mine"):
            raise PermissionError(13, "closed")
        return scandir(path)

    with monkeypatch.context() as closed:  # as `chmod 000 mine` does, but for root
        closed.setattr(os, "scandir", refuse)
        await bash("true")
    data = await bash("echo x > mine/AGENTS.md; echo x > mine/sub/AGENTS.md")
    assert put_aside(data) == ["mine/AGENTS.md", "mine/sub/AGENTS.md"]


async def test_background_command_that_the_sandbox_kept_from_something_says_so(host, text):
    started = await host.call("bash", command="echo x > /etc/agentcore-test", background=True)
    result = await host.call("bash_output", process_id=started.data["process_id"], block=True)
    assert "`writable`" in text(result)
