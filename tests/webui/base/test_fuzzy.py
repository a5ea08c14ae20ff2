"""Search as people type."""

import pytest

NAMES = ["read_file", "write_file", "file_read_lines", "list_dir", "grep", "browser_refresh", "threadFile"]


@pytest.fixture
def found(bare_page):
    async def search(query, things, body="[thing]"):
        page = await bare_page()
        return await page.evaluate(
            f"""async ([query, things]) => {{
              const {{search}} = await import('/static/base/fuzzy.js');
              return search(query, things, (thing) => {body});
            }}""",
            [query, things],
        )

    return search


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("rf", "read_file"),
        ("readfile", "read_file"),
        ("wrfi", "write_file"),
        ("GREP", "grep"),
        ("ld", "list_dir"),
        ("tf", "threadFile"),
    ],
)
async def test_beginnings_of_words_come_first(found, query, first):
    hits = await found(query, NAMES)
    assert hits[0]["thing"] == first


async def test_all_letters_have_to_be_there_in_their_order(found):
    assert [hit["thing"] for hit in await found("elif", NAMES)] == []
    assert {hit["thing"] for hit in await found("file", NAMES)} == {
        "read_file",
        "write_file",
        "file_read_lines",
        "threadFile",
    }


async def test_positions_name_the_letters_that_were_found(found):
    (hit,) = await found("rfl", ["read_file"])
    assert hit["positions"] == [[0, 5, 7]]


async def test_each_word_is_found_in_any_text_and_the_first_text_weighs_most(found):
    tools = [["grep", "Search files by words"], ["search_web", "Ask a provider"], ["other", "Nothing"]]
    assert [hit["thing"][0] for hit in await found("search", tools, "thing")] == ["search_web", "grep"]
    assert [hit["thing"][0] for hit in await found("grep words", tools, "thing")] == ["grep"]


async def test_empty_query_finds_all_in_their_order(found):
    assert [hit["thing"] for hit in await found("  ", NAMES)] == NAMES


async def test_long_query_over_many_tools_is_quick_enough_to_type(bare_page):
    page = await bare_page()
    steps = await page.evaluate("""async () => {
      const {search} = await import('/static/base/fuzzy.js');
      const things = Array.from({length: 500}, (_, n) => `a_long_name_${n}_aaaaaaaaaaaaaaaaaaaaaaaaaaaaa`);
      const found = search('aaaaaaaaaaaaaaaaaaaa', things, (thing) => [thing]);
      return found.length;
    }""")
    assert steps == 500
