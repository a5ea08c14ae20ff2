"""Names that were meant are looked for in bounded work, however long or many the names are that a caller sends."""

import difflib

import pytest

from agentcore.api import Module, tool
from agentcore.core.declarations.definitions import read_definition
from agentcore.limits import VALIDATION_ERRORS
from agentcore.near_names import NAME_CHARS, closest_name, near_names, unknown_name


class Reader(Module):
    """Reads."""

    name = "reader"

    @tool(read_only=True)
    async def read(self, path: str) -> str:
        """Read."""
        return path


@pytest.fixture
def compared(monkeypatch):
    """The lengths of the names that were compared with known ones."""
    lengths = []
    compare = difflib.get_close_matches  # noqa: TID251 - counted

    def counted(word, *args, **options):
        lengths.append(len(word))
        return compare(word, *args, **options)

    monkeypatch.setattr(difflib, "get_close_matches", counted)
    return lengths


@pytest.mark.more
@pytest.mark.spec("S7")
async def test_unknown_arguments_are_compared_for_those_that_the_error_names(agentcore_host, compared):
    running = await agentcore_host(modules=[Reader()])
    outcome = await running.outcome("read", {"path": "a", **{f"pat{number}": 1 for number in range(90_000)}})
    assert outcome.error.type == "invalid_arguments"
    assert "89997 more" in outcome.error.message
    assert "did you mean 'path'" in outcome.error.message
    assert len(compared) <= VALIDATION_ERRORS


@pytest.mark.spec("S7")
async def test_name_of_an_argument_or_a_tool_that_is_too_long_is_not_compared_and_not_repeated(
    agentcore_host, compared
):
    running = await agentcore_host(modules=[Reader()])
    long = "p" * 2_000_000
    for outcome in (await running.outcome("read", {"path": "a", long: 1}), await running.outcome(long, {})):
        assert outcome.error.type in ("invalid_arguments", "unknown_tool")
        assert len(str(outcome.error.to_json())) < 20 * NAME_CHARS
    assert max(compared, default=0) <= NAME_CHARS
    near = await running.outcome("reed", {"path": "a"})
    assert "did you mean 'read'" in near.error.message


@pytest.mark.spec("S7")
def test_key_of_a_definition_that_is_too_long_is_not_compared(compared):
    for key, meant in (("input_shema", "did you mean 'input_schema'?"), ("p" * 200_000, "known are")):
        with pytest.raises(TypeError, match="unknown key") as raised:
            read_definition({"name": "look", "description": "Look.", key: {}})
        assert meant in str(raised.value)
    assert compared == [len("input_shema")]


def test_near_names_of_long_names_are_none_and_of_short_ones_some():
    assert near_names("x" * (NAME_CHARS + 1), ["x" * NAME_CHARS]) == []
    assert near_names("raed", ["read", "write"]) == ["read"]
    assert closest_name("raed", ["read"]) == "read"
    assert len(unknown_name("tool", "x" * 4_000_000, [])) < 2 * NAME_CHARS
