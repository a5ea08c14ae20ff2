"""Who may do what, in one function."""

import pytest

from agentcore.api import ToolError
from agentcore.api.context import Principal
from agentcore.host.policy import authorise, check_mode_change

pytestmark = pytest.mark.spec("S2", "K3")


@pytest.mark.parametrize("kind", ["page", "token", "chat", "mcp", "host", "module"])
def test_nobody_but_a_person_at_the_terminal_or_a_paired_client_approves(kind):
    with pytest.raises(ToolError) as raised:
        authorise(Principal(kind), "approve")
    assert raised.value.type == "forbidden"
    assert raised.value.context["allowed"] == ["approver", "cli"]


@pytest.mark.parametrize("kind", ["page", "token"])
def test_change_of_the_policy_from_the_page_or_with_the_token_has_to_be_confirmed(kind):
    with pytest.raises(ToolError) as raised:
        authorise(Principal(kind), "change_policy")
    assert raised.value.type == "confirmation_required"


@pytest.mark.parametrize("action", ["read", "approve", "change_policy", "stop"])
def test_approver_reads_approves_changes_the_policy_and_stops(action):
    authorise(Principal("approver", "phone"), action)


@pytest.mark.parametrize("action", ["call", "manage_modules", "change_settings"])
def test_approver_does_nothing_else(action):
    with pytest.raises(ToolError):
        authorise(Principal("approver", "phone"), action)


def test_stricter_mode_is_free_and_a_looser_one_changes_the_policy():
    check_mode_change(Principal("token"), "allow", "ask")
    check_mode_change(Principal("cli"), "ask", "allow")
    with pytest.raises(ToolError) as raised:
        check_mode_change(Principal("token"), "ask", "ask_writes")
    assert raised.value.type == "confirmation_required"
