"""Elements that are called the same are told apart by what stands around them."""

import pytest

pytestmark = pytest.mark.spec("C4")

SHOP = """<!doctype html><title>Shop</title><main>
<article><h2>Pixel 10 (128 GB)</h2><p>899 €</p><button>Add to basket</button></article>
<article><h2>iPhone 16</h2><p>999 €</p><button>Add to basket</button></article>
<article aria-label="Fairphone 6"><p>599 €</p><button disabled>Add to basket</button></article>
<div><p>Nokia 3310, used</p><button>Add to basket</button></div>
<button>Pay</button>
<table>
<tr><td>Invoice 7</td><td><a href="#7">Open</a></td></tr>
<tr><td>Invoice 8</td><td><a href="#8">Open</a></td></tr>
</table>
<form><label>Password <input type="password" value="geheim"></label></form>
<form><label>Password <input type="password" value="secret"></label></form>
</main>"""


async def test_what_stands_around_elements_of_one_name_tells_them_apart(open_tab):
    tab = await open_tab(SHOP)
    told = await tab.descriptions()
    assert told[:5] == [
        "button:Add to basket(at: Pixel 10 128 GB)",
        "button:Add to basket(at: iPhone 16)",
        "button:Add to basket(at: Fairphone 6, disabled)",
        "button:Add to basket(at: Nokia 3310 used)",
        "button:Pay",
    ]
    assert told[5:7] == ["link:Open(at: Invoice 7)", "link:Open(at: Invoice 8)"]
    assert "geheim" not in str(told)
    assert "secret" not in str(told).replace("secrets", "")


async def test_description_with_its_place_means_that_element_and_no_other(open_tab):
    tab = await open_tab(SHOP)
    await tab.page.evaluate("addEventListener('click', ({target}) => { target.textContent += '!'; })")
    assert await tab.messages(("click", "button:Add to basket(at: iPhone 16)")) == ["Clicked: Add to basket"]
    assert await tab.page.locator("article button").all_text_contents() == [
        "Add to basket",
        "Add to basket!",
        "Add to basket",
    ]
    assert await tab.messages(("click", "button:Add to basket(at: Fairphone 6, disabled)")) == [
        "✗ Add to basket is disabled"
    ]
    assert await tab.messages(("click", "button:Add to basket(at: Galaxy)")) == ["✗ Target element not found"]
    tab.locale = "zh"
    assert "按钮:Add to basket(位于: Pixel 10 128 GB)" in await tab.descriptions()
    assert await tab.messages(("click", "按钮:Add to basket(位于: Pixel 10 128 GB)")) == ["已点击: Add to basket"]
