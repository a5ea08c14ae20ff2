"""What the terminal of a server shows: one line at once, a block when it is ready, sentences later, and no log."""

import re

import pytest

from agentcore.cli.start.start_block import StartBlock

NEEDY = '''
from agentcore.api import Module


class Needy(Module):
    """Needs things."""

    def init(self, runtime):
        super().init(runtime)
        runtime.note("web browser", "none was found", advice="agentcore browser install")
        runtime.note("paper", "there is enough")
'''
SLOW = '''
import os

from agentcore.api import Module

while not os.path.exists("go"):
    pass


class Slow(Module):
    """Loads when the test lets it."""
'''
LINK = re.compile(r"http://127\.0\.0\.1:\d+/#code=[\w-]+&page=[\w-]+")


@pytest.fixture
def needy(place):
    """A place with a module that lacks something, and one that cannot be loaded."""
    place.add_module("needy", NEEDY)
    place.add_module("broken", "raise RuntimeError('no network')\n")
    place.write_app(modules=["clock", "needy", "broken"])
    return place


@pytest.mark.spec("S1")
def test_block_is_the_last_thing_on_the_screen_and_no_log_line_is_there(place, on_terminal):
    terminal = on_terminal("serve")
    shown = terminal.expect_server()
    first, _, block = shown.partition("agentcore is running")
    assert re.search(r"Starting agentcore at http://127\.0\.0\.1:\d+ with 1 module …", first)
    assert LINK.search(block)
    assert str(place.folder / "workspace") in block
    assert "4 tools from 1 module" in block
    assert "Needs attention" not in block
    assert not re.search(r"server_ready|module_ready|\{\"time\"", shown)
    terminal.type("\x03")
    code, rest = terminal.end()
    assert code == 0
    assert "Stopping …" in rest
    assert "server_stop" not in rest
    assert '"server_stopped"' in (place.state / "logs" / "server.jsonl").read_text()


@pytest.mark.spec("S1")
def test_address_is_shown_before_the_modules_have_loaded(place, on_terminal):
    place.add_module("slow", SLOW)
    place.write_app(modules=["slow"])
    terminal = on_terminal("serve")
    assert "is running" not in terminal.expect("with 1 module …")
    (place.folder / "go").touch()
    assert "0 tools from 1 module" in terminal.expect_server()


def test_what_is_missing_is_listed_with_its_fix(needy, on_terminal):
    shown = on_terminal("serve").expect_server().partition("Needs attention")[2]
    assert "needy (web browser): none was found" in shown
    assert "→\x1b[0m agentcore browser install" in shown
    assert "Module broken: " in shown
    assert "agentcore modules info broken" in shown
    assert "paper" not in shown
    assert "Traceback" not in shown


def test_missing_model_is_shown_with_the_next_step(place, on_terminal):
    place.write_app(modules=["clock"], models={"far": {"provider": "anthropic", "model": "claude-x"}})
    shown = on_terminal("serve").expect_server()
    assert "claude-x needs a key." in shown
    assert "→\x1b[0m Enter it on the page, or set ANTHROPIC_API_KEY." in shown


def test_what_goes_missing_later_is_shown_below_the_block(needy, on_terminal):
    terminal = on_terminal("serve")
    terminal.expect_server()
    needy.add_module("clock", "raise RuntimeError('it is broken now')\n")
    assert needy.run("modules", "disable", "clock").code == 0
    needy.run("modules", "enable", "clock")
    terminal.expect("Module clock: ")
    terminal.expect("agentcore modules info clock")


def test_verbose_server_shows_its_log_and_the_block(on_terminal):
    terminal = on_terminal("-v", "serve")
    terminal.expect("server_ready")
    terminal.expect_server()


def test_addresses_are_links_where_the_terminal_supports_them(place, on_terminal):
    place.environ["FORCE_HYPERLINK"] = "1"
    shown = on_terminal("serve").expect_server()
    links = re.findall("\x1b]8;;(http[^\x1b]+)\x1b\\\\([^\x1b]+)\x1b]8;;\x1b\\\\", shown)
    assert len(links) == 3
    assert all(address == text for address, text in links)


def test_model_of_a_server_on_this_machine_is_named(model, on_terminal):
    assert f"m ({model.base_url})" in on_terminal("serve").expect_server()


def test_key_in_the_environment_names_the_model_that_is_used(place, on_terminal):
    place.environ["ANTHROPIC_API_KEY"] = "sk-secret-1"
    shown = on_terminal("serve").expect_server()
    assert "claude-sonnet-4-5 (Anthropic, with the key in ANTHROPIC_API_KEY)" in shown
    assert "sk-secret-1" not in shown


class Recorder:
    """A stream that is no terminal."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        """Nothing is buffered."""

    def isatty(self):
        return False


@pytest.fixture
def block():
    """A block without a server: what the log reports waits for it."""
    stream = Recorder()
    return StartBlock(stream, lambda arguments: f"agentcore {arguments}", has_console=False), stream


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ({"level": "warning", "event": "pool_not_reached", "pool": "p", "reason": "no route"}, "The pool p cannot be"),
        ({"level": "error", "event": "request_failed"}, "(request_failed). See: agentcore logs --level error"),
        ({"level": "error", "event": "module_failed", "module": "m"}, ""),
        ({"level": "warning", "event": "approvals_slow"}, ""),
        ({"level": "error", "event": "server_stop_timeout", "limit_s": 60.0}, "did not stop within 60 s"),
        ({"level": "error", "event": "block_refused", "reason": "a\x1b[2Jb"}, "a<U+001B>[2Jb"),
    ],
)
def test_log_lines_become_sentences_only_where_a_user_has_to_act(block, line, shown):
    made, stream = block
    made.show_log_line(line)
    made.show_log_line(line)
    assert stream.text == ""
    made.show_unshown()
    assert shown in stream.text
    assert stream.text.count("•") == (1 if shown else 0)
    made.show_unshown()
    assert stream.text.count("•") == (1 if shown else 0)
