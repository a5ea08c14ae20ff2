"""What a snapshot shows of a page, and what can be acted on by its references."""

import re

import pytest

SHARES_PAGE = True

pytestmark = pytest.mark.spec("B7")


@pytest.fixture
def lines_of(act):
    """The lines of a snapshot below its first, without where they stand."""

    async def run(**arguments):
        text = (await act("browser_snapshot", **arguments)).blocks()[0].text
        return [line.strip() for line in text.splitlines()[1:]]

    return run


def ref_in(lines, said):
    """The reference in the line that says something."""
    found = [line for line in lines if said in line and "[ref=" in line]
    assert found, f"nothing with a reference says {said!r}: {lines}"
    return re.search(r"\[ref=(\w+)\]", found[0])[1]


async def test_all_that_a_person_can_act_on_has_a_reference(act, lines_of, site):
    await act("browser_navigate", url=site.url("/acted-on"))
    lines = await lines_of()
    clicked = {}
    for said in ("Listened to", "Pointed at", "Milk", 'option "Apple"', "Leaf", 'gridcell "A1"'):
        await act("browser_click", selector=ref_in(lines, said))
        clicked[said] = (await act("browser_evaluate", script="document.title.replace(/\\s+/g, ' ').trim()")).data[
            "value"
        ]
    assert list(clicked.values()) == ["Listened to", "Pointed at", "Milk", "Apple", "Leaf Inner leaf", "A1"]
    for said in ('checkbox "Agree"', 'checkbox "Drawn"'):
        await act("browser_click", selector=ref_in(lines, said))
    assert (await act("browser_evaluate", script="box.checked && drawn.checked")).data["value"] is True
    assert sum("checkbox" in line for line in lines) == 2
    await act("browser_type", selector=ref_in(lines, "[editable]"), text="Dear writer")
    assert (await act("browser_evaluate", script="editor.textContent.trim()")).data["value"] == "Dear writer"
    for said in (
        'textbox "Write something"',
        "[draggable]: Dragged",
        "[scrollable]",
        'combobox "Fruit"',
        'treeitem "Inner leaf"',
    ):
        ref_in(lines, said)


@pytest.mark.more
async def test_what_only_listens_for_its_parts_has_no_reference(act, lines_of, site):
    await act("browser_navigate", url=site.url("/acted-on"))
    lines = await lines_of()
    assert "- text: Nothingto do" in lines
    assert "- paragraph: Plain words" in lines
    assert not any("clickable" in line and line.endswith(":") for line in lines)


@pytest.mark.more
async def test_nothing_is_said_twice(act, lines_of, site):
    await act("browser_navigate", url=site.url("/rows"))
    lines = await lines_of()
    assert lines[:3] == ["- table:", "- row: Name 0 | 0", lines[2]]
    assert re.fullmatch(r'- link "open" \[ref=e\d+\] \[url=/second\?0\]', lines[2])
    await act("browser_navigate", url=site.url("/form"))
    lines = await lines_of()
    assert sum("Agree" in line for line in lines) == 1
    assert "- options: Red | Blue" in lines
    assert ref_in(lines, 'combobox "Colour"')
    assert any(line.endswith(": Red") for line in lines)


@pytest.mark.more
async def test_states_are_told(act, lines_of, site):
    await act("browser_navigate", url=site.url("/form"))
    await act("browser_click", selector="[name=agree]")
    lines = await lines_of()
    assert any(re.fullmatch(r'- checkbox "Agree" \[ref=e\d+\] \[checked\] \[active\]', line) for line in lines)
    assert any(re.fullmatch(r'- button "Off" \[ref=e\d+\] \[disabled\]', line) for line in lines)


@pytest.mark.more
async def test_texts_stand_on_a_line_each_as_they_are_drawn(act, site):
    await act("browser_navigate", url=site.url("/texts"))
    lines = (await act("browser_snapshot")).blocks()[0].text.splitlines()[1:]
    assert len(lines) == 5
    assert lines[0].endswith(r": one\ntwo [ref=e1]")
    assert "[collapsed]" in lines[2]
    assert lines[3:] == ["- text:     return 0", "- paragraph: Owned"]


async def test_name_of_a_button_is_its_text_beside_a_drawing_that_is_hidden_from_readers(show, lines_of):
    """Playwright MCP was reported to show such a button without its name."""
    drawing = '<svg focusable=false aria-hidden=true viewBox="0 0 448 512"><path d="M416 208"/></svg>'
    await show(f"<button>\n <span>\n <span>{drawing}</span>\n <span>Add New Item</span>\n </span></button>")
    assert [line for line in await lines_of() if line.startswith('- button "Add New Item" [ref=')]
