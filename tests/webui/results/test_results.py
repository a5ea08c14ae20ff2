"""Results as what they are, and nothing that they say becomes part of the page."""

import json
import re
import struct
from base64 import b64encode

import pytest
from playwright.async_api import expect

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FAAhKDveksOjmAAAAAElFTkSuQmCC"
DIFF = """Changed a.txt.
--- a/notes/a.txt
+++ b/notes/a.txt
@@ -1,3 +1,3 @@ heading
 one
-two
+zwei
 three
\\ No newline at end of file

That is all.
"""
NUMBERED = "     9\tdef main():\n    10\t    return '<b>'\n    11\t# done"


@pytest.fixture
def result(mount):
    async def make(*texts, data=None, options=None, is_brief=False, **envelope):
        content = [{"type": "text", "text": text} for text in texts]
        shown = {"ok": True, "callId": "call_1", "content": content, "data": data, **envelope}
        return await mount("ac-result", envelope=shown, isBrief=is_brief, options=options)

    return make


async def test_markup_in_a_result_is_text(result):
    shown = await result("<img src=x onerror=alert(1)>", "<script>alert(1)</script>\n" * 3)
    await expect(shown.page.get_by_text("<img src=x onerror=alert(1)>")).to_be_visible()
    await expect(shown.page.locator("img, script[src*=x]")).to_have_count(0)


async def test_markdown_is_rendered_without_anything_that_acts_or_loads(result):
    text = (
        "# Title\n\nA **bold** [link](https://example.org/) and [bad](javascript:alert(1)).\n\n"
        "![tracker](https://example.org/t.png)\n\n<form action='/x'><input name='cookie'></form>\n\n"
        "<p style='position:fixed' id='app' onclick='alert(1)'>par</p>\n\n"
        "<iframe src='/'></iframe><svg><script>1</script></svg>\n\n"
        "- [x] done\n\n```python\ndef f(): pass\n```\n\n| a |\n|---|\n| 1 |\n"
    )
    shown = await result(text)
    page = shown.page
    await expect(page.get_by_role("heading", name="Title")).to_be_visible()
    link = page.get_by_role("link", name="link", exact=True)
    await expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")
    await expect(page.get_by_text("bad", exact=True)).not_to_have_attribute("href", "javascript:alert(1)")
    await expect(page.get_by_role("link", name="tracker")).to_have_attribute("href", "https://example.org/t.png")
    await expect(page.locator("ac-markdown .hljs-keyword").first).to_have_text("def")
    await expect(page.get_by_role("cell", name="1")).to_be_visible()
    for unwanted in ("img", "form", "input", "iframe", "svg", "script", "[style]", "[id]", "[onclick]"):
        await expect(page.locator(f"ac-markdown {unwanted}")).to_have_count(0)
    await page.get_by_role("button", name="Text", exact=True).click()
    await expect(page.get_by_text("# Title")).to_be_visible()


async def test_diff_inside_of_a_text_is_shown_line_by_line(result):
    shown = await result(DIFF)
    page = shown.page
    await expect(page.get_by_text("Changed a.txt.")).to_be_visible()
    await expect(page.get_by_text("That is all.")).to_be_visible()
    await expect(page.locator("ac-diff .name")).to_have_text("notes/a.txt")
    assert await page.locator("ac-diff tr.added td").all_inner_texts() == ["", "2", "+", "zwei"]
    assert await page.locator("ac-diff tr.removed td").all_inner_texts() == ["2", "", "-", "two"]
    assert await page.locator("ac-diff tr.note td").last.inner_text() == "No newline at end of file"
    await expect(page.get_by_text("1 line added")).to_be_attached()


@pytest.mark.parametrize("is_brief", [False, True])
async def test_diff_in_the_data_is_shown_beside_a_text_that_has_it_not(result, is_brief):
    diff = DIFF.split("\n", 1)[1].partition("\n\n")[0] + "\n"
    shown = await result("Overwrote notes/a.txt.", data={"path": "notes/a.txt", "diff": diff}, is_brief=is_brief)
    page = shown.page
    await expect(page.get_by_text("Overwrote notes/a.txt.")).to_be_visible()
    await expect(page.locator("ac-diff tr.added .text")).to_have_text("zwei")
    shown = await result(DIFF, data={"path": "notes/a.txt", "diff": diff}, is_brief=is_brief)
    await expect(shown.page.get_by_text("That is all.")).to_be_visible()
    await expect(shown.page.locator("ac-diff")).to_have_count(1)


async def test_numbered_lines_are_code_in_the_language_of_their_file(result):
    shown = await result(NUMBERED, data={"path": "src/a.py"})
    code = shown.page.locator("ac-code").first
    await expect(code.locator(".numbers")).to_have_text("9\n10\n11")
    await expect(code.locator(".hljs-keyword").first).to_have_text("def")
    await expect(code.locator("pre").last).to_have_text("def main():\n    return '<b>'\n# done")


async def test_list_of_objects_is_a_table_that_sorts_and_filters(result):
    rows = [{"name": f"file {n}", "size": (n * 7) % 20, "extra": {"a": n} if n == 3 else None} for n in range(1, 16)]
    shown = await result(json.dumps({"files": rows, "isCut": False}), data={"files": rows, "isCut": False})
    page = shown.page
    await expect(page.get_by_role("status").filter(has_text="15 rows")).to_be_visible()
    await expect(page.get_by_text("isCut")).to_be_visible()
    await page.get_by_role("button", name="size").click()
    sizes = [int(text) for text in await page.locator("td.number").all_inner_texts()]
    assert sizes == sorted(row["size"] for row in rows)
    await expect(page.get_by_role("columnheader", name="size")).to_have_attribute("aria-sort", "ascending")
    await page.get_by_role("button", name="size").click()
    await expect(page.get_by_role("columnheader", name="size")).to_have_attribute("aria-sort", "descending")
    assert [int(text) for text in await page.locator("td.number").all_inner_texts()] == sizes[::-1]
    await page.get_by_role("searchbox", name="Filter rows").fill("file 12")
    await expect(page.locator("tbody tr")).to_have_count(1)
    await page.get_by_role("button", name="JSON", exact=True).click()
    await expect(page.get_by_text("files:")).to_be_visible()


async def test_text_that_is_an_object_with_one_list_is_a_table_with_the_rest_above_it(result):
    """As the program of a chat answers, which knows no data beside the text."""
    steps = [{"success": True, "message": "Filled"}, {"success": False, "message": "Not found"}]
    shown = await result(json.dumps({"success": False, "results": steps, "summary": "Ran 2 actions"}))
    await expect(shown.page.get_by_role("columnheader", name="message")).to_be_visible()
    await expect(shown.page.locator("tbody tr")).to_have_count(2)
    await expect(shown.page.get_by_text("Ran 2 actions")).to_be_visible()
    await shown.page.get_by_role("button", name="JSON", exact=True).click()
    await expect(shown.page.get_by_text("results:")).to_be_visible()


async def test_long_table_shows_more_on_demand(result):
    shown = await result(data=[{"n": n} for n in range(250)])
    await expect(shown.page.locator("tbody tr")).to_have_count(100)
    await shown.page.get_by_role("button", name="Show 100 more of 150").click()
    await expect(shown.page.locator("tbody tr")).to_have_count(200)


async def test_table_is_copied_for_a_spreadsheet(result):
    shown = await result(data=[{"a": "x\ty", "b": 1}, {"a": None, "b": {"c": 2}}])
    await shown.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await shown.page.get_by_role("button", name="Copy as a table").click()
    await expect(shown.page.get_by_role("button", name="Copied")).to_be_visible()
    assert await shown.page.evaluate("navigator.clipboard.readText()") == 'a\tb\nx y\t1\n\t{"c":2}'


async def test_tree_opens_step_by_step_by_keyboard(result):
    data = {"a": {"b": {"c": {"d": "deep"}}}, "list": list(range(130)), "text": "x" * 1000, "none": None}
    page = (await result(data=data)).page
    await expect(page.get_by_text("deep")).to_have_count(0)
    for name in ("b", "c"):
        await page.locator("summary").filter(has_text=re.compile(f"^{name}:")).focus()
        await page.keyboard.press("Enter")
    await expect(page.get_by_text('"deep"')).to_be_visible()
    await page.locator("summary", has_text="list:").click()
    await page.get_by_role("button", name="Show 30 more of 30").click()
    await expect(page.get_by_text("129:")).to_be_visible()
    await page.get_by_role("button", name="Whole text, 1,000 characters").click()
    await expect(page.get_by_text("x" * 1000)).to_be_visible()


async def test_picture_is_shown_with_its_size(result):
    shown = await result(content=[{"type": "image", "mime": "image/png", "base64": PIXEL}])
    await expect(shown.page.get_by_role("img", name="Picture")).to_be_visible()
    await expect(shown.page.get_by_text("10 × 10 · 78 B")).to_be_visible()
    await expect(shown.page.get_by_role("link", name="Download")).to_have_attribute("download", "image")


async def test_picture_in_the_data_is_shown_and_its_bytes_are_not(result):
    shown = await result(data={"mime": "image/png", "dataBase64": PIXEL, "picture": {"width": 10}})
    await expect(shown.page.get_by_role("img", name="Picture")).to_be_visible()
    await expect(shown.page.get_by_text("width")).to_be_visible()
    await expect(shown.page.get_by_text(PIXEL)).to_have_count(0)


@pytest.mark.parametrize("mime", ["image/png", "text/html"])
async def test_picture_that_is_none_says_so(result, mime):
    shown = await result(content=[{"type": "image", "mime": mime, "base64": "AAAA"}])
    await expect(shown.page.get_by_text("cannot be shown as a picture")).to_be_visible()


async def test_error_says_type_message_context_and_what_to_do(result):
    context = {"module": "weather", "near": ["a", "b"], "inner": {"x": 1}}
    error = {
        "type": "module_failed",
        "message": "module 'weather' has failed: no `key`",
        "context": context,
        "retryable": True,
    }
    shown = await result(ok=False, error=error)
    page = shown.page
    for text in (
        "module_failed",
        "has failed: no key",
        "can succeed later",
        "The module of this tool does not run.",
        "a, b",
    ):
        await expect(page.get_by_text(text).first).to_be_visible()
    await expect(page.get_by_role("link", name="Look at weather")).to_have_attribute("href", "#/modules/weather")


async def test_error_of_a_module_has_advice_by_whether_it_can_be_repeated(result):
    error = {"type": "city_not_found", "message": "no city 'X'", "context": {}, "retryable": False}
    shown = await result(ok=False, error=error)
    await expect(shown.page.get_by_text("Change what the message names")).to_be_visible()
    await shown.put(envelope={"ok": False, "callId": "c", "error": {**error, "retryable": True}})
    await expect(shown.page.get_by_text("The same call can succeed later")).to_be_visible()


async def test_nothing_is_said_to_be_nothing(result):
    shown = await result()
    await expect(shown.page.get_by_text("The tool gave nothing back.")).to_be_visible()


async def test_envelope_can_be_seen_as_it_came(result):
    shown = await result("hello")
    await shown.put(isRaw=True)
    text = await shown.page.locator("ac-code pre").inner_text()
    assert json.loads(text)["content"] == [{"type": "text", "text": "hello"}]


@pytest.mark.more
async def test_results_are_accessible(result, axe_problems):
    rows = [{"name": f"file {n}", "size": n} for n in range(20)]
    shown = await result(DIFF, NUMBERED, "# A\n\n**b** [c](https://example.org)\n", data={"rows": rows, "path": "a.py"})
    await shown.page.get_by_text("Structured data").click()
    await expect(shown.page.locator("ac-table")).to_be_visible()
    await expect(shown.page.locator("ac-markdown h1")).to_be_visible()
    assert await axe_problems(shown.page) == []
    error = {"type": "timeout", "message": "not done in `5` s", "context": {"a": {"b": 1}}, "retryable": True}
    await shown.put(envelope={"ok": False, "callId": "c", "error": error})
    assert await axe_problems(shown.page) == []


SOUND = struct.pack("<4sI8sIHHIIHH4sI", b"RIFF", 44, b"WAVEfmt ", 16, 1, 1, 8000, 8000, 1, 8, b"data", 8) + b"\x80" * 8


async def test_sound_can_be_heard_and_a_document_stands_below_its_address(mount):
    sound = {"type": "audio", "mime": "audio/wav", "base64": b64encode(SOUND).decode()}
    content = [
        sound,
        {"type": "resource", "uri": "notes://1", "mime": "text/plain", "text": "<b>mine</b>"},
        {"type": "resource", "uri": "notes://2", "mime": "image/png", "base64": PIXEL},
        {"type": "resource", "uri": "notes://3", "mime": "application/x-notes", "base64": "AAAA"},
    ]
    shown = await mount("ac-result", envelope={"ok": True, "callId": "call_1", "content": content, "data": None})
    page = shown.page
    heard = page.get_by_label("Sound")
    await expect(heard).to_have_js_property("duration", 0.001)
    await expect(page.get_by_text("notes://1 · text/plain")).to_be_visible()
    await expect(page.get_by_text("<b>mine</b>")).to_be_visible()
    await expect(page.get_by_role("img", name="Picture")).to_be_visible()
    await expect(page.get_by_role("link", name="Download")).to_have_count(3)
