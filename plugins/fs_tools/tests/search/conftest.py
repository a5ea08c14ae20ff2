"""Fixtures for the tests of searching."""

import pytest
from agentcore_fs_tools.search import glob_search, grep_search


@pytest.fixture(autouse=True)
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let searches look for what they left out as long as a busy machine needs: usually for a quarter of a second."""
    for module in (glob_search, grep_search):
        monkeypatch.setattr(module, "SKIPPED_SECONDS", 60.0)
        monkeypatch.setattr(module, "SKIPPED_SECONDS_ALONE", 60.0)
