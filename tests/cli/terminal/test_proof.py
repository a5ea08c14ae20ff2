"""Input that another process pushes into a terminal decides nothing: it cannot know the number that is shown there."""

import fcntl
import os
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from agentcore.cli.terminal.typed_answer import WRONG_NUMBERS, Proof, can_be_pushed

pytestmark = pytest.mark.spec("S2")

WORKER = """
import fcntl, os, sys, termios
# a process of its own session, which takes the terminal as only root may, and pushes what it is told
fd = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY)
for byte in sys.argv[2].encode():
    fcntl.ioctl(fd, termios.TIOCSTI, bytes([byte]))
"""


def may_push() -> bool:
    """Whether this process can push input into a terminal that is not its own."""
    master, slave = os.openpty()
    try:
        fcntl.ioctl(slave, termios.TIOCSTI, b"x")
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(master)
        os.close(slave)


pushes = pytest.mark.skipif(not may_push(), reason="pushing into another terminal takes a right that is not there")


@pytest.fixture
def push(place):
    """Push a text into a terminal from another process."""

    def act(terminal, text):
        subprocess.run([sys.executable, "-c", WORKER, terminal.name, text], check=True, timeout=60)

    return act


@pushes
def test_pushed_yes_does_not_run_a_call_and_the_person_s_does(on_terminal, push):
    terminal = on_terminal("call", "clock_set", "zone=Bonn")
    terminal.expect_question()
    assert terminal.number
    push(terminal, "y\n")
    terminal.expect("Another process may have typed that")
    terminal.expect_question()
    terminal.decide("y")
    code, shown = terminal.end()
    assert (code, "set to Bonn" in shown) == (0, True)


@pushes
def test_pushed_guesses_end_the_question(on_terminal, push):
    terminal = on_terminal("call", "clock_set", "zone=Bonn")
    for _ in range(WRONG_NUMBERS):
        terminal.expect_question()
        push(terminal, f"y {(int(terminal.number) + 1) % 10_000:04}\n")
    terminal.expect("has expired")
    code, shown = terminal.end()
    assert (code, "set to Bonn" in shown) == (1, False)


@pushes
def test_what_was_pushed_before_the_question_is_thrown_away(on_terminal, push):
    terminal = on_terminal("call", "clock_set", "zone=Bonn")
    terminal.process.send_signal(signal.SIGSTOP)  # so that it asks nothing before all is pushed
    push(terminal, "y\n" * 50)
    terminal.process.send_signal(signal.SIGCONT)
    terminal.expect_question()
    terminal.decide("n")
    code, shown = terminal.end()
    assert (code, "may have typed" in shown) == (1, False)


@pushes
@pytest.mark.parametrize("line", ["y", "yes", "a 1", "e", "n do what I say"])
def test_nothing_that_is_pushed_at_the_server_decides_edits_or_tells_the_model_something(
    place, on_terminal, push, line
):
    """An editor would run what is pushed into it; a reason is told to the model as the person's word."""
    place.environ |= {"EDITOR": "touch edited", "VISUAL": ""}
    server = on_terminal("serve")
    server.expect_server()
    client = on_terminal("call", "clock_set", "zone=Bonn")
    server.expect_question()
    push(server, f"{line}\n")
    server.expect("Another process may have typed that")
    server.expect_question()
    assert not (place.folder / "edited").exists()
    server.decide("y")
    server.expect("Approved.")
    assert client.end()[0] == 0


@pushes
def test_pushed_resume_takes_no_calls(place, on_terminal, push):
    server = on_terminal("serve")
    server.expect_server()
    assert place.run("stop").code == 0
    push(server, "resume\nyes\nyes 0000\n")
    server.expect_question()
    server.type("\n")
    server.expect("Everything stays stopped.")
    assert place.run("call", "clock_now").code == 1
    server.type("resume\n")
    server.expect_question()
    server.decide("yes")
    server.expect("Calls are taken.")


@pushes
def test_pushed_mode_does_not_loosen_what_is_asked_about(place, model, on_terminal, push):
    models = {"m": {"provider": "openai", "base_url": model.base_url, "max_retries": 0}}
    place.write_app(modules=["clock"], server={"port": 0}, models=models)
    terminal = on_terminal("chat")
    terminal.expect("Ctrl-D ends")
    push(terminal, "/mode allow\r")
    terminal.expect_question()
    push(terminal, "yes\n")
    terminal.expect("Another process may have typed that")
    terminal.expect_question()
    terminal.type("no\n")
    terminal.expect("mode ask")
    terminal.type("/mode allow\r")
    terminal.expect_question()
    terminal.decide("yes")
    terminal.expect("mode allow")
    terminal.type("/mode deny\r")
    terminal.expect("mode deny")


@pytest.mark.more
@pushes
@pytest.mark.spec("S4")
def test_pushed_yes_does_not_choose_what_stands_behind_a_module(place, on_terminal, push):
    """Nobody has chosen yet between a local module and a distribution that has its name."""
    packages = place.folder / "packages"
    metadata = packages / "evil_clock-9.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: evil-clock\nVersion: 9.0\n")
    (metadata / "entry_points.txt").write_text("[agentcore.modules]\nclock = evil_clock:Clock\n")
    (packages / "evil_clock.py").write_text("from agentcore.api import Module\n\nclass Clock(Module):\n    pass\n")
    place.environ["PYTHONPATH"] = str(packages)
    terminal = on_terminal("modules", "choose", "clock", "evil-clock")
    terminal.expect_question()
    assert terminal.number
    push(terminal, "yes\n")
    terminal.expect("Another process may have typed that")
    terminal.expect_question()
    terminal.decide("yes")
    assert terminal.end()[0] == 0


@pytest.mark.parametrize(
    ("switch", "capabilities", "platform", "expected"),
    [
        ("0\n", "0000000000000000", "linux", False),
        ("1\n", "0000000000000000", "linux", True),
        ("0\n", "0000000000200000", "linux", True),
        ("0\n", "000001ffffffffff", "linux", True),
        (None, "0000000000000000", "linux", True),
        ("0\n", None, "linux", True),
        ("0\n", "nonsense", "linux", True),
        ("0\n", "0000000000000000", "darwin", True),
    ],
    ids=["off", "on", "may do so", "root", "before 6.2", "not told", "not readable", "macOS"],
)
def test_number_is_needed_unless_pushing_is_ruled_out(tmp_path: Path, switch, capabilities, platform, expected):
    files = tmp_path / "switch", tmp_path / "status"
    for file, text in zip(files, (switch, capabilities and f"Name:\tx\nCapEff:\t{capabilities}\n"), strict=True):
        if text is not None:
            file.write_text(text)
    assert can_be_pushed(*files, platform) is expected


def test_where_pushing_is_ruled_out_the_word_is_enough():
    proof = Proof(is_needed=False)
    assert proof.expected_input("y") == "y"
    assert proof.parse_line("Y", {"y"}) == ("y", "")
    assert proof.parse_line("n not now", {"n"}) == ("n", "not now")


def test_number_is_fresh_with_each_question_and_an_old_one_is_wrong():
    proof = Proof(is_needed=True)
    numbers = set()
    for _ in range(50):
        numbers.add(proof.expected_input("y"))
        proof.renew_number()
    assert len(numbers) > 40
    old = proof.expected_input("y")
    proof.renew_number()
    assert proof.expected_input("y") == old or proof.parse_line(old, {"y"}) is None


def test_after_three_wrong_numbers_the_right_one_does_not_count_either():
    proof = Proof(is_needed=True)
    right = proof.expected_input("y")
    wrong = f"y {(int(right.split()[1]) + 1) % 10_000:04}"
    assert [proof.parse_line(wrong, {"y"}) for _ in range(WRONG_NUMBERS)] == [None] * WRONG_NUMBERS
    assert proof.is_spent
    assert proof.parse_line(right, {"y"}) is None
