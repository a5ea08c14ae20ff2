"""Pages that are made with what people make pages with, each from its own package."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.extension.page.conftest import Tab

_ROOT = Path(__file__).parents[3]
_ESBUILD = _ROOT / "node_modules" / ".bin" / "esbuild"
_FORM = {"name": "Ada", "phone": "030 1234", "size": "l", "terms": True, "pay": "card", "note": "one\ntwo"}


@pytest.fixture
def open_app(open_tab, site, tmp_path):
    """Show an application of the folder `apps` in a tab."""

    async def opened(name: str) -> Tab:
        bundle = tmp_path / f"{name}.js"
        await _bundled(name, bundle)
        site.show(f"/{name}.js", bundle.read_bytes(), "text/javascript")
        return await open_tab(f"<div id=app></div><script src='/{name}.js'></script>")

    return opened


async def _bundled(name: str, bundle: Path) -> None:
    if not _ESBUILD.exists():
        pytest.skip("needs npm packages: npm ci")
    source = Path(__file__).parent / "apps" / f"{name}.js"
    options = ["--bundle", "--format=iife", '--define:process.env.NODE_ENV="production"', f"--outfile={bundle}"]
    built = await asyncio.create_subprocess_exec(_ESBUILD, source, *options, stderr=asyncio.subprocess.PIPE, cwd=_ROOT)
    _, errors = await built.communicate()
    assert built.returncode == 0, errors.decode()


@pytest.mark.parametrize("name", ["react", "vue"])
async def test_forms_that_keep_their_own_state_hear_of_every_value(open_app, name):
    tab: Tab = await open_app(name)
    assert await tab.messages(("click", "button:Send")) == ["✗ Send is disabled"]
    messages = await tab.messages(
        ("fill", "input:Name", "Ada"),
        ("fill", "input:Phone", "030 1234"),
        ("select", "select:Size", "Large"),
        ("check", "checkbox:Terms"),
        ("check", "radio:card"),
        ("fill", "input:Note", "one\ntwo"),
        ("click", "button:Send"),
    )
    assert messages[0] == "Filled: Name"
    assert not [message for message in messages if message.startswith("✗")]
    assert json.loads(await tab.page.text_content("output") or "") == _FORM


@pytest.mark.parametrize("name", ["prosemirror", "lexical"])
@pytest.mark.parametrize("text", ["One line", "Two\nlines", ""])
async def test_editors_take_a_text_in_the_place_of_theirs(open_app, name, text):
    tab: Tab = await open_app(name)
    assert "What was there" not in str(await tab.descriptions())
    assert await tab.messages(("fill", "editor:Letter", text)) == ["Filled: Letter"]
    assert await tab.page.evaluate("window.textOf()") == text


async def test_components_with_shadow_roots_are_described_and_used(open_app):
    tab: Tab = await open_app("shoelace")
    assert await tab.descriptions() == [
        "input:Name(placeholder:Your name)",
        "password:Secret(filled only after the person is asked)",
        "input:Note",
        "combobox:Colour",
        "checkbox:Terms",
        "button:Send",
    ]
    assert await tab.messages(
        ("fill", "input:Name", "Ada"),
        ("fill", "css=sl-textarea", "two\nlines"),
        ("select", "combobox:Colour", "Green"),
        ("check", "checkbox:Terms"),
        ("click", "button:Send"),
    ) == ["Filled: Name", "Filled: Note", "Selected: Green (Colour)", "Checked: Terms", "Clicked: Send"]
    assert await tab.page.evaluate("window.values()") == ["Ada", "two\nlines", "green", True]
    await tab.page.get_by_role("button", name="Yes").wait_for()
    assert await tab.messages(("click", "button:Yes")) == ["Clicked: Yes"]
    assert await tab.page.evaluate("window.said") == "yes"
