"""`agentcore approvals`: with a server, and without one."""

import json

import pytest

pytestmark = pytest.mark.spec("S2")
RULES = {"mode": "ask", "rules": [{"decision": "deny", "tool": "clock_set", "arguments": {"zone": "Bonn"}}]}


def write_rules(place):
    document = json.loads((place.folder / "app.json").read_text())
    place.write_app(**(document | {"approvals": RULES}))


def test_explanation_says_what_decides_and_runs_nothing(place):
    write_rules(place)
    denied = place.run("approvals", "explain", "clock_set", "zone=Bonn")
    assert denied.out.startswith("deny  by approvals.rules[0]\n")
    asked = place.run("approvals", "explain", "clock_now", "zone=Bonn", "--json")
    assert (asked.code, asked.json["decision"], asked.json["by"]) == (0, "ask", "mode:ask")
    passed = place.run("approvals", "explain", "clock_now", "zone=Bonn", "--mode", "ask_writes", "--json")
    assert passed.json["by"] == "mode:ask_writes"


def test_rule_is_tried_on_recorded_calls(place):
    place.run("call", "clock_now", "zone=Bonn")
    place.run("call", "clock_now", "zone=Rome")
    done = place.run("approvals", "try", '{"decision": "deny", "arguments": {"zone": "Bo*"}}', "--json")
    assert [row["arguments"] for row in done.json["different"]] == ['{"zone":"Bonn"}']
    wrong = place.run("approvals", "try", '{"decision": "maybe"}')
    assert wrong.code == 1
    assert "rule.decision" in wrong.err


@pytest.mark.more
def test_server_explains_and_has_nothing_to_revoke(place, running_server):
    done = place.run("approvals", "explain", "clock_set", "zone=Bonn", "--json")
    assert done.json["decision"] == "ask"
    assert place.run("approvals", "grants").out == "Nothing was allowed for later.\n"
    missing = place.run("approvals", "revoke", "g_none")
    assert "grant_not_found" in missing.err
