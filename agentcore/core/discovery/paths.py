"""Applies `.pth` files to `sys.path`, for packages that are installed while this process runs.

The interpreter reads these files only at its start: https://docs.python.org/3/library/site.html. Here their
folders are added later in the same way. Their lines of code run only for a distribution whose module is loaded, so that
no code of an unlisted module runs.
"""

import importlib.metadata
import site
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import structlog

log = structlog.get_logger(__name__)

_CODE = ("import ", "import\t")


def add_new_paths() -> None:
    """Put the folders that `.pth` files name behind those on `sys.path`, where they are not there yet."""
    known = set(sys.path)
    for folder in _site_folders():
        for file in sorted(folder.glob("*.pth")):
            for line in _lines_of(file):
                path = str((folder / line).absolute()) if not line.startswith(_CODE) else ""
                if path and path not in known and Path(path).exists():
                    known.add(path)
                    sys.path.append(path)
                    log.info("path_added", path=path, file=str(file))


def run_own_lines(metadata: importlib.metadata.Distribution) -> None:
    """Run the lines of code in a distribution's own `.pth` files, with which editable installs find their packages.

    Raises:
        BaseException: Raised by the code.
    """
    for entry in metadata.files or ():
        file = Path(str(metadata.locate_file(entry)))
        if len(PurePosixPath(entry).parts) == 1 and file.suffix == ".pth":
            for line in _lines_of(file):
                if line.startswith(_CODE):
                    exec(line, {})  # noqa: S102 - what the interpreter does with it at its next start


def _site_folders() -> Iterator[Path]:
    named = [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
    return (Path(folder) for folder in dict.fromkeys(named) if folder in sys.path)


def _lines_of(file: Path) -> list[str]:
    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as exc:
        log.warning("pth_unreadable", path=str(file), reason=str(exc))
        return []
    return [line for line in map(str.strip, text.splitlines()) if line and not line.startswith("#")]
