"""The steps before a call is permitted."""

import pytest

from tests.host.calls.lab import call, error_of

HOST = {"modules": ["lab"]}


@pytest.mark.spec("M6")
async def test_unknown_tool_names_the_near_ones(host):
    error = error_of(await call(host, "ad"))
    assert error.type == "unknown_tool"
    assert "add" in error.context["near"]


@pytest.mark.spec("M6")
async def test_invalid_arguments_have_an_entry_for_each_wrong_field(host):
    error = error_of(await call(host, "add", numbers=[1, "x"], startAt=-1, number=3))
    assert error.type == "invalid_arguments"
    entries = {entry["path"]: entry["message"] for entry in error.context["errors"]}
    assert set(entries) == {"numbers[1]", "startAt", "number"}
    assert "did you mean 'numbers'" in entries["number"]


@pytest.mark.spec("M6")
async def test_missing_argument_is_named(host):
    error = error_of(await call(host, "add"))
    assert error.context["errors"] == [{"path": "numbers", "message": "is required"}]
