"""Nothing from outside moves the cursor, hides, or changes the order of what is read."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.cli.terminal.visible_text import (
    all_visible,
    display_width,
    json_safe,
    json_storable,
    terminal_safe,
    truncate_line,
)


@pytest.mark.spec("S2")
@given(st.text())
def test_nothing_invisible_is_left_for_a_decision(text):
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    shown = all_visible(text)
    assert all(character in "\n\t" or unicodedata.category(character) not in hidden for character in shown)


@given(st.text())
def test_no_control_character_reaches_a_terminal(text):
    shown = terminal_safe(text)
    assert all(character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cs") for character in shown)


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126)))
def test_plain_text_stays_as_it_is(text):
    assert all_visible(text) == terminal_safe(text) == text


@pytest.mark.spec("S2")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rm\u202e -rf", "rm<U+202E> -rf"),
        ("a\u200bb", "a<U+200B>b"),
        ("a\xa0b", "a<U+00A0>b"),
        ("a\u3164b", "a<U+3164>b"),
        ("a\ufe0fb", "a<U+FE0F>b"),
        ("a\U000e0041b", "a<U+E0041>b"),
        ("\x1b[2J", "<U+001B>[2J"),
        ("工具\u3000ok\tx\n", "工具\u3000ok\tx\n"),
    ],
)
def test_hidden_characters_are_named(text, shown):
    assert all_visible(text) == shown


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_json_for_a_terminal_means_the_same_and_does_no_harm(text):
    shown = json_safe(json.dumps(text, ensure_ascii=False))
    assert json.loads(shown) == text
    assert all(unicodedata.category(character) not in ("Cc", "Cs") for character in shown)


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_json_for_a_program_can_be_written_and_means_the_same(text):
    assert json.loads(json_storable(json.dumps(text, ensure_ascii=False)).encode()) == text


def test_joined_emoji_stay_in_output_to_read():
    assert terminal_safe("👩\u200d🚀") == "👩\u200d🚀"


def test_width_counts_columns_and_not_characters():
    assert display_width("工具") == 4
    assert display_width("e\u0301") == 1


@given(st.text(), st.integers(min_value=1, max_value=40))
def test_shortened_line_fits(text, columns):
    assert display_width(truncate_line(text, columns)) <= columns


def test_shortened_line_says_that_something_is_missing():
    assert truncate_line("abcdef\nsecond", 4) == "abc…"
    assert truncate_line("abcd", 4) == "abcd"
