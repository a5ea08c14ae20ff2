"""Determines from a module's source what its component would add to the page's policy, before any of it runs.

The user sees it when enabling the module. A policy that cannot be read from the source, such as one that is built at
run time, is reported as unknown; at load it is checked against `components.POLICY_SOURCES`.
"""

import ast
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentcore.core.discovery.syntax_tree import parse_serially
from agentcore.limits import SOURCE_BYTES_READ, SOURCE_FILES_READ

_CALL = "WebComponent"
_POSITIONS = {"page_script": 6, "csp": 7}


def page_additions(sources: Iterable[Path]) -> list[str]:
    """Lines such as `img-src https://tiles.example.org`, of all components in these files and folders."""
    found: dict[str, None] = {}
    for file in _source_files(sources):
        with suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError):  # the import reports it
            text = file.read_bytes()
            if _CALL.encode() in text:
                tree = parse_serially(ast.parse, text)
                found.update(
                    dict.fromkeys(line for call in _component_calls(tree) for line in _describe_call(call, file))
                )
    return list(found)


def _source_files(sources: Iterable[Path]) -> Iterator[Path]:
    left = SOURCE_FILES_READ
    for source in sources:
        for file in [source] if source.is_file() else sorted(source.rglob("*.py")):
            left -= 1
            if left < 0:
                return
            if file.is_file() and file.stat().st_size <= SOURCE_BYTES_READ:
                yield file


def _component_calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == _CALL:
            yield node


def _describe_call(call: ast.Call, file: Path) -> Iterator[str]:
    where = f"{file.name}:{call.lineno}"
    if any(keyword.arg is None for keyword in call.keywords) or any(isinstance(one, ast.Starred) for one in call.args):
        yield f"what {where} says when it runs"
        return
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    given |= {name: call.args[at] for name, at in _POSITIONS.items() if len(call.args) > at}
    if (policy := _literal_value(given.get("csp"))) is not None:
        yield from _policy_lines(policy, where)
    if (script := _literal_value(given.get("page_script"))) is not None:
        yield f"page_script {script}" if isinstance(script, str) else f"page_script as {where} says when it runs"


def _policy_lines(policy: Any, where: str) -> Iterator[str]:
    if not isinstance(policy, dict):
        yield f"the policy that {where} says when it runs"
        return
    for directive, sources in sorted(policy.items(), key=lambda entry: str(entry[0])):
        words = [str(source) for source in sources] if isinstance(sources, list | tuple | set) else [str(sources)]
        yield f"{directive} {' '.join(words)}"


def _literal_value(node: ast.AST | None) -> Any:
    """Return the value of a literal expression; otherwise the expression."""
    if node is None:
        return None
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return node
