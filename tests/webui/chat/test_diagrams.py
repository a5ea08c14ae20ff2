"""Diagrams in answers: drawn in a frame without an origin, shown as images, with their source beside them."""

import asyncio

import pytest
from playwright.async_api import expect

FLOW = "graph TD\n    A[Start] --> B{Is it?}\n    B -->|Yes| C[OK]\n    B -->|No| D[End]"
ANSWER = f"Here it is:\n\n```mermaid\n{FLOW}\n```\n\nand that is all."


async def answered(chat, text):
    chat.provider.say(text)
    await chat.say("draw it")
    await chat.until_idle()


async def test_diagram_is_drawn_and_its_source_can_be_shown_and_copied(open_chat, axe_problems):
    chat = await open_chat()
    await answered(chat, ANSWER)
    image = chat.page.get_by_role("img", name="Diagram")
    await expect(image).to_be_visible()
    assert await image.evaluate("(e) => e.decode().then(() => e.naturalWidth)") > 100
    source = chat.page.locator(".block.diagram pre")
    button = chat.page.get_by_role("button", name="Source", exact=True)
    await expect(source).to_be_hidden()
    await expect(button).to_have_attribute("aria-expanded", "false")
    assert await axe_problems(chat.page) == []
    await button.click()
    await expect(source).to_have_text(f"{FLOW}\n")
    await expect(button).to_have_attribute("aria-expanded", "true")
    await chat.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await chat.page.get_by_role("button", name="Copy code").click()
    assert await chat.page.evaluate("navigator.clipboard.readText()") == FLOW


@pytest.mark.more
async def test_diagram_that_asks_for_the_layout_elk_is_drawn_without_it(open_chat):
    chat = await open_chat()
    await answered(chat, "```mermaid\nflowchart-elk TD\n  A --> B\n```")
    await expect(chat.page.get_by_role("img", name="Diagram")).to_be_visible()


@pytest.mark.more
async def test_diagram_is_drawn_again_in_the_other_theme(open_chat):
    chat = await open_chat()
    await answered(chat, ANSWER.replace("graph TD", "graph TD\n    accTitle: The way"))
    image = chat.page.get_by_role("img", name="The way")
    await expect(image).to_be_visible()
    light = await image.get_attribute("src")
    await chat.page.get_by_role("radio", name="Dark theme").check(force=True)
    await expect(image).not_to_have_attribute("src", light or "")


@pytest.mark.more
async def test_error_shows_message_and_source(open_chat):
    chat = await open_chat()
    sources = ("graph TD\n  A --> [[\n", "".join(f"%% {number**3}\n" for number in range(4000)))
    await answered(chat, "\n\n".join(f"```mermaid\n{source}```" for source in sources))
    messages = chat.page.locator("ac-diagram [role=status]")
    await expect(messages.first).to_contain_text("This diagram cannot be drawn: Parse error")
    await expect(messages.last).to_contain_text("more than 20000 characters")
    await expect(chat.page.locator(".block.diagram pre").first).to_contain_text("A --> [[")


@pytest.mark.more
async def test_diagram_is_drawn_once_its_block_is_complete(open_chat):
    chat = await open_chat()
    gate = asyncio.Event()
    chat.provider.say(ANSWER, gate=gate)
    await chat.say("draw it")
    await expect(chat.page.locator(".block pre").or_(chat.page.get_by_text("Here it is"))).not_to_have_count(0)
    await expect(chat.page.locator("ac-diagram")).to_have_count(0)
    gate.set()
    await expect(chat.page.get_by_role("img", name="Diagram")).to_be_visible()


@pytest.mark.more
@pytest.mark.spec("S1")
async def test_hostile_diagram_reaches_neither_the_page_nor_the_network(open_chat):
    chat = await open_chat()
    chat.ui.allowed_errors += ["Content Security Policy"]  # of the frame
    asked: list[str] = []
    chat.page.on("request", lambda request: asked.append(request.url))
    hostile = (
        '%%{init: {"securityLevel": "loose", "htmlLabels": true, "themeCSS": "@import url(https://example.org/x.css);'
        ' * {background: url(https://example.org/y.png)}"}}%%\n'
        "graph TD\n"
        '    A["<img src=https://example.org/t.png onerror=top.hacked=1>"] --> B["<script>top.hacked = 1</script>x"]\n'
        '    click A href "javascript:top.hacked=1"\n'
        "    click B call hacked()"
    )
    await answered(chat, f"```mermaid\n{hostile}\n```")
    await expect(chat.page.locator("ac-diagram :is(img, [role=status])")).to_be_visible()
    assert await chat.page.evaluate("window.hacked") is None
    assert not [url for url in asked if "example.org" in url]
    frame = chat.page.locator("body > iframe")
    assert await frame.get_attribute("sandbox") == "allow-scripts"
    (inner,) = [frame for frame in chat.page.frames if frame.url.endswith("/views/diagrams")]
    assert await inner.evaluate("self.origin") == "null"
