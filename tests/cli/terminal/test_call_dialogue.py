"""What a person can type about one call: at the terminal of its own host, and at that of the server."""

import json

import pytest

pytestmark = pytest.mark.spec("S2")

NOTES = '''
from pathlib import Path

from agentcore.api import CallPreview, Module, ToolContext, tool


class Notes(Module):
    """Notes of things to buy."""

    def _look(self, ctx: ToolContext, arguments: dict) -> CallPreview:
        return CallPreview(diff=f"--- a/notes\\\\n+++ b/notes\\\\n@@ -0,0 +1 @@\\\\n+{arguments['text']}\\\\n")

    @tool(effects=["write"], preview=_look)
    def note(self, ctx: ToolContext, text: str) -> str:
        """Write a note."""
        with (Path(ctx.workspace.roots[0]) / "notes").open("a") as file:
            file.write(f"{text};")
        return f"noted {text}"
'''

MILK = ("note", {"text": "milk"})


@pytest.fixture
def notes(place, model):
    """An app.json with a tool that writes notes; gives what was written."""
    place.add_module("notes", NOTES.replace("\\\\", "\\"))
    models = {"m": {"provider": "openai", "base_url": model.base_url, "max_retries": 0}}
    place.write_app(modules=["notes"], server={"port": 0}, models=models)
    file = place.folder / "workspace" / "notes"
    return lambda: file.read_text() if file.exists() else ""


@pytest.fixture
def editor(place):
    """Make a script the person's editor."""
    file = place.folder / "editor"
    place.environ |= {"EDITOR": str(file), "VISUAL": ""}

    def make(script):
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o700)

    return make


@pytest.fixture
def asked(model, on_terminal, notes, editor):
    """A terminal that shows a call of a model, in its own process."""
    model.say("", MILK)
    model.say("that was it")
    terminal = on_terminal("chat", "note it")
    terminal.expect_question()
    return terminal


@pytest.fixture
def server_asked(model, on_terminal, notes, editor):
    """The terminal of a server that shows a call of a model, and that of the client who waits."""
    model.say("", MILK)
    model.say("that was it")
    server = on_terminal("serve")
    server.expect_server()
    client = on_terminal("chat", "note it")
    server.expect_question()
    return server, client


def told(model):
    """What the model was told of its call."""
    return json.dumps(model.asked[1]["messages"], ensure_ascii=False)


def test_edited_call_is_shown_again_before_it_is_approved(editor, asked, notes, model):
    editor('sed -i s/milk/bread/ "$1"')
    asked.decide("e")
    shown = asked.expect_question()
    assert "text = bread" in shown
    assert "+bread" in shown
    assert notes() == ""
    asked.decide("y")
    assert asked.end()[0] == 0
    assert notes() == "bread;"
    assert "bread" in told(model)


def test_edited_call_goes_back_to_what_was_asked_for(editor, asked, notes):
    editor('sed -i s/milk/bread/ "$1"')
    asked.decide("e")
    asked.expect("text = bread")
    asked.expect_question()
    asked.type("o\n")
    assert "+milk" in asked.expect_question()
    asked.decide("y")
    assert asked.end()[0] == 0
    assert notes() == "milk;"


def test_arguments_that_cannot_run_are_said_and_edited_further(editor, asked, notes):
    editor('if grep -q text "$1"; then sed -i s/text/txt/ "$1"; else sed -i "s/txt.*/text\\": \\"bread\\"/" "$1"; fi')
    asked.decide("e")
    asked.expect("txt: is not a parameter")
    asked.expect_question()
    asked.decide("e")
    asked.expect("text = bread")
    asked.expect_question()
    asked.type("n\n")
    asked.end()
    assert notes() == ""


def test_what_is_typed_in_the_editor_and_ctrl_c_there_are_for_the_editor(editor, server_asked, notes):
    """The first editor is interrupted, and the server goes on; the second reads a line from the terminal."""
    server, client = server_asked
    editor("echo first editor; read line; echo never")
    server_asked[0].decide("e")
    server.expect("first editor")
    server.type("\x03")
    server.expect("nothing was changed")
    server.expect_question()
    server.decide("y")
    server.expect("Approved.")
    assert client.end()[0] == 0
    assert notes() == "milk;"


def test_editor_reads_the_terminal(editor, asked, notes):
    editor("""echo what then; read text; printf '{"text": "%s"}' "$text" > "$1\"""")
    asked.decide("e")
    asked.expect("what then")
    asked.type("bread\n")
    asked.expect("text = bread")
    asked.expect_question()
    asked.decide("y")
    assert asked.end()[0] == 0
    assert notes() == "bread;"


@pytest.mark.parametrize(("script", "said"), [("echo '[]' > $1", "JSON object"), ("echo x > $1", "not JSON")])
def test_what_is_no_object_is_said(editor, asked, notes, script, said):
    editor(script)
    asked.decide("e")
    asked.expect(said)
    asked.expect_question()
    asked.decide("n")
    asked.end()
    assert notes() == ""


def test_without_an_editor_it_is_said_how_to_get_one(place, model, on_terminal, notes):
    place.environ |= {"EDITOR": "no-such-editor -w", "VISUAL": "", "PATH": "/nowhere"}
    model.say("", MILK)
    terminal = on_terminal("chat", "note it")
    terminal.expect_question()
    terminal.decide("e")
    terminal.expect("set EDITOR")
    terminal.expect_question()


def test_reason_of_a_no_is_told_to_the_model(asked, notes, model):
    asked.decide("n We have Milk.")
    assert asked.end()[0] == 0
    assert "We have Milk." in told(model)
    assert notes() == ""


def test_reason_of_a_no_at_the_server_is_told_to_the_model(server_asked, notes, model):
    server, client = server_asked
    server.decide("n We have Milk.")
    server.expect("Rejected.")
    assert client.end()[0] == 0
    assert "They say: We have Milk." in told(model)
    assert notes() == ""


def test_always_lets_later_calls_run(server_asked, notes, model, place):
    server, client = server_asked
    server.decide("a 9")
    server.expect("1 to 2")
    server.expect_question()
    server.decide("a 2")
    server.expect("Approved.")
    assert client.end()[0] == 0
    model.say("", MILK)
    model.say("again")
    assert place.run("chat", "note it again").code == 0
    assert notes() == "milk;milk;"
    (grant,) = place.run("approvals", "grants", "--json").json["grants"]
    assert (grant["scope"], grant["tool"], grant["grantedBy"]) == ("always", "note", "terminal")


def test_offers_are_shown_in_full_with_their_numbers(model, on_terminal, notes):
    model.say("", MILK)
    terminal = on_terminal("chat", "note it")
    shown = terminal.expect_question()
    assert "1  in this session, allow note with any arguments" in shown
    assert "2  always allow note with any arguments" in shown


def test_call_that_always_asks_cannot_be_allowed_for_later(on_terminal):
    terminal = on_terminal("call", "clock_set", "zone=Bonn")
    terminal.expect_question()
    terminal.decide("a 1")
    terminal.expect("Nothing can be allowed for later")
    terminal.expect_question()
    terminal.type("n\n")
    assert terminal.end()[0] == 1


def test_help_and_explanation_leave_the_call_waiting(asked, notes):
    asked.type("?\n")
    assert "REASON" in asked.expect_question()
    asked.type("w\n")
    assert "by mode:ask" in asked.expect_question()
    asked.decide("yes please")
    asked.expect("means nothing here")
    asked.expect_question()
    asked.decide("y")
    assert asked.end()[0] == 0
    assert notes() == "milk;"


def test_help_at_the_server_tells_of_calls_and_of_the_server(server_asked):
    server, _ = server_asked
    server.type("?\n")
    shown = server.expect("Ctrl-C")
    assert "REASON" in shown
    assert "emergency stop" in shown
