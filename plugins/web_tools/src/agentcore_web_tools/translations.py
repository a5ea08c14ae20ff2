"""Chinese translations of the tools, and example calls."""

ZH = {
    "module.title": "网络",
    "module": "读取网页和搜索网络。",
    "web_fetch": "读取网页：以 Markdown 给出主要内容。文档转为文本，其他文件成为工件。",
    "web_fetch.url": "完整的网址，例如 https://example.com/page。",
    "web_fetch.maxChars": "最多给出多少字符。",
    "web_fetch.format": "`raw` 给出原始应答（不论状态）；其他形式给出网页的主要内容。",
    "web_fetch.offset": "从第几个字符开始。",
    "web_fetch.find": "只给出包含这些词的部分及其标题。",
    "web_fetch.full": "包括菜单、页眉和页脚。",
    "web_search": "搜索网络：标题、网址和简短摘录；用 `web_fetch` 阅读某个结果。",
    "web_search.query": "要查找的内容。",
    "web_search.count": "最多给出多少个结果。",
}

EXAMPLES = (
    {
        "tool": "web_fetch",
        "title": {"en": "Fetch a web page", "zh": "读取网页"},
        "arguments": {"url": "https://example.com/"},
    },
)
