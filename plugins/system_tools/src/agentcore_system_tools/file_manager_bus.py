"""Calls the file manager on the session bus. Source: freedesktop.org, File Manager D-Bus Interface."""

from pathlib import Path

from jeepney import DBusAddress

from agentcore_system_tools import session_bus

_FILE_MANAGER = DBusAddress(
    "/org/freedesktop/FileManager1", "org.freedesktop.FileManager1", "org.freedesktop.FileManager1"
)


def show_by_bus(path: Path, *, is_folder: bool) -> bool:
    """Request the file manager to show a file or to open a folder; blocks.

    Returns:
        True if it did; False if no file manager answered or the call failed.
    """
    method = "ShowFolders" if is_folder else "ShowItems"
    try:
        with session_bus.session_bus() as bus:
            session_bus.call_method(bus, _FILE_MANAGER, method, "ass", ([path.as_uri()], ""))
    except session_bus.BusError:
        return False
    return True
