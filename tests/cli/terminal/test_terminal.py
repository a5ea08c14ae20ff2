"""A person at the terminal: approving, rejecting, and what cannot be slipped past them."""

import pytest

SET = ("call", "clock_set", "zone=Bonn")


@pytest.mark.spec("S2")
def test_whole_call_is_shown_before_the_question(on_terminal):
    terminal = on_terminal("call", "clock_set", "zone=a\u202eb\nsecond")
    shown = terminal.expect_question()
    assert "clock_set" in shown
    assert "a<U+202E>b" in shown
    assert "| second" in shown
    assert "app.json" in shown
    assert "+{ }" in shown


@pytest.mark.spec("S2")
@pytest.mark.parametrize(("answer", "code", "said"), [("y", 0, "set to Bonn"), ("n", 1, "approval_denied")])
def test_only_yes_runs_the_call(on_terminal, answer, code, said):
    terminal = on_terminal(*SET)
    terminal.expect_question()
    terminal.decide(answer)
    ended, shown = terminal.end()
    assert ended == code
    assert said in shown


@pytest.mark.spec("S2")
def test_answer_that_was_typed_before_the_question_does_not_count(on_terminal):
    terminal = on_terminal(*SET)
    terminal.type("y\n")
    terminal.expect_question()
    terminal.type("n\n")
    assert terminal.end()[0] == 1


@pytest.mark.spec("S2")
def test_interrupt_at_the_question_ends_with_130(on_terminal):
    terminal = on_terminal(*SET)
    terminal.expect_question()
    terminal.type("\x03")
    assert terminal.end()[0] == 130


@pytest.mark.spec("R4")
def test_interrupt_of_a_call_in_its_own_process_cancels_it(place, on_terminal):
    terminal = on_terminal("-v", "call", "clock_wait")
    terminal.expect("25% waiting")
    terminal.type("\x03")
    code, shown = terminal.end()
    assert code == 130
    assert "cancelled" in shown


def test_no_color_is_honoured(place, on_terminal):
    place.environ["NO_COLOR"] = "1"
    assert "\x1b[3" not in on_terminal("tools").end()[1]


def test_terminal_gets_colours(on_terminal):
    assert "\x1b[36mclock_now" in on_terminal("tools").end()[1]


@pytest.mark.spec("S2")
@pytest.mark.parametrize(("answer", "code", "said"), [("y", 0, "Approved."), ("n", 1, "Rejected.")])
def test_call_of_a_client_is_decided_at_the_terminal_of_the_server(place, on_terminal, answer, code, said):
    server = on_terminal("serve")
    server.expect_server()
    client = on_terminal(*SET)
    assert "clock_set" in server.expect_question()
    server.decide(answer)
    server.expect(said)
    assert client.end()[0] == code


@pytest.mark.spec("S2")
def test_call_that_went_away_is_taken_from_the_terminal_of_the_server(place, on_terminal):
    server = on_terminal("serve")
    server.expect_server()
    client = on_terminal(*SET)
    server.expect_question()
    client.type("\x03")
    assert client.end()[0] == 130
    server.expect("does not wait any more")
    server.type("y\n")
    server.expect("Nothing waits")


@pytest.mark.spec("S7")
def test_stop_and_resume_at_the_terminal_of_the_server(place, on_terminal):
    server = on_terminal("serve")
    server.expect_server()
    server.type("stop\n")
    server.expect("`resume` takes calls again")
    assert place.run("call", "clock_now").code == 1
    server.type("resume\n")
    server.confirm()
    server.expect("Calls are taken.")
    assert place.run("call", "clock_now").code == 0


def test_unknown_word_at_the_terminal_of_the_server_is_explained(on_terminal):
    server = on_terminal("serve")
    server.expect_server()
    server.type("what\n")
    server.expect("? shows what can be typed")
    server.type("help\n")
    server.expect("emergency stop")
    server.type("waiting\n")
    server.expect("Nothing waits")
