"""`Caches`: a folder that commands in the sandbox may write, where package managers keep what they have fetched."""

from collections.abc import Iterator
from pathlib import Path

# each program's own name for the place, see its documentation
_FOLDERS = {
    "XDG_CACHE_HOME": "xdg",
    "npm_config_cache": "npm",
    "YARN_CACHE_FOLDER": "yarn",
    "PNPM_HOME": "pnpm",
    "BUN_INSTALL_CACHE_DIR": "bun",
    "PIP_CACHE_DIR": "pip",
    "UV_CACHE_DIR": "uv",
    "UV_PYTHON_INSTALL_DIR": "uv-python",
    "UV_TOOL_DIR": "uv-tools",
    "CARGO_HOME": "cargo",
    "GOPATH": "go",
    "GOMODCACHE": "go/pkg/mod",
    "GOCACHE": "go-build",
    "GRADLE_USER_HOME": "gradle",
}
_CARGO_SETTINGS = "config.toml"
_SECRET_SETTINGS = ("_auth", "_password", "username", "certfile", "keyfile", "token")


class Caches:
    """The caches of commands in the sandbox: the same for all of them, and apart from the person's own.

    Args:
        folder: Where they lie; made if missing.
        home: The person's home folder, whose settings of package managers hold here, too.
    """

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder.resolve()
        self._npmrc = home / ".npmrc"
        self._cargo_settings = home / ".cargo" / _CARGO_SETTINGS
        self._shown_npmrc = self.folder.with_name("npmrc")
        self._shown_cargo_settings = self.folder.with_name("cargo.toml")
        self._cargo = self.folder / _FOLDERS["CARGO_HOME"]

    def prepare(self) -> None:
        """Make the folder, and the copies of settings that commands see; no command runs.

        Raises:
            OSError: They cannot be made.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        _replace_link(self._cargo)
        self._cargo.mkdir(exist_ok=True)
        _replace_link(self._cargo / _CARGO_SETTINGS)
        (self._cargo / _CARGO_SETTINGS).touch()
        self._shown_npmrc.write_text(_without_secrets(self._npmrc), encoding="utf-8")
        self._shown_cargo_settings.write_text(_without_secrets(self._cargo_settings), encoding="utf-8")

    def environment(self) -> dict[str, str]:
        """Variables that lead programs there."""
        return {name: str(self.folder / below) for name, below in _FOLDERS.items()}

    def mounts(self) -> Iterator[str]:
        """What bubblewrap mounts.

        What is mounted below the folder is mounted for each command, so that none can put a link there, by which
        bubblewrap would make files elsewhere.
        """
        if not (self._cargo / _CARGO_SETTINGS).is_file():
            self.prepare()  # a person has emptied the folder
        yield from ("--bind", str(self.folder), str(self.folder))
        yield from ("--bind", str(self._cargo), str(self._cargo))
        yield from ("--ro-bind", str(self._shown_cargo_settings), str(self._cargo / _CARGO_SETTINGS))
        if self._npmrc.is_file():
            yield from ("--ro-bind", str(self._shown_npmrc), str(self._npmrc.resolve()))


def _replace_link(path: Path) -> None:
    """Remove what is no file and no folder: a link that a command of an older version made."""
    if path.is_symlink():
        path.unlink()


def _without_secrets(settings: Path) -> str:
    """The settings of a package manager, without keys and without addresses that hold a password."""
    try:
        lines = settings.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    kept = [line for line in lines if not any(word in line.lower() for word in _SECRET_SETTINGS) and "@" not in line]
    return "".join(f"{line}\n" for line in kept)
