"""The official suite of MCP against the module that mounts servers."""

import pytest

from tests.conformance.client import clients
from tests.conformance.suite import failed, needs_suite, required, run_suite

pytestmark = [pytest.mark.more, needs_suite]


@pytest.mark.parametrize(("revision", "count"), [("2026-07-28", 32), ("2025-11-25", 18)])
async def test_scenarios_that_a_revision_requires_pass(tmp_path, revision, count):
    async with clients(tmp_path / "clients") as command:
        said = await run_suite(
            "client", "--command", command, "--requirements", revision, "--timeout", "240000", folder=tmp_path
        )
    scored = required(revision, "client")
    assert len(scored) == count
    assert failed(said, scored) == [], said[-8000:]
