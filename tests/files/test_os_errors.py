import errno
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agentcore.api import ToolError, Workspace
from agentcore.files.os_errors import file_error


def test_failure_without_a_type_of_its_own_is_named_by_the_system() -> None:
    error = file_error(OSError(errno.EIO, "Input/output error"), "a.txt")
    assert (error.type, error.message) == ("file_error", "The file system failed on 'a.txt' with EIO.")
    assert file_error(OSError("no number"), "a.txt").type == "file_error"


def test_message_names_the_path_as_the_caller_knows_it_and_nothing_else() -> None:
    error = file_error(OSError(errno.ENOENT, "No such file", "/real/secret/a.txt"), "a.txt")
    assert "secret" not in str(error.to_json())
    assert error.context == {"path": "a.txt"}


def test_mount_point_is_busy(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    if (
        os.geteuid() != 0
        or not shutil.which("mount")
        or subprocess.call(["mount", "-t", "tmpfs", "x", tmp_path / "disk"])
    ):
        pytest.skip("mounting needs root")
    try:
        with Workspace([tmp_path]) as workspace:
            place = workspace.locate("disk")
            parent, _ = workspace.open_parent(place)
            with parent, pytest.raises(ToolError) as caught, workspace.errors(place):
                parent.remove_folder(b"disk")
    finally:
        subprocess.check_call(["umount", "-l", str(tmp_path / "disk")])
    assert (caught.value.type, caught.value.retryable) == ("file_busy", True)


def test_too_many_open_files_can_be_tried_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    code = (
        "import sys; from pathlib import Path; from agentcore.api import Workspace, ToolError\n"
        "w = Workspace([Path(sys.argv[1])]); held = []\n"
        "try:\n"
        "    while True: held.append(w.open_file(w.locate('a.txt')))\n"
        "except ToolError as e: print(e.type, e.retryable)\n"
    )

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, preexec_fn=limit)
    assert done.stdout == "too_many_open_files True\n"


def test_dots_behind_a_missing_folder_are_invalid(tmp_path: Path) -> None:
    with Workspace([tmp_path]) as workspace, pytest.raises(ToolError) as caught:
        workspace.real_path(workspace.locate("gone/../a.txt"))
    assert caught.value.type == "invalid_path"
