"""Bells that all tests of a file share."""

import sys
from collections.abc import Iterator

import pytest

from tests.core.installing import Site
from tests.server.modules import bells


@pytest.fixture(scope="module")
def bells_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The family of bells is installed, for the tests of a file."""
    path = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(path)
        bells.install(Site(path))
        yield
    for name in [name for name in sys.modules if name.startswith("acme_")]:
        del sys.modules[name]
