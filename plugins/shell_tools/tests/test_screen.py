"""What a model sees of a terminal, and how it presses keys: with programs that draw."""

import asyncio
import json
import shutil
import sys
from pathlib import Path

import pytest
from agentcore_shell_tools.keys import encode_key
from agentcore_shell_tools.screen import PIECE_CHARS, Screen, is_drawn, outside_alternate
from hypothesis import given
from hypothesis import strategies as st

from agentcore.api import Mark, ToolError
from tests.support.waiting import wait_until

pytestmark = pytest.mark.spec("T4")

MENU = """
import curses

def main(screen):
    curses.curs_set(0)
    entries, chosen = ["first – 第一", "second", "third"], 0
    while True:
        screen.erase()
        screen.border()
        screen.addstr(1, 2, "Choose:")
        for row, entry in enumerate(entries):
            screen.addstr(3 + row, 4, entry, curses.A_REVERSE if row == chosen else 0)
        screen.refresh()
        key = screen.getkey()
        if key == "KEY_DOWN":
            chosen += 1
        elif key == "KEY_UP":
            chosen -= 1
        elif key == "\\n":
            return entries[chosen]

print("chosen:", curses.wrapper(main))
"""


@pytest.fixture
def press(call):
    """Press keys until the screen shows what is waited for; gives the result."""

    async def run(process_id, *keys, text="", until=""):
        result = await call("bash", process_id=process_id, command=text, keys=list(keys))
        async with asyncio.timeout(60):
            while until and until not in json.dumps(result.data, ensure_ascii=False):
                result = await call("bash_output", process_id=process_id, block=True, timeoutMs=100)
        return result

    return run


@pytest.fixture
def shown(call):
    """Wait until a screen shows a text."""

    async def wait(process_id, text):
        async def is_there():
            rows = (await call("bash_output", process_id=process_id)).data["screen"]["rows"]
            return any(text in row for row in rows)

        await wait_until(is_there)

    return wait


@pytest.mark.more
async def test_menu_is_seen_as_it_is_drawn_and_answered_by_keys(call, spawn, press, shown, text, root: Path):
    (root / "menu.py").write_text(MENU)
    process_id = await spawn(f"{sys.executable} menu.py", terminal=True)
    await shown(process_id, "third")
    result = await call("bash_output", process_id=process_id)
    screen = result.data["screen"]
    assert (screen["columns"], screen["lines"], screen["cursor"]) == (120, 30, None)
    assert screen["rows"][1].startswith("│ Choose:")
    assert screen["highlighted"] == [{"row": 4, "text": "first – 第一"}]
    assert screen["is_full_screen"]
    told = text(result)
    assert told.startswith("[screen of 120 × 30, cursor hidden]\n┌──")
    assert "[highlighted: row 4 'first – 第一']" in told
    await press(process_id, "down", until='"row": 5, "text": "second"')
    await press(process_id, "down", "up", "down", until='"row": 6, "text": "third"')
    await press(process_id, "enter")
    ended = await call("bash_output", process_id=process_id, block=True)
    assert ended.data["exited"]
    assert ended.data["stdout"] == "chosen: third\n"  # and nothing of what was drawn
    assert "screen of" not in text(ended)


@pytest.mark.more
@pytest.mark.skipif(shutil.which("less") is None, reason="no less")
async def test_pages_of_a_pager_are_turned_and_searched(call, spawn, press, shown, root: Path):
    (root / "long.txt").write_text("".join(f"line {number} – grün\n" for number in range(1, 501)))
    process_id = await spawn("less long.txt", terminal=True)
    await shown(process_id, "line 29 – grün")
    await press(process_id, "pagedown", until="line 58 – grün")
    await press(process_id, "enter", text="/line 400", until="line 400 – grün")
    result = await press(process_id, "g", until="line 1 – grün")
    assert result.data["screen"]["rows"][0] == "line 1 – grün"
    await press(process_id, "q")
    assert (await call("bash_output", process_id=process_id, block=True)).data["exited"]


@pytest.mark.more
@pytest.mark.skipif(shutil.which("vim") is None, reason="no vim")
async def test_file_is_edited_in_an_editor(call, spawn, press, shown, root: Path):
    (root / "a.txt").write_text("one\ntwo\n")
    process_id = await spawn("vim -u NONE -n --cmd 'set title titlestring=Editing' a.txt", terminal=True)
    await shown(process_id, "two")
    result = await press(process_id, "down", "o", until='"row": 3, "column": 1')
    assert result.data["screen"]["title"] == "Editing"
    await press(process_id, "escape", text="three", until="three")
    await press(process_id, "enter", text=":wq")
    assert (await call("bash_output", process_id=process_id, block=True)).data["exited"]
    assert (root / "a.txt").read_text() == "one\ntwo\nthree\n"


@pytest.mark.more
async def test_keys_without_enter_interrupt_and_answer(call, spawn, press, failure, text):
    process_id = await spawn("read -n 1 -p 'Go on? ' answer; echo; echo got $answer; sleep 600", terminal=True)
    result = await press(process_id, "y", until="got y")
    assert "screen of" not in text(result)
    assert result.data["screen"]["rows"][-1] == "got y"
    error = await failure("bash", command="", process_id=process_id, keys=["hyperspace"])
    assert error.type == "unknown_key"
    assert "pagedown" in error.message
    assert (await failure("bash", command="", process_id=process_id)).type == "invalid_arguments"
    assert (await failure("bash", command="", keys=["q"])).type == "invalid_arguments"
    await press(process_id, "ctrl+c")
    assert (await call("bash_output", process_id=process_id, block=True)).data["exited"]
    assert (await failure("bash", command="", process_id=process_id, keys=["q"])).type == "process_ended"


@pytest.mark.more
async def test_output_that_is_only_written_comes_as_lines(call, spawn, text):
    process_id = await spawn("tput clear; for n in $(seq 100); do echo line $n; done", terminal=True)
    result = await call("bash_output", process_id=process_id, block=True)
    assert "line 1\nline 2\n" in text(result)
    assert "screen of" not in text(result)
    assert result.data["screen"]["rows"][-1] == "line 100"


WRITTEN = [
    piece.encode()
    for piece in (
        "\x1b[",
        "\x1b]0;",
        "\x07",
        "\x1bM",
        "\x1bc",
        "\n",
        "\r",
        "中",
        "e\u0301",
        "abc",
        "1",
        "49",
        *";?HJKmhlrLMP@XbST",
    )
]
SIZES = st.tuples(st.integers(2, 9), st.integers(1, 5))


class Written:
    """A track that has this text, of which the beginning is kept no more."""

    def __init__(self, written: bytes, kept: int | None = None) -> None:
        self.written, self.dropped = written, 0 if kept is None else len(written) - kept

    def since(self, mark):
        start = max(mark.offset, self.dropped)
        return type("Part", (), {"start": Mark(start), "end": Mark(len(self.written)), "data": self.written[start:]})()


def test_screen_of_which_the_beginning_is_lost_says_so_until_it_is_drawn_anew():
    track = Written(b"x" * 100, kept=10)
    screen = Screen(20, 5)
    assert screen.update(track, 20, 5).is_partial
    track.written += b"\x1b[H\x1b[2Jnew"
    view = screen.update(track, 20, 5)
    assert (view.rows, view.is_partial) == (["new"], False)


def test_terminal_that_is_made_smaller_is_drawn_smaller():
    screen = Screen(80, 24)
    track = Written(b"\x1b[20;70Hx")
    assert len(screen.update(track, 80, 24).rows) == 20
    track.written += b"\x1b[H\x1b[2Jy\x1b[999;999Hz"
    view = screen.update(track, 40, 10)
    assert (len(view.rows), view.rows[9][39], view.cursor) == (10, "z", (10, 40))


@pytest.mark.parametrize("size", [(2, 1), (120, 30), (1000, 1000)])
@pytest.mark.parametrize(
    "piece", [b"x\x1b[65535b", b"\x1b[8;60000;60000t", b"\x1b[999999999S", b"\x1b#8", b"\x1b[65535@"]
)
def test_what_a_hostile_program_writes_costs_neither_the_server_nor_much_memory(size, piece):
    view = Screen(*size).update(Written(piece * 100), *size)
    assert (view.columns, view.lines) == size
    assert len(view.rows) <= size[1]


@given(st.lists(st.sampled_from(WRITTEN), max_size=60), SIZES, SIZES)
def test_whatever_is_written_there_is_a_screen(pieces, size, later):
    screen, track = Screen(*size), Written(b"".join(pieces))
    screen.update(track, *size)
    track.written += b"".join(reversed(pieces))
    view = screen.update(track, *later)
    assert len(view.rows) <= later[1]
    assert view.cursor is None or (1 <= view.cursor[0] <= later[1] and 1 <= view.cursor[1] <= later[0])


def test_what_programs_drew_is_told_from_what_was_written():
    assert outside_alternate("a\x1b[?1049hdrawn\x1b[?1049lb") == "ab"
    assert outside_alternate("drawn\x1b[?1049lb\x1b[?1049hdrawn") == "b"
    assert is_drawn("\x1b[5;7Hx")
    assert not is_drawn("\x1b[H\x1b[2Jline\n\x1b[1mbold\x1b[0m\n")
    assert PIECE_CHARS < 100


@pytest.mark.parametrize(
    ("key", "sequence"),
    [("enter", "\r"), ("ArrowUp", "\x1b[A"), ("ctrl+c", "\x03"), ("Control+D", "\x04"), ("shift+tab", "\x1b[Z"),
     ("alt+x", "\x1bx"), ("ctrl+left", "\x1b[1;5D"), ("f1", "\x1bOP"), ("f5", "\x1b[15~"), ("PageDown", "\x1b[6~"),
     ("delete", "\x1b[3~"), ("+", "+"), ("ctrl+space", "\0"), ("Q", "Q"), ("ctrl+[", "\x1b"), ("é", "é"),
     ("alt++", "\x1b+")],
)  # fmt: skip
def test_keys_are_what_a_terminal_sends(key, sequence):
    assert encode_key(key, is_application_mode=False) == sequence


def test_cursor_keys_follow_the_mode_that_the_program_asked_for():
    assert encode_key("up", is_application_mode=True) == "\x1bOA"
    with pytest.raises(ToolError, match="no key"):
        encode_key("ctrl+é", is_application_mode=False)
