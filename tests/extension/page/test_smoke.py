"""A shop is understood and used: the page tools from end to end."""

from tests.extension.page.conftest import Tab

SHOP = """
<header><a href="/login">Sign in</a></header>
<form onsubmit="event.preventDefault(); out.textContent = 'Results for ' + q.value">
  <input id="q" name="q" placeholder="Search"><button>Search</button>
</form>
<output id="out"></output>
"""


async def test_page_is_described_filled_and_clicked_in_both_languages(open_tab):
    tab: Tab = await open_tab(SHOP)
    context = await tab.context()
    assert context["url"] == tab.page.url
    assert context["title"] == "Page"
    assert [each["desc"] for each in context["elements"]] == [
        "link:Sign in",
        "input:Search(placeholder:Search)",
        "button:Search",
    ]
    ids = [each["id"] for each in context["elements"]]
    result = await tab.act(("fill", {"elementId": ids[1]}, "iPhone 16"), ("click", {"elementId": ids[2]}))
    assert result == {
        "success": True,
        "results": [
            {"success": True, "message": "Filled: Search"},
            {"success": True, "message": "Clicked: Search"},
        ],
        "summary": "Ran 2 actions, 2 succeeded, 0 failed",
    }
    assert await tab.page.text_content("output") == "Results for iPhone 16"
    tab.locale = "zh-CN"
    assert (await tab.context())["elements"][2] == {"id": ids[2], "desc": "按钮:Search"}
    result = await tab.act(("fill", "输入框:Search", "茶"), ("click", {"elementId": "e_1_forged"}))
    assert [each["message"] for each in result["results"]] == ["已填充: Search", "未找到目标元素"]
    assert result["summary"] == "执行了 2 个操作，成功 1 个，失败 1 个"
    await tab.page.evaluate("getSelection().selectAllChildren(out)")
    assert await tab.call("get_selected_text") == {"success": True, "text": "Results for iPhone 16"}
