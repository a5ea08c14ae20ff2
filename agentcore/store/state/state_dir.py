"""The state folder: its location, its lock, and the files in it besides the database."""

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from html import escape
from itertools import islice
from pathlib import Path
from typing import Self

import platformdirs
from pydantic import SecretStr, ValidationError

from agentcore.store.state.api_token import ensure_token
from agentcore.store.state.cookie_names import ensure_cookie_name
from agentcore.store.state.lock import LOCK_NAME, acquire_lock, is_locked
from agentcore.store.state.loop_report import LOOP_REPORT_FILE
from agentcore.store.state.private_file import make_private_folder, read_private_file, write_private_file
from agentcore.store.state.server_info import ServerInfo
from agentcore.store.state.state_errors import StateDirError, StateLockedError

DATABASE_NAME = "state.sqlite3"
"""The SQLite file of a state folder."""

STATE_DIR_VARIABLE = "AGENTCORE_STATE_DIR"
_SERVER_FILE = "server.json"
_SERVER_FILE_LIMIT_BYTES = 64 * 1024
_APPROVAL_PORT_FILE = "approval_port"
_APPS_PORT_FILE = "apps_port"
_PAGE_PORT_FILE = "page_port"
_SEARCHED_FOLDERS = 1000
_OPEN_FILE = "open.html"
_LAST_PORT = 65_535
_MODULE_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def locate_state_dir(config_path: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the state folder of an app.json: `AGENTCORE_STATE_DIR`, else one folder per real path of app.json.

    Nothing is created or read; the result is absolute and contains no symbolic links.
    """
    if chosen := environ.get(STATE_DIR_VARIABLE, ""):
        return Path(chosen).expanduser().resolve()
    real_path = config_path.resolve()
    digest = hashlib.sha256(os.fsencode(real_path)).hexdigest()[:12]
    readable = re.sub(r"[^A-Za-z0-9_.-]+", "_", real_path.parent.name)[:40].strip("._") or "root"
    return Path(platformdirs.user_state_dir("agentcore", appauthor=False)).resolve() / f"{readable}-{digest}"


def read_server_info(folder: Path) -> ServerInfo | None:
    """Return the content of `server.json`, even if its writer has ended; None if it is missing or malformed."""
    content = read_private_file(folder / _SERVER_FILE, _SERVER_FILE_LIMIT_BYTES)
    if content is None:
        return None
    try:
        return ServerInfo.model_validate_json(content)
    except ValidationError:
        return None


def find_running_server(folder: Path) -> ServerInfo | None:
    """Return the server that holds the folder now; None if no process holds it or the holder does not serve."""
    return read_server_info(folder) if is_locked(folder) else None


def find_server_at(port: int, beside: Path) -> ServerInfo | None:
    """Return the agentcore server of this user whose page has a port; None if none is known.

    Args:
        port: The port.
        beside: A state folder; those next to it are searched, and those in the default location.
    """
    parents = {beside.parent, Path(platformdirs.user_state_dir("agentcore", appauthor=False)).resolve()}
    for parent in parents:
        try:
            folders = list(islice(parent.iterdir(), _SEARCHED_FOLDERS))
        except OSError:
            continue
        for folder in folders:
            try:
                info = find_running_server(folder)
            except (OSError, StateDirError):  # of another user
                continue
            if info is not None and info.addresses.get("page", "").endswith(f":{port}"):
                return info
    return None


def write_open_file(folder: Path, address: str) -> Path:
    """Write a document that redirects a browser to an address with codes; return its path.

    Any user of the machine can read the arguments of a process, but only the owner can read this file. The holder of
    the folder removes it when it closes.
    """
    link = escape(address)
    text = (
        '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0; url={link}"><title>agentcore</title><a href="{link}">agentcore</a>\n'
    )
    write_private_file(folder / _OPEN_FILE, text.encode())
    return folder / _OPEN_FILE


class StateDir:
    """A state folder locked by this process from `open` to `close`; a context manager.

    `path` is the folder, `token` the API token. Files in it: `lock`, `server.json`, `token`, `approval_port`,
    `apps_port`, `page_port`, `cookie_name`, `open.html`, `loop_blocked.json`, `secrets.json`, `module_secrets/`,
    `state.sqlite3`, `artifacts/`, `data/MODULE/`, `logs/`.
    """

    def __init__(self, path: Path, config_path: Path, token: SecretStr, lock: int) -> None:
        self.path = path
        self.config_path = config_path
        self.token = token
        self._lock: int | None = lock

    @classmethod
    def open(cls, config_path: Path, roots: Iterable[Path] = (), *, environ: Mapping[str, str] = os.environ) -> Self:
        """Create the folder if needed, lock it for the life of this process, and ensure that there is a token.

        Args:
            config_path: The app.json in use; it need not exist.
            roots: The workspace roots; the state folder must be outside all of them.
            environ: Environment to read `AGENTCORE_STATE_DIR` and `AGENTCORE_TOKEN` from.
        Raises:
            StateLockedError: Another process holds the folder.
            StateDirError: The folder overlaps a root, belongs to another user, or cannot be written.
        """
        folder = locate_state_dir(config_path, environ)
        _refuse_overlap(folder, roots)
        _refuse_shared(folder)
        make_private_folder(folder)
        lock = acquire_lock(folder)
        if lock is None:
            raise StateLockedError(folder, read_server_info(folder))
        try:
            # left by a killed process: no other process can hold the lock now
            for name in (_SERVER_FILE, _OPEN_FILE):
                (folder / name).unlink(missing_ok=True)
            token = ensure_token(folder, environ)
        except OSError as exc:
            os.close(lock)
            raise StateDirError(f"the state folder {folder} cannot be written: {exc.strerror}") from exc
        except BaseException:
            os.close(lock)
            raise
        return cls(folder, config_path.resolve(), token, lock)

    @property
    def database_path(self) -> Path:
        """The SQLite file."""
        return self.path / DATABASE_NAME

    @property
    def loop_report_path(self) -> Path:
        """The file that says which code blocks the server's event loop, or ended the server by blocking it."""
        return self.path / LOOP_REPORT_FILE

    @property
    def artifacts_path(self) -> Path:
        """The folder of the artifact files."""
        return self.path / "artifacts"

    def data_dir(self, module: str) -> Path:
        """Return a module's own folder, created with mode 0700 if it is missing.

        Raises:
            ValueError: `module` is not a valid module name.
            StateDirError: The folder cannot be created.
        """
        if not _MODULE_NAME.fullmatch(module):
            raise ValueError(f"not the name of a module: {module!r}")
        make_private_folder(self.path / "data")
        make_private_folder(self.path / "data" / module)
        return self.path / "data" / module

    def cookie_name(self, audience: str) -> str:
        """Return the name of the cookie that identifies browsers of an origin: `page` or `approval`.

        Raises:
            StateDirError: The file with its random part is damaged.
            OSError: It cannot be written.
        """
        return ensure_cookie_name(self.path, audience)

    @property
    def approval_port(self) -> int | None:
        """The last port of the approval view; None if none can be read."""
        return self._read_port(_APPROVAL_PORT_FILE)

    def save_approval_port(self, port: int) -> None:
        """Store the port for the next start, so that browsers logged in there stay logged in.

        Raises:
            OSError: The file cannot be written.
        """
        write_private_file(self.path / _APPROVAL_PORT_FILE, b"%d\n" % port)

    @property
    def page_port(self) -> int | None:
        """The last port of the page; None if none can be read."""
        return self._read_port(_PAGE_PORT_FILE)

    def save_page_port(self, port: int) -> None:
        """Store the port for the next server that is started for clients, so that open pages find it again.

        Raises:
            OSError: The file cannot be written.
        """
        write_private_file(self.path / _PAGE_PORT_FILE, b"%d\n" % port)

    @property
    def apps_port(self) -> int | None:
        """The last port of tools' views; None if none can be read."""
        return self._read_port(_APPS_PORT_FILE)

    def save_apps_port(self, port: int) -> None:
        """Store the port for the next start, so that open pages find the views again.

        Raises:
            OSError: The file cannot be written.
        """
        write_private_file(self.path / _APPS_PORT_FILE, b"%d\n" % port)

    def _read_port(self, name: str) -> int | None:
        text = (read_private_file(self.path / name, _SERVER_FILE_LIMIT_BYTES) or b"").strip()
        return int(text) if text.isdigit() and int(text) <= _LAST_PORT else None

    def write_server_info(self, addresses: Mapping[str, str]) -> ServerInfo:
        """Announce to clients that this process serves, and where (base URLs by purpose), until `close`.

        Raises:
            OSError: `server.json` cannot be written.
        """
        info = ServerInfo(pid=os.getpid(), addresses=dict(addresses), config=str(self.config_path))
        write_private_file(self.path / _SERVER_FILE, info.model_dump_json(indent=2).encode() + b"\n")
        return info

    def close(self) -> None:
        """Remove `server.json` and unlock the folder; may be called twice."""
        if self._lock is None:
            return
        lock = self._lock
        self._lock = None
        try:
            for name in (_SERVER_FILE, _OPEN_FILE):
                (self.path / name).unlink(missing_ok=True)
        finally:
            os.close(lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _refuse_overlap(folder: Path, roots: Iterable[Path]) -> None:
    """Refuse a state folder inside a root or the reverse, so that tools cannot reach policy, token and record."""
    for root in roots:
        real_root = root.resolve()
        if folder.is_relative_to(real_root) or real_root.is_relative_to(folder):
            raise StateDirError(
                f"the state folder {folder} and the workspace root {root} lie inside one another, and tools could"
                f" change what guards them; move the root, or set {STATE_DIR_VARIABLE} to a folder elsewhere"
            )


def _refuse_shared(folder: Path) -> None:
    """Refuse a folder shared with other users, such as `/tmp` or a home folder, instead of making it private."""
    try:
        is_open_to_others = folder.stat().st_mode & 0o077
        names = {path.name for path in folder.iterdir()} if is_open_to_others else set()
    except (FileNotFoundError, NotADirectoryError):
        return  # created next, or refused there
    except OSError as exc:
        raise StateDirError(f"the state folder {folder} cannot be read: {exc.strerror}") from exc
    if names and LOCK_NAME not in names:
        raise StateDirError(
            f"the folder {folder} is open to other users and holds other files; set {STATE_DIR_VARIABLE} to a folder"
            " of its own, which may be new"
        )
