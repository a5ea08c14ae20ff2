"""Ways out of the sandbox: a command plants something, and git runs it as soon as a person works in the folder."""

import ctypes
import os
import subprocess
from pathlib import Path

import pytest

from agentcore.supervision.prctl import leave_keyring
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.spec("S2", "S5"), pytest.mark.usefixtures("needs_sandbox", "git")]

# shell functions of the model's commands: a program that leaves a mark outside, a nested repository that git looks
# into, one outside of the workspace
_FUNCTIONS = """
evil() { printf '#!/bin/sh\\ntouch %s\\n' "$MARK" > "$1"; chmod +x "$1"; }
commit() { git -C "$1" -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; }
nest() {
    git init -q "$2/$3"; evil "$2/ev"; git -C "$2/$3" config core.fsmonitor "$(realpath "$2/ev")"; commit "$2/$3"
    git --git-dir="$1/.git" update-index --add --cacheinfo "160000,$(git -C "$2/$3" rev-parse HEAD),$3"
}
outside() { git init -q --bare "$1"; git -C "$1" config core.bare false; evil "$1/hooks/pre-commit"; }
C="$XDG_CACHE_HOME"; mkdir -p "$C"
"""
_COMMIT = "git commit -q --allow-empty -m x"
_INCLUDED = "printf '[include]\\n\\tpath = b.inc\\n' > a.inc; printf '[user]\\n\\tname = a\\n' > b.inc"
_HOOKS = "mkdir -p scripts/hooks; printf '#!/bin/sh\\n' > scripts/hooks/pre-commit; chmod +x scripts/hooks/pre-commit"
_FSMONITOR = "printf '[core]\\n\\tfsmonitor = ./ev\\n'"


@pytest.mark.parametrize(
    ("before", "commands", "then"),
    [
        pytest.param(before, commands, then, id=name)
        for name, before, commands, then in [
            (
                "hook_that_is_a_link",
                f"{_HOOKS}; ln -s ../../scripts/hooks/pre-commit .git/hooks/pre-commit",
                ["mv scripts s2; mkdir -p scripts/hooks; evil scripts/hooks/pre-commit"],
                _COMMIT,
            ),
            (
                "folder_of_hooks_that_is_a_link",
                f"{_HOOKS}; rm -r .git/hooks; ln -s ../scripts/hooks .git/hooks",
                ["mv scripts s2; mkdir -p scripts/hooks; evil scripts/hooks/pre-commit"],
                _COMMIT,
            ),
            (
                "hooks_path_with_a_link_in_it",
                f"{_HOOKS}; ln -s scripts link; git config core.hooksPath link/hooks",
                ["ln -sfn other link; mkdir -p other/hooks; evil other/hooks/pre-commit"],
                _COMMIT,
            ),
            (
                "hooks_path_in_a_worktree",
                f"{_HOOKS}; git add .; {_COMMIT}; git config core.hooksPath scripts/hooks",
                ["git worktree add -q tree", "evil tree/scripts/hooks/pre-commit"],
                f"cd tree; {_COMMIT}",
            ),
            (
                "hooks_path_in_a_copy",
                "git init -q p; git -C p config core.hooksPath scripts/hooks",
                ["cp -r p q; mkdir -p q/scripts/hooks; evil q/scripts/hooks/pre-commit"],
                f"cd q; {_COMMIT}",
            ),
            (
                "configuration_that_configuration_includes",
                f"{_INCLUDED}; git config include.path ../a.inc",
                [f"evil ev; rm b.inc; {_FSMONITOR} > b.inc"],
                "git status",
            ),
            (
                "configuration_that_the_persons_own_includes",
                "git config --global include.path $PWD/work.inc; touch work.inc",
                [f"evil ev; rm work.inc; {_FSMONITOR} > work.inc"],
                "git status",
            ),
            ("repository_in_a_protected_folder", "", ["git init -q p; nest p p .vscode/s"], "git -C p status"),
            (
                "repository_among_the_samples_of_hooks",
                "",
                ["git init -q --bare d; nest . . d/hooks/x.sample; nest . . d/hooks/y.agentcore-aside"],
                "git status",
            ),
            (
                "working_folder_outside",
                "",
                ["git init -q p; nest p $C/w s; git -C p config core.worktree $C/w"],
                "git -C p status",
            ),
            (
                "working_folder_where_nobody_looks",
                "",
                ["git init -q p; mkdir p/.git/w; nest p p/.git/w s; git -C p config core.worktree w"],
                "git -C p status",
            ),
            (
                "working_folder_by_a_link_that_changes",
                "",
                [
                    "git init -q p; mkdir w; ln -s w l; git -C p config core.worktree ../../l",
                    "nest p $C/w s; ln -sfn $C/w l",
                ],
                "git -C p status",
            ),
            (
                "git_file_whose_folder_becomes_a_link",
                "",
                ["git init -q --separate-git-dir $PWD/g w", "rm -r g; outside $C/g; ln -s $C/g g"],
                f"cd w; {_COMMIT}",
            ),
            (
                "git_file_that_ends_with_a_blank",
                "",
                ["git init -q --bare g; outside $C/g; ln -s $C/g 'g '; mkdir w; printf 'gitdir: ../g ' > w/.git"],
                f"cd w; {_COMMIT}",
            ),
            (
                "git_file_with_a_nul",
                "",
                ["git init -q --bare g; outside $C/g; mkdir w; printf 'gitdir: %s\\0x\\n' $C/g > w/.git"],
                f"cd w; {_COMMIT}",
            ),
            (
                "address_that_becomes_a_link",
                "",
                [
                    "git init -q p; git init -q --bare r; git -C p remote add o ../r",
                    "rm -r r; git init -q --bare $C/r; evil $C/r/hooks/pre-receive; ln -s $C/r r",
                ],
                f"cd p; {_COMMIT}; git push o HEAD:x",
            ),
            (
                "address_in_the_old_way",
                "",
                [
                    (
                        "mkdir -p .git/remotes; git init -q --bare $C/r; evil $C/r/hooks/pre-receive;"
                        "printf 'URL: %s\\nPush: HEAD:refs/heads/x\\n' $C/r > .git/remotes/origin"
                    )
                ],
                f"{_COMMIT}; git push origin",
            ),
        ]
    ],
)
async def test_nothing_planted_runs_when_a_person_works_there(
    start, root, tmp_path, monkeypatch, before, commands, then
):
    mark, home = tmp_path / "mark", tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    names = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    person = {"cwd": root, "env": {**os.environ, **names}, "capture_output": True}
    subprocess.run(["bash", "-ec", f"git init -q; {before}"], check=True, **person)
    host = await start()
    for command in commands:
        await host.call("bash", command=f"MARK={mark}\n{_FUNCTIONS}\n{command}")
    subprocess.run(["bash", "-c", then], check=False, **person)
    assert not mark.exists()


@pytest.mark.more
@pytest.mark.in_server("patches the module's code")
async def test_what_is_written_through_memory_after_a_look_is_seen(host, root, monkeypatch):
    """Such a write leaves no mark on the file."""
    looks = []
    guard = "agentcore.supervision.control_files.control_files"
    monkeypatch.setattr("agentcore.supervision.control_files.control_file_entry._UNCERTAIN_NS", 0)
    monkeypatch.setattr(f"{guard}.LOOK_SECONDS", 0.05)
    monkeypatch.setattr(f"{guard}._SHARE", 0)
    judge = __import__(guard, fromlist=["ControlFiles"]).ControlFiles._check_in_thread
    monkeypatch.setattr(f"{guard}.ControlFiles._check_in_thread", lambda files: (looks.append(1), judge(files))[1])
    script = """
import mmap, os, time
harm = b'[core]\\n\\tfsmonitor = ../ev\\n'
with open('p/.git/config', 'wb') as file:
    file.write(b'#' * (len(harm) - 1) + b'\\n')
with open('p/.git/config', 'r+b') as file:
    memory = mmap.mmap(file.fileno(), len(harm))
memory[0:1] = b'#'
open('ready', 'w').close()
while not os.path.exists('go'):
    time.sleep(0.02)
memory[:] = harm
"""
    (root / "map.py").write_text(script)
    started = await host.call("bash", command="git init -q p; python3 map.py", background=True)
    await wait_until((root / "ready").exists)
    seen = len(looks)
    await wait_until(lambda: len(looks) > seen + 3)
    (root / "go").touch()
    ended = await host.call("bash_output", process_id=started.data["process_id"], block=True)
    assert [each["path"] for each in ended.data["put_aside"]] == ["p/.git/config"]
    assert "fsmonitor" not in (root / "p/.git/config").read_text()


async def test_setting_hooks_to_a_folder_of_the_person_leaves_that_folder_alone(host, root):
    (root / "src").mkdir()
    (root / "src/main.py").write_text("print()")
    data = (await host.call("bash", command="git init -q p; git -C p config core.hooksPath ../src")).data
    assert [each["path"] for each in data["put_aside"]] == ["p/.git/config"]
    assert (root / "src/main.py").exists()


async def test_folder_that_shows_its_names_to_nobody_is_looked_into(host, root):
    """Root lists it anyway; for others, git finds hooks in it all the same."""
    planted = "git init -q p; echo x > p/.git/hooks/pre-commit; chmod 0311 p/.git/hooks p/.git"
    data = (await host.call("bash", command=planted)).data
    assert [each["path"] for each in data["put_aside"]] == ["p/.git/hooks/pre-commit"]


async def test_keys_that_the_server_holds_in_the_kernel_are_not_there(start):
    libc, search = ctypes.CDLL(None), "print(ctypes.CDLL(None).syscall(250, 10, -3, b'user', b'agentcore-test', 0))"
    if os.uname().machine != "x86_64":
        pytest.skip("the numbers of system calls differ")
    leave_keyring()
    if libc.syscall(248, b"user", b"agentcore-test", b"secret", 6, -3) < 0:
        pytest.skip("the kernel keeps no keys here")
    host = await start()  # its threads have the keyring of this one
    data = (await host.call("bash", command=f'python3 -c "import ctypes; {search}"')).data
    assert data["output"] == "-1\n"


async def test_password_file_of_the_system_is_not_there(host):
    data = (await host.call("bash", command="cat /etc/shadow /etc/gshadow")).data
    assert ":" not in data["output"].replace("cat:", "").replace("shadow:", "")


@pytest.mark.more
async def test_link_among_the_caches_leads_nothing_to_another_place(host, tmp_path):
    data = (
        await host.call("bash", command="rm -rf $CARGO_HOME; ln -sfn /oldroot/etc $CARGO_HOME; ls -ld $CARGO_HOME")
    ).data
    assert data["output"].splitlines()[-1].startswith("d")
    assert "busy" in data["output"]


async def test_caches_that_a_person_has_deleted_are_made_again(host):
    folder = host.host.state.path / "data/shell_tools/cache"
    subprocess.run(["rm", "-r", folder], check=True)
    data = (await host.call("bash", command="touch $CARGO_HOME/made && echo made")).data
    assert data["output"] == "made\n"
    assert Path(folder, "cargo/made").exists()
