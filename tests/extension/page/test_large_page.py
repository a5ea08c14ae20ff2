"""A page of 20,000 elements stays smooth while its context is collected."""

import time

from tests.extension.page.conftest import Tab

_LONG_MS = 50
_ATTEMPTS = 6
_PAGE = """<style>.card { cursor: pointer }</style><header><a href=/>Home</a><input placeholder=Search></header>
<main></main><script>
    const rows = Array.from({length: 2300}, (_, index) => `<div class="card row"><h3>Item ${index}</h3>
        <p>Some <b>words</b> about <i>it</i> <span>and more</span></p><a href="/item/${index}">Details</a>
        <label>Count <input type="number" name="count${index}"></label></div>`);
    document.querySelector('main').innerHTML = rows.join('');
    const long = []; const watch = new PerformanceObserver((list) => long.push(...list.getEntries()));
    watch.observe({type: 'longtask'});
</script>"""
_BUSY = "setTimeout(() => { for (const end = performance.now() + 80; performance.now() < end;); })"
_LONGEST = """async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    long.push(...watch.takeRecords());
    return Math.max(0, ...long.splice(0).map(({duration}) => duration));
}"""


async def test_context_of_a_large_page_is_collected_in_small_pieces(open_tab):
    tab: Tab = await open_tab(_PAGE)
    assert await tab.page.evaluate("document.querySelectorAll('*').length") > 20_000
    await tab.page.evaluate(_BUSY)
    await tab.page.wait_for_function("long.length > 0")  # long pieces are seen
    await tab.page.evaluate(_LONGEST)
    longest = []
    for _ in range(_ATTEMPTS):  # another process on the machine makes a piece longer than it is
        began = time.monotonic()
        elements = (await tab.context())["elements"]
        took_ms = 1000 * (time.monotonic() - began)
        longest.append(await tab.page.evaluate(_LONGEST))
        if is_smooth := longest[-1] < max(_LONG_MS, took_ms / 4):
            break
    assert is_smooth, longest
    assert len(elements) == 30
    assert [each["desc"] for each in elements[:2]] == ["link:Home", "input:Search(placeholder:Search)"]


async def test_collecting_makes_the_browser_lay_nothing_out_again(open_tab):
    tab: Tab = await open_tab(_PAGE)
    await tab.context()  # brings the script
    session = await tab.page.context.new_cdp_session(tab.page)
    await session.send("Performance.enable")

    async def layouts() -> float:
        metrics = (await session.send("Performance.getMetrics"))["metrics"]
        return next(each["value"] for each in metrics if each["name"] == "LayoutCount")

    before = await layouts()
    await tab.context()
    elements = (await tab.call("request_more_elements", {"keyword": "item 229", "elementType": "link"}))["elements"]
    assert await layouts() - before <= 2
    assert elements == []
    assert await tab.messages(("fill", "css=[name=count2299]", "7")) == ["Filled: Count"]
