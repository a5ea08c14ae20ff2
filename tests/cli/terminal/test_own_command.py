"""Commands as a user has to type them."""

import sys
from pathlib import Path

import pytest

from agentcore.cli.terminal.own_command import own_command


@pytest.fixture
def program(tmp_path, monkeypatch):
    """The program, started by its path."""
    program = tmp_path / "a b" / "agentcore"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(program)])
    return program


def test_program_outside_of_path_is_named_with_its_path(program, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert own_command("open") == f"'{program}' open"


def test_program_in_path_is_named_without(program, monkeypatch):
    monkeypatch.setenv("PATH", str(program.parent))
    assert own_command("open") == "agentcore open"


def test_other_app_json_is_named(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["-c"])
    assert own_command("logs", Path("other/app.json")) == "agentcore logs --config other/app.json"
