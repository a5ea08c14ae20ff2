"""Whether each file of the packages and of the page is in a wheel: `python3 .ci/wheel_files.py build/wheels`."""

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent


def _wanted() -> Iterator[str]:
    """The files, each under the name that it has in a wheel."""
    folders = {ROOT / "agentcore": "agentcore", ROOT / "webui": "agentcore/webui"}
    folders |= {package: package.name for package in ROOT.glob("plugins/*/src/*") if package.is_dir()}
    for folder, name in folders.items():
        for path in folder.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield f"{name}/{path.relative_to(folder).as_posix()}"


def main(folder: Path) -> int:
    """Print what is in none of the folder's wheels; the exit code."""
    packed = {name for wheel in folder.glob("*.whl") for name in zipfile.ZipFile(wheel).namelist()}
    missing = sorted(set(_wanted()) - packed)
    for name in missing:
        print(f"in no wheel: {name}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
