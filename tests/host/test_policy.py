"""Which calls need a person."""

import pytest

from agentcore.api import CallPreview, ToolDefinition
from agentcore.api.context import Principal
from agentcore.host.policy import decide

pytestmark = pytest.mark.spec("S2", "K3")
MODEL, PERSON = Principal("chat", "s1"), Principal("page", "p1")


def tool(*effects):
    return ToolDefinition("t", "Does it.", {"type": "object"}, effects=frozenset(effects))


@pytest.mark.parametrize(
    ("mode", "effects", "kind"),
    [
        ("ask", ["read"], "ask"),
        ("ask_writes", ["read"], "allow"),
        ("ask_writes", ["read", "write"], "ask"),
        ("ask_writes", ["egress"], "ask"),
        ("ask_writes", [], "ask"),
        ("allow", ["execute"], "allow"),
        ("deny", ["read"], "deny"),
    ],
)
def test_mode_decides_on_calls_of_a_model(mode, effects, kind):
    assert decide(MODEL, tool(*effects), None, mode).kind == kind


@pytest.mark.parametrize("mode", ["ask", "ask_writes", "allow", "deny"])
def test_mode_does_not_concern_a_person_s_own_call(mode):
    assert decide(PERSON, tool("execute"), None, mode).kind == "allow"


@pytest.mark.parametrize(
    ("principal", "mode", "kind"), [(MODEL, "allow", "ask"), (PERSON, "deny", "ask"), (MODEL, "deny", "deny")]
)
def test_protected_files_are_asked_about_in_every_mode_that_does_not_refuse(principal, mode, kind):
    assert decide(principal, tool("read"), CallPreview(is_protected=True), mode).kind == kind


def test_preview_makes_the_effects_exact():
    assert decide(MODEL, tool("read", "write"), CallPreview(effects=frozenset(("read",))), "ask_writes").kind == "allow"
    assert decide(MODEL, tool("read"), CallPreview(effects=frozenset(("write",))), "ask_writes").kind == "ask"
