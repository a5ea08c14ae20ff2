"""Keys by the names that people and programs use."""

import pytest

SHARES_PAGE = True

pytestmark = pytest.mark.spec("B2")

PRESSED = """<input aria-label=Field value=old><script></script>"""


async def test_key_is_pressed_by_any_of_its_names(act, show, value, subtests):
    await show("<input aria-label=Field>")
    await value(
        """addEventListener('keydown', event => {
          if (['Control', 'Shift', 'Alt', 'Meta'].includes(event.key)) return;
          const held = [['C', event.ctrlKey], ['A', event.altKey], ['S', event.shiftKey], ['M', event.metaKey]];
          const names = held.filter(one => one[1]).map(one => one[0]).join('');
          const isText = !names || (names === 'S' && event.key.length === 1);
          document.title = isText ? event.key : `${names}+${event.key}`;
          event.preventDefault();
        }, true), document.querySelector('input').focus(), 1"""
    )
    for key, pressed in [
        ("Esc", "Escape"),
        ("escape", "Escape"),
        ("Del", "Delete"),
        ("Return", "Enter"),
        ("enter", "Enter"),
        ("PgDn", "PageDown"),
        ("Page Down", "PageDown"),
        ("Up", "ArrowUp"),
        ("arrow_left", "ArrowLeft"),
        ("Spacebar", " "),
        (" ", " "),
        ("f5", "F5"),
        ("+", "+"),
        ("a", "a"),
        ("A", "A"),
        ("ß", "ß"),
        ("日", "日"),
        ("é", "é"),
        ("€", "€"),
        ("Ctrl+A", "C+a"),
        ("ctrl+a", "C+a"),
        ("Control+Shift+k", "CS+K"),
        ("Cmd+k", "M+k"),
        ("Ctrl-Enter", "C+Enter"),
        ("Alt + Left", "A+ArrowLeft"),
        ("Shift+Tab", "S+Tab"),
        ("Ctrl++", "C++"),
        ("Control+ß", "C+ß"),
    ]:
        with subtests.test(key=key, pressed=pressed):
            await value("document.title = '', 1")
            done = await act("browser_press_key", key=key)
            assert await value("document.title") == pressed.strip()
            assert done.data["element"] == 'text "Field"'


@pytest.mark.more
async def test_character_reaches_the_field(act, show, value, subtests):
    for key in ["ß", "日", "é", "€", "x"]:
        with subtests.test(key=key):
            await show("<input>")
            await act("browser_click", selector="input")
            await act("browser_press_key", key=key)
            assert await value("document.querySelector('input').value") == key


@pytest.mark.more
async def test_control_and_a_capital_letter_selects_everything(act, show, value):
    await show("<input value=old>")
    await act("browser_click", selector="input")
    await act("browser_press_key", key="Ctrl+A")
    await act("browser_press_key", key="Del")
    assert await value("document.querySelector('input').value") == ""


@pytest.mark.more
async def test_key_that_does_not_exist_is_an_error(fails, show, subtests):
    for key in ["Esca", "日本", "hello world", "Hyper+x"]:
        with subtests.test(key=key):
            await show("<input>")
            assert (await fails("browser_press_key", key=key)).type == "invalid_arguments"
