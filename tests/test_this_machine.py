"""What kind of machine this is, packages of the distribution, and commands that are ended whole."""

import asyncio
import os
from pathlib import Path

import psutil
import pytest

from agentcore import this_machine
from agentcore.errors import ToolError

pytestmark = pytest.mark.processes

APT = """#!/bin/sh
echo "$@" >> {log}
if [ "$1" = install ]; then
  echo 'Reading package lists...'
  echo 'dlstatus:1:40.0:Retrieving file 1 of 1'
  echo 'pmstatus:press:60.0:Unpacking press'
  {then}
fi
"""


@pytest.fixture
def apt(tmp_path, monkeypatch):
    """Puts a script in place of apt-get; gives the file with its calls."""

    def put(then=":"):
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        log = tmp_path / "apt.log"
        (folder / "apt-get").write_text(APT.format(log=log, then=then))
        (folder / "apt-get").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        return log

    return put


only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root installs packages")


@only_root
async def test_packages_are_installed_with_their_progress(apt):
    log = apt()
    steps = []
    await this_machine.install_packages(["press", "ink"], lambda text, fraction: steps.append((text["en"], fraction)))
    assert log.read_text().splitlines() == [
        "update",
        "install -y --no-install-recommends -o APT::Status-Fd=1 press ink",
    ]
    assert steps == [
        ("Updating the package lists", None),
        ("Downloading packages: Retrieving file 1 of 1", 0.2),
        ("Installing packages: Unpacking press", 0.8),
    ]


@only_root
async def test_the_words_of_apt_are_the_reason(apt):
    apt("echo 'E: Unable to locate package press'; exit 100")
    with pytest.raises(ToolError, match="apt-get install failed: E: Unable to locate package press") as caught:
        await this_machine.install_packages(["press"], lambda text, fraction: None)
    assert caught.value.type == "install_failed"


async def test_without_apt_the_command_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="only root can do that here; run: "):
        await this_machine.install_packages(["press"], lambda text, fraction: None)


async def test_a_cancelled_command_ends_with_all_that_it_started(tmp_path):
    started = asyncio.Event()
    pids = []

    async def run():
        script = 'sleep 600 & echo "$!"; wait'
        async for line in this_machine.run_command(["sh", "-c", script], dict(os.environ)):
            pids.append(int(line))
            started.set()

    task = asyncio.create_task(run())
    await started.wait()
    child = psutil.Process(pids[0])
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gone, alive = await asyncio.to_thread(psutil.wait_procs, [child], 20)
    assert (len(gone), alive) == (1, [])


async def test_a_program_that_is_not_there_has_an_exit_code_too():
    command = this_machine.run_command(["/nowhere/press"], {})
    assert [line async for line in command] == ["/nowhere/press: No such file or directory"]
    assert command.code == 127


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, False),
        ({".dockerenv": b""}, True),
        ({"run/.containerenv": b""}, True),
        ({"proc/1/cgroup": b"0::/system.slice/docker-0123.scope\n"}, True),
        ({"proc/1/environ": b"PATH=/bin\0container=lxc\0"}, True),
        ({"proc/1/cgroup": b"0::/init.scope\n", "proc/1/environ": b"PATH=/bin\0"}, False),
    ],
)
def test_a_container_is_recognised(tmp_path, files, expected):
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (tmp_path / "proc/1").mkdir(parents=True, exist_ok=True)
    (tmp_path / "proc/1/root").symlink_to(tmp_path)
    assert this_machine.is_in_container(tmp_path) is expected


def test_a_chroot_is_recognised_by_the_root_of_the_first_process(tmp_path):
    (tmp_path / "proc/1").mkdir(parents=True)
    (tmp_path / "proc/1/root").symlink_to(Path("/"))
    assert this_machine.is_in_container(tmp_path)


def test_a_chroot_is_recognised_by_its_root_at_which_nothing_is_mounted(tmp_path):
    (tmp_path / "proc/self").mkdir(parents=True)
    mounts = tmp_path / "proc/self/mountinfo"
    mounts.write_text("93 73 0:46 / /proc rw - proc proc rw\n94 73 0:6 / /dev rw - devtmpfs devtmpfs rw\n")
    assert this_machine.is_in_container(tmp_path)
    mounts.write_text("27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n22 27 0:21 / /proc rw,relatime - proc proc rw\n")
    assert not this_machine.is_in_container(tmp_path)
