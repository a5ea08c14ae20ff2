"""Rules for commands: what they find in a command line, what they cannot know, and what they offer to allow."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.api import ToolDefinition
from agentcore.api.tool_context import Principal
from agentcore.approval_rules.call_facts import CallFacts
from agentcore.approval_rules.shell_commands import find_programs
from agentcore.config.app_json import ApprovalRule, ApprovalsConfig
from agentcore.core.policy.approval_policy import ApprovalPolicy
from agentcore.core.policy.grant_offers import offers_for
from agentcore.store.approvals.approval_store import ApprovalStore

pytestmark = pytest.mark.spec("S2", "K3")

BASH = ToolDefinition("bash", "Runs it.", {"type": "object"}, effects=frozenset(("execute",)))


class _NoStore(ApprovalStore):
    def __init__(self) -> None:
        """Nothing is stored: the policy alone decides."""


def decide(command, *rules, mode="allow"):
    """Decide on a command of a chat's model."""
    config = ApprovalsConfig(mode=mode, rules=tuple(ApprovalRule.model_validate(rule) for rule in rules))
    policy = ApprovalPolicy(config, ["/room"], _NoStore(), lambda: False)
    call = CallFacts(Principal("chat", "s1"), BASH, {"command": command}, None, "s1", "default", mode)
    return policy.decide(call), call


def kind(command, *rules, mode="allow"):
    return decide(command, *rules, mode=mode)[0].kind


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git -C sub push",
        "git --no-pager push origin",
        "git -c a=b push",
        "git -c user.name=x -C sub --git-dir=y push",
        "git --git-dir sub/.git --work-tree sub push",
        "ls\ngit -C sub push",
        "ls\n\n\tgit push",
        "if true; then git -C sub push; fi",
        "for x in a b; do git -C $x push; done",
        "bash -c 'git -C sub push'",
        "bash -euo pipefail -c 'git push'",
        "sh -lc 'cd sub && git -P push'",
        "env GIT_DIR=x git -C sub push",
        "env -u HOME -- git push",
        "env -S 'git -C sub push'",
        "FOO=bar git -C sub push",
        "sudo -u bob git -C sub push",
        "timeout -k 5 60 git -C sub push",
        "nohup nice -n 5 git push &",
        "echo a b | xargs -n1 git -C sub push",
        "find . -name .git -execdir git -C . push ';'",
        "find . -exec sh -c 'git -C $1 push' _ {} \\;",
        "echo $(git -C sub push)",
        'echo "`git -C sub push`"',
        "cat <(git -C sub push)",
        "cat <<EOF\n$(git -C sub push)\nEOF",
        "cat <<'EOF'\nit's\nEOF\ngit -C sub push",
        "((x = 1 << 2))\ngit -C sub push",
        "> log git -C sub push",
        "2>&1 git -C sub push",
        "g\\it -C sub 'pu'\"sh\"",
        "git -C \\\n sub push",
        "/usr/bin/git -C sub push",
        "command git -C sub push",
        "time -p git push",
        "env -S'git push'",
        "env --split-string='git -C sub push'",
        "uv run git push",
        "uv run --with x git push",
        "npm exec -- git push",
        "docker exec -it box git -C sub push",
        "docker run --rm -v a:b image sh -c 'git push'",
        "kubectl exec pod -- git push",
        "sshpass -p x ssh host git push",
        "gosu bob git push",
        "tmux new -d 'git push'",
        "hyperfine 'git push'",
        "bwrap --ro-bind / / --dev /dev git push",
        "alias g='git push'; g",
        "tar --to-command='git push' -xf a.tar",
        "rsync -e 'git push' a b",
        "eval 'git -C sub push'",
        "ssh -p 22 host 'cd sub; git -C sub push'",
        "git submodule foreach 'git -C sub push'",
        "git -c alias.x='!git -C sub push' x",
        "f() { git -C sub push; }; f",
        "trap 'git -C sub push' EXIT",
        "GIT -C sub PUSH",
    ],
)
def test_denied_command_is_found_in_every_spelling(command):
    assert kind(command, {"decision": "deny", "command": "git push *"}) == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "find . -exec rm -rf x ';'",
        "find . -execdir rm {} +",
        "find . -type f -print0 | xargs -0 rm -rf",
        "env rm -rf x",
        "bash -c 'rm x'",
        "true\nrm x",
        "rm {a,b}",
        "rm *.o",
        "bash -c \"bash -c 'rm x'\"",
        "xargs -I {} sh -c 'rm {}'",
        "sudo --user bob -- rm x",
        "busybox rm x",
        "fd -x rm",
    ],
)
def test_denied_program_is_found_behind_programs_that_run_it(command):
    assert kind(command, {"decision": "deny", "command": "rm *"}) == "deny"


@pytest.mark.parametrize(
    "command",
    [
        'eval "$x"',
        "eval ls",
        "$(echo rm) -rf x",
        "`echo rm` x",
        "$RM x",
        "r$x y",
        "$'\\x72m' x",
        "{rm,-rf,x}",
        "/bin/r? x",
        "bash clean.sh",
        "bash -x ./clean",
        "sh < clean",
        "echo x | bash",
        "source clean",
        ". ./clean",
        "./clean",
        "scripts/clean --all",
        "/room/clean.sh",
        "env ./clean",
        "xargs bash",
        'bash -c "$x"',
        "git -c core.fsmonitor=x status",
        "find . -exec {} x ';'",
    ],
)
def test_what_only_the_shell_or_a_file_knows_is_asked_about_and_allowed_by_no_rule(command):
    decision, call = decide(command, {"decision": "deny", "command": "rm *"})
    assert (decision.kind, decision.by) == ("ask", "approvals.rules[0]")
    assert offers_for(call, decision, ("/room",)) == ()
    assert kind(command, {"decision": "allow", "command": "*"}, mode="ask") == "ask"
    assert kind(command) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git -C push status",
        "git commit -m 'git  push'",
        'git commit -m "$(date)"',
        "echo $HOME",
        "ls *.py | wc -l",
        "[ -f x ] && cat x",
        "bash --version",
        ".venv/bin/pytest -q",
        "for x in a b; do echo $x; done",
        "python x.py",
        "cat <<'EOF'\n$(date)\nEOF",
    ],
)
def test_other_commands_are_neither_denied_nor_asked_about(command):
    assert kind(command, {"decision": "deny", "command": "git push *"}) == "allow"


@pytest.mark.parametrize(
    ("pattern", "command", "allows"),
    [
        ("find *", "find . -name x", True),
        ("find *", "find . -exec rm x ';'", False),
        ("*", "find . -exec rm x ';'", True),
        ("env *", "env git status", False),
        ("env git status *", "env git status -s", True),
        ("sudo apt *", "sudo apt update", True),
        ("sudo env *", "sudo env rm x", False),
        ("timeout 60 pytest *", "timeout 60 pytest -q", True),
        ("xargs *", "xargs rm", False),
        ("bash *", "bash -c 'rm x'", False),
        ("bash *", "bash clean.sh", False),
        ("bash clean.sh", "bash clean.sh", True),
        ("git *", "git -c alias.x='!rm y' x", False),
        ("git *", "git -C sub status", True),
        ("git rebase *", "git rebase --exec 'rm x' main", False),
        ("git cherry-pick *", "git cherry-pick -x abc", True),
        ("./clean *", "./clean x", False),
        (".venv/bin/pytest *", ".venv/bin/pytest -q", True),
    ],
)
def test_allowing_rule_covers_also_what_the_command_runs(pattern, command, allows):
    assert (kind(command, {"decision": "allow", "command": pattern}, mode="ask") == "allow") is allows


def offered(command):
    decision, call = decide(command, mode="ask")
    return [offer.arguments["command"] for offer in offers_for(call, decision, ("/room",)) if offer.scope == "always"]


@pytest.mark.parametrize(
    ("command", "wider"),
    [
        ("git status", "git status *"),
        ("git log --oneline src", "git log *"),
        ("npm run build", "npm run build *"),
        ("cargo test core", "cargo test *"),
        ("pytest -q src", "pytest *"),
        ("pytest", "pytest *"),
        ("python -m pytest -q", "python -m pytest *"),
        ("uv run ruff check", "uv run ruff *"),
        ("npx eslint src", "npx eslint *"),
        (".venv/bin/pytest -q", ".venv/bin/pytest *"),
        (".venv/bin/python -m pytest -q", ".venv/bin/python -m pytest *"),
        ("python3.12 -m mypy src", "python3.12 -m mypy *"),
        ("node_modules/.bin/eslint src", "node_modules/.bin/eslint *"),
        ("pipenv run pytest -x", "pipenv run pytest *"),
    ],
)
def test_kind_of_action_is_offered_as_a_whole(command, wider):
    assert offered(command) == [command, wider]


@pytest.mark.parametrize(
    "command",
    [
        *("rm build", "cat notes", "mkdir src", "cp a b", "mv old new", "touch x", "ls src", "cd src", "echo hello"),
        *("ssh host", "ssh host uptime", "scp a host", "chmod x run", "kill it", "python setup", "node server"),
        *("make clean", "grep word", "sudo reboot", "env make", "xargs rm", "bash build", "sh -c ls", "eval ls"),
        *("curl localhost", "wget host", "open notes", "code src", "sed script", "awk prog", "tar x", "unzip a"),
        *("docker run", "npm exec", "npx tool", "git unknown", "git config", "uv run tool", "kubectl delete"),
        *(
            "timeout pytest",
            "./pytest",
            "find src",
            "docker exec web",
            "../bin/pytest",
            "tools/pytest",
            "npm run",
            "dd x",
            "ln a",
            "which rm",
        ),
    ],
)
def test_operand_is_never_taken_for_an_action(command):
    assert offered(command) == [command]


def test_what_a_doubtful_command_may_be_is_explained():
    decision, _ = decide("./clean", {"decision": "deny", "command": "rm *"})
    assert "known only when it runs" in decision.reason


@given(st.text(alphabet="ab \t\n'\"\\$`(){}[]<>;&|#=*?!~-/.,0", max_size=60))
def test_any_text_can_be_read(command):
    find_programs(command)


@pytest.mark.slow
@pytest.mark.parametrize(
    "part", ["`", "$(", "env -a ", "((", "[", "{", "<<A\n", "'", "a;", "xargs ", "${", "\\", "-a "]
)
def test_long_command_costs_no_more_than_its_length(part):
    command = ("env " + part * 120_000)[:120_000]
    began = time.process_time()
    find_programs(command)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("uv run *", "uv run pytest -q"),
        ("docker run *", "docker run --rm -it image sh"),
        ("tmux *", "tmux ls"),
        ("npm exec *", "npm exec -- eslint src"),
        ("tar *", "tar -I zstd -xf a.tar"),
    ],
)
def test_allowed_subcommand_runs_what_it_is_for(pattern, command):
    assert kind(command, {"decision": "allow", "command": pattern}, mode="ask") == "allow"
