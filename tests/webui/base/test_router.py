"""Addresses within the page."""

import pytest

pytestmark = pytest.mark.spec("M7")


@pytest.mark.parametrize("name", ["read_file", "ein Ordner/mit: Zeichen?", "名字", "%41", "a#b", "a&b=c"])
async def test_address_of_any_name_leads_back_to_it(bare_page, name):
    page = await bare_page()
    found = await page.evaluate(
        """async (name) => {
            const {href, navigate, route} = await import('/static/base/router.js');
            navigate(href(['nowhere', name], {q: name, empty: ''}));
            const {path, query} = route();
            return [path, [...query]];
        }""",
        name,
    )
    assert found == [["nowhere", name], [["q", name]]]
