"""`agentcore chat` as a process, with a host of its own or a running server, and a model on loopback."""

import json

import pytest

from agentcore.cli.backend.server_client import ServerClient

SET = ("clock_set", {"zone": "Rome\x1b[2J"})
NOW = ("clock_now", {"zone": "Rome"})
READY = "\x1b[?2004h"
"""What the terminal is told when a line can be edited."""


def lines_of(done):
    return [json.loads(line) for line in done.out.splitlines()]


@pytest.mark.spec("C2")
def test_one_prompt_prints_the_answer_and_nothing_else(place, model):
    model.say("# Hi\nall **well**")
    done = place.run("chat", "how are you")
    assert (done.code, done.out, done.err) == (0, "# Hi\nall **well**\n", "")
    assert model.asked[0]["messages"][-1]["content"] == "how are you"


def test_dash_stands_for_stdin(place, model):
    model.say("a diff")
    assert place.run("chat", "what is this:", "-", stdin="+ one\n").code == 0
    assert model.asked[0]["messages"][-1]["content"] == "what is this: \n+ one"


def test_message_comes_from_stdin_where_that_is_no_terminal(place, model):
    model.say("fine")
    assert place.run("chat", stdin="hello\n").out == "fine\n"
    assert place.run("chat").code == 2


def test_session_goes_on_by_its_id_and_as_the_last_one(place, model):
    for text in ("one", "two", "three"):
        model.say(text)
    session_id = lines_of(place.run("chat", "--json", "first"))[0]["sessionId"]
    place.run("chat", "--session", session_id, "second")
    place.run("chat", "--continue", "third")
    assert [each["content"] for each in model.asked[2]["messages"][1:]] == ["first", "one", "second", "two", "third"]


def test_continue_without_a_session_says_so(place, model):
    done = place.run("chat", "--continue", "hello")
    assert (done.code, done.out) == (2, "")
    assert "no session to go on with" in done.err


def test_json_gives_one_event_a_line(place, model):
    model.say("well")
    events = lines_of(place.run("chat", "--json", "hello"))
    assert "".join(event.get("content", "") for event in events) == "well"
    assert events[-1]["type"] == "session.finished"
    assert events[-1]["waiting"] == []


@pytest.mark.spec("K9")
def test_line_says_that_the_model_is_told_less(place, model):
    models = {"m": {"provider": "openai", "base_url": model.base_url, "max_retries": 0, "context_tokens": 1500}}
    place.write_app(modules=["clock"], models=models)
    model.say("long")
    done = place.run("chat", stdin="a row of it\n" * 2_000)
    assert (done.code, done.out) == (0, "long\n")
    assert "… 1 long text was cut, to stay within what the model can read" in done.err
    assert len(model.asked[0]["messages"][-1]["content"]) < 10_000


def test_without_a_model_it_says_what_to_do(place):
    done = place.run("chat", "hello")
    assert (done.code, done.out) == (2, "")
    assert "model_not_configured: no model is set up" in done.err


@pytest.mark.parametrize(
    ("option", "error"),
    [("--session", "session_not_found"), ("--model", "model_not_found"), ("--agent", "agent_not_found")],
)
def test_unknown_session_model_or_agent_is_a_mistake_of_usage(place, model, option, error):
    done = place.run("chat", option, "nothing", "hello")
    assert (done.code, done.out) == (2, "")
    assert error in done.err


def test_mode_is_set_by_the_option_and_in_the_conversation(place, model, on_terminal):
    terminal = on_terminal("chat", "--mode", "ask_writes")
    terminal.expect("mode ask_writes")
    terminal.expect(READY)
    terminal.type("/mode allow\r")
    terminal.expect("mode allow")


def test_agent_of_the_option_instructs_the_model(place, model):
    document = json.loads((place.folder / "app.json").read_text())
    place.write_app(**document, agents={"poet": {"instructions": "Answer in verse."}})
    model.say("A rose")
    assert place.run("chat", "--agent", "poet", "hello").code == 0
    assert "Answer in verse." in json.dumps(model.asked[0]["messages"])


def test_error_of_the_provider_ends_with_1(place, model):
    model.shutdown()
    model.server_close()
    done = place.run("chat", "hello")
    assert done.code == 1
    assert f"provider_unreachable: Nothing answers at http://127.0.0.1:{model.server_port}. Is it running?" in done.err


@pytest.mark.spec("S2")
def test_call_waits_in_vain_where_nobody_can_be_asked(place, model):
    model.say("", NOW)
    done = place.run("chat", "what time is it")
    assert (done.code, done.out) == (1, "")
    assert "→ clock_now zone=Rome" in done.err
    assert "nobody can be asked here" in done.err


@pytest.mark.spec("K2")
def test_question_is_declined_where_nobody_can_ever_answer_it(place, model):
    models = {"m": {"provider": "openai", "base_url": model.base_url, "max_retries": 0}}
    place.write_app(modules=["clock", "agent_tools"], models=models)
    model.say("", ("ask_user", {"question": "Which zone?"}))
    model.say("I take UTC.")
    done = place.run("chat", "what time is it")
    assert (done.code, done.out) == (0, "I take UTC.\n")
    assert "nobody can answer here" in done.err
    assert "declined to answer" in model.asked[1]["messages"][-1]["content"]


GARDEN = '''
from agentcore.api import CallPreview, Module, ToolContext, tool

class Garden(Module):
    """Plants."""

    name = "garden"

    def _words(self, ctx: ToolContext, arguments):
        return CallPreview(words="\\n".join(f"Water the {step['plant']}" for step in arguments["steps"]))

    @tool(preview=_words)
    async def garden_work(self, steps: list[dict[str, str]]) -> str:
        """Work in the garden."""
        return "done"

    @tool
    async def garden_plan(self, steps: list[dict[str, str]]) -> str:
        """Plan the work."""
        return "planned"
'''


def test_call_is_told_in_the_words_of_its_tool_and_else_without_the_signs_of_json(place, model):
    place.add_module("garden", GARDEN)
    document = json.loads((place.folder / "app.json").read_text())
    place.write_app(**document | {"modules": ["garden"], "approvals": {"mode": "allow"}})
    steps = [{"do": "water", "plant": plant} for plant in ("rose", "fern")]
    model.say("", ("garden_work", {"steps": steps}))
    model.say("", ("garden_plan", {"steps": steps}))
    model.say("well")
    done = place.run("chat", "water them")
    assert "→ garden_work\n    Water the rose\n    Water the fern\n" in done.err
    assert "→ garden_plan\n    water · rose\n    water · fern\n" in done.err


@pytest.mark.spec("S2")
@pytest.mark.spec("K4")
def test_call_is_approved_in_the_terminal_of_its_own_host(place, model, on_terminal):
    model.say("I set it.", SET)
    model.say("It is **set**.")
    terminal = on_terminal("chat", "set it")
    shown = terminal.expect_question()
    assert "→ clock_set\x1b[0m zone=Rome<U+001B>[2J" in shown
    assert "zone = Rome<U+001B>[2J" in shown
    terminal.decide("y")
    code, shown = terminal.end()
    assert code == 0
    assert "✓\x1b[0m set to Rome<U+001B>[2J" in shown
    assert "It is \x1b[1mset\x1b[0m." in shown


@pytest.mark.spec("S2")
def test_enter_of_somebody_who_types_ahead_rejects_nothing(place, model, on_terminal):
    model.say("", SET)
    model.say("It is set.")
    terminal = on_terminal("chat", "set it")
    for _ in range(2):
        terminal.expect_question()
        terminal.type("\n")
    terminal.expect_question()
    terminal.decide("y")
    code, shown = terminal.end()
    assert code == 0
    assert "set to Rome" in shown


@pytest.mark.spec("S2")
def test_rejected_call_does_not_run_and_the_model_is_told(place, model, on_terminal):
    model.say("", NOW)
    model.say("a pity")
    terminal = on_terminal("chat", "what time is it")
    terminal.expect_question()
    terminal.type("n\n")
    assert terminal.end()[0] == 0
    assert "a person rejected this call" in json.dumps(model.asked[1]["messages"][-1])


@pytest.mark.more
def test_conversation_keeps_its_session_and_takes_commands(place, model, on_terminal):
    model.say("first answer")
    model.say("second answer")
    terminal = on_terminal("chat")
    terminal.expect("Ctrl-D ends")
    terminal.expect(READY)
    terminal.type("one\r")
    terminal.expect("first answer")
    terminal.expect("4,000 tokens sent, 3,900 of them kept by the provider; 5 came back")
    terminal.expect(READY)
    terminal.type("/tokens\r")
    terminal.expect("4,000 tokens sent, 3,900 of them kept by the provider; 5 came back")
    terminal.expect("holds 4,005 of about 32,000 tokens")
    terminal.expect(READY)
    terminal.type("/system\r")
    terminal.expect("environment: ")
    terminal.expect("Working folder: ")
    terminal.expect("definitions of tools")
    terminal.expect(READY)
    terminal.type("two \\\rlines\r")
    terminal.expect("second answer")
    terminal.expect(READY)
    terminal.type("/tool clock_now zone=Bonn\r")
    terminal.expect('"zone":"Bonn"')
    terminal.expect(READY)
    terminal.type("/model\r")
    terminal.expect("model the agent's")
    terminal.expect(READY)
    terminal.type("/sesions\r")
    terminal.expect("did you mean /sessions?")
    terminal.expect(READY)
    terminal.type("\x04")
    assert terminal.end()[0] == 0
    assert [each["content"] for each in model.asked[1]["messages"][1:]] == ["one", "first answer", "two \nlines"]
    assert (place.state / "chat_history").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("typed", ["", "never mi"])
def test_interrupt_stops_the_turn_and_the_conversation_goes_on(place, model, on_terminal, typed):
    model.say("a long story that never ends", waits=True)
    model.say("still here")
    terminal = on_terminal("chat")
    terminal.expect("Ctrl-D ends")
    terminal.expect(READY)
    terminal.type("tell me\r")
    terminal.expect("a long")
    terminal.type(typed)
    terminal.expect(typed)
    terminal.type("\x03")
    terminal.expect("stopped")
    terminal.expect(READY)
    terminal.type("hello\r")
    terminal.expect("still here")


def test_interrupted_prompt_ends_with_130(place, model, on_terminal):
    model.say("a long story that never ends", waits=True)
    terminal = on_terminal("chat", "tell me")
    terminal.expect("a long")
    terminal.type("\x03")
    assert terminal.end()[0] == 130


@pytest.mark.spec("K13")
def test_messages_that_a_stop_holds_are_shown_and_let_go_on(place, model, start_server, on_terminal):
    """The turn rests for a call when another client sends a message; Ctrl-C ends the call and holds the message."""
    model.say("", NOW)
    model.say("the tide is low")
    other = ServerClient(start_server().address, (place.state / "token").read_text().strip())
    terminal = on_terminal("chat")
    terminal.expect("Ctrl-D ends")
    terminal.expect(READY)
    terminal.type("what time is it\r")
    terminal.expect("waits for approval at the server")
    session_id = other.get("/api/sessions")["sessions"][0]["sessionId"]
    assert other.post(f"/api/sessions/{session_id}/messages", {"text": "and the tide"})["state"] == "queued"
    terminal.type("\x03")
    terminal.expect(READY)
    terminal.type("/queue\r")
    terminal.expect("and the tide")
    terminal.expect(READY)
    terminal.type("/queue go\r")
    terminal.expect("the tide is low")


@pytest.mark.spec("K4")
def test_with_a_server_its_sessions_and_its_approvals_count(place, model, start_server, on_terminal):
    model.say("", NOW)
    start_server()
    terminal = on_terminal("chat", "what time is it")
    terminal.expect("waits for approval at the server")
    assert place.run("call", "clock_text", "text=x").code == 0
    terminal.type("\x03")
    assert terminal.end()[0] == 130


def test_interrupt_cancels_a_call_of_the_persons_own(place, model, on_terminal):
    terminal = on_terminal("chat")
    terminal.expect("Ctrl-D ends")
    terminal.expect(READY)
    terminal.type("/tool clock_wait\r")
    terminal.expect("waiting")
    terminal.type("\x03")
    terminal.expect("cancelled")


@pytest.mark.spec("K12")
def test_files_go_along_with_a_message(place, model):
    model.say("two files")
    (place.folder / "notes.txt").write_text("words of the notes")
    (place.folder / "page.html").write_text("<p>a page</p>")
    done = place.run("chat", "--attach", "notes.txt", "--attach", "page.html", "what are these?")
    assert (done.code, done.out) == (0, "two files\n")
    told = model.asked[0]["messages"][-1]["content"]
    assert told.startswith("what are these?")
    assert "words of the notes" in told
    assert "<p>a page</p>" in told


def test_what_cannot_be_attached_is_a_mistake_of_usage_and_leaves_no_session(place, model):
    with (place.folder / "film.mp4").open("wb") as file:
        file.truncate(33 * 1024 * 1024)
    missing = place.run("chat", "--attach", "nothing.txt", "hello")
    large = place.run("chat", "--attach", "film.mp4", "hello")
    assert (missing.code, large.code) == (2, 2)
    assert "does not exist" in missing.err
    assert "name its path in the message" in large.err
    assert model.asked == []
    assert "no session to go on with" in place.run("chat", "--continue", "hello").err


def test_files_are_attached_in_the_conversation(place, model, on_terminal):
    model.say("I see")
    (place.folder / "notes.txt").write_text("words of the notes")
    terminal = on_terminal("chat")
    terminal.expect(READY)
    terminal.type("/attach notes.txt\r")
    terminal.expect("attached notes.txt (text/plain, 18 bytes)")
    terminal.expect(READY)
    terminal.type("look\r")
    terminal.expect("I see")
    assert "words of the notes" in model.asked[0]["messages"][-1]["content"]


def test_files_of_the_workspace_are_mentioned_by_a_few_letters(place, model, on_terminal):
    model.say("I see")
    folder = place.folder / "workspace" / "docs"
    folder.mkdir(parents=True)
    (folder / "plan.md").write_text("")
    terminal = on_terminal("chat")
    terminal.expect(READY)
    terminal.type("read @dopl\t")
    terminal.expect("docs/plan.md")
    terminal.type(" now\r")
    terminal.expect("I see")
    assert model.asked[0]["messages"][-1]["content"] == "read docs/plan.md now"


@pytest.mark.more
@pytest.mark.spec("K13")
def test_what_is_typed_while_the_model_works_waits_for_its_turn(place, model, on_terminal):
    model.say("a long story that ends", waits=True)
    model.say("the tide is low")
    terminal = on_terminal("chat")
    terminal.expect("Ctrl-D ends")
    terminal.expect(READY)
    terminal.type("tell me\r")
    assert READY in terminal.expect("a long"), "a paste would come as one message a line"
    for typed, shown in (("\x1b[200~drop\rthis\x1b[201~", "drop\r\nthis"), ("and the tide", "and the tide")):
        terminal.type(f"{typed}\r")
        terminal.expect(f"> {shown}\r\n")
        terminal.expect("queued: goes out after this answer")
    terminal.type("/queue drop 1\r")
    terminal.expect("message 1 is taken out")
    terminal.type("/queue edit 1 and the low tide\r")
    terminal.expect("message 1 is changed")
    terminal.type("/queue\r")
    shown = terminal.expect("and the low tide")
    assert "drop" not in shown
    terminal.type("/new\r")
    terminal.expect("/new has to wait for the answer")
    model.gate.set()
    terminal.expect("ends")
    terminal.expect("> and the low tide")
    terminal.expect("the tide is low")
    terminal.expect(READY)
    terminal.type("/queue\r")
    terminal.expect("No message waits.")
    assert [each["content"] for each in model.asked[1]["messages"][1::2]] == ["tell me", "and the low tide"]


@pytest.mark.spec("K13")
@pytest.mark.spec("S2")
def test_what_is_being_typed_when_a_call_is_asked_about_stands_in_the_next_line(place, model, on_terminal):
    """The line gives the keyboard up: what was begun decides nothing, and is sent when the person goes on."""
    model.say("I will set it now", SET, waits=True)
    model.say("It is set.")
    model.say("the tide is low")
    terminal = on_terminal("chat")
    terminal.expect("Ctrl-D ends")
    terminal.expect(READY)
    terminal.type("set it\r")
    terminal.expect("I will")
    terminal.type("y and the")
    terminal.expect("y and the")
    model.gate.set()
    shown = terminal.expect_question()
    assert "now" in shown
    assert "asked by   chat “set it”" in shown
    terminal.decide("y")
    terminal.expect("It is set.")
    terminal.expect("y and the")
    terminal.type(" tide\r")
    terminal.expect("the tide is low")
    assert model.asked[2]["messages"][-1]["content"] == "y and the tide"


def test_empty_answer_says_so_and_is_asked_for_again(place, model, on_terminal):
    model.say("")
    model.say("here I am")
    terminal = on_terminal("chat")
    terminal.expect("Ctrl-D ends")
    terminal.expect(READY)
    terminal.type("hello\r")
    terminal.expect("the model gave an empty answer; /retry asks it again")
    terminal.expect(READY)
    terminal.type("/retry\r")
    terminal.expect("here I am")
    assert [each["content"] for each in model.asked[1]["messages"][1:]] == ["hello"]
