"""What a new chat is told of the memories: which there are, and the texts of those that are preferences."""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from agentcore_agent_tools.memory import Memory, MemoryStore

TITLES = 100
"""Maximum number of memories that a new chat lists, besides preferences."""

TITLES_BYTES = 2_000
"""Maximum size of their list in UTF-8; tokens follow bytes more closely than characters over languages."""

PREFERENCES_BYTES = 3_000
"""Maximum size of the texts of preferences."""

_TITLE_CHARS = 80
_SOURCES_NAMED = 3

_TEXTS = {
    "en": {
        "preferences": "What the person wants in every chat:",
        "preferences_left": "({count} more preferences had no room: find them with `memory`)",
        "titles": "Memories of earlier chats by their keys, newest first; `memory` searches and lists their texts:",
        "titles_left": "({count} more memories are not listed)",
        "marked": "Saved after content from outside was read (in brackets), and not confirmed by the person:",
        "preference": "meant as a preference",
        "unknown": "unknown",
    },
    "zh": {
        "preferences": "用户在每个对话中的偏好：",
        "preferences_left": "（另有 {count} 条偏好因篇幅未列出：请用 `memory` 查找）",
        "titles": "以前对话的记忆（按名称，最新的在前）；用 `memory` 搜索和列出其内容：",
        "titles_left": "（另有 {count} 条记忆未列出）",
        "marked": "在读取外部内容（见括号）之后保存、尚未经用户确认的记忆：",
        "preference": "作为偏好保存",
        "unknown": "未知",
    },
}


class ToldMemories(NamedTuple):
    """What a new chat is told.

    Args:
        text: Preferences, and the keys of other memories; empty: there are none.
        untrusted: The keys of memories that untrusted content may have caused.
    """

    text: str
    untrusted: str


def describe_memories(store: MemoryStore, locale: Literal["en", "zh"]) -> ToldMemories:
    """Return what a new chat is told of the memories."""
    texts = _TEXTS[locale]
    preferences = [memory for memory in store.list_preferences() if memory.is_trusted]
    told = list(_take_lines(f"{_line(memory.key)}: {_line(memory.content)}" for memory in preferences))
    count = store.count() - len(preferences)
    others = [
        memory
        for memory in store.list_newest(TITLES + len(preferences))
        if not (memory.is_preference and memory.is_trusted)
    ][:TITLES]
    listed = others[: len(list(_take_lines((_title(memory, texts) for memory in others), TITLES_BYTES)))]
    plain = [_title(memory, texts) for memory in listed if memory.is_trusted]
    marked = [_title(memory, texts) for memory in listed if not memory.is_trusted]
    lines: list[str] = []
    if told:
        lines += [texts["preferences"], *told]
    if len(preferences) > len(told):
        lines.append(texts["preferences_left"].format(count=len(preferences) - len(told)))
    if plain or count > len(listed):
        lines += [texts["titles"], *plain]
    if count > len(listed):
        lines.append(texts["titles_left"].format(count=count - len(listed)))
    return ToldMemories("\n".join(lines), "\n".join([texts["marked"], *marked]) if marked else "")


def _take_lines(lines: Iterable[str], limit_bytes: int = PREFERENCES_BYTES) -> Iterator[str]:
    """Yield lines as long as they fit."""
    left = limit_bytes
    for line in lines:
        left -= len(line.encode()) + 1
        if left < 0:
            return
        yield line


def _title(memory: Memory, texts: dict[str, str]) -> str:
    title = _line(memory.key)
    title = title if len(title) <= _TITLE_CHARS else f"{title[: _TITLE_CHARS - 1]}…"
    if memory.is_trusted:
        return title
    sources = ", ".join(_line(source) or texts["unknown"] for source in memory.sources[:_SOURCES_NAMED])
    more = f" +{len(memory.sources) - _SOURCES_NAMED}" if len(memory.sources) > _SOURCES_NAMED else ""
    meant = f"; {texts['preference']}" if memory.is_preference else ""
    return f"{title} ({sources}{more}{meant})"


def _line(text: str) -> str:
    """Fit a text into a line."""
    return " ".join(text.split())
