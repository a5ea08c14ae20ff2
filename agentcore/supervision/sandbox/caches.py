"""`Caches`: a folder that commands in the sandbox may write, for the caches of package managers."""

from collections.abc import Iterator
from pathlib import Path

# The environment variable of each program for its cache; see its documentation.
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
    """The caches of commands in the sandbox: shared by all of them, and separate from the user's own.

    Args:
        folder: The folder of the caches; created if missing.
        home: The user's home folder, whose settings of package managers apply in the sandbox, too.
    """

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder.resolve()
        self._npmrc = home / ".npmrc"
        self._cargo_settings = home / ".cargo" / _CARGO_SETTINGS
        self._shown_npmrc = self.folder.with_name("npmrc")
        self._shown_cargo_settings = self.folder.with_name("cargo.toml")
        self._cargo = self.folder / _FOLDERS["CARGO_HOME"]
        self._variables = {name: str(self.folder / below) for name, below in _FOLDERS.items()}

    def prepare(self) -> None:
        """Create the folder, and the copies of settings that commands see; no command may be running.

        Raises:
            OSError: If they cannot be created.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        _replace_link(self._cargo)
        self._cargo.mkdir(exist_ok=True)
        _replace_link(self._cargo / _CARGO_SETTINGS)
        (self._cargo / _CARGO_SETTINGS).touch()
        self._shown_npmrc.write_text(_without_secrets(self._npmrc), encoding="utf-8")
        self._shown_cargo_settings.write_text(_without_secrets(self._cargo_settings), encoding="utf-8")

    def environment(self) -> dict[str, str]:
        """Return the environment variables that make programs use these caches."""
        return dict(self._variables)

    def mounts(self) -> Iterator[str]:
        """Yield the bubblewrap options that mount the caches.

        Mount points below the folder are mounted for every command, so that none can replace them by links, through
        which bubblewrap would create files elsewhere.
        """
        if not (self._cargo / _CARGO_SETTINGS).is_file():
            self.prepare()  # the user has emptied the folder
        yield from ("--bind", str(self.folder), str(self.folder))
        yield from ("--bind", str(self._cargo), str(self._cargo))
        yield from ("--ro-bind", str(self._shown_cargo_settings), str(self._cargo / _CARGO_SETTINGS))
        if self._npmrc.is_file():
            yield from ("--ro-bind", str(self._shown_npmrc), str(self._npmrc.resolve()))


def _replace_link(path: Path) -> None:
    """Remove a path if it is a link, which commands could create under older versions."""
    if path.is_symlink():
        path.unlink()


def _without_secrets(settings: Path) -> str:
    """Return the settings of a package manager without keys and without addresses that contain a password."""
    try:
        lines = settings.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    kept = [line for line in lines if not any(word in line.lower() for word in _SECRET_SETTINGS) and "@" not in line]
    return "".join(f"{line}\n" for line in kept)
