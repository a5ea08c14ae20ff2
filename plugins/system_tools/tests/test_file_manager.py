"""Files are shown by the file manager of the desktop: over a real session bus, else by xdg-open."""

import asyncio
import errno
import os
import sys
from pathlib import Path

import pytest

from agentcore.api.tool_context import Principal

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the desktop of Linux")


@pytest.fixture
def file_manager(serve_on_bus):
    """A file manager on the session bus."""
    from jeepney import new_method_return

    return serve_on_bus(
        "org.freedesktop.FileManager1", lambda connection, message: connection.send(new_method_return(message))
    )


@pytest.fixture
def file(host) -> Path:
    """A file in the workspace, with a name that has to be spelled in an address."""
    folder = host.workspace.resolve() / "söme folder"
    folder.mkdir()
    (folder / "a#b.txt").write_text("x")
    return folder / "a#b.txt"


def writer_of(fifo: Path) -> int | None:
    """A descriptor to write to a FIFO, which opens only if somebody reads: the program lives."""
    try:
        return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as exc:
        if exc.errno != errno.ENXIO:
            raise
        return None


@pytest.mark.spec("T5")
async def test_file_manager_is_asked_to_show_the_file(file_manager, host, file) -> None:
    result = await host.call("open_in_folder", path="söme folder/a#b.txt")
    assert file_manager.asked == [("ShowItems", ([file.as_uri()], ""))]
    assert result.data == {"path": str(file), "folder": str(file.parent), "shown_by": "file_manager"}


async def test_folder_is_opened_itself(file_manager, host, file) -> None:
    await host.call("open_in_folder", path="söme folder")
    assert file_manager.asked == [("ShowFolders", ([file.parent.as_uri()], ""))]


async def test_name_that_is_no_text_is_shown_too(file_manager, host) -> None:
    name = os.path.join(os.fsencode(host.workspace.resolve()), b"caf\xe9")
    os.close(os.open(name, os.O_CREAT))
    result = await host.call("open_in_folder", path="caf\\xE9")
    assert file_manager.asked[0][1][0][0].endswith("/caf%E9")
    assert result.data["path"].endswith("caf\\xE9")


async def test_link_inside_the_workspace_shows_what_it_leads_to(file_manager, host, file) -> None:
    os.symlink("söme folder/a#b.txt", host.workspace / "link")
    await host.call("open_in_folder", path="link")
    assert file_manager.asked == [("ShowItems", ([file.as_uri()], ""))]


@pytest.mark.spec("T5")
async def test_without_a_file_manager_on_the_bus_xdg_open_gets_the_folder_and_no_key(
    session_bus, programs, unseen_display, secret, host, file
) -> None:
    note = programs("xdg-open", 'echo "$@" > "$NOTE"; env >> "$NOTE"')
    result = await host.call("open_in_folder", path="söme folder/a#b.txt")
    assert result.data["shown_by"] == "xdg_open"
    assert note.read_text().splitlines()[0] == f"{file.parent}/"
    assert secret not in note.read_text()


@pytest.mark.in_server("a host's process ends with all that it has started")
async def test_file_manager_that_stays_open_is_left_to_the_person(
    programs, unseen_display, host, file, tmp_path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    note = programs("xdg-open", f'cat {gate} > "$NOTE"')
    await host.call("open_in_folder", path="söme folder")
    await host.host.modules.disable("system_tools")
    async with asyncio.timeout(30):
        while (writer := writer_of(gate)) is None:
            await asyncio.sleep(0.01)
    os.close(writer)
    assert note.exists()


async def test_missing_path_and_one_outside_are_errors_before_anybody_is_asked(host) -> None:
    host.answer_approvals(approve=True)
    for path, expected in (("gone.txt", "path_not_found"), ("/etc/passwd", "path_outside_workspace")):
        outcome = await host.outcome("open_in_folder", {"path": path}, principal=Principal("chat"))
        assert outcome.error.type == expected
    assert host.asked == []


async def test_machine_without_a_desktop_says_so(programs, failure, file) -> None:
    assert (await failure("open_in_folder", path="söme folder")).type == "no_display"


async def test_desktop_without_a_file_manager_says_so(programs, unseen_display, failure, file) -> None:
    assert (await failure("open_in_folder", path="söme folder")).type == "no_file_manager"
    programs("xdg-open", "exit 3")
    error = await failure("open_in_folder", path="söme folder")
    assert (error.type, error.context["exit_code"]) == ("open_failed", 3)


async def test_program_that_cannot_be_started_is_an_error(programs, unseen_display, failure, file, tmp_path) -> None:
    programs("xdg-open", "")
    (tmp_path / "bin/xdg-open").write_text("#!/nowhere/at/all\n")
    assert (await failure("open_in_folder", path="söme folder")).type == "program_failed"
