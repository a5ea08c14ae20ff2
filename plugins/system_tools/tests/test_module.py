"""What the module says about itself."""

import subprocess
import sys

import pytest
from agentcore_system_tools import SystemTools


@pytest.mark.spec("K2", "T5")
def test_two_tools_have_their_effects_and_hints() -> None:
    definitions = {definition.name: definition for definition in SystemTools().get_tool_definitions()}
    assert {name: definition.effects for name, definition in definitions.items()} == {
        "screenshot": {"egress"},
        "open_in_folder": {"execute"},
    }
    assert definitions["screenshot"].annotations.open_world is True
    assert set(definitions["screenshot"].input_schema["properties"]) == {"path", "display", "region", "inline"}
    assert set(definitions["open_in_folder"].input_schema["properties"]) == {"path"}
    for definition in definitions.values():
        assert all(value.get("description") for value in definition.input_schema["properties"].values())
        assert definition.preview is not None


def test_import_of_the_module_meets_no_desktop_yet() -> None:
    code = "import sys, agentcore_system_tools; print(*{'mss', 'jeepney'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
