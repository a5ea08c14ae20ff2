"""What is told to have changed, by the identity of nodes."""

import pytest
from agentcore_chrome.tab.changes import describe_changes
from agentcore_chrome.tab.page_tree import Line, PageTree

SHARES_PAGE = True

pytestmark = pytest.mark.spec("B7")


def tree(*lines, url="http://a/", title="A"):
    """A tree of lines `(depth, key, head, rest, ref)`."""
    return PageTree(url, title, "1", tuple(Line(*line) for line in lines))


def test_node_that_says_something_else_is_told_as_the_same():
    before = tree((0, "1", 'button "Play"', "", "e1"), (0, "2", "text", ": 0"))
    after = tree((0, "1", 'button "Pause"', " [pressed]", "e1"), (0, "2", "text", ": 0"))
    assert describe_changes(before, after) == ['~ - button "Pause" [ref=e1] [pressed]']


def test_what_came_is_told_with_what_is_in_it_and_what_went_by_its_top():
    before = tree(
        (0, "1", "list", ":"), (1, "2", "listitem", ": a"), (1, "3", "listitem", ": b"), (0, "9", "text", ": z")
    )
    after = tree((0, "9", "text", ": z"), (0, "4", 'dialog "Sure?"', ":"), (1, "5", 'button "Yes"', "", "e5"))
    assert describe_changes(before, after) == [
        "- list and 2 lines in it",
        '+ - dialog "Sure?":',
        '+  - button "Yes" [ref=e5]',
    ]


def test_node_that_was_made_anew_is_told_by_its_new_reference_alone():
    before = tree((0, "1", "listitem", ": One"), (1, "2", 'button "Take"', "", "e1"))
    after = tree((0, "3", "listitem", ": One"), (1, "4", 'button "Take"', "", "e2"))
    assert describe_changes(before, after) == ['~ - button "Take" [ref=e2] (was e1)']


def test_where_the_focus_went_is_told_and_not_where_it_was():
    before = tree((0, "1", 'textbox "A"', " [active]: x", "e1"), (0, "2", 'button "B"', "", "e2"))
    after = tree((0, "1", 'textbox "A"', ": x", "e1"), (0, "2", 'button "B"', " [active]", "e2"))
    assert describe_changes(before, after) == ['~ - button "B" [ref=e2] [active]']


def test_colon_at_the_end_of_a_text_is_kept():
    before = tree((0, "1", "text", ": Total"), (0, "2", "list", ":"), (1, "3", "listitem", ": a"))
    after = tree((0, "1", "text", ": Total:"), (0, "2", "list", " [active]:"), (1, "3", "listitem", ": a"))
    assert describe_changes(before, after) == ["~ - text: Total:", "~ - list [active]"]


def test_what_is_in_another_order_or_below_another_line_is_told():
    before = tree((0, "1", "list", ":"), (1, "2", "listitem", ": a"), (1, "3", "listitem", ": b"), (0, "4", "list", ""))
    after = tree((0, "1", "list", ":"), (1, "3", "listitem", ": b"), (0, "4", "list", ":"), (1, "2", "listitem", ": a"))
    assert describe_changes(before, after) == ["> - listitem: a (now first)"]
    before = tree((0, "2", "text", ": a"), (0, "3", "text", ": b"), (0, "5", "text", ": c"))
    after = tree((0, "3", "text", ": b"), (0, "5", "text", ": c"), (0, "2", "text", ": a"))
    assert describe_changes(before, after) == ["> - text: a (now after text: c)"]


def test_line_that_stands_below_a_new_one_has_not_moved():
    before = tree((0, "2", "text", ": a"))
    after = tree((0, "1", "list", ":"), (1, "2", "text", ": a"))
    assert describe_changes(before, after) == ["+ - list:"]


def test_address_and_title_are_told():
    assert describe_changes(tree(), tree(url="http://a/b", title="B")) == ["~ url: http://a/b", "~ title: B"]


def days(first_key, first_ref, count):
    """The days of a calendar."""
    return [
        (1, str(first_key + day), f'button "{day + 1}"', "", f"e{first_ref + day}" if first_ref else None)
        for day in range(count)
    ]


def test_many_neighbours_of_one_kind_that_were_made_anew_are_one_line():
    before = tree((0, "1", "grid", ":"), *days(100, 10, 31))
    after = tree((0, "1", "grid", ":"), *days(200, 50, 30))
    assert describe_changes(before, after) == [
        '- button "31" [ref=e40]',
        '~ - 30 elements from button "1" [ref=e50] to button "30" [ref=e79] (were e10 to e39)',
    ]


def test_neighbours_whose_references_do_not_go_on_are_told_one_by_one():
    before = tree((0, "1", "grid", ":"), *days(100, 10, 8))
    mixed = [
        *days(200, 50, 4),
        *[(1, f"3{key}", head, rest, f"e{int(ref[1:]) + 20}") for _, key, head, rest, ref in days(200, 50, 8)[4:]],
    ]
    after = tree((0, "1", "grid", ":"), *mixed)
    told = describe_changes(before, after)
    assert told[0] == '~ - button "1" [ref=e50] (was e10)'
    assert told[-1] == '~ - button "8" [ref=e77] (was e17)'
    assert len(told) == 8


def test_many_neighbours_of_one_kind_that_are_gone_are_one_line():
    before = tree((0, "1", "main", ":"), *days(100, 10, 31), (1, "9", "text", ": below"))
    assert describe_changes(before, tree((0, "1", "main", ""))) == [
        '- 31 elements from button "1" to button "31"',
        "- text: below",
    ]
