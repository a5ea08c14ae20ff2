"""Every kind of criterion through the outermost surfaces, and a further kind that is written into the table alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentcore.approval_rules.criteria import KINDS
from tests.support.command_line import run_command

pytestmark = pytest.mark.spec("S2", "K3")

CALL = {
    "command": "make test",
    "path": "docs/a.md",
    "url": "https://example.com/x",
    "cwd": "project",
    "tag": "draft",
}
"""Arguments of `do`, whose preview says that it touches all of these."""

PATTERNS = {
    "tool": ("d*", "other"),
    "path": ("docs/", "secret/"),
    "command": ("make *", "rm *"),
    "cwd": ("project/", "elsewhere/"),
    "url": ("example.com", "example.org"),
    "effects": ("execute", "write"),
    "arguments": ({"tag": "draft"}, {"tag": "final"}),
    "on_host": ("*", "laptop"),
    "agents": (["default"], ["writer"]),
    "callers": (["chat"], ["mcp"]),
}
"""By kind: a pattern that means the call, and one that does not."""

MODULE = '''
from agentcore.api import CallPreview, Module, tool

class Desk(Module):
    """A tool whose calls have something of every kind."""

    def _look(self, ctx, arguments):
        root = ctx.workspace.roots[0]
        paths, cwd = (f"{root}/{arguments['path']}",), f"{root}/{arguments['cwd']}"
        return CallPreview(paths=paths, cwd=cwd, urls=(arguments["url"],))

    @tool(effects=["execute"], preview=_look)
    async def do(self, command: str, path: str, url: str, cwd: str, tag: str) -> str:
        """Do it."""
        return "done"
'''

FURTHER_KIND = '''
class Tag(TextCriterion):
    """What the call is tagged with."""

    key = "tag"
    field = str | None
    description = "Pattern of the tag."
    label = {"en": "Tagged", "zh": "标签"}
    unknown = "it has no tag"
    mismatch = "the tag is not like"

    @classmethod
    def compile(cls, pattern, roots):
        return CommandPattern(pattern)

    @classmethod
    def extract_values(cls, facts):
        return (facts.arguments["tag"],) if "tag" in facts.arguments else ()

    @classmethod
    def suggest_patterns(cls, facts, roots):
        return [{cls.key: tag} for tag in cls.extract_values(facts)] or None


KINDS: Kinds'''

WITH_FURTHER_KIND = """
import importlib.util, pathlib, sys, types
spec = importlib.util.find_spec("agentcore.approval_rules.criteria")
source = pathlib.Path(spec.origin).read_text(encoding="utf-8")
for old, new in ((KIND[0], KIND[1]), ("= (Tool, ", "= (Tool, Tag, "), ("= (Command, Url, ", "= (Tag, Command, Url, ")):
    assert source.count(old) == 1, old
    source = source.replace(old, new)
module = types.ModuleType(spec.name)
sys.modules[spec.name] = module
exec(compile(source, spec.origin, "exec"), module.__dict__)
from agentcore.cli.main import main
main()
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "desk.py").write_text(MODULE)
    (tmp_path / "workspace").mkdir()
    return tmp_path


def write_rules(place: Path, *rules: object) -> None:
    app = {"modules": ["desk"], "approvals": {"rules": rules}}
    (place / "app.json").write_text(json.dumps(app))


def agentcore(place: Path, *arguments: str, further: bool = False) -> str:
    words = (*arguments, "--config", str(place / "app.json"))
    if further:
        start = f"KIND = {('KINDS: Kinds', FURTHER_KIND)!r}\n{WITH_FURTHER_KIND}"
        command = [sys.executable, "-c", start, *words]
        ended = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=120, check=False)
    else:
        ended = run_command(*words, cwd=place, env=os.environ, typed="", limit_s=120)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def explain(place: Path, *options: str, further: bool = False) -> str:
    arguments = [f"{name}={value}" for name, value in CALL.items()]
    return agentcore(place, "approvals", "explain", "do", *arguments, *options, further=further)


def test_every_kind_stands_in_the_schema_means_calls_and_says_why_not(place):
    """Rules of each kind in app.json, seen from the command line."""
    assert list(PATTERNS) == [kind.key for kind in KINDS]
    rules = [{"decision": "ask", key: pattern} for key, patterns in PATTERNS.items() for pattern in patterns]
    write_rules(place, *rules)
    schema = json.loads(agentcore(place, "config", "schema"))["$defs"]["ApprovalRule"]
    for kind in KINDS:
        assert schema["properties"][kind.key]["description"] == kind.description
    found = json.loads(explain(place, "--json"))
    for number, key in enumerate(PATTERNS):
        meant, other = found["considered"][2 * number : 2 * number + 2]
        assert meant["matches"], (key, meant)
        assert not other["matches"], key
        assert other["reason"], key
    root = place / "workspace"
    assert found["touches"] == [
        {"key": "path", "label": {"en": "Touches", "zh": "涉及"}, "values": [f"{root}/docs/a.md"]},
        {"key": "cwd", "label": {"en": "Runs in", "zh": "运行于"}, "values": [f"{root}/project"]},
        {"key": "url", "label": {"en": "Contacts", "zh": "联系"}, "values": ["https://example.com/x"]},
    ]


def test_every_kind_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "approvals.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert all(any(f"`{kind.key}`" in row for row in rows) for kind in KINDS)


@pytest.mark.more
def test_further_kind_needs_its_class_and_its_place_in_the_table_alone(place):
    write_rules(place, {"decision": "deny", "tag": "draft *"}, {"decision": "deny", "tag": "final"})
    schema = json.loads(agentcore(place, "config", "schema", further=True))["$defs"]["ApprovalRule"]
    assert schema["properties"]["tag"]["description"] == "Pattern of the tag."
    shown = explain(place, further=True)
    assert "deny" in shown.splitlines()[0]
    assert "approvals.rules[0]" in shown.splitlines()[0]
    assert "  tagged   draft" in shown
    assert "approvals.rules[1] (deny): the tag is not like final" in shown
