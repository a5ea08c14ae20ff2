"""`agentcore approvers`: pairing takes a code that only somebody who can approve makes."""

import json

import pytest

pytestmark = pytest.mark.spec("S2")


def test_client_is_paired_with_a_code_of_the_server_s_terminal_listed_and_revoked(place, on_terminal):
    terminal = on_terminal("serve")
    terminal.expect("server_ready")
    terminal.type("pair\n")
    terminal.expect("within ten minutes: ")
    code = terminal.expect("\r\n").strip()
    paired = place.run("approvers", "pair", "phone", stdin=f"{code}\n")
    assert (paired.code, paired.out[:5]) == (0, "acap_"), paired.err
    assert [each["name"] for each in place.run("approvers", "list", "--json").json["approvers"]] == ["phone"]
    assert "phone" in place.run("approvers", "list").out
    assert place.run("approvers", "revoke", "phone").code == 0
    again = place.run("approvers", "revoke", "phone")
    assert (again.code, "approver_not_found" in again.err) == (1, True)
    assert json.loads(place.run("approvers", "list", "--json").out) == {"approvers": []}


def test_wrong_code_pairs_nobody(place, server):
    done = place.run("approvers", "pair", "phone", stdin="AAAAA-BBBBB\n")
    assert done.code == 1
    assert "invalid_code" in done.err


def test_without_a_server_it_says_so(place):
    assert place.run("approvers", "list").code == 3
