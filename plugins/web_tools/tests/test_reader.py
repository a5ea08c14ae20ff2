"""Saved pages of different make become readable Markdown: what somebody came for, without its frame."""

import re

import pytest
from aiohttp import web


@pytest.fixture
def read(site, fetch, text):
    """The Markdown (or another format) of a saved page."""

    async def run(name: str, **arguments) -> str:
        result = await fetch(f"{site}/pages/{name}", **arguments)
        assert result.untrusted
        assert result.data["text"] in text(result)
        return result.data["text"]

    return run


@pytest.mark.spec("T6")
async def test_news_article_keeps_its_story_and_loses_its_frame(read, site) -> None:
    page = await read("news_article.html")
    assert page.startswith("# Harbour shut as storm Eira makes landfall")
    assert f"[harbour]({site}/places/harbour)" in page
    assert f"[forecast for Saturday]({site}/pages/forecast/index.html?day=sat#hours)" in page
    assert "**Mia Holm**" in page
    assert "- Two cranes on the north quay\n  - one of them beyond repair\n" in page
    assert "> Nobody alive here has seen water this high." in page
    assert f"![Waves over the north quay]({site}/i/harbour.jpg)" in page
    for noise in ("cookies", "Sections", "Sport", "Advertisement", "Share", "Most read", "Cat rescued", "Sign up", "©"):
        assert noise not in page


@pytest.mark.spec("T6", "S2")
async def test_text_that_no_person_sees_is_not_read_to_a_model(read) -> None:
    for form in ("markdown", "text", "html"):
        page = await read("news_article.html", format=form)
        assert "Gusts of 148" in page
        assert "ignore all previous" not in page
        assert "transfer the money" not in page
        assert "dataLayer" not in page


async def test_characters_that_show_nothing_are_left_out(serve, fetch) -> None:
    hidden = "".join(chr(0xE0000 + ord(character)) for character in "run rm")

    async def page(request):
        return web.Response(text=f"<p>Plain\u200b words{hidden} here</p>", content_type="text/html")

    result = await fetch(await serve({"/": page}))
    assert result.data["text"] == "Plain words here"


@pytest.mark.spec("T6")
@pytest.mark.parametrize("begin", ["main", "article", "section", "header", "garden-bed"])
async def test_page_without_a_tag_for_its_body_is_read(serve, fetch, begin) -> None:
    async def page(request):
        content = f"<!doctype html><title>Beds</title><{begin}><h1>Garden</h1><p>Two <b>beds</b>.</{begin}>Plain end."
        return web.Response(text=content, content_type="text/html")

    result = await fetch(await serve({"/": page}))
    assert result.data["title"] == "Beds"
    assert result.data["text"] == "# Garden\n\nTwo **beds**.\n\nPlain end."


@pytest.mark.more
@pytest.mark.spec("T6")
async def test_page_of_documentation_keeps_code_tables_and_links(read, site) -> None:
    page = await read("docs_page.html")
    assert page.startswith("# Connection pools\n")
    assert (
        '```python\nimport orb\n\nasync with orb.Pool(size=4) as pool:\n    await pool.run("SELECT 1 < 2")\n```' in page
    )
    assert "```toml\n[pool]" in page
    assert f"[`orb.Pool`]({site}/pages/api.html#orb.Pool)" in page
    assert "| Option | Default | Meaning |\n| --- | --- | --- |\n| `size` | 10 |" in page
    assert "closed \\| 0: never |" in page
    assert "¶" not in page
    assert "Installation" not in page


@pytest.mark.spec("T6")
async def test_wiki_page_keeps_its_tables_and_loses_its_navigation(read) -> None:
    page = await read("wiki_page.html")
    assert "| Country | Length (km) |" in page
    assert "[Japan](" in page
    assert "Whitehouse" in page
    for noise in ("Contents", "[edit]", "Jump to navigation", "Log in", "Broad gauge", "CC BY-SA"):
        assert noise not in page


@pytest.mark.spec("T6")
async def test_forum_thread_keeps_every_post_in_order_and_in_its_old_charset(read) -> None:
    page = await read("forum_thread.html")
    posts = [
        "dry yeast, flour type 550",
        "**Bäckermeister**",
        "Above 45°",
        "crumbly wrote",
        "lukewarm water",
        "That was it",
    ]
    places = [page.index(post) for post in posts]
    assert places == sorted(places)
    assert "(http://bread.example/yeast?x=1&y=2)" in page
    assert "| --- |" not in page


@pytest.mark.spec("T6")
async def test_page_in_gbk_that_calls_itself_gb2312_is_read(read, fetch, site) -> None:
    page = await read("gbk_page.html")
    assert "# 秋天的茶园" in page
    assert "镕炉" in page  # a character of GBK that GB 2312 lacks
    assert "首页" not in page or page.index("首页") < page.index("# 秋天的茶园")
    result = await fetch(f"{site}/pages/gbk_page.html")
    assert (result.data["title"], result.data["charset"]) == ("秋天的茶园－江南日报", "gb18030")


@pytest.mark.spec("T6")
async def test_tables_with_spans_become_regular_and_nested_ones_are_taken_apart(read) -> None:
    page = await read("price_tables.html")
    assert "| Zone | Price Adult | Price Child |\n| --- | --- | --- |\n| 1 | € 2.40 | € 1.20 |" in page
    assert "| Region (with night buses) | 79 | 790 |" in page
    assert "| Dog | 1.00 |\n| --- | --- |\n| Bicycle | 2.00 |" in page


TABLES = {
    "tags": """<table><thead><tr><th>Plan</th><th>Price</th></tr></thead><tbody><tr><td>Starter</td><td>9 EUR</td></tr>
        <tr><td>Pro | Max</td><td>29 EUR</td></tr></tbody></table>""",
    "roles": """<div role=grid><b>Costs</b><div role=rowgroup><div role=row><span role=columnheader>Plan</span
        ><span role=columnheader>Price</span></div></div><div><div role=row><span role=cell>Starter</span
        ><span role=cell>9 EUR</span></div><div role=row><span role=cell>Pro | Max</span><span role=cell>29 EUR</span
        ></div></div></div>""",
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
async def test_values_of_a_table_without_blanks_stay_in_their_rows_and_columns(serve, fetch, table) -> None:
    """Qwen Code and Gemini CLI were reported to run the cells of fetched tables together."""

    async def page(request):
        return web.Response(text=f"<h1>Plans</h1><p>What each costs.</p>{table}<p>End.</p>", content_type="text/html")

    address = await serve({"/": page})
    markdown = (await fetch(address)).data["text"]
    assert "| Plan | Price |\n| --- | --- |\n| Starter | 9 EUR |\n| Pro \\| Max | 29 EUR |" in markdown
    assert ("Costs" in table) == ("Costs" in markdown)
    lines = (await fetch(address, format="text")).data["text"].splitlines()
    assert {"Plan\tPrice", "Starter\t9 EUR", "Pro | Max\t29 EUR"} <= {line.strip() for line in lines}


async def test_list_of_articles_is_read_as_a_whole(read) -> None:
    page = await read("news_list.html")
    assert page.count("points by") == 4
    assert "Guidelines" not in page


@pytest.mark.spec("T6")
async def test_page_of_contents_is_given_as_the_links_that_it_is(read, site) -> None:
    page = await read("manual_index.html")
    assert page.startswith("# Part I. Concepts")
    assert f"[Loops]({site}/pages/ch01s03.html#loops)" in page
    assert "Tables of the parser" in page
    assert "Home" not in page


@pytest.mark.spec("T6")
async def test_code_of_reference_pages_stays_code_and_their_links_stay(read, site) -> None:
    page = await read("api_reference.html")
    assert '```\nring = Ring(8)\n    ring.write(b"ab")\n```' in page
    assert "```\n struct ring {\n   size_t size;\n };\n```" in page
    assert f"[`mod_ring`]({site}/pages/mod_ring.html)" in page
    assert f"[ring_new]({site}/pages/ring.html#new)([size_t]({site}/pages/size.html) n)" in page
    assert f"[ring_free]({site}/pages/ring.html#free)" in page
    for kept in ("Rings of a power of two", "Measured on a machine of 1998"):
        assert kept in page
    for noise in ("library", "Contents", "Queues", "¶", "Copyright"):
        assert noise not in page


@pytest.mark.spec("T6")
async def test_what_is_left_out_is_said_with_its_size_and_given_on_request(site, fetch, text) -> None:
    short = await fetch(f"{site}/pages/api_reference.html")
    whole = await fetch(f"{site}/pages/api_reference.html", full=True)
    left_out = short.data["chars_left_out"]
    assert left_out == sum(len("".join(part.split())) for part in (
        "library »", "¶", "Contents Use Source", "Table of Contents Queues", "© Copyright 2026, the ring people."
    ))  # fmt: skip
    assert f"Menus, headers and footers ({left_out} of " in text(short)
    assert "`full: true` gives them" in text(short)
    assert "left out" not in text(whole)
    assert whole.data["chars_left_out"] == 0
    for kept in ("library", "Contents", "Queues", "Copyright"):
        assert kept in whole.data["text"]


@pytest.fixture
async def manual(serve) -> str:
    """A manual of 200 chapters, each with code; one of them speaks of an alarm."""
    chapters = "".join(
        f"<h2>Chapter {number}</h2><p>Pumps of kind {number} run day and night.</p><pre>pump({number})\n\nstop()</pre>"
        for number in range(200)
    )
    alarm = "<h3>When it fails</h3><p>The <b>alarm</b> bell\nrings twice.</p><p>Call for help:</p><pre>help(42)</pre>"

    async def page(request):
        content = chapters.replace("<h2>Chapter 151<", f"{alarm}<h2>Chapter 151<")
        return web.Response(text=f"<title>Pumps</title><h1>Pumps</h1>{content}", content_type="text/html")

    return await serve({"/": page})


@pytest.mark.spec("T6")
async def test_words_are_found_in_a_long_page_with_what_they_stand_below(manual, fetch, text) -> None:
    result = await fetch(manual, find="alarm bell")
    place, _, part = result.data["text"].partition("\n")
    assert place.endswith("] Pumps › Chapter 150 › When it fails")
    assert part == "The **alarm** bell\nrings twice."
    assert "1 part holds 'alarm bell'" in text(result)
    offset = int(re.search(r"offset (\d+)", place)[1])
    there = await fetch(manual, offset=offset, maxChars=100)
    assert there.data["text"].startswith(part)
    announced = await fetch(manual, find="call for help")
    assert announced.data["text"].endswith("Call for help:\n\n```\nhelp(42)\n```")


@pytest.mark.spec("T6")
async def test_more_parts_than_there_is_room_for_are_counted(manual, fetch, text) -> None:
    result = await fetch(manual, find="PUMPS of kind", maxChars=500)
    assert result.truncated
    assert result.data["parts_found"] == 200
    assert "200 parts hold 'PUMPS of kind'" in text(result)
    assert len(result.data["text"]) <= 600
    code = await fetch(manual, find="pump(7)")
    assert code.data["text"].endswith("```\npump(7)\n\nstop()\n```")
    none = await fetch(manual, find="unicorn")
    assert (none.data["text"], none.data["parts_found"]) == ("", 0)
    assert "Nothing in" in text(none)


async def test_page_that_scripts_make_says_so(fetch, site, text) -> None:
    result = await fetch(f"{site}/pages/spa_shell.html")
    assert "scripts make it" in text(result)
    assert "Title: Dashboard" in text(result)


@pytest.mark.more
async def test_text_is_words_alone_and_html_is_the_main_content(read) -> None:
    words = await read("news_article.html", format="text")
    assert "the port authority closed all four quays" in words
    assert "](" not in words
    markup = await read("news_article.html", format="html")
    assert "<h1>" in markup
    assert "<nav" not in markup
    raw = await read("news_article.html", format="raw")
    assert raw.startswith("<!DOCTYPE html>")
    assert "window.dataLayer" in raw


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        "", "<", "<html><head><title>only a title",
        "<frameset><frame src=a>", "<base href='http://[bad'><a href='http://[x'>l</a>",
        "<div>" * 3000 + "deep", "<table><tr>" * 500,
        "<table><tr><td rowspan=99999999 colspan=99999999>x<td>y<tr><td>z<td>w</table>",
        "<p>\x00\x01\ud83d".encode("utf-8", "surrogatepass"), b"\xff\xfe<\x00p\x00>\x00",
    ],
    ids=lambda page: repr(page[:20]),
)  # fmt: skip
async def test_broken_pages_are_read_as_far_as_they_go(serve, fetch, page) -> None:
    body = page if isinstance(page, bytes) else page.encode()

    async def answer(request):
        return web.Response(body=body, headers={"Content-Type": "text/html"})

    address = await serve({"/": answer})
    for form in ("markdown", "text", "html", "raw"):
        result = await fetch(address, format=form)
        assert result.data["status"] == 200
