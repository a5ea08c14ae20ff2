"""Formulas in Markdown: which text is typeset, how it is copied, its limits, and how it appears while it is written."""

import pytest
from playwright.async_api import expect

TYPESET = "ac-formula[typeset]"
SELECTED = """(element) => {
    const range = document.createRange();
    range.selectNodeContents(element.shadowRoot.querySelector('.text'));
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    document.execCommand('copy');
}"""


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        (r"Inline \(a\,b\), and $x_1$.", [r"\(a\,b\)", "$x_1$"]),
        ("Displayed:\n\n\\[\na = b\n\nc\n\\]\n\n$$x$$\nand $$y^2$$.", ["\\[\na = b\n\nc\n\\]", "$$x$$", "$$y^2$$"]),
        ("Text\n$$\n- a\n- b\n$$\nmore", ["$$\n- a\n- b\n$$"]),
        (r"- item \(a*b\) and *see \(c_d\) there*", [r"\(a*b\)", r"\(c_d\)"]),
        ("| a |\n|---|\n| $x^2$ |", ["$x^2$"]),
        ("当$x$时，$y = 2$。", ["$x$", "$y = 2$"]),
        (r"\[ a \\[2pt] b \]", [r"\[ a \\[2pt] b \]"]),
        (r"\(\vec v\) and \(\oint_A \binom{a}{b}\)", [r"\(\vec v\)", r"\(\oint_A \binom{a}{b}\)"]),
    ],
)
async def test_formula_is_typeset(mount, text, sources):
    shown = await mount("ac-chat-text", text=text)
    await expect(shown.page.locator(TYPESET)).to_have_count(len(sources))
    assert await shown.page.locator(f"{TYPESET} .source").all_text_contents() == sources
    await expect(shown.page.locator("ac-formula math")).to_have_count(len(sources))


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and $6, or US$7/$8; $5-$6; ($5)…($6).",
        "Between $5 and 6$ each, or $10 million and 5$.",
        "Run $HOME/bin:$PATH and ${A}/${B}, then $(pwd)/$(ls), kill -9 $$ or $$ again.",
        "`$x$` and `\\(a\\)`\n\n```tex\n$$x$$\n\\[y\\]\n```\n\n    $z$\n",
        r"\$x\$ and \\(a\\), \[link\](there) and a note \[1\].",
        "An open \\(a and $b\n\nand $$c",
    ],
)
async def test_text_that_is_no_formula_is_left_alone(mount, text):
    shown = await mount("ac-chat-text", text=text)
    await expect(shown.page.locator(".text > *").first).to_be_visible()
    await expect(shown.page.locator("ac-formula")).to_have_count(0)


async def test_results_of_tools_have_formulas_too(mount):
    shown = await mount("ac-markdown", text=r"So \(a^2\) is")
    await expect(shown.page.locator(TYPESET)).to_have_count(1)


async def test_formula_is_copied_as_tex(mount):
    shown = await mount("ac-chat-text", text="So \\(a^2\\) and:\n\n$$\\frac{1}{2}$$")
    page = shown.page
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await expect(page.locator(TYPESET)).to_have_count(2)
    await shown.element.evaluate(SELECTED)
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert copied.split() == ["So", "\\(a^2\\)", "and:", "$$\\frac{1}{2}$$"]
    await page.locator("ac-formula[display]").hover()
    await page.get_by_role("button", name="Copy the formula as TeX").click()
    await expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert await page.evaluate("navigator.clipboard.readText()") == "\\frac{1}{2}"


async def test_formula_is_accessible_and_drawn_with_its_fonts(mount, axe_problems):
    shown = await mount("ac-chat-text", text="So \\(a^2\\) and:\n\n$$\\int_0^1 x\\,dx$$")
    await expect(shown.page.locator(TYPESET)).to_have_count(2)
    assert await axe_problems(shown.page) == []
    await shown.page.wait_for_function("document.fonts.check('12px KaTeX_Math') && document.fonts.status === 'loaded'")
    faces = await shown.page.evaluate("[...document.fonts].filter((f) => f.status === 'loaded').map((f) => f.family)")
    assert "KaTeX_Math" in faces
    height = await shown.page.locator("ac-formula[display] .katex-html").evaluate("e => e.offsetHeight")
    assert height > 25, "the sizes of its parts are lost"


@pytest.mark.spec("S1")
async def test_hostile_formula_loads_nothing_links_nowhere_and_is_bounded(mount):
    page = (await mount("ac-chat-text", text="x")).page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    doubled = "".join(rf"\def\{b}{{{chr(92)}{a}{chr(92)}{a}}}" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    bomb = rf"\def\a{{xxxxxxxx}}{doubled}\i"
    texts = [
        r"\(\href{javascript:alert(1)}{x}\)",
        r"\(\includegraphics{https://example.org/x.png}\)",
        r"\(\htmlId{app}{x}\htmlStyle{position:fixed}{y}\htmlData{a=b}{z}\)",
        r"\(\unknown{x}\) and \(\frac{1}\)",
        "\\(" + "{" * 900 + "\\)",
        f"\\({bomb}\\)",
        r"\(</var><img src=x onerror=alert(1)>\)",
    ]
    texts += [r"\(\rule{900em}{900em}\)", r"\(\gdef\a{1}\a\) \(\a\)"]
    shown = await mount("ac-chat-text", text="\n\n".join(texts))
    await expect(shown.page.locator(TYPESET)).to_have_count(3)
    await expect(shown.page.locator("ac-formula[failed]")).to_have_count(8)
    await expect(shown.page.locator("ac-formula:not([typeset], [failed])")).to_have_count(0)
    await expect(shown.page.locator("ac-formula :is(a, img, [id])")).to_have_count(0)
    for failed in await shown.page.locator("ac-formula[failed]").all():
        assert await failed.inner_text() == await failed.get_attribute("raw")
        assert (await failed.get_attribute("title") or "").startswith("This formula cannot be typeset: ")
    assert not [url for url in asked if "/static/" not in url]
    assert await shown.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.more
async def test_hundreds_of_formulas_do_not_block_the_page(mount):
    await mount("ac-chat-text", text="$x$")
    shown = await mount("ac-chat-text", text=r"$\frac{a}{b} + x^2$ " * 600)
    assert await shown.page.locator(TYPESET).count() < 600
    await expect(shown.page.locator(TYPESET)).to_have_count(600, timeout=60_000)


async def test_formula_that_is_being_written_is_its_source_until_it_is_complete(mount):
    whole = "Let \\(a_1 * b_1 * c\\) be, for $5 and $6:\n\n\\[\n\\frac{a}{b}\n\n- c\n\\]\n\nand so on."
    shown = await mount("ac-chat-text", text="Let ", live=True)
    await shown.put(text=whole[: whole.index("c\\)")])
    await expect(shown.page.locator(".tex")).to_have_text("\\(a_1 * b_1 *")
    await shown.put(text=whole[: whole.index("- c") + 3])
    await expect(shown.page.locator(TYPESET)).to_have_count(1)
    first = await shown.page.locator(TYPESET).element_handle()
    await expect(shown.page.locator(".text > p > .tex")).to_have_text("\\[\n\\frac{a}{b}\n\n- c")
    for length in range(len(whole) - 20, len(whole) + 1):
        await shown.put(text=whole[:length])
    await expect(shown.page.locator(TYPESET)).to_have_count(2)
    await shown.put(live=False)
    await expect(shown.page.locator(TYPESET)).to_have_count(2)
    assert await first.evaluate("(first) => first.isConnected && first.hasAttribute('typeset')")


async def test_open_formula_of_a_finished_text_is_text(mount):
    shown = await mount("ac-chat-text", text="Let \\(a and **b**", live=True)
    await expect(shown.page.locator(".tex")).to_have_count(1)
    await shown.put(live=False)
    await expect(shown.page.locator(".tex")).to_have_count(0)
    await expect(shown.page.locator("strong")).to_have_text("b")


@pytest.mark.more
async def test_katex_is_loaded_with_the_first_formula_only(start_webui):
    ui = await start_webui()
    page = await ui.page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    script = """async (text) => {
        await import('/static/chat/messages/ac-chat-text.js');
        const element = Object.assign(document.createElement('ac-chat-text'), {text});
        document.body.append(element);
        await element.updateComplete;
    }"""
    await page.evaluate(script, "No formula, for $5.")
    await expect(page.locator("ac-chat-text p")).to_be_visible()
    assert not [url for url in asked if "katex" in url]
    await page.evaluate(script, "One: $x$.")
    await expect(page.locator(TYPESET)).to_have_count(1)
    assert [url for url in asked if url.endswith("/katex.js")]
