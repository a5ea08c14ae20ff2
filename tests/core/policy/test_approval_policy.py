"""Which calls run, which are asked about, which are refused: a law over all rules, and each kind of pattern."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.api import CallPreview, ToolDefinition
from agentcore.api.tool_context import Principal
from agentcore.approval_rules.call_facts import CallFacts
from agentcore.approval_rules.decisions import APPROVAL_MODES
from agentcore.config.app_json import ApprovalRule, ApprovalsConfig
from agentcore.core.policy.approval_policy import ApprovalPolicy
from agentcore.core.policy.grant_offers import offers_for
from agentcore.store.approvals.approval_store import ApprovalStore

pytestmark = pytest.mark.spec("S2", "K3")
MODEL, PERSON = Principal("chat", "s1"), Principal("page", "p1")
ROOT = "/home/ann/room"


def tool(*effects, name="t"):
    return ToolDefinition(name, "Does it.", {"type": "object"}, effects=frozenset(effects))


def facts(*effects, principal=MODEL, preview=None, name="t", mode="ask", **arguments):
    return CallFacts(principal, tool(*effects, name=name), arguments, preview, "s1", "default", mode)


def policy(*rules, mode="ask"):
    said = tuple(ApprovalRule.model_validate(rule) for rule in rules)
    return ApprovalPolicy(ApprovalsConfig(mode=mode, rules=said), [ROOT], NO_STORE, lambda: False)


class _NoStore(ApprovalStore):
    def __init__(self) -> None:
        """Nothing is stored: the policy alone decides."""


NO_STORE = _NoStore()


@pytest.mark.parametrize(
    ("mode", "effects", "kind"),
    [
        ("ask", ["read"], "ask"),
        ("ask_writes", ["read"], "allow"),
        ("ask_writes", ["read", "write"], "ask"),
        ("ask_writes", ["egress"], "ask"),
        ("ask_writes", [], "ask"),
        ("accept_edits", ["read"], "allow"),
        ("accept_edits", ["write"], "ask"),
        ("accept_edits", ["egress"], "ask"),
        ("accept_edits", [], "ask"),
        ("plan", ["read"], "allow"),
        ("plan", ["read", "egress"], "ask"),
        ("plan", ["write"], "deny"),
        ("plan", ["dangerous"], "deny"),
        ("plan", [], "deny"),
        ("allow", ["execute"], "allow"),
        ("deny", ["read"], "deny"),
    ],
)
def test_mode_decides_on_calls_of_a_model(mode, effects, kind):
    assert policy().decide(facts(*effects, mode=mode)).kind == kind


@pytest.mark.parametrize(
    ("effects", "paths", "kind"),
    [
        (["write"], [f"{ROOT}/a.md"], "allow"),
        (["read", "write"], [f"{ROOT}/a.md", f"{ROOT}/deep/b.md"], "allow"),
        (["write"], [f"{ROOT}/a.md", "/home/ann/b.md"], "ask"),
        (["write"], [f"{ROOT}/../b.md"], "ask"),
        (["write"], [f"{ROOT}s/a.md"], "ask"),
        (["write"], ["a.md"], "ask"),
        (["write"], [], "ask"),
        (["write", "egress"], [f"{ROOT}/a.md"], "ask"),
        (["write", "execute"], [f"{ROOT}/a.md"], "ask"),
    ],
)
def test_accept_edits_lets_calls_run_that_change_only_files_of_the_workspace(effects, paths, kind):
    preview = CallPreview(effects=frozenset(effects), paths=tuple(paths))
    assert policy().decide(facts("write", preview=preview, mode="accept_edits")).kind == kind


def test_accept_edits_asks_about_changes_on_other_machines_and_of_protected_files():
    preview = CallPreview(paths=(f"{ROOT}/a.md",))
    here = facts("write", preview=preview, mode="accept_edits")
    assert policy().decide(here).by == "mode:accept_edits"
    there = dataclasses.replace(here, host="laptop", host_roots=(ROOT,))
    from_there = dataclasses.replace(here, principal=Principal("host", "laptop"))
    protected = dataclasses.replace(here, preview=dataclasses.replace(preview, is_protected=True))
    assert [policy().decide(each).kind for each in (there, from_there, protected)] == ["ask"] * 3


def test_plan_refuses_changes_whatever_rules_allow_and_says_why():
    allowing = policy({"decision": "allow", "tool": "t"})
    decision = allowing.decide(facts("write", mode="plan"))
    assert (decision.kind, decision.by) == ("deny", "mode:plan")
    assert "the mode is plan" in decision.reason


@pytest.mark.spec("K2")
@pytest.mark.parametrize(
    ("mode", "rule", "kind"),
    [
        ("ask", None, "allow"),
        ("ask_writes", None, "allow"),
        ("deny", None, "deny"),
        ("ask", {"decision": "deny"}, "allow"),
        ("ask", {"decision": "ask", "tool": "*"}, "allow"),
        ("ask", {"decision": "ask", "callers": ["chat"]}, "allow"),
        ("allow", {"decision": "ask", "tool": "t"}, "ask"),
        ("allow", {"decision": "deny", "tool": "t*"}, "deny"),
    ],
)
def test_call_that_touches_its_session_only_is_held_by_a_rule_that_names_it(mode, rule, kind):
    rules = [] if rule is None else [rule]
    assert policy(*rules).decide(facts("session", mode=mode)).kind == kind
    by_preview = facts("egress", preview=CallPreview(effects=frozenset(("session",))), mode=mode)
    assert policy(*rules).decide(by_preview).kind == kind


@pytest.mark.parametrize("principal", [MODEL, PERSON])
def test_call_with_a_caution_is_asked_about_with_it_whatever_the_mode_and_the_rules(principal):
    cautious = CallPreview(caution="it would run bare")
    allowing = policy({"tool": "t", "decision": "allow"}, mode="allow")
    decision = allowing.decide(facts("execute", principal=principal, preview=cautious, mode="allow"))
    assert (decision.kind, decision.by, decision.reason) == ("ask", "caution", "it would run bare")
    assert not policy().allows_own_call(PERSON, cautious)
    assert policy({"tool": "t", "decision": "deny"}).decide(facts("execute", preview=cautious)).kind == "deny"


@pytest.mark.parametrize("mode", APPROVAL_MODES)
def test_mode_does_not_concern_a_person_s_own_call(mode):
    assert policy().decide(facts("execute", principal=PERSON, mode=mode)).kind == "allow"


@pytest.mark.parametrize(
    ("principal", "mode", "kind"), [(MODEL, "allow", "ask"), (PERSON, "deny", "ask"), (MODEL, "deny", "deny")]
)
def test_protected_files_are_asked_about_in_every_mode_that_does_not_refuse(principal, mode, kind):
    protected = facts("read", principal=principal, preview=CallPreview(is_protected=True), mode=mode)
    assert policy({"decision": "allow"}).decide(protected).kind == kind


@pytest.mark.parametrize("principal", [MODEL, Principal("cli")])
@pytest.mark.parametrize("mode", ["ask", "accept_edits", "ask_writes", "plan", "allow"])
def test_call_whose_preview_failed_is_always_asked_about(principal, mode):
    failed = facts("read", principal=principal, preview=CallPreview(failure="timed_out"), mode=mode)
    decision = policy({"tool": "t", "decision": "allow"}).decide(failed)
    assert (decision.kind, decision.by) == ("ask", "preview:timed_out")
    assert not policy().allows_own_call(principal, failed.preview)
    assert policy({"tool": "t", "decision": "deny"}).decide(failed).kind == "deny"


def test_preview_makes_the_effects_exact():
    reads = facts("read", "write", preview=CallPreview(effects=frozenset(("read",))), mode="ask_writes")
    writes = facts("read", preview=CallPreview(effects=frozenset(("write",))), mode="ask_writes")
    assert (policy().decide(reads).kind, policy().decide(writes).kind) == ("allow", "ask")


RULES = st.lists(
    st.fixed_dictionaries(
        {"decision": st.sampled_from(["allow", "ask", "deny"]), "tool": st.sampled_from(["*", "t", "t*", "other"])},
        optional={"callers": st.sampled_from([["chat"], ["page"], ["chat", "page"]])},
    ),
    max_size=6,
)


@given(
    RULES,
    st.sampled_from(["ask", "ask_writes", "allow", "deny"]),
    st.sampled_from(["read", "write", "egress", "execute", "dangerous"]),
    st.booleans(),
    st.sampled_from([MODEL, PERSON]),
)
def test_deny_beats_ask_beats_allow_and_what_nothing_speaks_of_is_asked_about(rules, mode, effect, protects, principal):
    """Of all that speaks on a call the strictest counts, in whatever order it was written."""
    call = facts(effect, principal=principal, preview=CallPreview(is_protected=protects), mode=mode)
    said = {
        rule["decision"]
        for rule in rules
        if rule["tool"] != "other" and principal.kind in rule.get("callers", ("chat", "page"))
    }
    is_model = principal is MODEL
    if "deny" in said or (is_model and mode == "deny"):
        expected = "deny"
    elif protects or "ask" in said:
        expected = "ask"
    elif not is_model or "allow" in said or mode == "allow" or (mode == "ask_writes" and effect == "read"):
        expected = "allow"
    else:
        expected = "ask"
    assert policy(*rules).decide(call).kind == expected
    assert policy(*reversed(rules)).decide(call).kind == expected


@pytest.mark.parametrize(
    ("pattern", "path", "surely", "possibly"),
    [
        ("docs/**", f"{ROOT}/docs/a.md", True, True),
        ("docs", f"{ROOT}/docs/a.md", True, True),
        ("docs/", f"{ROOT}/deep/docs/a.md", True, True),
        ("./docs/", f"{ROOT}/deep/docs/a.md", False, False),
        ("*.env", f"{ROOT}/deep/x.env", True, True),
        ("docs/**", f"{ROOT}/Docs/a.md", False, True),
        ("docs/**", f"{ROOT}/docs/../secret", False, True),
        ("docs/**", "/elsewhere/docs/a.md", False, False),
        ("/elsewhere/**", "/elsewhere/docs/a.md", True, True),
        ("**", f"{ROOT}/a", True, True),
        ("docs/*/a.md", f"{ROOT}/docs/x/y/a.md", False, False),
    ],
)
def test_path_pattern_means_what_it_says(pattern, path, surely, possibly):
    touched = facts("write", preview=CallPreview(paths=(path,)))
    assert (policy({"decision": "allow", "path": pattern}).decide(touched).kind == "allow") is surely
    assert (policy({"decision": "deny", "path": pattern}).decide(touched).kind == "deny") is possibly


def test_all_paths_have_to_match_to_allow_and_one_to_deny():
    both = facts("write", preview=CallPreview(paths=(f"{ROOT}/docs/a", f"{ROOT}/secret/b")))
    assert policy({"decision": "allow", "path": "docs/"}).decide(both).kind == "ask"
    assert policy({"decision": "deny", "path": "secret/"}).decide(both).kind == "deny"


@pytest.mark.parametrize(
    ("pattern", "command", "surely", "possibly"),
    [
        ("git status *", "git status", True, True),
        ("git status *", "git   status -s", True, True),
        ("git status *", "git status; rm -rf /", False, True),
        ("git status *", "git status $(rm x)", False, True),
        ("git status *", "git status > .bashrc", False, True),
        ("git status *", "git status\nrm x", False, True),
        ("git status *", "LD_PRELOAD=x.so git status", False, True),
        ("git status *", "git 'status'", True, True),
        ("git status *", "git stash", False, False),
        ("cat docs/*", "cat docs/../../etc/passwd", False, True),
        ("rm *", "ls && rm -rf x", False, True),
        ("rm *", "sudo -n rm -rf x", False, True),
        ("rm *", "/bin/rm -rf x", False, True),
        ("rm *", "r''m -rf x", True, True),
        ("rm *", "echo `rm x`", False, True),
        ("rm *", "git rm x", False, False),
        ("ls | wc -l", "ls | wc -l", True, True),
        ("ls | wc -l", "ls | wc -l ; rm x", False, False),
        ("echo 'a b'", "echo 'a b'", True, True),
        ("echo 'a b'", 'echo "a b"', True, False),
        ("echo 'a b'", "echo a b", False, False),
    ],
)
def test_command_pattern_allows_one_plain_command_and_denies_any_part(pattern, command, surely, possibly):
    call = facts("execute", command=command)
    assert (policy({"decision": "allow", "command": pattern}).decide(call).kind == "allow") is surely
    assert (policy({"decision": "deny", "command": pattern}).decide(call).kind == "deny") is possibly


@pytest.mark.parametrize(
    ("pattern", "url", "surely", "possibly"),
    [
        ("example.com", "https://example.com/x", True, True),
        ("example.com", "https://EXAMPLE.com./x", True, True),
        ("example.com", "https://example.com.evil.org/x", False, False),
        ("example.com", "https://example.com@evil.org/", False, False),
        ("example.com", "https://evil.org\\@example.com/", False, False),
        ("example.com", "https://user@example.com/", False, True),
        ("example.com", "https://example.com:8443/", False, True),
        ("*.example.com", "https://a.b.example.com/", True, True),
        ("*.example.com", "https://example.com/", False, False),
        ("https://*.example.com/docs/*", "https://evil.org/a.example.com/docs/x", False, False),
        ("https://example.com/docs/*", "https://example.com/docs/../admin", False, False),
        ("https://example.com/docs/*", "https://example.com/docs/%2e%2e/admin", False, False),
        ("https://example.com/docs/*", "https://example.com/docs/..%2fadmin", False, True),
        ("https://example.com/docs/*", "http://example.com/docs/x", False, False),
        ("http://localhost:*", "http://localhost:8080/", True, True),
        ("[::1]:80", "http://[::1]/", True, True),
    ],
)
def test_address_pattern_reads_addresses_as_a_browser_does(pattern, url, surely, possibly):
    call = facts("egress", preview=CallPreview(urls=(url,)))
    assert (policy({"decision": "allow", "url": pattern}).decide(call).kind == "allow") is surely
    assert (policy({"decision": "deny", "url": pattern}).decide(call).kind == "deny") is possibly


def test_address_in_the_arguments_denies_and_only_a_preview_allows():
    call = facts("egress", url="https://example.com/x")
    assert policy({"decision": "allow", "url": "example.com"}).decide(call).kind == "ask"
    assert policy({"decision": "deny", "url": "example.com"}).decide(call).kind == "deny"


def test_further_arguments_are_compared_as_text_or_json():
    rule = {"decision": "allow", "arguments": {"force": "false", "names": "a*"}}
    assert policy(rule).decide(facts("execute", force=False, names=["a", "ab"])).kind == "allow"
    assert policy(rule).decide(facts("execute", force=True, names=["a"])).kind == "ask"
    assert policy(rule).decide(facts("execute", force=False, names=["a", "b"])).kind == "ask"
    assert policy(rule).decide(facts("execute", force=False, names=[])).kind == "ask"
    assert policy(rule).decide(facts("execute", force=False)).kind == "ask"


def test_folder_of_a_command_and_agent_are_further_conditions():
    rule = {"decision": "allow", "command": "make *", "cwd": "project/", "agents": ["default"]}
    inside = facts("execute", command="make test", preview=CallPreview(cwd=f"{ROOT}/project/sub"))
    outside = facts("execute", command="make test", preview=CallPreview(cwd=f"{ROOT}/other"))
    assert [policy(rule).decide(call).kind for call in (inside, outside)] == ["allow", "ask"]
    assert policy({**rule, "agents": ["writer"]}).decide(inside).kind == "ask"


def test_decision_names_the_rule_and_gives_its_reason():
    decision = policy({"decision": "deny", "tool": "x*"}, {"decision": "deny", "reason": "never on Fridays"}).decide(
        facts("read")
    )
    assert (decision.by, decision.reason) == ("approvals.rules[1]", "never on Fridays")


def on_laptop(*effects, **rest):
    found = facts(*effects, **rest)
    return dataclasses.replace(found, host="laptop", host_roots=("/home/ann/laptop",))


@pytest.mark.spec("H3")
def test_what_is_allowed_for_the_server_says_nothing_of_another_machine():
    allows = {"decision": "allow", "tool": "t"}
    assert policy(allows).decide(facts("execute")).kind == "allow"
    assert policy(allows).decide(on_laptop("execute")).kind == "ask"
    assert policy({**allows, "on_host": "lap*"}).decide(on_laptop("execute")).kind == "allow"
    assert policy({**allows, "on_host": "lap*"}).decide(facts("execute")).kind == "ask"
    both = policy({**allows, "on_host": "*"})
    assert {both.decide(call).kind for call in (facts("execute"), on_laptop("execute"))} == {"allow"}


@pytest.mark.spec("H3")
def test_what_is_denied_is_denied_on_every_machine_and_relative_to_its_own_folders():
    denies = policy({"decision": "deny", "path": "secrets/"})
    here, there = f"{ROOT}/secrets/a", "/home/ann/laptop/secrets/a"
    assert denies.decide(facts("read", preview=CallPreview(paths=(here,)))).kind == "deny"
    assert denies.decide(on_laptop("read", preview=CallPreview(paths=(there,)))).kind == "deny"
    assert denies.decide(on_laptop("read", preview=CallPreview(paths=("/home/ann/laptop/a",)))).kind == "ask"


@pytest.mark.spec("H3")
def test_an_offer_for_a_call_on_another_machine_names_it():
    call = on_laptop("write", preview=CallPreview(paths=("/home/ann/laptop/a/b",)))
    decision = policy().decide(call)
    offered = [offer.to_json()["arguments"] for offer in offers_for(call, decision, (ROOT,))]
    assert offered
    assert {each["on_host"] for each in offered} == {"laptop"}
    assert {"path": "/home/ann/laptop/a/**", "on_host": "laptop"} in offered
