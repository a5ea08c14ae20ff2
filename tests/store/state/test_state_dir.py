"""The state folder: its place, its lock, its files, and how a client looks at it."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentcore.store.state.lock import is_locked
from agentcore.store.state.state_dir import StateDir, find_running_server, locate_state_dir, read_server_info
from agentcore.store.state.state_errors import StateDirError, StateLockedError

HOLDER = """
import sys, pathlib
from agentcore.store.state.state_dir import StateDir
state = StateDir.open(pathlib.Path(sys.argv[1]))
state.write_server_info({"page": "http://127.0.0.1:8765"})
print("held", flush=True)
sys.stdin.read()
state.close()
"""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return os.environ | {"AGENTCORE_STATE_DIR": str(tmp_path / "state"), "AGENTCORE_TOKEN": ""}


@pytest.fixture
def config_path(tmp_path: Path) -> Path:
    return tmp_path / "app.json"


@pytest.fixture
def holder(config_path: Path, environ: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the folder and says so in server.json."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(config_path)],
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.spec("K4")
def test_each_real_path_of_app_json_has_a_state_folder_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "link").symlink_to("one")
    environ = {"HOME": str(tmp_path)}
    one = locate_state_dir(tmp_path / "one" / "app.json", environ)
    assert locate_state_dir(tmp_path / "link" / "app.json", environ) == one
    assert locate_state_dir(tmp_path / "two" / "app.json", environ) != one
    assert one.name.startswith("one-")


def test_folder_named_in_the_environment_is_taken(config_path: Path, environ: dict[str, str], tmp_path: Path) -> None:
    with StateDir.open(config_path, environ=environ) as state:
        assert state.path == tmp_path / "state"


@pytest.mark.spec("S2")
def test_everything_in_the_state_folder_is_private(config_path: Path, environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(mode=0o755)
    old_mask = os.umask(0)
    try:
        with StateDir.open(config_path, environ=environ) as state:
            state.write_server_info({"page": "http://127.0.0.1:1"})
            assert [mode(folder) for folder in (state.path, state.data_dir("fs_tools"))] == [0o700, 0o700]
            assert {path.name: mode(path) for path in state.path.iterdir() if path.is_file()} == {
                "lock": 0o600,
                "server.json": 0o600,
                "token": 0o600,
            }
    finally:
        os.umask(old_mask)


@pytest.mark.spec("S2")
@pytest.mark.parametrize("root", [".", "state", "state/artifacts"])
def test_state_inside_a_root_and_a_root_inside_the_state_are_refused(
    config_path: Path, environ: dict[str, str], tmp_path: Path, root: str
) -> None:
    with pytest.raises(StateDirError) as caught:
        StateDir.open(config_path, [tmp_path / "work", tmp_path / root], environ=environ)
    assert str(tmp_path / "state") in str(caught.value)
    assert str(tmp_path / root) in str(caught.value)
    assert not (tmp_path / "state").exists()


@pytest.mark.spec("S2")
def test_overlap_through_a_link_is_refused(config_path: Path, environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(StateDirError, match="lie inside one another"):
        StateDir.open(config_path, [tmp_path / "link"], environ=environ)


@pytest.mark.spec("K4")
def test_second_process_is_told_who_holds_the_folder(
    config_path: Path, environ: dict[str, str], holder: subprocess.Popen[str]
) -> None:
    with pytest.raises(StateLockedError) as caught:
        StateDir.open(config_path, environ=environ)
    assert caught.value.server.pid == holder.pid
    assert "http://127.0.0.1:8765" in str(caught.value)
    assert str(config_path) in str(caught.value)


@pytest.mark.spec("K4")
def test_client_finds_the_running_server_without_the_lock(
    config_path: Path, environ: dict[str, str], holder: subprocess.Popen[str]
) -> None:
    server = find_running_server(locate_state_dir(config_path, environ))
    assert server.pid == holder.pid
    assert server.addresses == {"page": "http://127.0.0.1:8765"}


@pytest.mark.spec("K4")
def test_killed_holder_lets_go_and_its_server_file_is_no_running_server(
    config_path: Path, environ: dict[str, str], holder: subprocess.Popen[str]
) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    folder = locate_state_dir(config_path, environ)
    assert read_server_info(folder).pid == holder.pid
    assert find_running_server(folder) is None
    with StateDir.open(config_path, environ=environ):
        assert read_server_info(folder) is None


def test_clean_end_takes_server_json_back(
    config_path: Path, environ: dict[str, str], holder: subprocess.Popen[str]
) -> None:
    holder.communicate()
    folder = locate_state_dir(config_path, environ)
    assert not (folder / "server.json").exists()
    assert not is_locked(folder)


def test_looking_at_a_folder_that_is_not_there_makes_nothing(tmp_path: Path) -> None:
    assert find_running_server(tmp_path / "state") is None
    assert not (tmp_path / "state").exists()


def test_holder_without_server_json_is_named_as_a_process(config_path: Path, environ: dict[str, str]) -> None:
    with (
        StateDir.open(config_path, environ=environ),
        pytest.raises(StateLockedError, match="another agentcore process"),
    ):
        StateDir.open(config_path, environ=environ)


def test_unreadable_server_json_counts_as_none(config_path: Path, environ: dict[str, str]) -> None:
    with StateDir.open(config_path, environ=environ) as state:
        (state.path / "server.json").write_text('{"pid": "many"')
        assert find_running_server(state.path) is None


def test_closing_twice_is_safe(config_path: Path, environ: dict[str, str]) -> None:
    state = StateDir.open(config_path, environ=environ)
    state.close()
    with StateDir.open(config_path, environ=environ) as second:
        state.close()
        assert is_locked(second.path)


def test_state_folder_that_is_a_file_is_refused_with_its_name(
    config_path: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(StateDirError, match=str(tmp_path / "state")):
        StateDir.open(config_path, environ=environ)


def test_shared_folder_with_other_files_is_not_taken_over(
    config_path: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state").chmod(0o755)
    (tmp_path / "state" / "letter.txt").touch()
    with pytest.raises(StateDirError, match="other files"):
        StateDir.open(config_path, environ=environ)
    assert mode(tmp_path / "state") == 0o755


def test_own_folder_that_was_opened_to_others_is_closed_again(
    config_path: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    StateDir.open(config_path, environ=environ).close()
    (tmp_path / "state").chmod(0o755)
    with StateDir.open(config_path, environ=environ) as state:
        assert mode(state.path) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")
def test_folder_of_another_user_is_refused(config_path: Path, environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(mode=0o700)
    os.chown(tmp_path / "state", 12345, 12345)
    with pytest.raises(StateDirError, match="uid 12345"):
        StateDir.open(config_path, environ=environ)


def test_name_that_is_no_modules_name_gets_no_data_folder(config_path: Path, environ: dict[str, str]) -> None:
    with StateDir.open(config_path, environ=environ) as state, pytest.raises(ValueError, match=r"\.\./x"):
        state.data_dir("../x")


def test_importing_the_state_folder_loads_no_database_and_no_server() -> None:
    probe = "import sys, agentcore.store.state.state_dir; print({'aiosqlite', 'aiohttp', 'sqlite3'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", probe], text=True) == "set()\n"
