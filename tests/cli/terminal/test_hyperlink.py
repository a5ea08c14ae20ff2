"""Links on a terminal."""

import sys

import pytest

from agentcore.cli.terminal.hyperlink import make_hyperlink, supports_hyperlinks


class Screen:
    """A terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("environ", "supported"),
    [
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, True),
        ({"TERM": "xterm-256color", "VTE_VERSION": "4205"}, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "odd"}, False),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "vscode"}, True),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "xterm-256color", "WT_SESSION": "1"}, True),
        ({"TERM": "dumb", "TERM_PROGRAM": "vscode"}, False),
        ({"TERM_PROGRAM": "vscode"}, False),
        ({"TERM": "xterm-kitty", "FORCE_HYPERLINK": "0"}, False),
        ({"TERM": "xterm", "FORCE_HYPERLINK": "1"}, True),
    ],
)
def test_support_is_known_from_the_environment(environ, supported):
    assert supports_hyperlinks(Screen(), environ) is supported


def test_what_is_no_terminal_gets_the_plain_address():
    assert make_hyperlink("http://a/", sys.stdin, {"TERM": "xterm-kitty"}) == "http://a/"


def test_link_shows_the_whole_address():
    assert (
        make_hyperlink("http://a/", Screen(), {"TERM": "xterm-kitty"})
        == "\x1b]8;;http://a/\x1b\\http://a/\x1b]8;;\x1b\\"
    )
