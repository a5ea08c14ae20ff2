"""Who may do what, in one function."""

import pytest

from agentcore.api import ToolError
from agentcore.api.tool_context import Principal
from agentcore.core.policy.authority import authorise, check_mode_change, find_reach, owner_of

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
    authorise(Principal("approver", "approval_1"), action)


@pytest.mark.parametrize("action", ["call", "manage_modules", "change_settings"])
def test_approver_does_nothing_else(action):
    with pytest.raises(ToolError):
        authorise(Principal("approver", "approval_1"), action)


@pytest.mark.spec("K11")
@pytest.mark.parametrize(
    "action", ["pair", "revoke", "change_policy", "change_settings", "manage_modules", "call", "read"]
)
def test_no_key_of_a_client_pairs_changes_what_is_allowed_or_calls(action):
    with pytest.raises(ToolError):
        authorise(Principal("client", "phone", frozenset(("approve", "chat", "tab"))), action)


@pytest.mark.spec("K11")
def test_chatting_client_decides_in_sessions_of_its_own_and_an_approving_one_in_all():
    chatting, approving = (Principal("client", "phone", frozenset((scope,))) for scope in ("chat", "approve"))
    authorise(chatting, "approve", owner_of(chatting))
    authorise(approving, "approve", "page")
    for owner in ("page", "client:other", ""):
        with pytest.raises(ToolError) as raised:
            authorise(chatting, "approve", owner)
        assert raised.value.type == "forbidden"
    assert (find_reach(chatting, "follow"), find_reach(approving, "follow"), find_reach(chatting, "stop")) == (
        "own",
        None,
        None,
    )


@pytest.mark.spec("K11")
def test_key_of_a_scope_that_is_not_known_here_is_good_for_nothing():
    with pytest.raises(ToolError):
        authorise(Principal("client", "phone", frozenset(("later",))), "identify")


def test_stricter_mode_is_free_and_a_looser_one_changes_the_policy():
    check_mode_change(Principal("token"), "allow", "ask")
    check_mode_change(Principal("cli"), "ask", "allow")
    with pytest.raises(ToolError) as raised:
        check_mode_change(Principal("token"), "ask", "ask_writes")
    assert raised.value.type == "confirmation_required"
