"""What the module says about itself, and that it brings in heavy libraries only with the first page."""

import subprocess
import sys

import pytest
from agentcore_web_tools import WebTools

from agentcore.api import ToolDefinition


@pytest.fixture
def definitions() -> dict[str, ToolDefinition]:
    return {definition.name: definition for definition in WebTools().get_tool_definitions()}


@pytest.mark.spec("K2", "T6")
def test_two_tools_go_out_and_change_nothing(definitions) -> None:
    assert set(definitions) == {"web_fetch", "web_search"}
    for definition in definitions.values():
        assert definition.effects == {"egress"}
        assert definition.annotations.to_mcp() == {
            "readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": True,
        }  # fmt: skip
        assert all(value.get("description") for value in definition.input_schema["properties"].values())
    assert set(definitions["web_fetch"].input_schema["properties"]) == {
        "url",
        "maxChars",
        "format",
        "offset",
        "find",
        "full",
    }
    assert set(definitions["web_search"].input_schema["properties"]) == {"query", "count"}


def test_import_of_the_module_reads_no_pages_yet() -> None:
    code = "import sys, agentcore_web_tools; print(*{'lxml', 'bs4', 'ada_url', 'pypdf'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
