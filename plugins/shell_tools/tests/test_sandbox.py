"""The sandbox: a command writes outside, reaches the network, signals a stranger, reads keys – and fails."""

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from agentcore_shell_tools.sandbox import Sandbox

from agentcore.api import ToolError
from agentcore.api.context import Principal

BWRAP = shutil.which("bwrap")


def _works() -> bool:
    if BWRAP is None:
        return False
    command = [BWRAP, "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


pytestmark = [pytest.mark.spec("S5")]
confined = pytest.mark.skipif(not _works(), reason="bubblewrap is not installed, or does not work on this system")


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
async def test_link_in_the_workspace_is_no_way_out(sandboxed, root, outside):
    (root / "link").symlink_to(outside)
    result = await sandboxed.call("bash", command="echo x > link/file; echo x > link/new; echo done")
    assert "Read-only file system" in result.data["output"]
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
    assert f"{state}/" not in result.data["output"].replace(f"cat: {state}/token", "")


@confined
async def test_what_decides_what_runs_outside_cannot_be_changed(sandboxed, root):
    subprocess.run(["git", "init", "-q", root], check=True)
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


@confined
async def test_command_in_the_sandbox_ends_like_any_other(sandboxed, mark, living, until):
    script = f"trap '' TERM; setsid -f bash -c 'exec -a {mark} sleep 600'; exec -a {mark} sleep 600"
    started = await sandboxed.call("bash", command=script, background=True)
    await until(lambda: living() >= 2)
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
    with pytest.raises(ToolError, match="not installed") as caught:
        await Sandbox.find("require", network=True, private=())
    assert caught.value.type == "sandbox_unavailable"
    preferred = await Sandbox.find("prefer", network=True, private=())
    assert not preferred.is_on
    assert "not installed" in preferred.reason
