"""Both languages are complete, and numbers, times and plurals are those of the language."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "webui"
POLITE_YOU = "\u60a8"
TEXTS = """Promise.all(['later-strings.js', 'all-strings.js', 'all-strings.zh.js']
    .map((name) => import(`/static/base/${name}`)))
    .then(([, {strings}, {chinese}]) => ({en: strings.en, zh: chinese}))"""
SAMPLES = """import('/static/base/later-strings.js').then(() => import('/static/base/i18n.js')).then(async (
    {setLocale, t, formatBytes, formatDuration, formatNumber, formatTime},
) => {
    await setLocale('%s');
    return [
        t('modules.toolCount', {n: 1}), t('modules.toolCount', {n: 1200}),
        formatNumber(1234.5), formatBytes(0), formatBytes(1536),
        formatDuration(4.25), formatDuration(1500), formatDuration(125000), formatTime(Date.UTC(2024, 1, 3, 4, 5, 6)),
    ];
})"""


def forms(text):
    return [text] if isinstance(text, str) else list(text.values())


def placeholders(text):
    return {name for form in forms(text) for name in re.findall(r"\{(\w+)\}", form)}


async def test_each_text_exists_in_both_languages_with_the_same_values(bare_page):
    page = await bare_page()
    strings = await page.evaluate(TEXTS)
    assert {"shell", "modules"} <= set(strings["en"])
    assert strings["en"].keys() == strings["zh"].keys()
    for room, english in strings["en"].items():
        chinese = strings["zh"][room]
        assert english.keys() == chinese.keys(), room
        for key, text in english.items():
            assert placeholders(text) == placeholders(chinese[key]), f"{room}.{key}"
            assert all(form.strip() for form in [*forms(text), *forms(chinese[key])]), f"{room}.{key}"
            assert isinstance(text, str) or {"one", "other"} <= set(text), f"{room}.{key}"
            assert isinstance(chinese[key], str) or "other" in chinese[key], f"{room}.{key}"


@pytest.mark.source_tree
async def test_each_text_that_is_shown_exists(bare_page):
    page = await bare_page()
    strings = await page.evaluate(TEXTS)
    known = {f"{room}.{key}" for room, texts in strings["en"].items() for key in texts}
    shown = {key for path in PAGE.rglob("*.js") for key in re.findall(r"\bt\('([^']+)'[,)]", path.read_text("utf-8"))}
    assert len(shown) > 400
    assert shown - known == set()


@pytest.mark.source_tree
@pytest.mark.parametrize("folder", ["agentcore", "extension", "plugins", "webui"])
def test_chinese_texts_use_one_form_of_address(folder):
    paths = [path for kind in ("py", "js", "html") for path in (ROOT / folder).rglob(f"*.{kind}")]
    own = [path for path in paths if not {"tests", "node_modules"} & set(path.relative_to(ROOT).parts)]
    assert len(own) > 10
    assert [str(path) for path in own if POLITE_YOU in path.read_text("utf-8")] == []


@pytest.mark.more
@pytest.mark.parametrize(
    ("language", "expected"),
    [
        (
            "en",
            ["1 tool", "1,200 tools", "1,234.5", "0 B", "1.5 KiB", "4.3 ms", "1.5 sec", "2 min 5 sec", "Feb 3, 2024"],
        ),
        (
            "zh",
            ["1 个工具", "1,200 个工具", "1,234.5", "0 B", "1.5 KiB", "4.3毫秒", "1.5秒", "2分钟 5秒", "2024年2月3日"],
        ),
    ],
)
async def test_numbers_times_and_plurals_are_those_of_the_language(start_webui, language, expected):
    ui = await start_webui()
    page = await ui.page()
    samples = await page.evaluate(SAMPLES % language)
    assert samples[:-1] == expected[:-1]
    assert samples[-1].startswith(expected[-1])


@pytest.mark.more
async def test_text_that_is_not_there_is_an_error_in_the_console_and_shows_its_key(start_webui):
    ui = await start_webui()
    ui.allowed_errors.append("no text for modules.nothing")
    page = await ui.page()
    assert (
        await page.evaluate("import('/static/base/i18n.js').then(({t}) => t('modules.nothing'))") == "modules.nothing"
    )
    assert "no text for modules.nothing" in ui.found_errors
