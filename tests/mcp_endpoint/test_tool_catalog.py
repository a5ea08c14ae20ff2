"""Names as every client takes them."""

import pytest

from agentcore.mcp_endpoint.tool_catalog import NAME_CHARS, outward_name


@pytest.mark.parametrize(
    ("name", "outward"), [("read_file", "read_file"), ("a.b/c d", "a_b_c_d"), ("x" * 48, "x" * 48)]
)
def test_name_has_the_characters_that_all_clients_take(name, outward):
    assert outward_name(name) == outward


def test_long_names_are_cut_and_stay_apart():
    one, other = outward_name("browser_" + "a" * 60 + "1"), outward_name("browser_" + "a" * 60 + "2")
    assert one != other
    assert len(one) == len(other) == NAME_CHARS
    assert one.startswith("browser_aaa")
