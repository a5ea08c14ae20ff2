import json

import pytest

from agentcore.api import BaseModel, Field, ToolDefinition, also_called, known_to_models
from agentcore.tool_formats.formats import LoweredSchema


class _Edit(BaseModel):
    old: str = Field(json_schema_extra=also_called("old_string"))
    new: str = Field(json_schema_extra=also_called("new_string"))
    all: bool = Field(False, json_schema_extra=also_called("replace_all"))


class _Arguments(BaseModel):
    path: str = Field(json_schema_extra=known_to_models() | also_called("file_path", "timeout", ignored=["reason"]))
    timeout: int = 3
    edits: list[_Edit] | None = Field(None, json_schema_extra=also_called(flat=True))


SCHEMA = LoweredSchema(_Arguments.model_json_schema())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"path": "a"}, {"path": "a"}),
        ({"file_path": "a"}, {"path": "a"}),
        ({"file_path": "a", "path": None}, {"path": "a"}),
        ({"timeout": 5}, {"timeout": 5}),  # a property of its own
        ({"file_path": "a", "reason": "To read it."}, {"path": "a"}),
        ({"old_string": "a", "new_string": "b"}, {"edits": [{"old": "a", "new": "b"}]}),
        ({"old": "a", "new": "b", "replace_all": True}, {"edits": [{"old": "a", "new": "b", "all": True}]}),
        ({"edits": None, "old": "a", "new_string": "b"}, {"edits": [{"old": "a", "new": "b"}]}),
        ({"edits": '[{"old_string": "a", "new": "b"}]'}, {"edits": [{"old": "a", "new": "b"}]}),
        # what is not clear is left to be rejected
        ({"path": "a", "file_path": "b"}, {"path": "a", "file_path": "b"}),
        ({"old_string": "a"}, {"old_string": "a"}),
        ({"edits": [], "old": "a", "new": "b"}, {"edits": [], "old": "a", "new": "b"}),
        ({"unknown": 1}, {"unknown": 1}),
    ],
)
def test_names_are_mapped_where_that_is_unambiguous(given: dict, expected: dict) -> None:
    before = json.dumps(given)
    assert SCHEMA.repair_arguments(given) == expected
    assert json.dumps(given) == before


def test_replaced_names_are_described() -> None:
    assert SCHEMA.describe_aliases({"path": "a", "timeout": 3}) == ""
    assert SCHEMA.describe_aliases({"unknown": 3}) == ""
    note = SCHEMA.describe_aliases({"file_path": "a", "old_string": "a", "new": "b"})
    assert (
        note == "[Names of arguments: `file_path` is `path`, `old_string` is `edits[0].old`, `new` is `edits[0].new`.]"
    )


def test_models_do_not_see_aliases() -> None:
    definition = ToolDefinition("edit", "Edit a file.", _Arguments.model_json_schema())
    for form in (definition.to_openai(), definition.to_anthropic(), definition.to_mcp()):
        assert "x-" not in json.dumps(form)
        assert "file_path" not in json.dumps(form)
