"""`OwnHome`: a home folder that only one program in the sandbox has, with what it may see of the user's."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

CREDENTIALS = {
    "aws": ".aws",
    "azure": ".azure",
    "docker": ".docker",
    "gcloud": ".config/gcloud",
    "gh": ".config/gh",
    "glab": ".config/glab-cli",
    "kube": ".kube",
}
"""Where programs store their log-ins, below the home folder."""

# Programs find what is installed below the user's home folder by these, which are set only if the folder exists.
_INSTALLED = {
    "PYTHONUSERBASE": ".local",
    "PYENV_ROOT": ".pyenv",
    "RUSTUP_HOME": ".rustup",
    "VOLTA_HOME": ".volta",
    "NVM_DIR": ".nvm",
    "ASDF_DATA_DIR": ".asdf",
    "MISE_DATA_DIR": ".local/share/mise",
    "SDKMAN_DIR": ".sdkman",
    "NPM_CONFIG_USERCONFIG": ".npmrc",
}
_GIT_SETTINGS = (".gitconfig", ".config/git/config")


class OwnHome:
    """A private, persistent home folder.

    Args:
        folder: The folder; created if missing.
        user_home: The user's home folder, in which programs are installed.
        shown: Paths below the user's home folder that the program sees in its own, read-only.
    """

    def __init__(self, folder: Path, user_home: Path, shown: Sequence[str] = ()) -> None:
        self.folder = folder.resolve()
        self._user_home = user_home
        self._shown = tuple(shown)

    def prepare(self) -> None:
        """Create the folder.

        Raises:
            OSError: If it cannot be created.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the variables by which programs find this folder, and what is installed in the user's.

        Args:
            given: Their other variables, which are left as they are.
        """
        found = {name: self._user_home / below for name, below in _INSTALLED.items() if name not in given}
        settings = self._find_git_settings()
        if settings is not None and "GIT_CONFIG_GLOBAL" not in given:
            found["GIT_CONFIG_GLOBAL"] = settings
        return {"HOME": str(self.folder)} | {name: str(path) for name, path in found.items() if path.exists()}

    def mounts(self) -> Iterator[str]:
        """Yield the bubblewrap options that mount it."""
        yield from ("--bind", str(self.folder), str(self.folder))
        if (settings := self._find_git_settings()) is not None:
            yield from ("--ro-bind-try", str(settings), str(settings))
        for below in self._shown:
            yield from ("--ro-bind-try", str((self._user_home / below).resolve()), str(self.folder / below))

    def _find_git_settings(self) -> Path | None:
        return next((path for below in _GIT_SETTINGS if (path := self._user_home / below).is_file()), None)
