"""The sandbox: a command writes outside, reaches the network, signals a stranger, reads keys – and fails."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from agentcore.api.tool_context import Principal
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.spec("S5")]
confined = pytest.mark.usefixtures("needs_sandbox")


@pytest.fixture
async def sandboxed(start):
    return await start(sandbox="require", network=False)


@pytest.fixture
def outside(tmp_path_factory) -> Path:
    """A folder outside of the workspace, in the place where folders of users are."""
    folder = Path.home() / f".agentcore-test-{os.getpid()}"
    folder.mkdir(exist_ok=True)
    (folder / "file").write_text("untouched")
    yield folder
    shutil.rmtree(folder)


@confined
async def test_command_writes_in_the_workspace_and_nowhere_else(sandboxed, root, outside):
    script = f"echo new > made; echo x > {outside}/file; echo x > {outside}/new; echo x > /etc/x; rm -rf {outside}"
    result = await sandboxed.call("bash", command=f"{script}; ls /tmp; touch /tmp/t && echo private tmp")
    assert (root / "made").read_text() == "new\n"
    assert (outside / "file").read_text() == "untouched"
    assert sorted(path.name for path in outside.iterdir()) == ["file"]
    assert not Path("/etc/x").exists()
    assert not Path("/tmp/t").exists()
    assert "private tmp" in result.data["output"]


@confined
async def test_python_of_the_server_can_be_read_below_a_temporary_folder_and_nothing_beside_it(start, monkeypatch):
    with tempfile.TemporaryDirectory(prefix="agentcore-test-", dir="/var/tmp") as folder:
        environment = Path(folder) / "venv"
        environment.mkdir()
        (environment / "pyvenv.cfg").write_text("the environment")
        (Path(folder) / "beside").write_text("somebody's")
        monkeypatch.setattr(sys, "prefix", str(environment))
        host = await start(sandbox="require")
        result = await host.call("bash", command=f"cat {environment}/pyvenv.cfg; touch {environment}/x; ls {folder}")
        assert "the environment" in result.data["output"]
        assert "Read-only file system" in result.data["output"]
        assert "beside" not in result.data["output"]


@confined
async def test_link_in_the_workspace_is_no_way_out(sandboxed, root, outside):
    (root / "link").symlink_to(outside)
    result = await sandboxed.call("bash", command="echo x > link/file; echo x > link/new; echo done")
    # it is read-only, or not there at all where the sandbox shows nothing of that folder
    assert len(re.findall("Read-only file system|No such file or directory", result.data["output"])) == 2
    assert not (outside / "new").exists()
    assert (outside / "file").read_text() == "untouched"


@confined
@pytest.mark.parametrize("network", [True, False])
async def test_network_is_reached_only_where_the_setting_lets_it(start, network):
    async def greet(reader, writer):
        writer.write(b"hello\n")
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        host = await start(sandbox="require", network=network)
        result = await host.call("bash", command=f"exec 3<>/dev/tcp/127.0.0.1/{port} && cat <&3")
    assert (result.data["output"] == "hello\n") is network


@confined
async def test_stranger_cannot_be_signalled_or_seen(sandboxed):
    with subprocess.Popen(["sleep", "600"]) as stranger:
        script = f"kill -9 {stranger.pid}; kill -9 {os.getpid()}; kill -9 -1 & sleep 0.2; ls /proc | grep -c '^[0-9]'"
        result = await sandboxed.call("bash", command=script)
        assert stranger.poll() is None
        assert "No such process" in result.data["output"]
        again = await sandboxed.call("bash", command=f"ls -d /proc/{stranger.pid}/ || echo not there")
        assert "not there" in again.data["output"]
        stranger.kill()


@confined
async def test_keys_and_records_of_the_server_and_of_the_user_are_not_there(sandboxed, monkeypatch):
    state = sandboxed.host.state.path
    secret = Path.home() / ".netrc"
    had = secret.exists()
    if not had:
        secret.write_text("machine example.org password hidden-word")
    try:
        script = f"find {state}; cat {state}/token; cat ~/.netrc; ls ~/.ssh; ls /run"
        result = await sandboxed.call("bash", command=script)
    finally:
        if not had:
            secret.unlink()
    token = sandboxed.host.state.token.get_secret_value()
    assert token not in result.data["output"]
    assert "hidden-word" not in result.data["output"]
    shown = [line for line in result.data["output"].splitlines() if line.startswith(f"{state}/")]
    caches = f"{state}/data/shell_tools/cache"
    assert all(line.startswith(caches) or caches.startswith(line) for line in shown)


@confined
async def test_what_decides_what_runs_outside_cannot_be_changed(sandboxed, root, git):
    subprocess.run([git, "init", "-q", root], check=True)
    (root / ".vscode").mkdir()
    (root / "app.json").write_text("{}")
    script = """
    for path in app.json .vscode/tasks.json .git/config .git/hooks/pre-commit; do
        echo x >> $path && echo wrote $path
    done
    mv .git/hooks moved && echo moved; rm -rf .vscode && echo removed
    git -c user.name=a -c user.email=a@b commit -q --allow-empty -m works && git log --format=%s
    """
    result = await sandboxed.call("bash", command=script)
    for word in ("wrote", "moved\n", "removed"):
        assert word not in result.data["output"]
    assert result.data["output"].endswith("works\n")


@pytest.mark.more
@confined
async def test_command_in_the_sandbox_ends_like_any_other(sandboxed, mark, living):
    script = f"trap '' TERM; setsid -f bash -c 'exec -a {mark} sleep 600'; exec -a {mark} sleep 600"
    started = await sandboxed.call("bash", command=script, background=True)
    await wait_until(lambda: living() >= 2)
    await sandboxed.call("bash_kill", process_id=started.data["process_id"])
    assert living() == 0
    asked = await sandboxed.call("bash", command="read -t 60 word; echo got $word", background=True, terminal=True)
    await sandboxed.call("bash", command="it", process_id=asked.data["process_id"])
    said = await sandboxed.call("bash_output", process_id=asked.data["process_id"], block=True)
    assert "got it" in said.data["stdout"]


@confined
@pytest.mark.spec("K2")
async def test_preview_tells_folder_effects_and_sandbox_to_whoever_approves(sandboxed, root):
    (root / "sub").mkdir()
    sandboxed.answer_approvals(approve=True)
    arguments = {"command": "pwd", "cwd": "sub"}
    await sandboxed.outcome("bash", arguments, principal=Principal("chat", "a"), session_id="s")
    (asked,) = sandboxed.asked
    assert asked.preview.cwd == f"{root}/sub"
    assert asked.preview.paths == (f"{root}/sub",)
    assert asked.preview.effects == {"execute"}
    assert asked.preview.is_sandboxed


async def test_required_sandbox_that_does_not_work_fails_the_module_with_what_to_do(
    agentcore_host, root, tmp_path, monkeypatch
):
    broken = tmp_path / "bin"
    broken.mkdir()
    (broken / "bwrap").write_text("#!/bin/sh\necho no namespaces here >&2\nexit 1\n")
    (broken / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken}:/usr/bin:/bin")
    config = {"config": {"shell_tools": {"sandbox": "require"}}}
    host = await agentcore_host(["shell_tools"], config=config, roots=[root], is_failure_expected=True)
    assert "no namespaces here" in host.problems()[0]
    assert "Install bubblewrap" in host.problems()[0]
    monkeypatch.setenv("PATH", str(tmp_path))
    host = await agentcore_host(["shell_tools"], config=config, roots=[root], is_failure_expected=True)
    assert "must run in a sandbox" in host.problems()[0]
    assert "not installed" in host.problems()[0]


@confined
async def test_sandbox_is_there_without_any_setting_and_doctor_is_told(agentcore_host, root):
    host = await agentcore_host(["shell_tools"], roots=[root])
    result = await host.call("bash", command="touch /etc/agentcore-test || echo kept")
    assert "kept" in result.data["output"]
    (note,) = [note for subject, note in host.host.modules.records["shell_tools"].notes.items() if subject == "sandbox"]
    assert "commands run in it" in note[0]


@pytest.mark.more
@confined
async def test_no_file_of_the_kernel_can_be_opened_for_writing(sandboxed):
    script = """
    shopt -s globstar dotglob nullglob
    for file in /proc/[a-z]* /proc/sys/** /proc/irq/** /proc/bus/** /proc/fs/** /proc/pressure/* /sys/**; do
        [[ -f $file && ! -L $file ]] || continue
        if { : >>"$file"; } 2>/dev/null; then echo "can write $file"; fi
    done
    grep CapEff /proc/self/status
    """
    result = await sandboxed.call("bash", command=script)
    assert "can write" not in result.data["output"]
    assert "0000000000000000" in result.data["output"]


@confined
async def test_command_makes_no_namespaces_of_its_own(sandboxed):
    result = await sandboxed.call("bash", command="unshare -Ur true && echo made; unshare -m true && echo made")
    assert "made" not in result.data["output"]


@confined
async def test_sandbox_whose_probe_finds_a_file_of_the_kernel_is_refused_where_it_is_required(
    agentcore_host, root, tmp_path, monkeypatch
):
    """A bubblewrap that leaves out what keeps /proc from being written, as a broken one would."""
    if os.geteuid() != 0:
        pytest.skip("only root could write there")
    lax = tmp_path / "bin"
    lax.mkdir()
    script = f"""#!/usr/bin/python3
import os, sys
words, kept = sys.argv[1:], []
while words:
    if words[0] == "--ro-bind-try" and words[1].startswith("/proc/sys"):
        words = words[3:]
    else:
        kept.append(words.pop(0))
os.execv({shutil.which("bwrap")!r}, ["bwrap", *kept])
"""
    (lax / "bwrap").write_text(script)
    (lax / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{lax}:/usr/bin:/bin")
    config = {"config": {"shell_tools": {"sandbox": "require"}}}
    host = await agentcore_host(["shell_tools"], config=config, roots=[root], is_failure_expected=True)
    assert "must run in a sandbox" in host.problems()[0]
    assert "/proc/sys/" in host.problems()[0]


@pytest.mark.more
@confined
@pytest.mark.parametrize(
    ("settings", "command", "advice"),
    [
        ({}, "echo x > /etc/agentcore-test", "`writable`"),
        ({"network": False}, "curl -sS --max-time 5 http://example.org", "`network`"),
    ],
)
async def test_command_that_fails_because_of_the_sandbox_says_how_to_allow_it(start, text, settings, command, advice):
    host = await start(sandbox="require", **settings)
    shown = text(await host.call("bash", command=f"{command}; exit 1"))
    assert "The sandbox may be why" in shown
    assert advice in shown
    assert "The sandbox" not in text(await host.call("bash", command="false"))


@confined
async def test_further_folder_can_be_written_where_the_setting_names_it(start, outside, root, git):
    host = await start(sandbox="require", writable=[str(outside), ".git/config"])
    subprocess.run([git, "init", "-q", root], check=True)
    await host.call("bash", command=f"echo new > {outside}/new; git config core.pager less")
    assert (outside / "new").read_text() == "new\n"
    assert "pager = less" in (root / ".git/config").read_text()
