"""What a server that is a command sees and changes of the machine."""

import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support.waiting import wait_until

pytestmark = pytest.mark.usefixtures("bubblewrap")


async def text_of(host, tool, **arguments):
    return (await host.call(tool, **arguments)).blocks()[0].text


async def test_a_server_reads_neither_keys_nor_the_state_of_agentcore(mount, plain, tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_ed25519").write_text("a key")
    monkeypatch.setenv("HOME", str(home))
    host = await mount(plain())
    assert "cannot read" in await text_of(host, "example_read", path=str(home / ".ssh" / "id_ed25519"))
    state = host.host.state.path
    assert await text_of(host, "example_names", path=str(state)) == "['data']"
    assert await text_of(host, "example_names", path=str(state / "data")) == "['mcp_example']"


async def test_a_server_writes_the_workspace_and_nothing_that_decides_what_runs(mount, plain, tmp_path, git):
    root = tmp_path / "root"
    subprocess.run([git, "init", "-q", str(root)], check=True)
    (root / "CLAUDE.md").write_text("ours")
    host = await mount(plain(), roots=[root])
    assert await text_of(host, "example_write", path=str(root / "notes.txt")) == "written"
    for held in ("CLAUDE.md", ".git/config", ".git/hooks/pre-commit"):
        assert "cannot write" in await text_of(host, "example_write", path=str(root / held))
    await text_of(host, "example_write", path=str(tmp_path / "outside.txt"))
    assert not (tmp_path / "outside.txt").exists()
    assert (root / "CLAUDE.md").read_text() == "ours"


async def test_a_server_cannot_exchange_a_repository_for_one_with_a_hook(mount, plain, tmp_path, git):
    root = tmp_path / "root"
    subprocess.run([git, "init", "-q", str(root)], check=True)
    host = await mount(plain(sandbox="require"), roots=[root])
    plant = "mv .git g2; cp -r g2 .git; echo 'touch pwned' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit"
    assert "busy" in await text_of(host, "example_shell", path=str(root), command=plant)
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([git, *author, "commit", "-q", "--allow-empty", "-m", "x"], cwd=root, check=True)
    assert not (root / "pwned").exists()
    assert await text_of(host, "example_shell", path=str(root), command="git log --format=%s") == "x\n"


@pytest.mark.parametrize(
    "name",
    [
        ".envrc",
        ".bashrc",
        ".vscode/tasks.json",
        ".claude/settings.json",
        ".mcp.json",
        "AGENTS.md",
        "CLAUDE.md",
        "modules/shell_tools.json",
        "later/.git/hooks/post-commit",
    ],
)
async def test_a_control_file_that_a_server_makes_is_quarantined_and_reported(mount, plain, tmp_path, name):
    root = tmp_path / "root"
    root.mkdir()
    (root / "app.json").write_text("{}")
    host = await mount(plain(sandbox="require"), roots=[root])
    make = f"git init -q later; mkdir -p $(dirname {name}); touch notes.txt; echo planted > {name}"
    await text_of(host, "example_shell", path=str(root), command=make)
    event = await host.events.wait_for("workspace.quarantined")
    assert not (root / name).exists()
    assert (root / "notes.txt").exists()
    assert event["modules"] == ["mcp_example"]
    (file,) = event["files"]
    assert name.startswith(file["path"])
    assert ".agentcore-aside" in file["aside"]
    await host.host.store.record.flush()
    rows = [each.row for each in await host.host.store.record.read_page()]
    assert [row.module for row in rows if row.outcome == "control_file_quarantined"] == ["mcp_example"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The home folder of the user, with a log-in of gh."""
    folder = tmp_path / "home"
    (folder / ".config" / "gh").mkdir(parents=True)
    (folder / ".config" / "gh" / "hosts.yml").write_text("a token")
    (folder / ".gitconfig").write_text("[user]\nname = Me\n")
    monkeypatch.setenv("HOME", str(folder))
    return folder


async def run(host, command):
    """What a command says that the server runs in the shell."""
    return await text_of(host, "example_shell", path="/", command=command)


@pytest.mark.more
async def test_a_server_has_a_home_of_its_own_which_stays(mount, plain, home):
    host = await mount(plain(sandbox="require"))
    assert await run(host, "echo kept > ~/.kept; mkdir -p ~/.config/tool; cat ~/.kept") == "kept\n"
    assert "No such file" in await run(host, "cat ~/.config/gh/hosts.yml")
    assert await run(host, "git config --global user.name") == "Me\n"
    await host.host.modules.reload("mcp_example")
    assert await run(host, "cat ~/.kept") == "kept\n"
    assert not (home / ".kept").exists()


async def test_a_log_in_that_the_block_names_can_be_read_and_not_changed(mount, plain, home):
    (home / "tool").write_text("of a tool")
    host = await mount(plain(sandbox="require", home=["gh", "~/tool", "aws"]))
    assert await run(host, "cat ~/.config/gh/hosts.yml ~/tool") == "a tokenof a tool"
    assert "Read-only" in await run(host, "echo mine > ~/.config/gh/hosts.yml")
    assert (home / ".config" / "gh" / "hosts.yml").read_text() == "a token"


async def test_a_server_writes_and_sees_the_folders_that_its_block_names(mount, plain, tmp_path):
    for name in ("written", "read", "neither"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    host = await mount(
        plain(sandbox="require", writable=[str(tmp_path / "written")], readable=[str(tmp_path / "read")])
    )
    assert await text_of(host, "example_write", path=str(tmp_path / "written" / "new")) == "written"
    assert (tmp_path / "written" / "new").exists()
    assert await text_of(host, "example_names", path=str(tmp_path / "read")) == "['file']"
    assert "Read-only" in await text_of(host, "example_write", path=str(tmp_path / "read" / "new"))
    assert "No such file" in await run(host, f"ls {tmp_path / 'neither'}")


async def test_a_folder_that_holds_the_workspace_is_not_made_writable(mount, plain, tmp_path):
    host = await mount(plain(writable=[str(tmp_path)]), roots=[tmp_path], is_failure_expected=True)
    reason = host.host.modules.get_record("mcp_example").reason
    assert "`agentcore.writable` of the block names" in reason


@pytest.mark.parametrize(
    ("program", "setting"),
    [
        ("open({file!r})", "agentcore.readable"),
        ("open('/usr/agentcore-test', 'w')", "agentcore.writable"),
        ("import os; open(os.path.expanduser('~/.aws/credentials'))", "agentcore.home"),
    ],
)
async def test_what_the_sandbox_has_refused_is_said_with_the_setting_that_allows_it(mount, tmp_path, program, setting):
    (tmp_path / "data.db").touch()
    block = {"command": sys.executable, "args": ["-c", program.format(file=str(tmp_path / "data.db"))]}
    host = await mount(block, is_failure_expected=True)
    assert f"`{setting}` in its block allows that" in host.host.modules.get_record("mcp_example").waiting.said


async def test_a_file_in_the_home_or_the_caches_of_a_server_is_not_said_to_be_hidden_from_it(mount):
    program = """
import os, pathlib, sys
for folder in ("HOME", "XDG_CACHE_HOME"):
    file = pathlib.Path(os.environ[folder]) / "made"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    sys.stderr.write(f"File {str(file)!r}, line 1\\n")
open("nowhere")
"""
    host = await mount({"command": sys.executable, "args": ["-c", program]}, is_failure_expected=True)
    said = host.host.modules.get_record("mcp_example").waiting.said
    assert "No such file or directory: 'nowhere'" in said
    assert "sandbox" not in said


@pytest.mark.parametrize("cwd", [".", "sub", ".."])
async def test_working_folder_of_a_server_is_guarded_as_the_rest_of_the_workspace(mount, plain, tmp_path, cwd):
    root = tmp_path / "above" / "root"
    (root / "sub").mkdir(parents=True)
    host = await mount({**plain(sandbox="require"), "cwd": cwd}, roots=[root])
    folder = root / "sub" if cwd == "sub" else root
    make = "touch notes.txt; echo planted > .envrc; echo planted > ../../outside.txt; echo planted > ../outside.txt"
    await text_of(host, "example_shell", path=str(folder), command=make)
    await host.events.wait_for("workspace.quarantined")
    assert (folder / "notes.txt").exists()
    assert not (folder / ".envrc").exists()
    assert not list(tmp_path.glob("outside.txt")) + list((tmp_path / "above").glob("outside.txt"))


async def test_configuration_that_has_git_run_something_is_taken_out_of_a_repository_of_a_server(
    mount, plain, tmp_path
):
    root = tmp_path / "root"
    root.mkdir()
    host = await mount(plain(sandbox="require"), roots=[root])
    make = "git init -q later; cd later; git config user.name me; git config core.fsmonitor ./evil"
    await text_of(host, "example_shell", path=str(root), command=make)
    await host.events.wait_for("workspace.quarantined")
    config = (root / "later/.git/config").read_text()
    assert "fsmonitor" not in config
    assert "name = me" in config


@pytest.mark.in_server("looks into the guard in the server")
async def test_what_the_user_changes_while_a_server_waits_for_requests_stays(mount, plain, tmp_path, monkeypatch):
    monkeypatch.setattr("agentcore.supervision.control_files.control_files.LOOK_SECONDS", 0.1)
    root = tmp_path / "root"
    root.mkdir()
    (root / "AGENTS.md").write_text("as it was")
    host = await mount(plain(sandbox="require"), roots=[root])
    guard = host.host.control_files
    rest = None
    while rest is None or guard._rest != rest:  # it has started, sleeps, and was looked at so more than once
        rest = guard._rest
        await asyncio.sleep(0.5)
    (root / "mine").mkdir()
    (root / "mine/CLAUDE.md").write_text("of the user")
    (root / "new.md").write_text("edited")
    (root / "new.md").rename(root / "AGENTS.md")  # as editors save
    await wait_until(lambda: str(root / "mine/CLAUDE.md") in guard._known.entries)
    await text_of(host, "example_shell", path=str(root), command="echo planted > mine/CLAUDE.md; echo x > .envrc")
    event = await host.events.wait_for("workspace.quarantined")
    # the folder is the user's, and no server's
    await wait_until(lambda: (root / "mine/CLAUDE.md").read_text() == "of the user")
    assert (root / "AGENTS.md").read_text() == "edited"
    assert {file["path"] for file in event["files"]} <= {".envrc", "mine/CLAUDE.md"}


@pytest.mark.more
async def test_what_cannot_all_be_pinned_is_reported(mount, plain, tmp_path):
    root = tmp_path / "root"
    for number in range(401):
        (root / str(number)).mkdir(parents=True)
        (root / str(number) / "AGENTS.md").touch()
    host = await mount(plain(sandbox="require"), roots=[root])
    said, advice = host.host.modules.get_record("mcp_example").notes["control files"]
    assert said.startswith("1 control files of the workspace are not pinned")
    assert "workspace.roots" in advice


async def test_a_program_that_the_sandbox_does_not_show_is_said_to_be_hidden(mount):
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        program = Path(folder, "server")
        program.symlink_to(sys.executable)
        host = await mount({"command": str(program)}, is_failure_expected=True)
    reason = host.host.modules.get_record("mcp_example").waiting.said
    assert f"{str(program)!r}, or what runs it, lies where the sandbox shows nothing" in reason


async def test_a_sandbox_that_is_required_and_not_there_keeps_the_server_from_starting(
    mount, plain, tmp_path, monkeypatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    host = await mount(plain(sandbox="require"), is_failure_expected=True)
    assert "must run in a sandbox" in host.host.modules.get_record("mcp_example").reason


async def test_a_server_without_a_sandbox_is_pointed_out(mount, plain, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    host = await mount(plain())
    said, advice = host.host.modules.get_record("mcp_example").notes["sandbox"]
    assert "not installed" in said
    assert "keys included" in advice
