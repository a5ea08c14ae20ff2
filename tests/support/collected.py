"""Which tests were collected from a folder, for the hooks of its conftest."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest


def items_below(folder: Path, items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield the tests of a folder. Each hook asks this of each of thousands of tests: a path as text costs least."""
    prefix = f"{folder}{os.sep}"
    return (item for item in items if str(item.path).startswith(prefix))
