"""The state folder: where it lies, who holds it, and what stands in it besides the database."""

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Self

import platformdirs
from pydantic import SecretStr, ValidationError

from agentcore.store.state.api_token import ensure_token
from agentcore.store.state.cookie_names import ensure_cookie_name
from agentcore.store.state.errors import StateDirError, StateLockedError
from agentcore.store.state.lock import LOCK_NAME, acquire_lock, is_locked
from agentcore.store.state.loop_report import LOOP_REPORT_FILE
from agentcore.store.state.private_file import make_private_folder, read_private_file, write_private_file
from agentcore.store.state.server_info import ServerInfo

DATABASE_NAME = "state.sqlite3"
"""The SQLite file of a state folder."""

STATE_DIR_VARIABLE = "AGENTCORE_STATE_DIR"
_SERVER_FILE = "server.json"
_SERVER_FILE_LIMIT_BYTES = 64 * 1024
_APPROVAL_PORT_FILE = "approval_port"
_APPS_PORT_FILE = "apps_port"
_OPEN_FILE = "open.html"
_LAST_PORT = 65_535
_MODULE_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def locate_state_dir(config_path: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """Where the state of an app.json lies: `AGENTCORE_STATE_DIR`, else one folder for each real path of app.json.

    Nothing is made or read; the result is absolute and free of links.
    """
    if chosen := environ.get(STATE_DIR_VARIABLE, ""):
        return Path(chosen).expanduser().resolve()
    real_path = config_path.resolve()
    digest = hashlib.sha256(os.fsencode(real_path)).hexdigest()[:12]
    readable = re.sub(r"[^A-Za-z0-9_.-]+", "_", real_path.parent.name)[:40].strip("._") or "root"
    return Path(platformdirs.user_state_dir("agentcore", appauthor=False)).resolve() / f"{readable}-{digest}"


def read_server_info(folder: Path) -> ServerInfo | None:
    """What `server.json` says, whether or not its writer still lives; None: there is none that can be read."""
    content = read_private_file(folder / _SERVER_FILE, _SERVER_FILE_LIMIT_BYTES)
    if content is None:
        return None
    try:
        return ServerInfo.model_validate_json(content)
    except ValidationError:
        return None


def find_running_server(folder: Path) -> ServerInfo | None:
    """The server that holds the folder now; None: nobody holds it, or the holder serves nothing."""
    return read_server_info(folder) if is_locked(folder) else None


def write_open_file(folder: Path, address: str) -> Path:
    """Write a document that leads a browser to an address with codes; gives its path.

    The address of a process's arguments can be read by every user of the machine; this file only by its owner. The
    holder of the folder removes it at its end.
    """
    link = escape(address)
    text = (
        '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0; url={link}"><title>agentcore</title><a href="{link}">agentcore</a>\n'
    )
    write_private_file(folder / _OPEN_FILE, text.encode())
    return folder / _OPEN_FILE


class StateDir:
    """A state folder that this process holds, from `open` to `close`; a context manager.

    `path` is the folder, `token` the API token. Files in it: `lock`, `server.json`, `token`, `approval_port`,
    `apps_port`, `cookie_name`, `open.html`, `loop_blocked.json`, `secrets.json`, `module_secrets/`, `state.sqlite3`,
    `artifacts/`, `data/MODULE/`, `logs/`.
    """

    def __init__(self, path: Path, config_path: Path, token: SecretStr, lock: int) -> None:
        self.path = path
        self.config_path = config_path
        self.token = token
        self._lock: int | None = lock

    @classmethod
    def open(cls, config_path: Path, roots: Iterable[Path] = (), *, environ: Mapping[str, str] = os.environ) -> Self:
        """Make the folder if it is missing, lock it for the life of this process, and make sure of the token.

        Args:
            config_path: The app.json in use; it need not exist.
            roots: The workspace roots; the state must lie outside of all of them.
            environ: Where `AGENTCORE_STATE_DIR` and `AGENTCORE_TOKEN` are looked up.
        Raises:
            StateLockedError: Another process holds it.
            StateDirError: It overlaps a root, belongs to another user, or cannot be written.
        """
        folder = locate_state_dir(config_path, environ)
        _refuse_overlap(folder, roots)
        _refuse_shared(folder)
        make_private_folder(folder)
        lock = acquire_lock(folder)
        if lock is None:
            raise StateLockedError(folder, read_server_info(folder))
        try:
            # the writer of an old one was killed: nobody else can hold the lock now
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
        """The file that says who holds the server's event loop, or whose code ended the server by that."""
        return self.path / LOOP_REPORT_FILE

    @property
    def artifacts_path(self) -> Path:
        """The folder of the artifacts' files."""
        return self.path / "artifacts"

    def data_dir(self, module: str) -> Path:
        """A module's own folder, made with mode 0700 if it is missing.

        Raises:
            ValueError: `module` is no module's name.
            StateDirError: The folder cannot be made.
        """
        if not _MODULE_NAME.fullmatch(module):
            raise ValueError(f"not the name of a module: {module!r}")
        make_private_folder(self.path / "data")
        make_private_folder(self.path / "data" / module)
        return self.path / "data" / module

    def cookie_name(self, audience: str) -> str:
        """The name of the cookie by which an origin's browsers are known: `page` or `approval`.

        Raises:
            StateDirError: The file with its random part is damaged.
            OSError: It cannot be written.
        """
        return ensure_cookie_name(self.path, audience)

    @property
    def approval_port(self) -> int | None:
        """The port of the approval view the last time; None: there was none that can be read."""
        return self._read_port(_APPROVAL_PORT_FILE)

    def save_approval_port(self, port: int) -> None:
        """Remember a port for the next time, so that browsers which are logged in there stay so.

        Raises:
            OSError: The file cannot be written.
        """
        write_private_file(self.path / _APPROVAL_PORT_FILE, b"%d\n" % port)

    @property
    def apps_port(self) -> int | None:
        """The port of tools' views the last time; None: there was none that can be read."""
        return self._read_port(_APPS_PORT_FILE)

    def save_apps_port(self, port: int) -> None:
        """Remember a port for the next time, so that pages which are open find the views again.

        Raises:
            OSError: The file cannot be written.
        """
        write_private_file(self.path / _APPS_PORT_FILE, b"%d\n" % port)

    def _read_port(self, name: str) -> int | None:
        text = (read_private_file(self.path / name, _SERVER_FILE_LIMIT_BYTES) or b"").strip()
        return int(text) if text.isdigit() and int(text) <= _LAST_PORT else None

    def write_server_info(self, addresses: Mapping[str, str]) -> ServerInfo:
        """Tell clients that this process serves, and where (base URLs by purpose); `close` takes it back.

        Raises:
            OSError: `server.json` cannot be written.
        """
        info = ServerInfo(pid=os.getpid(), addresses=dict(addresses), config=str(self.config_path))
        write_private_file(self.path / _SERVER_FILE, info.model_dump_json(indent=2).encode() + b"\n")
        return info

    def close(self) -> None:
        """Remove `server.json` and let the folder go; may be called twice."""
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
    """Keep policy, token and record out of what tools may touch (and the other way round)."""
    for root in roots:
        real_root = root.resolve()
        if folder.is_relative_to(real_root) or real_root.is_relative_to(folder):
            raise StateDirError(
                f"the state folder {folder} and the workspace root {root} lie inside one another, and tools could"
                f" change what guards them; move the root, or set {STATE_DIR_VARIABLE} to a folder elsewhere"
            )


def _refuse_shared(folder: Path) -> None:
    """Keep from closing a folder to others that is not ours alone, such as `/tmp` or a home folder."""
    try:
        is_open_to_others = folder.stat().st_mode & 0o077
        names = {path.name for path in folder.iterdir()} if is_open_to_others else set()
    except (FileNotFoundError, NotADirectoryError):
        return  # made next, or refused there
    except OSError as exc:
        raise StateDirError(f"the state folder {folder} cannot be read: {exc.strerror}") from exc
    if names and LOCK_NAME not in names:
        raise StateDirError(
            f"the folder {folder} is open to other users and holds other files; set {STATE_DIR_VARIABLE} to a folder"
            " of its own, which may be new"
        )
