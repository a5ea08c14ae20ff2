"""Installed distributions for tests of modules."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.core.installing import Site
from tests.server.modules import bells


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Installed distributions, the family among them; what was imported of them is taken out again."""
    path = tmp_path / "site"
    path.mkdir()
    monkeypatch.syspath_prepend(path)
    before = set(sys.modules)
    site = Site(path)
    bells.install(site)
    yield site
    site.forget({*before, *(name for name in sys.modules if not name.startswith("acme_"))})
